#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

struct SourceFile {
  std::string path;  // From the project root, e.g. "encoder/program/program.h".
  std::string text;
};

// Returns the project's own files with these extensions, e.g. ".cu", sorted by path.
std::vector<SourceFile> own_files(const std::set<std::string>& extensions);

// Returns the project's own headers and sources, sorted by path.
std::vector<SourceFile> own_sources();

// Returns the file at `path`, from the project root; empty if there is none.
std::string read_own_file(const std::string& path);

// Returns `text` with comments and the contents of string and character literals as spaces. Every
// other byte stays where it is, so offsets and lines agree with `text`.
std::string code_only(std::string_view text);

// Returns the lines of `text`, without their ends. They point into `text`.
std::vector<std::string_view> lines_of(std::string_view text);

// Returns what `text` includes, as it is written there.
std::vector<std::string> includes_of(std::string_view text);

// Returns true for letters, digits and '_'.
bool is_word_byte(char c);

// Returns the word of `text` that ends before `end`; empty if there is none.
std::string_view word_before(std::string_view text, size_t end);

// Returns the word of `text` that begins at `begin`; empty if there is none.
std::string_view word_at(std::string_view text, size_t begin);

// Returns the first folder of `path`, or nothing if `path` has no folder.
std::string_view folder_of(std::string_view path);

// Returns "path:line: message"; lines count from one.
std::string complaint(const SourceFile& file, std::size_t line, std::string_view message);

}  // namespace interlock
