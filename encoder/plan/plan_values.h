// PlanValues: the values of a program whose bytes a planner may choose, as a placement problem.
//
// A value is the implicit memory of an unplaced tensor with all tensors that view or donate it: the
// program has said that they share bytes, so they get theirs together.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/plan/data_dependencies.h"
#include "encoder/plan/placement_problem.h"
#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

struct PlanValues {
  PlacementProblem problem;
  std::vector<TensorId> tensors;                  // By value: the unplaced tensor.
  std::vector<std::vector<TensorId>> owners;      // By value: it and its donations; no views.
  std::vector<bool> is_adopted;                   // By value: another tensor takes its bytes over.
  std::vector<uint32_t> value_of_memory;          // By memory; kNoValue for declared ones.
  std::vector<std::vector<uint32_t>> dispatches;  // By value: who uses it, ascending.
  std::vector<bool> is_live_at_end;               // By value.

  static constexpr uint32_t kNoValue = UINT32_MAX;

  uint32_t value_of(const Access& access) const { return value_of_memory[access.memory.index]; }
};

// All values of a program together have no more bytes, so that sums of sizes fit in 64 bits.
inline constexpr uint64_t kPlanBytesMax = uint64_t{1} << 48;

// The step of the placement problem at which dispatch number `dispatch` runs.
inline uint32_t step_of_dispatch(size_t dispatch) { return static_cast<uint32_t>(dispatch + 1); }

// Lives follow the issue order, byte by byte as far as it matters: a value lives from the start if
// it has initial values or if bytes of it are read that no dispatch has written before. It lives to
// the end if it is an output, or if the program has no outputs.
//
// In place may be what the alias contract of the kernel says: every operand that reads the input
// must tolerate every operand that writes the output, on identical ranges.
//
// Errors: bad options, and more bytes than kPlanBytesMax. Cost: near linear in the program.
Result<PlanValues> values_of(const Program& program, const PlanOptions& options);

// Forbids reuse that would add an order: all dispatches that use the earlier value must come before
// those that first touch the later one, by data dependencies or by full barriers that the program
// has. With such a plan, no dispatch must wait for another one only because of its bytes.
class AntichainRule final : public ReuseRule {
 public:
  // Leaves no choice in `values.problem.in_place` that would add an order.
  // Requires: no more dispatches than a DispatchOrder takes; `values` outlives the rule.
  AntichainRule(const Program& program, PlanValues& values);

  bool allows(uint32_t earlier, uint32_t later) const override;

 private:
  const PlanValues& values_;
  DispatchOrder order_;
  std::vector<std::vector<uint32_t>> heads_;  // By value: the dispatches that follow no other user.
};

}  // namespace interlock
