// The verdict on one log of `interlock capture`: what it says becomes a program, is checked and
// reported; a long one in windows (capture/convert/windows.h), each by itself.
#pragma once

#include <cstdint>
#include <string>

#include "encoder/text/parser.h"
#include "fuzz/cli/console.h"

namespace interlock {

struct VerdictOptions {
  std::string output;  // Where the program goes; empty: nowhere.
  // Of a program of several windows each that has findings goes to "out.w3.ilk".
  uint64_t window_bytes = 64ull << 20;
  std::string exact_command;      // Measures what this one bounds; empty: none does.
  bool counts_own_reads = false;  // Hazards after own reads are findings, too.
  uint64_t findings_max =
      0;  // That are told in full, of each window, one of a pair of commands; 0: all.
  ParseOptions parse;
};

struct LogVerdict {
  ExitStatus status = ExitStatus::kNothingFound;
  // The process submitted nothing, and its log is whole: then nothing was printed or written, and
  // what there is to say of it is `text`.
  bool is_idle = false;
  std::string process;  // Its name.
  std::string text;
};

// Converts and checks the log, and prints what is found. What is only possible counts, too: of an
// application as it is little is certain.
LogVerdict judge_log(const std::string& log, const VerdictOptions& options);

}  // namespace interlock
