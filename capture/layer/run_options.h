// What `interlock capture` asks of the layer beside a log: words of one variable of the
// environment, apart by ';', as its command line has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "capture/log/run_records.h"

namespace interlock {

struct RunOptions {
  std::optional<uint64_t> dropped_barrier;  // "drop-barrier=7"
  bool is_dry = false;                      // "dry"
  bool with_callers = false;                // "backtrace"
  bool is_validated = false;                // "syncval"
  std::string pretended;                    // "pretend=integrated,queues"

  // Whether `word` is among what is pretended.
  bool pretends(std::string_view word) const;
};

// Of this process; read once.
const RunOptions& run_options();

// As the log has them.
RunOptionsRecord record_of(const RunOptions& options);

}  // namespace interlock
