// BackwardFlow: which values of a program depend on which sources, by any way that a gradient could
// take. Of kernels without a rule and of raw bytes nothing is known but that it may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/backward/backward_values.h"
#include "encoder/backward/vjp_rules.h"
#include "encoder/program/program.h"

namespace interlock {

// The VJP rules by kernel.
class GradientKernels {
 public:
  GradientKernels();

  // Null if the kernel has none.
  const VjpRule* rule_of(const Dispatch& dispatch) const { return rules_[dispatch.kernel.index]; }
  const std::vector<int>& inputs_of(const Dispatch& dispatch) const {
    return inputs_[dispatch.kernel.index];
  }
  // True iff a gradient may flow through an operand that is read.
  bool carries(const Dispatch& dispatch, size_t operand) const;

 private:
  std::vector<const VjpRule*> rules_;
  std::vector<std::vector<int>> inputs_;
};

class BackwardFlow {
 public:
  using Sources = uint64_t;  // A bit each.
  static constexpr size_t kSourcesMax = 64;

  // Requires: all outlive this.
  BackwardFlow(const Program& program, const BackwardValues& values,
               const GradientKernels& kernels);

  // Before run(): where the sources are, and which other values they do not reach.
  void start(uint32_t value, Sources sources) { starts_[value] |= sources; }
  void stop(uint32_t value, Sources sources) { stops_[value] |= sources; }

  // Cost: linear in the program.
  void run();

  Sources reaching(uint32_t value) const { return reaching_[value]; }
  // True iff a source reaches what the dispatch leaves through what it finds.
  bool passes(uint32_t dispatch) const { return passes_[dispatch]; }
  // What comes in through raw bytes, somewhere in the program.
  Sources reaching_raw(const Access& access) const;

 private:
  void reach(uint32_t value, Sources sources);
  void spread(uint32_t dispatch);
  Sources read_by(const Dispatch& dispatch) const;

  const Program& program_;
  const BackwardValues& values_;
  const GradientKernels& kernels_;
  std::vector<Sources> starts_;  // By value; so the next two.
  std::vector<Sources> stops_;
  std::vector<Sources> reaching_;
  std::vector<bool> passes_;          // By dispatch.
  std::vector<Sources> held_;         // By memory: what reaches tensors in it.
  std::vector<Sources> written_raw_;  // By memory: what reaches bytes that are written raw.
};

}  // namespace interlock
