// The text format (.ilk): docs/format.md. The printer is canonical: parse(print(p)) equals p, and
// print(parse(t)) is a fixed point.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/draft.h"
#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

struct ParseOptions {
  Limits limits;
  // A campaign may skip lines that no longer apply: lines that do not parse or do not fit are left
  // out. The header line and the limits stay strict.
  bool skips_invalid_lines = false;
};

// Returns the program in `text`. `file_name` only names the input in errors.
// Errors: "file:line:column: error: …" with what was found and what was expected.
// Cost: linear in the text, times log of the number of names.
Result<Program> parse(std::string_view text, std::string_view file_name = "<text>",
                      const ParseOptions& options = {});

// Reads and parses the file; "-" is standard input.
// Errors: as parse(), and files that cannot be read or exceed limits.file_bytes.
Result<Program> parse_file(const std::string& path, const ParseOptions& options = {});

// Reads the file; "-" is standard input.
// Errors: files that cannot be read or exceed limits.file_bytes, and a stop (stop.h).
Result<std::string> read_file(const std::string& path, const Limits& limits = {});

std::string print(const Program& program);
std::string print(const ProgramDraft& draft);

// One item as its line of text, without a newline.
std::string print(const ItemDraft& item);

// Replaces the file in one step: a temporary name, then a rename. A stop (stop.h) is an error, too.
Result<Success> write_file(const std::string& path, std::string_view content);

}  // namespace interlock
