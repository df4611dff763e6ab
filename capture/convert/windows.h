// Windows: a long program in parts that are judged one by one, each a program by itself.
//
// A part ends where the host has waited for all that was submitted (full_waits.h), before the next
// submission. No hazard of devices crosses such a place: what was submitted before has executed,
// the wait makes all that it wrote available, and a later submission sees it, whatever its queue
// and stages (Vulkan 1.3, 7.3, 7.4 and 7.9). What was host's before is before the submission,
// likewise. The host itself sees of devices what was shown to it, and no more: that is carried over
// (unseen_writes.h). So a submission, a wait of the host and what the host then reads are in one
// window; labels are those of the whole program.
#pragma once

#include <cstdint>
#include <functional>
#include <istream>
#include <string>

#include "capture/convert/summary.h"
#include "encoder/program/limits.h"
#include "encoder/program/result.h"

namespace interlock {

struct CapturedWindow {
  uint64_t number = 1;
  bool is_last = false;
  uint64_t first_submission = 1;
  uint64_t last_submission = 0;
  std::string text;

  // Whether it is the whole program.
  bool is_only() const { return number == 1 && is_last; }
};

// Is given each window as it ends, and what is known so far; places (captured_places.h) are those
// of this window. An error ends the conversion.
using TakeWindow = std::function<Result<Success>(CapturedWindow window, const CaptureSummary&)>;

// Like convert_log() (convert.h), for a program of any length: ends a window at the first full wait
// after so many bytes of its text. The memory that it takes grows with the largest window, and,
// beside, with what the application keeps.
// Errors: also those of `take`.
Result<CaptureSummary> convert_log_in_windows(std::istream& log, const std::string& name,
                                              uint64_t window_bytes, const TakeWindow& take,
                                              const Limits& limits = {});

}  // namespace interlock
