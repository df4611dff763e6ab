#include "capture/layer/run_options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace interlock {
namespace {

constexpr const char* kOptionsVariable = "INTERLOCK_CAPTURE_OPTIONS";

// Calls `visit` with each of the parts of `text` between separators.
template <typename Visit>
void for_each_part(std::string_view text, char separator, const Visit& visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

RunOptions options_from(std::string_view text) {
  constexpr std::string_view kDrop = "drop-barrier=";
  constexpr std::string_view kPretend = "pretend=";
  RunOptions options;
  for_each_part(text, ';', [&](std::string_view word) {
    if (word == "dry") options.is_dry = true;
    if (word == "backtrace") options.with_callers = true;
    if (word == "syncval") options.is_validated = true;
    if (word.starts_with(kPretend)) options.pretended = word.substr(kPretend.size());
    if (!word.starts_with(kDrop)) return;
    word.remove_prefix(kDrop.size());
    uint64_t number = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error == std::errc()) options.dropped_barrier = number;
  });
  return options;
}

}  // namespace

bool RunOptions::pretends(std::string_view word) const {
  bool is_there = false;
  for_each_part(pretended, ',',
                [&](std::string_view each) { is_there = is_there || each == word; });
  return is_there;
}

const RunOptions& run_options() {
  // Never gone, as other threads may go on until the very end.
  static const RunOptions& options = *[] {
    const char* const text = std::getenv(kOptionsVariable);
    return new RunOptions(options_from(text == nullptr ? "" : text));
  }();
  return options;
}

RunOptionsRecord record_of(const RunOptions& options) {
  RunOptionsRecord record;
  record.drops_barrier = options.dropped_barrier ? 1 : 0;
  record.dropped_barrier = options.dropped_barrier.value_or(0);
  record.is_dry = options.is_dry ? 1 : 0;
  record.with_callers = options.with_callers ? 1 : 0;
  record.is_validated = options.is_validated ? 1 : 0;
  record.pretended = options.pretended;
  return record;
}

}  // namespace interlock
