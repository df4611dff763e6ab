// The pieces of a dispatch, sorted, must follow one another from the first slice to the last.
#include "backends/remote/request_check.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

class ExecutionCheck {
 public:
  explicit ExecutionCheck(const Program& program)
      : program_(program), dispatches_(program.dispatches.size()) {}

  Result<Success> take(const Step& step) {
    if (step.dispatch.index >= dispatches_.size()) {
      return error_of("The schedule names dispatch {} of a program that has {}.",
                      step.dispatch.index, dispatches_.size());
    }
    DispatchSteps& steps = dispatches_[step.dispatch.index];
    if (step.kind == StepKind::kCommit) {
      if (!steps.is_waiting) {
        return error_of("The schedule commits {}, which has no late writes.",
                        program_.description_of(step.dispatch));
      }
      steps.is_waiting = false;
      return Success{};
    }
    steps.is_waiting |= step.kind == StepKind::kRunLate;
    steps.pieces.push_back({step.first_slice, step.slice_count});
    return Success{};
  }

  Result<Success> finish() {
    for (uint32_t d = 0; d < dispatches_.size(); ++d) {
      DispatchSteps& steps = dispatches_[d];
      const DispatchId id(d);
      if (steps.is_waiting) {
        return error_of("The schedule never commits the late writes of {}.",
                        program_.description_of(id));
      }
      const uint64_t slice_count = slice_count_of(program_, program_.dispatch(id));
      std::sort(steps.pieces.begin(), steps.pieces.end());
      uint64_t end = 0;
      for (const auto& [first, count] : steps.pieces) {
        if (first != end || count > slice_count - end) return not_once(id, slice_count);
        end += count;
      }
      if (end != slice_count) return not_once(id, slice_count);
    }
    return Success{};
  }

 private:
  struct DispatchSteps {
    std::vector<std::pair<uint64_t, uint64_t>> pieces;  // First slice and count.
    bool is_waiting = false;                            // For a commit.
  };

  Error not_once(DispatchId id, uint64_t slice_count) const {
    return error_of("The schedule does not run each of the {} slices of {} once.", slice_count,
                    program_.description_of(id));
  }

  const Program& program_;
  std::vector<DispatchSteps> dispatches_;
};

}  // namespace

Result<Success> check_executable(const Program& program, const Schedule& schedule) {
  ExecutionCheck check(program);
  for (const Step& step : schedule.steps) {
    auto taken = check.take(step);
    if (!taken) return taken;
  }
  return check.finish();
}

}  // namespace interlock
