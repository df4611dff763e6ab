#include "fuzz/campaign/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace interlock {
namespace {

constexpr size_t kCausesMax = 3;
// Before so many seconds a rate says nothing.
constexpr double kRateSecondsMin = 0.5;

std::string findings_text(const CampaignProgress& progress) {
  std::string text = progress.findings.empty() ? "; no findings" : "; findings:";
  const size_t shown = std::min(progress.findings.size(), kCausesMax);
  for (size_t i = 0; i < shown; ++i) {
    const SignatureCount& cause = progress.findings[i];
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", cause.signature, cause.run_count);
  }
  const size_t rest = progress.findings.size() - shown;
  if (rest > 0) text += fmt::format(", {} more cause{}", rest, rest == 1 ? "" : "s");
  return text;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e12));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86'400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86'400, whole / 3600 % 24);
}

std::string progress_line(const CampaignProgress& progress) {
  const bool ends_by_runs = progress.planned_run_count > 0;
  std::string text = std::to_string(progress.run_count);
  if (ends_by_runs) text += fmt::format(" of {}", progress.planned_run_count);
  text += " programs";
  if (ends_by_runs) {
    const double share =
        static_cast<double>(progress.run_count) / static_cast<double>(progress.planned_run_count);
    text += fmt::format(" ({:.0f}%)", std::floor(100 * share));
  }
  const double rate = progress.seconds >= kRateSecondsMin
                          ? static_cast<double>(progress.judged_run_count) / progress.seconds
                          : 0;
  if (rate > 0) {
    text += fmt::format(", {:.{}f}/s", rate, rate < 10 ? 1 : 0);
    const auto rest = static_cast<double>(progress.planned_run_count - progress.run_count);
    text +=
        fmt::format(", {} left", duration_text(ends_by_runs ? rest / rate : progress.seconds_left));
  }
  text += findings_text(progress);
  if (progress.cell_count > 0) {
    text +=
        fmt::format("; {} cell{}, none new for {}", progress.cell_count,
                    progress.cell_count == 1 ? "" : "s", duration_text(progress.seconds_since_new));
  }
  return text;
}

}  // namespace interlock
