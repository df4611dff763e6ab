// interlock completion, interlock manual: what a shell and man (1) are told of the commands.
// Packages are made with them; whoever built the program can say: source <(interlock completion
// bash)
#include <string>

#include "encoder/program/release.h"
#include "fuzz/cli/command_outline.h"
#include "fuzz/cli/commands.h"
#include "fuzz/cli/console.h"
#include "fuzz/cli/input.h"

namespace interlock {

void add_completion_command(CLI::App& app, ExitStatus& status) {
  auto [command, shell] = add_subcommand<std::string>(
      app, status, "completion", "prints what makes a shell complete commands and options",
      [&app](const std::string& name) {
        const CommandOutline outline = outline_of(app);
        print_out(name == "bash" ? bash_completion(outline) : zsh_completion(outline));
        return ExitStatus::kNothingFound;
      });
  command
      .add_option("shell", shell, "bash, to be sourced; zsh, to be the file _interlock in $fpath")
      ->required()
      ->check(one_of({"bash", "zsh"}));
}

void add_manual_command(CLI::App& app, ExitStatus& status) {
  struct NoOptions {};
  add_subcommand<NoOptions>(app, status, "manual", "prints the manual page, for man (1)",
                            [&app](const NoOptions&) {
                              print_out(manual_page(outline_of(app), release_text()));
                              return ExitStatus::kNothingFound;
                            });
}

}  // namespace interlock
