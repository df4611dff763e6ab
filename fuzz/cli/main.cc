// interlock: the command line. Exit status: 0 nothing found, 1 a finding, 2 bad usage, bad input or
// no verdict, 3 a backend that is not there, 130 interrupted.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/release.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/interrupt.h"

namespace interlock {
namespace {

// CLI11 would take the next argument for the value of `--name=`.
bool lacks_value(std::string_view argument) {
  return argument.size() > 3 && argument.starts_with("--") &&
         argument.find('=') == argument.size() - 1;
}

// The command that was asked for, as far as its words are known.
const CLI::App& last_command(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

// As they are typed: `interlock generate mlp`.
std::string words_of(const CLI::App& app, const CLI::App& command) {
  if (&command == &app) return app.get_name();
  return words_of(app, *command.get_parent()) + " " + command.get_name();
}

// Of a command that takes a subcommand and has another word in its place CLI11 says only that one
// is required; this names the other word. Empty if there is none.
std::string unknown_subcommand(const CLI::App& app) {
  const CLI::App& command = last_command(app);
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty() || rest.front().starts_with('-')) return {};
  if (command.get_require_subcommand_min() == 0) return {};
  NearestName nearest(rest.front());
  for (const CLI::App* known : command.get_subcommands({})) nearest.offer(known->get_name());
  return fmt::format("{} has no subcommand {}.{} `{} --help` lists them.",
                     in_quotes(command.get_name()), in_quotes(rest.front()), nearest.advice(),
                     words_of(app, command));
}

// Of options that there are not CLI11 names all and none that may be meant. Empty if the first
// argument that it did not expect is no option, or there is none.
std::string unknown_option(const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty() || !rest.front().starts_with("--")) return {};
  const std::string wanted = rest.front().substr(0, rest.front().find('='));
  const CLI::App& command = last_command(app);
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  NearestName nearest(wanted);
  for (const std::string& known : names) nearest.offer(known);
  return fmt::format("{} has no option {}.{} `{} --help` lists them.",
                     in_quotes(words_of(app, command)), in_quotes(wanted), nearest.advice(),
                     words_of(app, command));
}

// Takes --color=WHEN, or --color WHEN, out of the arguments, wherever it stands before those of
// another program. Errors: it says something else, or nothing.
Result<Success> take_colour(std::vector<std::string>& arguments) {
  constexpr std::string_view kOption = "--color";
  constexpr std::pair<std::string_view, Colour> kChoices[] = {
      {"auto", Colour::kAuto}, {"always", Colour::kAlways}, {"never", Colour::kNever}};
  const auto end = std::ranges::find(arguments, "--");
  for (auto argument = arguments.begin(); argument != end; ++argument) {
    const bool is_apart = *argument == kOption;
    if (!is_apart && !argument->starts_with(std::string(kOption) + "=")) continue;
    if (is_apart && argument + 1 == end) return error_of("--color has no value after it.");
    const std::string when = is_apart ? argument[1] : argument->substr(kOption.size() + 1);
    const auto choice = std::ranges::find(kChoices, when, [](const auto& c) { return c.first; });
    if (choice == std::end(kChoices)) {
      NearestName nearest(when);
      for (const auto& [word, colour] : kChoices) nearest.offer(word);
      return error_of("--color: {} is none of auto, always, never.{}", in_quotes(when),
                      nearest.advice());
    }
    set_colour(choice->second);
    arguments.erase(argument, argument + (is_apart ? 2 : 1));
    return take_colour(arguments);
  }
  return Success{};
}

char capital_of(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

// What CLI11 says of usage, as our own errors are: a sentence, and where to read more.
Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  constexpr std::string_view kRequired = " is required";
  const std::string first = text.substr(0, text.find_first_of(" :"));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && text.ends_with(" missing")) {
    text = first + " has no value after it";
  } else if (text == first + std::string(kRequired)) {
    const std::string words = words_of(app, last_command(app));
    std::string name = first;
    if (!name.starts_with('-')) std::ranges::transform(name, name.begin(), capital_of);
    text = fmt::format("`{}` needs {}", words, name);
  }
  if (!text.ends_with('.') && !text.ends_with('?')) text += '.';
  return error_of("{} `{} --help` says more.", text, words_of(app, last_command(app)));
}

Error no_part_of_a_command(std::string_view argument) {
  return error_of("`interlock help` takes a command, and {} is no part of one.",
                  in_quotes(argument));
}

// `interlock help CMD` is `interlock CMD --help`, and `interlock version` is what other programs
// answer to. Returns whether it is `help`. Errors: `version` has an argument, or `help` a word
// after the command; that there is no such command, and an option, is for CLI11 to find.
Result<bool> replace_words(const CLI::App& app, std::vector<std::string>& arguments) {
  if (arguments.empty()) return false;
  if (arguments.front() == "version") {
    if (arguments.size() > 1) {
      return error_of("`interlock version` takes no argument, and {} is one.",
                      in_quotes(arguments[1]));
    }
    arguments.front() = "--version";
    return false;
  }
  if (arguments.front() != "help") return false;
  arguments.erase(arguments.begin());
  // Which are no commands with options of their own.
  const bool is_of_all =
      arguments.size() == 1 && (arguments[0] == "help" || arguments[0] == "version");
  if (is_of_all) arguments.clear();
  const CLI::App* command = &app;
  for (const std::string& word : arguments) {
    if (word.starts_with('-')) continue;
    const std::vector<const CLI::App*> known = command->get_subcommands({});
    if (known.empty()) return no_part_of_a_command(word);
    const auto next = std::ranges::find(known, word, &CLI::App::get_name);
    if (next == known.end()) break;
    command = *next;
  }
  arguments.push_back("--help");
  return true;
}

ExitStatus run_command_line(int argc, char** argv) {
  for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
    if (lacks_value(argv[i])) {
      return report_error({fmt::format("{} has no value after it.", argv[i])});
    }
  }
  CLI::App app{"Finds missing and useless synchronization in GPU command streams.", "interlock"};
  app.set_version_flag("--version", "interlock " + std::string(release_text()));
  app.footer(
      "`interlock help COMMAND` says more of one, `interlock version` which release this is. --color=auto|always|never goes with any of them.");
  app.require_subcommand(1);
  ExitStatus status = ExitStatus::kNothingFound;
  for (const auto add :
       {add_check_command,      add_explore_command, add_fix_command,      add_run_command,
        add_encode_command,     add_conform_command, add_plan_command,     add_print_command,
        add_plot_command,       add_fuzz_command,    add_generate_command, add_merge_command,
        add_minimize_command,   add_replay_command,  add_report_command,   add_list_command,
        add_import_command,     add_show_command,    add_capture_command,  add_bugs_command,
        add_completion_command, add_manual_command,  add_serve_command}) {
    add(app, status);
  }
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const Result<Success> coloured = take_colour(arguments);
  if (!coloured) return report_error(coloured.error());
  const Result<bool> is_help_word = replace_words(app, arguments);
  if (!is_help_word) return report_error(is_help_word.error());
  try {
    std::ranges::reverse(arguments);  // As CLI11 wants them.
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    // CLI11 reports usage by exception; help and version arrive here too, with exit code 0.
    const bool lacks_command = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    const bool asks_for_help = dynamic_cast<const CLI::CallForHelp*>(&error) != nullptr;
    const bool has_extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    std::string unknown;
    if (lacks_command || asks_for_help) unknown = unknown_subcommand(app);
    // Whoever adds `--help` may have anything before it; after the word `help` stands a command.
    const bool is_of_help_word = asks_for_help && *is_help_word;
    if (unknown.empty() && (lacks_command || has_extras || is_of_help_word)) {
      unknown = unknown_option(app);
    }
    if (unknown.empty() && is_of_help_word && !app.remaining(true).empty()) {
      unknown = no_part_of_a_command(app.remaining(true).front()).message;
    }
    if (!unknown.empty()) return report_error({unknown});
    if (error.get_exit_code() != 0) return report_error(usage_error(app, error));
    app.exit(error);
    std::cout.flush();
    return std::cout ? ExitStatus::kNothingFound : ExitStatus::kBadInput;
  }
  if (interrupt_stop().is_requested()) {
    print_remark("interrupted: what was not said or written by now is not known.\n");
    return ExitStatus::kInterrupted;
  }
  return status;
}

}  // namespace
}  // namespace interlock

int main(int argc, char** argv) {
  try {
    const interlock::ExitStatus status = interlock::run_command_line(argc, argv);
    interlock::finish_progress();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return static_cast<int>(interlock::report_error({"standard output cannot be written."}));
    }
    return static_cast<int>(status);
  } catch (const std::bad_alloc&) {
    return static_cast<int>(
        interlock::report_error({"memory ran out. Lower the limits, or give a smaller input."}));
  }
}
