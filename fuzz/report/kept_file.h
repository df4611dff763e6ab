// KeptFile: a file that a campaign has put into its folder, as the comments at its head and its
// program tell. A folder may come from anybody, so nothing in it is taken for granted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

struct KeptFile {
  std::string name;  // "WAR.ilk", without its folder.
  std::string text;
  std::string signature;  // Empty: the program was kept for another reason.
  std::string message;    // What the first comments say: a sentence or more.
  // The command that gives the run again; empty where a shell would take the line for anything but
  // one call of this program.
  std::string command;
  // The line without seed and run, and without what only says how it was judged on a device: what
  // campaigns of one subject have in common. Empty: no campaign has written the file.
  std::string subject;
  std::string notes;                    // What else the comments say, in sentences.
  std::string again;                    // As `command`: asks an encoder for what failed; or empty.
  std::vector<std::string> signatures;  // With this cause, as far as the file lists them.
  std::optional<Program> program;       // None: the text is no program,
  std::string error;                    // for this reason.
  std::vector<uint64_t> lines;          // Of each statement, from 1.
  bool has_witness = false;

  std::string stem() const { return name.substr(0, name.rfind('.')); }
};

// The command without the options that differ between runs of one subject: seed, runs, device.
std::string subject_words(std::string_view command);

// What the text of a file is. Cost: reads it as a program; one of more than 2^16 statements is
// none.
KeptFile kept_file_of(std::string name, std::string text);

inline constexpr uint64_t kKeptFilesMax = 1000;
inline constexpr uint64_t kKeptFileBytesMax = 4ull << 20;
inline constexpr uint64_t kKeptBytesMax = 64ull << 20;  // Of all files.

struct KeptFiles {
  std::vector<KeptFile> files;  // By name.
  uint64_t left_out_count = 0;  // Beyond kKeptFilesMax or kKeptBytesMax.
};

// The files of the folder itself that campaigns have written; others are passed over. Errors: the
// folder or a program file in it cannot be read, or has more than kKeptFileBytesMax. Memory: a
// few times kKeptBytesMax, and what replays and backward passes of each program add.
Result<KeptFiles> kept_files_in(const std::string& folder);

}  // namespace interlock
