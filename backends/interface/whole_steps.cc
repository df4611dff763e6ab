#include "backends/interface/whole_steps.h"

#include <fmt/format.h>

namespace interlock {

Result<Success> expect_whole_steps(const Program& program, const Schedule& schedule,
                                   std::string_view backend) {
  for (const Step& step : schedule.steps) {
    const bool is_part =
        step.kind == StepKind::kFetch || (step.kind == StepKind::kCommit && step.slice_count > 0);
    if (!is_part) continue;
    return Error{
        fmt::format(
            "The schedule {} some bytes of {} by themselves, and the {} backend does so with whole dispatches only; the cpu backend can.",
            step.kind == StepKind::kFetch ? "fetches" : "commits",
            program.description_of(step.dispatch), backend),
        ErrorKind::kRefused};
  }
  return Success{};
}

}  // namespace interlock
