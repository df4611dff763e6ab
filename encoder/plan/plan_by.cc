#include "encoder/plan/plan_by.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace interlock {

std::string remark_of(const PlanOptions& options) {
  return fmt::format("plan align={} slack={} antichain={:d} keep-inputs={:d} opaque-in-place={:d}",
                     options.alignment_bytes, options.slack_percent, options.is_antichain,
                     options.keeps_inputs, options.is_opaque_in_place);
}

std::string flags_of(const PlanOptions& options) {
  std::string flags;
  const PlanOptions defaults;
  if (options.alignment_bytes != defaults.alignment_bytes) {
    flags += fmt::format(" --align={}", options.alignment_bytes);
  }
  if (options.slack_percent != defaults.slack_percent) {
    flags += fmt::format(" --slack={}", options.slack_percent);
  }
  if (options.is_antichain) flags += " --antichain";
  if (options.keeps_inputs) flags += " --keep-inputs";
  if (!options.is_opaque_in_place) flags += " --no-opaque-in-place";
  return flags;
}

Result<Encoding> plan_by(const Program& program, const PlanOptions& options,
                         const PlannerEntry& planner) {
  if (planner.external != nullptr) return planner.external->apply(program, remark_of(options));
  Result<Program> planned = planner.plan(program, options);
  if (!planned) return planned.error();
  return Encoding{std::move(*planned), std::nullopt, {}};
}

}  // namespace interlock
