// The completions. Bash calls a function with the words so far, where `--name=value` is three of
// them; zsh's _arguments takes a description of each option.
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/cli/command_outline.h"

namespace interlock {
namespace {

// In single quotes of a shell.
std::string quoted_for_shell(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      quoted += "'\\''";
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

// Words that a user may type next: those with a value end in "=".
std::vector<std::string> option_words(const CommandOutline& command) {
  std::vector<std::string> words;
  for (const OptionOutline& option : command.options) {
    if (option.is_positional) continue;
    for (const std::string& name : option.names) {
      const bool has_sign = option.takes_value && name.starts_with("--");
      words.push_back(has_sign ? name + "=" : name);
    }
  }
  return words;
}

// What the positional words of the command can be, where they have names.
std::vector<std::string> positional_values(const CommandOutline& command) {
  std::vector<std::string> values;
  for (const OptionOutline& option : command.options) {
    if (option.is_positional)
      values.insert(values.end(), option.values.begin(), option.values.end());
  }
  return values;
}

// The cases of a command and of those below it.
void add_bash_cases(const CommandOutline& command, std::string& values, std::string& words) {
  for (const OptionOutline& option : command.options) {
    if (option.is_positional || option.values.empty()) continue;
    for (const std::string& name : option.names) {
      values += fmt::format(
          "    {})\n      COMPREPLY=($(compgen -W {} -- \"$cur\")) || true\n      return\n      ;;\n",
          quoted_for_shell(command.name + ":" + name),
          quoted_for_shell(fmt::format("{}", fmt::join(option.values, " "))));
    }
  }
  std::vector<std::string> next = names_of(command.commands);
  const std::vector<std::string> positional = positional_values(command);
  next.insert(next.end(), positional.begin(), positional.end());
  words += fmt::format("    {})\n      options={}\n      next={}\n      ;;\n",
                       quoted_for_shell(command.name),
                       quoted_for_shell(fmt::format("{}", fmt::join(option_words(command), " "))),
                       quoted_for_shell(fmt::format("{}", fmt::join(next, " "))));
  for (const CommandOutline& below : command.commands) add_bash_cases(below, values, words);
}

// Of a description in the brackets of _arguments.
std::string in_brackets(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string zsh_value_of(const OptionOutline& option) {
  if (option.values.empty()) return ":value:_files";
  return fmt::format(":value:({})", fmt::join(option.values, " "));
}

// "_arguments" of a command, a line for each option.
std::string zsh_arguments(const CommandOutline& command) {
  std::string text = "      _arguments";
  bool has_positional = false;
  for (const OptionOutline& option : command.options) {
    if (option.is_positional) {
      has_positional = true;
      const std::string values =
          option.values.empty() ? "_files" : fmt::format("({})", fmt::join(option.values, " "));
      text +=
          " \\\n        " + quoted_for_shell(fmt::format("*:{}:{}", option.names.front(), values));
      continue;
    }
    for (const std::string& name : option.names) {
      const bool is_long = name.starts_with("--");
      const std::string sign = option.takes_value && is_long ? "=" : "";
      text += " \\\n        " + quoted_for_shell(fmt::format(
                                    "{}{}[{}]{}", name, sign, in_brackets(option.description),
                                    option.takes_value ? zsh_value_of(option) : ""));
    }
  }
  if (!command.commands.empty() && !has_positional) {
    text += " \\\n        " + quoted_for_shell(fmt::format(
                                  "1:command:({})", fmt::join(names_of(command.commands), " ")));
  }
  return text + '\n';
}

// `help` takes the names of commands, and `version` nothing; and any command takes --color. These
// main.cc reads.
CommandOutline with_words_of_all(CommandOutline outline) {
  const OptionOutline color{
      {"--color"}, "when to print in colour", {"auto", "always", "never"}, false, true};
  const auto add_color = [&](auto&& self, CommandOutline& command) -> void {
    command.options.push_back(color);
    for (CommandOutline& below : command.commands) self(self, below);
  };
  add_color(add_color, outline);
  CommandOutline help{"help", "how a command is used", {color}, {}};
  help.options.push_back({{"COMMAND"}, "", names_of(outline.commands), true, true});
  outline.commands.push_back(std::move(help));
  outline.commands.push_back({"version", "which release this is", {color}, {}});
  return outline;
}

}  // namespace

std::string bash_completion(const CommandOutline& given) {
  const CommandOutline outline = with_words_of_all(given);
  std::string values;
  std::string words;
  add_bash_cases(outline, values, words);
  std::string nested;  // Commands that have commands.
  for (const CommandOutline& command : outline.commands) {
    if (!command.commands.empty()) nested += (nested.empty() ? "" : " | ") + command.name;
  }
  return fmt::format(
      R"(# Completion of interlock for bash, as `interlock completion bash` prints it.
_interlock() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
  local command= options= next= i
  # `--name=value` is three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    # A value is no command: `--name=value`, and that of --color, which may stand before all.
    case ${{COMP_WORDS[i]}} in
      =)
        i=$((i + 1))
        continue
        ;;
      --color)
        [[ ${{COMP_WORDS[i + 1]-}} == = ]] || i=$((i + 1))
        continue
        ;;
      -*) continue ;;
    esac
    case $command in
      '') command=${{COMP_WORDS[i]}} ;;
      {nested}) command+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  COMPREPLY=()
  case $command:$prev in
{values}  esac
  case $command in
{words}  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur")) || true
    if [[ ${{COMPREPLY-}} == *= ]]; then compopt -o nospace 2>/dev/null || true; fi
  elif [[ -n $next ]]; then
    COMPREPLY=($(compgen -W "$next" -- "$cur")) || true
  else
    compopt -o filenames 2>/dev/null || true
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}}
complete -F _interlock interlock
)",
      fmt::arg("nested", nested.empty() ? "' '" : nested), fmt::arg("values", values),
      fmt::arg("words", words));
}

std::string zsh_completion(const CommandOutline& given) {
  const CommandOutline outline = with_words_of_all(given);
  std::string commands;
  std::string cases;
  for (const CommandOutline& command : outline.commands) {
    commands +=
        "    " + quoted_for_shell(command.name + ":" + in_brackets(command.description)) + '\n';
    cases += fmt::format("    {})\n{}      ;;\n", command.name, zsh_arguments(command));
  }
  return fmt::format(R"(#compdef interlock
# Completion of interlock for zsh, as `interlock completion zsh` prints it.
_interlock() {{
  local context state state_descr line
  local -A opt_args
  local -a commands=(
{commands}  )
  _arguments -C '--help[how it is used]' '--version[which it is]' \
    '--color=[when to print in colour]:value:(auto always never)' '1: :->command' '*:: :->argument'
  case $state in
    command)
      _describe command commands
      return
      ;;
  esac
  case $words[1] in
{cases}  esac
}}
_interlock "$@"
)",
                     fmt::arg("commands", commands), fmt::arg("cases", cases));
}

}  // namespace interlock
