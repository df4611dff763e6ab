// Files of text: read within bounds, and replaced in one step.
#pragma once

#include <string>
#include <string_view>

#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/text/parser.h"

namespace interlock {

// Reads and parses the file; "-" is standard input.
// Errors: as parse(), and files that cannot be read or exceed limits.file_bytes.
Result<Program> parse_file(const std::string& path, const ParseOptions& options = {});

// Reads the file; "-" is standard input.
// Errors: files that cannot be read or exceed limits.file_bytes, and a stop (stop.h).
Result<std::string> read_file(const std::string& path, const Limits& limits = {});

// Replaces the file in one step: a temporary name, then a rename. A stop (stop.h) is an error, too.
Result<Success> write_file(const std::string& path, std::string_view content);

}  // namespace interlock
