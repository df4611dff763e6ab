// Console: where the subcommands print. Results go to standard output, progress and errors to
// standard error; colour, if --color does not say otherwise, and overwriting lines only on a
// terminal, NO_COLOR (no-color.org) obeyed.
#pragma once

#include <cstdint>
#include <string_view>

#include "encoder/program/result.h"

namespace interlock {

// What the process returns; part of the command line's contract.
enum class ExitStatus : int {
  kNothingFound = 0,
  kFinding = 1,
  kBadInput = 2,     // Bad usage or bad input.
  kNoVerdict = 2,    // A limit ended the work before it could tell.
  kUnavailable = 3,  // Asked for a backend that is not there, or no longer.
  kInterrupted = 130,
};

enum class Colour : uint8_t { kAuto, kAlways, kNever };

// Of all that is printed from here on.
void set_colour(Colour colour);

// The worse of two: bad input outranks a finding, so that a script cannot mistake one for the
// other.
constexpr ExitStatus worse(ExitStatus a, ExitStatus b) {
  return static_cast<int>(a) > static_cast<int>(b) ? a : b;
}

// Prints to standard output; nothing once the work is stopped (encoder/program/stop.h): it may be
// wrong then. Under a StopScope without a Stop it prints always.
void print_out(std::string_view text);

// Prints a report to standard output, in colour where there is some: the words before the colon of
// a line that begins a finding, what fails, what is known or only noted, and how to repair it.
void print_report(std::string_view text);

// Prints `error` to standard error, after "error: ", and returns kBadInput, so that a command can
// return it. Once the work is stopped that is the reason: returns kInterrupted and prints nothing.
ExitStatus report_error(const Error& error);

// Prints `text` to standard error, where the results are a program.
void print_remark(std::string_view text);

// Whether lines of progress overwrite themselves: standard error is a terminal.
bool is_progress_rewritten();

// One line of progress on standard error: overwrites itself on a terminal, cut to its width, and is
// left out elsewhere unless `is_milestone`.
void show_progress(std::string_view line, bool is_milestone = false);

// Ends an overwriting progress line, so that the next output starts on a line of its own.
void finish_progress();

}  // namespace interlock
