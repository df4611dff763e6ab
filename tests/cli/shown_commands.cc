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
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return output.starts_with(text);
}

std::string document_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(INTERLOCK_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

}  // namespace interlock
