#include "tests/cli/shown_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace interlock {
namespace {

// As a shell splits them; quotes keep words together.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  bool is_quoted = false;
  bool is_inside = false;
  for (const char letter : line) {
    if (letter == '"') {
      is_quoted = !is_quoted;
    } else if (letter == ' ' && !is_quoted) {
      is_inside = false;
    } else {
      if (!is_inside) words.emplace_back();
      is_inside = true;
      words.back() += letter;
    }
  }
  return words;
}

}  // namespace

std::vector<ShownLine> shown_lines(const std::string& document) {
  constexpr std::string_view kPrompt = "    $ ";
  std::vector<ShownLine> shown;
  std::istringstream text(document);
  bool is_inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(kPrompt)) {
      is_inside = true;
      shown.push_back({line.substr(kPrompt.size()), {}});
    } else if (is_inside && line.starts_with("    ")) {
      shown.back().lines.push_back(line.substr(4));
    } else {
      is_inside = false;
    }
  }
  return shown;
}

std::vector<ShownCommand> shown_commands(const std::string& document) {
  constexpr std::string_view kProgram = "interlock ";
  std::vector<ShownCommand> commands;
  for (ShownLine& shown : shown_lines(document)) {
    if (!shown.command.starts_with(kProgram)) continue;
    commands.push_back(
        {shell_words(shown.command.substr(kProgram.size())), std::move(shown.lines)});
  }
  return commands;
}

bool prints(const std::string& output, const std::vector<std::string>& lines) {
  std::string rest = '\n' + output;  // Every line has a line feed on both sides.
  std::string text = "\n";
  bool is_at_start = true;
  const auto finds_text = [&] {
    const size_t at = rest.find(text);
    if (at == std::string::npos || (is_at_start && at != 0)) return false;
    rest.erase(0, at + text.size() - 1);
    return true;
  };
  for (const std::string& line : lines) {
    if (line != "…") {
      text += line + '\n';
      continue;
    }
    if (!finds_text()) return false;
    is_at_start = false;
    text = "\n";
  }
  return finds_text();
}

std::vector<ShownBlock> shown_blocks(const std::string& document, std::string_view language) {
  const std::string fence = "```" + std::string(language) + " ";
  std::vector<ShownBlock> blocks;
  std::istringstream text(document);
  bool is_inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(fence)) {
      is_inside = true;
      blocks.push_back({line.substr(fence.size()), {}});
    } else if (line.starts_with("```")) {
      is_inside = false;
    } else if (is_inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

std::vector<std::string> patched(std::vector<std::string> lines,
                                 const std::vector<std::string>& diff) {
  for (const std::string& line : diff) {
    if (line.starts_with("+")) lines.push_back(line.substr(1));
  }
  for (const std::string& line : diff) {
    if (!line.starts_with("-")) continue;
    const auto removed = std::find(lines.begin(), lines.end(), line.substr(1));
    EXPECT_NE(removed, lines.end()) << line;
    if (removed != lines.end()) lines.erase(removed);
  }
  return lines;
}

std::vector<std::string> sorted_commands(std::vector<std::string> lines) {
  const auto is_none = [](const std::string& line) {
    return line.starts_with("expect ") || line.starts_with("witness ") || line.starts_with("# ");
  };
  lines.erase(std::remove_if(lines.begin(), lines.end(), is_none), lines.end());
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string document_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(INTERLOCK_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

}  // namespace interlock
