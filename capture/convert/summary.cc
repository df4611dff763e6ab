#include "capture/convert/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace interlock {
namespace {

std::string counted(uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

constexpr size_t kShownBytesMax = 200;
constexpr size_t kNamesMax = 1000;

}  // namespace

std::string printable(std::string_view text) { return printable_text(text, kShownBytesMax); }

std::string printable_text(std::string_view text, size_t bytes_max) {
  std::string result(text.substr(0, bytes_max));
  std::ranges::replace_if(
      result, [](char c) { return c < ' ' || c > '~'; }, '?');
  return result;
}

void CaptureSummary::count(std::string_view what, std::map<std::string, uint64_t>& names) {
  std::string name = printable(what);
  const bool has_room = names.size() < kNamesMax || names.contains(name);
  ++names[has_room ? std::move(name) : "more"];
}

std::string text_of_options(const CaptureSummary& summary) {
  const RunOptionsRecord& options = summary.options;
  std::string text;
  if (options.drops_barrier != 0) {
    text += fmt::format("--drop-barrier={}: this barrier of the application is left out\n",
                        options.dropped_barrier);
  }
  if (options.is_dry != 0) text += "--dry: dispatches were recorded, and not executed\n";
  if (!options.pretended.empty()) {
    text +=
        fmt::format("--pretend={}: the application was told so of the device\n", options.pretended);
  }
  return text;
}

std::string text_of(const CaptureSummary& summary) {
  std::string text = fmt::format("captured: {}", summary.command);
  if (!summary.application.empty()) text += fmt::format(" ({})", summary.application);
  if (!summary.device.empty()) text += fmt::format(" on {}", summary.device);
  text += fmt::format("\n  {}, {}, {}, {}, {}.\n",
                      counted(summary.dispatch_count, "dispatch", "dispatches"),
                      counted(summary.transfer_count, "transfer", "transfers"),
                      counted(summary.barrier_count, "barrier", "barriers"),
                      counted(summary.submission_count, "submission", "submissions"),
                      counted(summary.queue_count, "queue", "queues"));
  if (summary.pass_count > 0) {
    text += fmt::format("  graphics: {} with {}.\n", counted(summary.pass_count, "pass", "passes"),
                        counted(summary.draw_count, "draw", "draws"));
  }
  if (summary.is_exact) {
    text +=
        fmt::format("  exact: {} of {} with the ranges that they touched.\n", summary.exact_count,
                    counted(summary.dispatch_count, "dispatch", "dispatches"));
  }
  if (summary.approximate_count > 0) {
    text += fmt::format("  approximate: {} that may touch less than is written here.\n",
                        counted(summary.approximate_count, "command", "commands"));
  }
  const std::string options = text_of_options(summary);
  for (size_t begin = 0; begin < options.size();) {
    const size_t end = options.find('\n', begin) + 1;
    text += "  " + options.substr(begin, end - begin);
    begin = end;
  }
  for (const auto& [what, count] : summary.remarks) {
    text += fmt::format("  {}: {}\n", what, count);
  }
  if (!summary.cut.empty()) text += fmt::format("  cut: {}\n", summary.cut);
  for (const auto& [what, count] : summary.not_understood) {
    text += fmt::format("  not understood: {} ({})\n", what, counted(count, "time", "times"));
  }
  if (summary.unknown_submission_count > 0) {
    text += fmt::format("  {} of {} {} something that was not understood.\n",
                        summary.unknown_submission_count,
                        counted(summary.submission_count, "submission", "submissions"),
                        summary.unknown_submission_count == 1 ? "has" : "have");
  }
  return text;
}

}  // namespace interlock
