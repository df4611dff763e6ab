#include "tests/cli/shown_commands.h"

#include <fstream>
#include <sstream>
#include <string_view>

namespace interlock {

std::vector<ShownCommand> shown_commands(const std::string& document) {
  constexpr std::string_view kPrompt = "    $ interlock ";
  std::vector<ShownCommand> commands;
  std::istringstream text(document);
  bool is_inside = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(kPrompt)) {
      is_inside = true;
      commands.emplace_back();
      std::istringstream words(line.substr(kPrompt.size()));
      for (std::string word; words >> word;) {
        commands.back().arguments.push_back(word);
      }
    } else if (is_inside && line.starts_with("    ")) {
      commands.back().lines.push_back(line.substr(4));
    } else {
      is_inside = false;
    }
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

std::string document_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(INTERLOCK_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

}  // namespace interlock
