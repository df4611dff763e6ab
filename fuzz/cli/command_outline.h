// The commands and their options as people see them: what completions and the manual are made of.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

struct OptionOutline {
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional one its name, without dashes.
  std::string description;
  std::vector<std::string> values;  // That it can have, as far as they are known by name.
  bool is_positional = false;
  bool takes_value = false;
};

struct CommandOutline {
  std::string name;  // "check", "generate mlp"; empty: of the program.
  std::string description;
  std::vector<OptionOutline> options;
  std::vector<CommandOutline> commands;
};

// What is for processes and not for people is left out. Cost: linear.
CommandOutline outline_of(const CLI::App& app);

// "check", "explore", …, the commands of `outline`.
std::vector<std::string> names_of(const std::vector<CommandOutline>& commands);

// In completion_texts.cc: what a shell is to run at its start (bash), or to find as the file
// `_interlock` (zsh). Both know what there is now, and ask the program nothing.
std::string bash_completion(const CommandOutline& outline);
std::string zsh_completion(const CommandOutline& outline);

// In manual_text.cc: the manual page, for man (7). `version`: that of the program.
std::string manual_page(const CommandOutline& outline, std::string_view version);

}  // namespace interlock
