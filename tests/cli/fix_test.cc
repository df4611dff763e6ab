// interlock fix: the diff, what is said beside it, and the status, as a user sees them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"
#include "tests/program_count.h"

namespace interlock::fix_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace fs = std::filesystem;

constexpr const char* kHazard = R"(interlock 1
memory a 256
memory b 256
reduce: dispatch Reduce reads a writes b[0:64]
vjp: dispatch Vjp reads b[64:128] writes a[0:64]
)";

std::string text_at(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(FixCommand, PrintsADiffAndSaysWhatItProves) {
  const CommandResult result = run_interlock({"fix", "-"}, kHazard);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out,
            "--- a/<stdin>\n+++ b/<stdin>\n@@ -2,4 +2,5 @@\n memory a 256\n memory b 256\n"
            " reduce: dispatch Reduce reads a writes b[0:64]\n+barrier execution\n"
            " vjp: dispatch Vjp reads b[64:128] writes a[0:64]\n");
  EXPECT_THAT(
      result.err,
      AllOf(StartsWith("1 hazard; 1 line added, 0 lines changed; none is left.\n"
                       "1 of 1 schedule that showed a hazard is not legal any more.\n"),
            HasSubstr("schedules of the repaired program tried on the shadow machine; 0 "
                      "differ.\n2 different schedules were executed on the CPU; all "
                      "outputs are the reference's, bit for bit.\n<stdin> now: 2 dispatches")));
}

TEST(FixCommand, WritesTheRepairedTextInstead) {
  const std::string path = temporary_path("fixed.ilk");
  const CommandResult result = run_interlock({"fix", "-", "-o", path}, kHazard);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(text_at(path), HasSubstr("\nbarrier execution\nvjp:"));
  EXPECT_EQ(run_interlock({"check", path}).status, 0);
}

TEST(FixCommand, LeavesWhatIsRightAndSaysWhatNoSyncRepairs) {
  const CommandResult right =
      run_interlock({"fix", "-"}, "interlock 1\nmemory a 64\ndispatch X writes a\n");
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.out, IsEmpty());
  EXPECT_THAT(right.err, StartsWith("No hazard: there is nothing that sync repairs.\n"));
  const CommandResult alias = run_interlock(
      {"fix", "-"}, "interlock 1\nmemory a 64\ndispatch X reads a[0:8] writes a[4:12]\n");
  EXPECT_EQ(alias.status, 1);
  EXPECT_THAT(alias.out, IsEmpty());
  EXPECT_THAT(alias.err, HasSubstr("1 finding"));
}

// The barrier shows b what it reads, and what b writes then is noted alone.
TEST(FixCommand, SaysWhatIsAfterOwnReadAndRepairsItWhereItIsDenied) {
  const std::string text =
      "interlock 1\nmemory x 64\nmemory y 64\nmemory z 64\nq1: queue concurrent\n"
      "a: dispatch A reads y writes x\nsignal s=1\nwait s=1 before copy on q1\n"
      "barrier copy -> compute.read on q1\nb: dispatch B reads x writes x y on q1\n";
  const CommandResult none = run_interlock({"fix", "-"}, text);
  EXPECT_EQ(none.status, 0);
  EXPECT_THAT(none.err,
              StartsWith("No hazard that counts.\n1 hazard after own read is not counted, "
                         "and stays: --deny=own-read repairs it, too.\n"));
  const std::string more = text + "c: dispatch C reads y writes z on q1\n";
  const CommandResult some = run_interlock({"fix", "-"}, more);
  EXPECT_EQ(some.status, 0);
  EXPECT_THAT(some.err, HasSubstr("1 hazard after own read is not counted, and stays; what differs "
                                  "does so through that: --deny=own-read repairs it, too.\n"));
  const CommandResult all = run_interlock({"fix", "-", "--deny=own-read"}, more);
  EXPECT_EQ(all.status, 0);
  EXPECT_THAT(all.err, AllOf(StartsWith("2 hazards; "), HasSubstr("shadow machine; 0 differ.\n")));
}

// What showed the hazard is legal for the sake of the bytes that nobody looks at.
TEST(FixCommand, SaysWhyAScheduleIsLegalStill) {
  const CommandResult result =
      run_interlock({"fix", "-"},
                    "interlock 1\nmemory x 256 noncoherent=64\nmemory y 64\n"
                    "w: host writes x[0:16] x[64:80] x[200:210]\nhost invalidates x[64:128]\n"
                    "b: dispatch B reads x writes y\nr: host reads x\n");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("1 of 2 schedules that showed a hazard is not legal any more; "
                                    "the other one is legal, and changes no output "
                                    "now.\n"));
}

TEST(FixCommand, GivesBadInputStatusTwo) {
  const CommandResult bad = run_interlock({"fix", "-"}, "interlock 1\nmemory a\n");
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("<stdin>:2:"));
  EXPECT_EQ(run_interlock({"fix", temporary_path("none.ilk")}).status, 2);
}

// `git apply` takes the diffs as they are, and makes the text of -o of them: lines that are added
// and changed, several hunks, texts without a last newline. Of a program whose replays are spelled
// out, as the remark says then, the diff is of that program.
TEST(FixCommand, PrintsDiffsThatApply) {
  const fs::path corpus = fs::absolute(fs::path(INTERLOCK_SOURCE_DIR) / "corpus");
  const fs::path before = fs::current_path();
  const fs::path folder = temporary_path("fix");
  fs::create_directories(folder);
  fs::current_path(folder);
  int applied_count = 0;
  for (const char* const name : {"queues", "regressions", "streams"}) {
    for (const auto& entry : fs::directory_iterator(corpus / name)) {
      if (entry.path().extension() != ".ilk" || fs::file_size(entry.path()) > 20'000) continue;
      const std::string given = text_at(entry.path());
      if (given.find("expect RAW") == std::string::npos) continue;
      std::ofstream("given.ilk") << given.substr(0, given.size() - 1);
      const CommandResult fix = run_interlock({"fix", "given.ilk"});
      if (fix.out.empty() || fix.err.find("spelled out") != std::string::npos) continue;
      std::ofstream("change.diff") << fix.out;
      run_interlock({"fix", "given.ilk", "-o", "whole.ilk"});
      EXPECT_EQ(std::system("GIT_CEILING_DIRECTORIES=$PWD/.. git apply change.diff"), 0)
          << entry.path() << fix.out;
      EXPECT_EQ(text_at("given.ilk"), text_at("whole.ilk")) << entry.path();
      ++applied_count;
    }
  }
  fs::current_path(before);
  EXPECT_GT(applied_count, 30);
}

// Neither git nor patch looks into gzip.
TEST(FixCommand, SaysOfAPackedFileThatTheDiffIsOfItsText) {
  const fs::path file = fs::path(temporary_path("packed.ilk.gz"));
  ASSERT_EQ(run_interlock({"print", "-", "-o", file}, kHazard).status, 0);
  const CommandResult fix = run_interlock({"fix", file});
  EXPECT_THAT(fix.out, HasSubstr("packed.ilk\n@@ "));
  EXPECT_THAT(fix.err, HasSubstr("The diff is of the text that is packed in the file"));
  EXPECT_EQ(run_interlock({"fix", file, "-o", file}).status, 0);
  EXPECT_THAT(run_interlock({"print", file}).out, HasSubstr("\nbarrier execution\n"));
}

// From wherever in the repository they are made, and whichever way the file is named.
TEST(FixCommand, PrintsDiffsThatApplyInARepository) {
  const fs::path before = fs::current_path();
  const fs::path given = temporary_path("repository");
  fs::remove_all(given);
  fs::create_directories(given);
  const fs::path root = fs::canonical(given);
  fs::create_directories(root / "streams" / "deep");
  fs::create_directories(root / "other");
  ASSERT_EQ(std::system(("git init -q '" + root.string() + "'").c_str()), 0);
  const fs::path file = root / "streams" / "given.ilk";
  const auto applies = [&](const fs::path& folder, const std::string& name) {
    std::ofstream(file) << kHazard;
    fs::current_path(folder);
    const CommandResult fix = run_interlock({"fix", name});
    std::ofstream(root / "change.diff") << fix.out;
    // Git passes over what is not below the folder where it runs.
    if (folder == root / "streams" / "deep") fs::current_path(root);
    const std::string command = "git apply '" + (root / "change.diff").string() + "'";
    return std::system(command.c_str()) == 0 &&
           text_at(file).find("barrier execution") != std::string::npos;
  };
  EXPECT_TRUE(applies(root, "streams/given.ilk"));
  EXPECT_TRUE(applies(root, "./streams/given.ilk"));
  EXPECT_TRUE(applies(root, file.string()));
  EXPECT_TRUE(applies(root, "other/../streams/given.ilk"));
  EXPECT_TRUE(applies(root / "streams", "given.ilk"));
  EXPECT_TRUE(applies(root / "streams", file.string()));
  EXPECT_TRUE(applies(root / "streams" / "deep", "../given.ilk"));
  // In no repository: relative to the folder, or as it was named.
  fs::remove_all(root / ".git");
  std::ofstream(file) << kHazard;
  fs::current_path(root / "streams");
  EXPECT_THAT(run_interlock({"fix", file.string()}).out, StartsWith("--- a/given.ilk\n"));
  fs::current_path(root / "streams" / "deep");
  const CommandResult fix = run_interlock({"fix", file.string()});
  EXPECT_THAT(fix.out, StartsWith("--- " + file.string() + "\n+++ " + file.string() + "\n"));
  fs::current_path(before);
  fs::remove_all(root);
}

// A diff of quadratic size would not fit into memory. `git apply` judges it; a name with a blank
// `patch` has to find, too.
TEST(FixCommand, PrintsDiffsOfManyLinesThatApply) {
  const int count = is_slow_build() ? 1'000 : 10'000;
  std::string text = "interlock 1\nmemory a 64\n";
  for (int i = 0; i < count; ++i) text += fmt::format("d{}: dispatch X writes a\n", i);
  const fs::path before = fs::current_path();
  const fs::path folder = temporary_path("fix of many");
  fs::create_directories(folder);
  fs::current_path(folder);
  std::ofstream("the given.ilk") << text;
  const CommandResult fix = run_interlock({"fix", "the given.ilk"});
  EXPECT_EQ(fix.status, 0) << fix.err;
  EXPECT_THAT(fix.err, HasSubstr(fmt::format("; {} lines added", count - 1)));
  EXPECT_EQ(std::ranges::count(fix.out, '+') - 4, count - 1);
  EXPECT_THAT(fix.out, StartsWith("--- a/the given.ilk\t\n+++ b/the given.ilk\t\n@@ -1,"));
  std::ofstream("change.diff") << fix.out;
  run_interlock({"fix", "the given.ilk", "-o", "whole.ilk"});
  EXPECT_EQ(std::system("GIT_CEILING_DIRECTORIES=$PWD/.. git apply change.diff"), 0);
  EXPECT_TRUE(text_at("the given.ilk") == text_at("whole.ilk"));
  fs::current_path(before);
}

constexpr const char* kDocument = "docs/fix.md";

TEST(FixDocument, ShowsWhatItsCommandsPrint) {
  const fs::path before = fs::current_path();
  const auto commands = shown_commands(document_text(kDocument));
  EXPECT_EQ(commands.size(), 3u);
  // In no repository: the tree may be in another one, and names would be from its root.
  const fs::path folder = temporary_path("fix_document");
  fs::remove_all(folder);
  for (const char* const name : {"corpus/bugs", "corpus/queues"}) {
    fs::create_directories(folder / name);
    fs::copy(fs::path(INTERLOCK_SOURCE_DIR) / name, folder / name, fs::copy_options::recursive);
  }
  fs::current_path(folder);
  for (const ShownCommand& command : commands) {
    const CommandResult result = run_interlock(command.arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_TRUE(prints(result.err + result.out, command.lines)) << result.err << result.out;
  }
  fs::current_path(before);
}

}  // namespace
}  // namespace interlock::fix_test
