// docs/failing-file.md and docs/exec.md, which newcomers follow by copy and paste: their commands,
// given to a shell one after the other, print what they show.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"
#include "tests/program_count.h"

namespace interlock::stories_test {
namespace {

namespace fs = std::filesystem;

TEST(Stories, OfAFileThatWasSentPrintsWhatItShows) {
  const fs::path folder = temporary_path("story");
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::create_directory_symlink(INTERLOCK_SOURCE_DIR "/corpus", folder / "corpus");
  const std::vector<ShownLine> shown = shown_lines(document_text("docs/failing-file.md"));
  EXPECT_EQ(shown.size(), 12u);
  ASSERT_EQ(chdir(folder.c_str()), 0);
  for (const ShownLine& line : shown) {
    std::string lines;
    for (const std::string& each : line.lines) lines += each + '\n';
    const CommandResult result = run_shell(line.command);
    EXPECT_EQ(result.out, lines) << line.command << '\n' << result.err;
  }
  ASSERT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
  fs::remove_all(folder);
}

TEST(Stories, OfAnEncoderInAnotherLanguagePrintsWhatItShows) {
  if (is_slow_build()) GTEST_SKIP() << "It asks for seven thousand programs.";
  if (run_shell("python3 -c ''").status != 0) GTEST_SKIP() << "There is no python3 here.";
  const fs::path folder = temporary_path("encoder_story");
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* const name : {"corpus", "docs"}) {
    fs::create_directory_symlink(fs::path(INTERLOCK_SOURCE_DIR) / name, folder / name);
  }
  const std::vector<ShownLine> shown = shown_lines(document_text("docs/exec.md"));
  EXPECT_EQ(shown.size(), 27u);
  ASSERT_EQ(chdir(folder.c_str()), 0);
  for (const ShownLine& line : shown) {
    const CommandResult result = run_shell(line.command);
    EXPECT_TRUE(prints(result.out, line.lines) || prints(result.err, line.lines))
        << line.command << '\n'
        << result.out << result.err;
  }
  ASSERT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace interlock::stories_test
