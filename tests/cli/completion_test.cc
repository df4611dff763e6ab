// Completions and the manual page: what shells and man make of what the program prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace interlock::completion_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

std::string quoted(const std::string& path) { return "'" + path + "'"; }

bool is_command(const std::string& name) { return run_shell("command -v " + name).status == 0; }

void expect_silent_success(const std::string& command) {
  const CommandResult result = run_shell(command);
  EXPECT_EQ(result.status, 0) << command;
  EXPECT_THAT(result.out + result.err, IsEmpty());
}

// What bash offers after these words, of which the last is not complete yet.
std::vector<std::string> offered_by_bash(const std::vector<std::string>& words) {
  const std::string script =
      temporary_file("completion.bash", run_interlock({"completion", "bash"}).out);
  std::string line = "COMP_WORDS=(";
  for (const std::string& word : words) line += quoted(word) + " ";
  line += "); COMP_CWORD=" + std::to_string(words.size() - 1) +
          "; complete -p interlock >/dev/null || exit 9; _interlock; "
          "printf '%s\\n' \"${COMPREPLY[@]}\"";
  const std::string command =
      "bash --norc -uec " + std::string("\"$(cat ") +
      quoted(temporary_file("complete.sh", "source " + quoted(script) + "\n" + line + "\n")) +
      ")\"";
  const CommandResult result = run_shell(command);
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  std::istringstream lines(result.out + result.err);
  std::vector<std::string> offered;
  for (std::string word; std::getline(lines, word);) {
    if (!word.empty()) offered.push_back(word);
  }
  return offered;
}

TEST(Completion, OfBashOffersCommandsOptionsAndTheirValues) {
  EXPECT_THAT(offered_by_bash({"interlock", ""}),
              AllOf(Contains("check"), Contains("fuzz"), Contains("fix"), Not(Contains("serve"))));
  EXPECT_THAT(offered_by_bash({"interlock", "mi"}), UnorderedElementsAre("minimize"));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--form"}), UnorderedElementsAre("--format="));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--ad"}), UnorderedElementsAre("--advice"));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--format", "=", ""}),
              UnorderedElementsAre("json", "sarif", "text"));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--format", "=", "s"}),
              UnorderedElementsAre("sarif"));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--format", "="}),
              UnorderedElementsAre("json", "sarif", "text"));
  EXPECT_THAT(offered_by_bash({"interlock", "fuzz", "--encoder", "mlx-20"}),
              AllOf(Contains("mlx-2024"), Contains("mlx-2026"), Not(Contains("interlock"))));
  EXPECT_THAT(offered_by_bash({"interlock", "list", "enc"}), UnorderedElementsAre("encoders"));
  EXPECT_THAT(offered_by_bash({"interlock", "generate", ""}),
              AllOf(Contains("mlp"), Not(Contains("check"))));
  EXPECT_THAT(offered_by_bash({"interlock", "generate", "mlp", "--lay"}),
              UnorderedElementsAre("--layers="));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--nothing"}), IsEmpty());
  EXPECT_THAT(offered_by_bash({"interlock", "help", "f"}), UnorderedElementsAre("fix", "fuzz"));
  EXPECT_THAT(offered_by_bash({"interlock", "ve"}), UnorderedElementsAre("version"));
  EXPECT_THAT(offered_by_bash({"interlock", "version", "--"}), UnorderedElementsAre("--color="));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--col"}), UnorderedElementsAre("--color="));
  EXPECT_THAT(offered_by_bash({"interlock", "check", "--color", "=", ""}),
              UnorderedElementsAre("auto", "always", "never"));
  EXPECT_THAT(offered_by_bash({"interlock", "--color", ""}),
              UnorderedElementsAre("auto", "always", "never"));
  // The value of --color is not taken for the command.
  EXPECT_THAT(offered_by_bash({"interlock", "--color", "always", "mi"}),
              UnorderedElementsAre("minimize"));
  EXPECT_THAT(offered_by_bash({"interlock", "--color", "=", "always", "check", "--ad"}),
              UnorderedElementsAre("--advice"));
  EXPECT_THAT(offered_by_bash({"interlock", "--color", "never", "list", "enc"}),
              UnorderedElementsAre("encoders"));
}

TEST(Completion, OfBashOffersFilesWhereOneBelongs) {
  const std::string file = temporary_file("a b.ilk", "interlock 1\n");
  EXPECT_THAT(offered_by_bash({"interlock", "check", file.substr(0, file.size() - 4)}),
              UnorderedElementsAre(file));
}

TEST(Completion, AreScriptsThatTheirShellsTake) {
  for (const std::string shell : {"bash", "zsh"}) {
    const CommandResult printed = run_interlock({"completion", shell});
    EXPECT_EQ(printed.status, 0);
    EXPECT_THAT(printed.out, HasSubstr("interlock completion " + shell));
    for (const char* word : {"help", "version"}) {
      EXPECT_THAT(printed.out, HasSubstr(std::string("    ") + (shell == "zsh" ? "" : "'") + word +
                                         (shell == "zsh" ? ")" : "')")));
    }
    if (!is_command(shell)) continue;
    expect_silent_success(shell + " -n " + quoted(temporary_file("script." + shell, printed.out)));
  }
  EXPECT_EQ(run_interlock({"completion", "fish"}).status, 2);
}

TEST(ManualPage, HasEveryCommandAndNoWarningOfMan) {
  const CommandResult page = run_interlock({"manual"});
  EXPECT_EQ(page.status, 0);
  for (const char* heading :
       {".SS interlock check", ".SS interlock generate mlp", ".SH EXIT STATUS"}) {
    EXPECT_THAT(page.out, HasSubstr(heading));
  }
  EXPECT_THAT(page.out, Not(HasSubstr(".SS interlock serve")));
  const std::string path = temporary_file("interlock.1", page.out);
  if (is_command("groff")) expect_silent_success("groff -man -Tutf8 -ww -z " + quoted(path));
  if (is_command("mandoc")) expect_silent_success("mandoc -T lint -W error " + quoted(path));
}

}  // namespace
}  // namespace interlock::completion_test
