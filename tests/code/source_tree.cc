#include "tests/code/source_tree.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace interlock {
namespace {

// Returns the end of the literal whose opening quote is at `begin`, past its closing quote.
std::size_t end_of_quoted(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  std::size_t i = begin + 1;
  while (i < text.size() && text[i] != quote && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// Returns the end of the raw string literal whose opening quote is at `begin`.
std::size_t end_of_raw_string(std::string_view text, std::size_t begin) {
  const std::size_t open = text.find('(', begin);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(begin + 1, open - begin - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

bool opens_raw_string(std::string_view text, std::size_t quote) {
  if (quote == 0 || text[quote - 1] != 'R') return false;
  return quote == 1 || !is_word_byte(text[quote - 2]);
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < std::min(end, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

}  // namespace

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view word_before(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && is_word_byte(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

std::string_view word_at(std::string_view text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && is_word_byte(text[end])) ++end;
  return text.substr(begin, end - begin);
}

std::string code_only(std::string_view text) {
  std::string code(text);
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t begin = i;
    if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
      blank(code, begin, i);
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t close = text.find("*/", i + 2);
      i = close == std::string_view::npos ? text.size() : close + 2;
      blank(code, begin, i);
    } else if (text[i] == '"') {
      i = opens_raw_string(text, i) ? end_of_raw_string(text, i) : end_of_quoted(text, i);
      blank(code, begin + 1, i - 1);
    } else if (text[i] == '\'' && (i == 0 || !is_word_byte(text[i - 1]))) {
      // A quote after a digit separates digits instead.
      i = end_of_quoted(text, i);
      blank(code, begin + 1, i - 1);
    } else {
      ++i;
    }
  }
  return code;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> includes_of(std::string_view text) {
  std::vector<std::string> includes;
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with("#include ")) continue;
    const size_t open = line.find_first_of("<\"");
    const size_t close = line.find_first_of(">\"", open + 1);
    if (close != std::string_view::npos) {
      includes.emplace_back(line.substr(open + 1, close - open - 1));
    }
  }
  return includes;
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string complaint(const SourceFile& file, std::size_t line, std::string_view message) {
  return file.path + ":" + std::to_string(line) + ": " + std::string(message);
}

std::string read_own_file(const std::string& path) {
  std::ifstream file(std::filesystem::path(INTERLOCK_SOURCE_DIR) / path, std::ios::binary);
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::vector<SourceFile> own_files(const std::set<std::string>& extensions) {
  const std::filesystem::path root = INTERLOCK_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const char* folder :
       {"encoder", "simulator", "backends", "capture", "fuzz", "bindings", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!extensions.contains(entry.path().extension().string())) continue;
      const std::string path = entry.path().lexically_relative(root).generic_string();
      files.push_back({path, read_own_file(path)});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<SourceFile> own_sources() { return own_files({".h", ".cc"}); }

}  // namespace interlock
