// Parser: reads the text format (.ilk): docs/format.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// What only the order of a whole program tells to be wrong.
struct ProgramFault {
  StatementId statement;  // A signal or a wait: the error stands there.
  StatementId other;      // Likewise; `message` ends so that ", line 7" can follow it.
  std::string message;
};

struct ParseOptions {
  Limits limits;
  // A campaign may skip lines that no longer apply: lines that do not parse or do not fit are left
  // out, and a sync statement that nothing in the rest of the text meets becomes a split. The
  // header line and the limits stay strict.
  bool skips_invalid_lines = false;
  // Statements of the whole synchronization model are read, too. What judges, executes or changes
  // programs knows one queue with barriers, and does not ask for them.
  bool reads_every_queue = false;
  // Of those, what is about the one queue: ends of command buffers, indirect dispatches and rows.
  bool reads_one_queue = false;
  // Asked last, with a program that is valid so far; null asks nobody. Not with
  // skips_invalid_lines.
  std::optional<ProgramFault> (*find_fault)(const Program& program) = nullptr;
  // Is given, for each statement of the program, the line of the text that it comes from, from 1:
  // of those of a replay or of a backward pass, the line of that statement. Null: nobody asks.
  std::vector<uint64_t>* statement_lines = nullptr;
};

// Returns the program in `text`. `file_name` only names the input in errors.
// Errors: "file:line:column: error: …" with what was found and what was expected.
// Cost: linear in the text, times log of the number of names.
Result<Program> parse(std::string_view text, std::string_view file_name = "<text>",
                      const ParseOptions& options = {});

}  // namespace interlock
