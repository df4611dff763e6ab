// Signal marks: which mark of a chain (queue_marks.h) stands for which signal, and for which event
// or dependency of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/open_marks.h"
#include "simulator/barriers/queue_steps.h"

namespace interlock {

// Signals that something waits for, and events likewise, have marks; others have none, which is 0.
class SignalMarks {
 public:
  // Gives them out for all of `program` at once, if so many are enough for what is open at any
  // time, and `gives_once`. Requires: `steps` are of `program`; both outlive this.
  // Cost: O(n log n) for n signals.
  SignalMarks(const Program& program, const QueueSteps& steps, bool gives_once);

  // They are the same between any two accesses.
  bool are_of_program() const { return are_of_program_; }

  // Goes over to two accesses with the steps [begin, end) between them; `path` are these, but for
  // such as do not matter. Returns false if too many are open at once there. Cost: constant if
  // they are of the program; else linear in the path, and that of OpenMarks.
  bool begin(uint32_t begin, uint32_t end, std::span<const uint32_t> path);

  uint64_t of_part(uint32_t part) const { return marks_.of(part); }
  uint64_t of_dependency(uint32_t index) const { return marks_.of(token_of_dependency(index)); }
  uint64_t of_set(uint32_t sync) const { return marks_.of(token_of_set(sync)); }

  // On a way through rising steps, each of the path: the marks that mean nothing any more before
  // the step, whatever they stood for. On one through falling steps: those that mean nothing any
  // more after it. Require: after restart(), which follows begin().
  void restart();
  uint64_t over_before(uint32_t step);
  uint64_t unmade_after(uint32_t step);

 private:
  // Signal parts, dependencies of sets and sets without any, numbered one after another.
  uint32_t token_of_dependency(uint32_t index) const {
    return static_cast<uint32_t>(program_.signal_parts.size()) + index;
  }
  uint32_t token_of_set(uint32_t sync) const {
    return token_of_dependency(static_cast<uint32_t>(program_.dependencies.size()) + sync);
  }
  uint32_t token_count() const {
    return token_of_set(static_cast<uint32_t>(program_.syncs.size()));
  }
  const SyncStep* sync_of(uint32_t step) const;
  template <typename Visit>
  void for_each_awaited(uint32_t step, Visit visit) const;
  bool give_once();
  uint64_t made_by(uint32_t step) const;

  const Program& program_;
  const QueueSteps& steps_;
  const std::vector<uint32_t> lower_;  // By signal part: see lower_signals_of().
  OpenMarks marks_;
  bool are_of_program_ = false;
  uint32_t last_ = QueueSteps::kNone;  // On the way through falling steps.
};

}  // namespace interlock
