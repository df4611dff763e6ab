// docs/failing-file.md and docs/exec.md, which newcomers follow by copy and paste: their commands,
// given to a shell one after the other, print what they show. The commands of pages that have no
// such test run, and print what is shown of their output.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
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
  if (is_slow_build()) GTEST_SKIP() << "It asks for ten thousand programs.";
  if (run_shell("python3 -c ''").status != 0) GTEST_SKIP() << "There is no python3 here.";
  const fs::path folder = temporary_path("encoder_story");
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* const name : {"corpus", "docs"}) {
    fs::create_directory_symlink(fs::path(INTERLOCK_SOURCE_DIR) / name, folder / name);
  }
  const std::vector<ShownLine> shown = shown_lines(document_text("docs/exec.md"));
  EXPECT_EQ(shown.size(), 12u);
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

// What stands for something of the reader's own, and campaigns that are as long as they need to be
// here.
std::string as_typed(std::string command) {
  const std::pair<const char*, const char*> words[] = {
      {" FILE", " corpus/bugs/mlx-3630.ilk"},
      {"=DIR", "=found"},
      {"=NAME", "=ggml"},
      {"=SEED", "=1"},
      {" queues.ilk", " corpus/queues/one-branch-joined.ilk"}};
  for (const auto& [word, meant] : words) {
    const size_t at = command.find(word);
    if (at != std::string::npos) command.replace(at, std::string_view(word).size(), meant);
  }
  command = std::regex_replace(command, std::regex(" --runs=[0-9e]+"), "");
  const size_t comment = command.find("  #");
  if (comment != std::string::npos) command.erase(comment);
  if (command.starts_with("interlock fuzz ")) {
    command += command.find("--queues") == std::string::npos ? " --runs=300" : " --runs=40";
  }
  return command;
}

// A folder in which commands of pages find what they name, and may write; it is the current one
// while this lives.
class PageFolder {
 public:
  PageFolder() : folder_(temporary_path("pages")) {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "streams");
    for (const char* const name : {"corpus", "docs"}) {
      fs::create_directory_symlink(fs::path(INTERLOCK_SOURCE_DIR) / name, folder_ / name);
    }
    fs::copy_file(folder_ / "corpus/bugs/mlx-3630.ilk", folder_ / "streams/one.ilk");
    EXPECT_EQ(chdir(folder_.c_str()), 0);
  }
  ~PageFolder() {
    EXPECT_EQ(chdir(INTERLOCK_SOURCE_DIR), 0);
    fs::remove_all(folder_);
  }
  PageFolder(const PageFolder&) = delete;
  PageFolder& operator=(const PageFolder&) = delete;

 private:
  fs::path folder_;
};

// The lines of a page that are commands of ours, in indented blocks, with or without a prompt.
std::vector<std::string> commands_of_page(const std::string& page) {
  std::vector<std::string> commands;
  std::istringstream text(document_text("docs/" + page + ".md"));
  const std::regex command("    (\\$ )?(interlock [a-z].*)");
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    // What the reader has made stands in a story of its own.
    if (line.find("=exec:./") != std::string::npos || line.find(" finds/") != std::string::npos) {
      continue;
    }
    if (std::regex_match(line, match, command)) commands.push_back(match[2]);
  }
  return commands;
}

// Of pages that no test of their own reads: what their commands name is there, and they end with a
// verdict. Each page may use what the ones before it have made, as `found`.
TEST(Documents, ShowCommandsThatRun) {
  if (is_slow_build()) GTEST_SKIP() << "It starts the program some thirty times.";
  const PageFolder folder;
  size_t count = 0;
  for (const std::string page : {"backward", "causes", "ci", "encoders", "exec", "fuzzing",
                                 "fuzzing-passes", "workloads", "planners"}) {
    for (const std::string& shown : commands_of_page(page)) {
      if (shown.ends_with('\\')) continue;  // The test of that page has it.
      const CommandResult result = run_shell(as_typed(shown));
      EXPECT_LE(result.status, 1) << page << ": " << as_typed(shown) << '\n' << result.err;
      ++count;
    }
  }
  EXPECT_GE(count, 30u);
}

// Of such a page what it shows of their output, too.
TEST(Documents, ShowWhatTheirCommandsPrint) {
  const PageFolder folder;
  const std::vector<ShownLine> all = shown_lines(document_text("docs/causes.md"));
  EXPECT_EQ(all.size(), 2u);
  for (const ShownLine& shown : all) {
    const CommandResult result = run_shell(shown.command);
    EXPECT_TRUE(prints(result.out, shown.lines)) << shown.command << '\n'
                                                 << result.out << result.err;
  }
}

// docs/encoders.md shows what the encoder with scopes makes of a program of its barriers' places.
TEST(Documents, ShowTheScopesOfTheEncoder) {
  const std::string page = document_text("docs/encoders.md");
  const std::string command = "    interlock encode --encoder=interlock-scoped FILE\n\n";
  const size_t at = page.find(command);
  ASSERT_NE(at, std::string::npos);
  const size_t begin = at + command.size();
  std::istringstream block(page.substr(begin, page.find("\n\n", begin) - begin));
  std::string shown;
  std::string input = "interlock 1\n";
  for (std::string line; std::getline(block, line);) {
    shown += line.substr(4) + '\n';
    if (!line.starts_with("    barrier ")) input += line.substr(4) + '\n';
  }
  const CommandResult result = run_interlock({"encode", "--encoder=interlock-scoped", "-"}, input);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out.substr(result.out.find("memory")), shown);
}

}  // namespace
}  // namespace interlock::stories_test
