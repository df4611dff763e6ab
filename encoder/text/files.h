// Files of text: read within bounds, also where they are compressed (gzip.h), and replaced in one
// step. What is written has a name of its
// own first, beside the file that it replaces. A process that is killed leaves one; the next one
// that writes there clears it away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "encoder/program/limits.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/text/parser.h"

namespace interlock {

// Reads and parses the file; "-" is standard input.
// Errors: as parse(), and files that cannot be read or exceed limits.input_bytes.
Result<Program> parse_file(const std::string& path, const ParseOptions& options = {});

// The files of the paths, each path in turn: of a folder those of its tree whose names end in
// `.ilk` or `.ilk.gz`, in the order of their bytes; links to folders are not followed, and what is
// no file, as a pipe, is passed over. Nothing else is looked up. Errors: a folder that has none, or
// cannot be read.
Result<std::vector<std::string>> programs_at(const std::vector<std::string>& paths);

// Reads the file; "-" is standard input.
// Errors: files that cannot be read or exceed limits.input_bytes, compressed or not, and a stop
// (stop.h).
Result<std::string> read_file(const std::string& path, const Limits& limits = {});

// Replaces the file in one step: a temporary name, then a rename. The permissions of the file stay;
// another hard link to it keeps what was there. Compressed, if its name ends in
// ".gz". A stop (stop.h) is an error, too.
Result<Success> write_file(const std::string& path, std::string_view content);

// Whether write_file() can begin to write `path`, so that nobody works for hours in vain. Errors,
// as write_file() has them: a folder of that name, or one that is not there, and what this process
// may not write. Whether there is room shows when it is written.
Result<Success> check_writable(const std::string& path);

// "FILE.PID.ATTEMPT.tmp", of this process.
std::string temporary_name(const std::string& file, int attempt);

// Removes from `folder` what processes that are no more have left there under such names, of `.ilk`
// and `.ilk.gz` files only. Returns how many files went. What cannot be read or removed stays.
uint64_t remove_abandoned_files(const std::string& folder);

}  // namespace interlock
