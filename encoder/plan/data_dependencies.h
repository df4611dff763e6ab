// DataDependencies: what each dispatch must follow for its data, whatever sync there is, on the
// places that the program has. For a program without placement, that is what no planner can avoid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "encoder/plan/predecessors.h"
#include "encoder/program/program.h"

namespace interlock {

// Conflicts in issue order, those through a third dispatch left out: of each byte, the last writer
// and the readers since. Atomics of one operation do not conflict.
class DataDependencies {
 public:
  // `sees_undeclared`: with what dispatches touch and do not declare. Cost: O(d log d) for d
  // distinct ranges, and constant for each access that comes again; cuts multiply what lies across
  // them.
  explicit DataDependencies(const Program& program, bool sees_undeclared = true);

  size_t dispatch_count() const { return predecessors_.size(); }

  // Ascending, without duplicates.
  std::span<const uint32_t> predecessors(size_t dispatch) const { return predecessors_[dispatch]; }
  Predecessors take_all() && { return std::move(predecessors_); }

 private:
  Predecessors predecessors_;
};

// Which dispatches come before which by data dependencies, one after another, or by the full
// barriers of the program as it stands. If it has others, scoped or of execution alone, by the full
// ones alone: the others may do no more than the data asks that they were made for.
class DispatchOrder {
 public:
  // One bit for each pair.
  static constexpr size_t kDispatchCountMax = 65'536;

  // Requires: dispatch_count() <= kDispatchCountMax. Cost: n e / 64 for e dependencies.
  DispatchOrder(const Program& program, const DataDependencies& dependencies);

  // True also for a dispatch and itself.
  bool is_ordered(uint32_t earlier, uint32_t later) const {
    if (earlier >= later) return earlier == later;
    if (epochs_[earlier] < epochs_[later]) return true;
    return (row(later)[earlier / 64] >> (earlier % 64) & 1) != 0;
  }

 private:
  const uint64_t* row(size_t dispatch) const { return bits_.data() + first_word_[dispatch]; }

  std::vector<uint32_t> epochs_;  // By dispatch.
  std::vector<uint64_t> bits_;    // By dispatch: its ancestors.
  std::vector<size_t> first_word_;
};

}  // namespace interlock
