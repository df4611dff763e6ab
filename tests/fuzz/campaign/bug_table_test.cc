// The table of bugs says what the programs do, and cannot say anything else.
#include "fuzz/campaign/bug_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "tests/corpus_files.h"

namespace interlock::bug_table_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace fs = std::filesystem;

const std::string kCorpus = INTERLOCK_SOURCE_DIR "/corpus/bugs";

constexpr const char* kHazard = R"(interlock 1
memory x 64
produce: dispatch Produce writes x
consume: dispatch Consume reads x
expect RAW produce consume
)";

constexpr const char* kRepaired = R"(interlock 1
memory x 64
produce: dispatch Produce writes x
barrier
consume: dispatch Consume reads x
expect clean
)";

constexpr const char* kSlow = R"(interlock 1
memory x 64
produce: dispatch Produce writes x
one: barrier
two: barrier
consume: dispatch Consume reads x
expect redundant one
expect redundant two
)";

// A folder of bugs of its own, which goes with the test.
class BugFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(path_); }
  void TearDown() override { fs::remove_all(path_); }

  fs::path path(const std::string& name) const { return path_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  // Two programs under the name `demo-1`, and their line.
  void write_demo(const std::string& bug, const std::string& twin) const {
    write("index.tsv", "1\tme/demo#1\tBAR\tdemo-1\tno barrier\t-\n");
    write("demo-1.ilk", bug);
    write("demo-1.fixed.ilk", twin);
  }
  JudgedBug demo() const {
    const auto bugs = judge_bugs(path_.string(), every_queue());
    EXPECT_TRUE(bugs.has_value()) << (bugs ? "" : bugs.error().message);
    return bugs && !bugs->empty() ? bugs->front() : JudgedBug{};
  }
  std::string error() const {
    const auto bugs = judge_bugs(path_.string(), every_queue());
    return bugs ? "" : bugs.error().message;
  }

 private:
  fs::path path_ = fs::path(testing::TempDir()) /
                   ("bugs-" + std::to_string(::getpid()) + "-" +
                    testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string error_of(const std::string& text) {
  const auto entries = parse_bug_index(text, "index.tsv");
  return entries ? "" : entries.error().message;
}

TEST(BugIndex, ReadsALinePerBug) {
  const auto entries = parse_bug_index(
      "# a comment\n"
      "4\tme/demo#12\tBAR, PLAN\tdemo-12\tno barrier\t-\n"
      "4\tme/demo@0af1\tXQ\t-\tno event\ttwo queues\n"
      "-\tme/demo#3\tGRAD\tdemo-3\tcounts twice\t-\n",
      "index.tsv");
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  ASSERT_THAT(*entries, SizeIs(3));
  EXPECT_EQ((*entries)[0].number, "4");
  EXPECT_EQ((*entries)[0].bug, "me/demo#12");
  EXPECT_EQ((*entries)[0].classes, "BAR, PLAN");
  EXPECT_EQ((*entries)[0].file, "demo-12");
  EXPECT_EQ((*entries)[0].what, "no barrier");
  EXPECT_TRUE((*entries)[0].has_file());
  EXPECT_FALSE((*entries)[1].has_file());
  EXPECT_EQ((*entries)[1].needs, "two queues");
  EXPECT_EQ((*entries)[2].number, "");
}

TEST(BugIndex, RefusesALineThatIsMalformed) {
  EXPECT_EQ(error_of("1\tme/demo#1\tBAR\tdemo-1\tno barrier\n"),
            "index.tsv:1: error: 5 columns, not 6.");
  EXPECT_THAT(error_of("#\none\tme/demo#1\tBAR\tdemo-1\tno barrier\t-\n"),
              HasSubstr("index.tsv:2: error: 'one' is no number."));
  for (const std::string bug :
       {"demo#1", "me/demo", "me/demo#", "me/demo#x1", "me/#1", "/demo#1", "me/demo@xyz"}) {
    EXPECT_THAT(error_of("1\t" + bug + "\tBAR\tdemo-1\tno barrier\t-\n"),
                HasSubstr("is no OWNER/PROJECT#NUMBER"))
        << bug;
  }
  for (const std::string classes : {"", "BUG", "BAR,PLAN", "BAR, "}) {
    EXPECT_THAT(error_of("1\tme/demo#1\t" + classes + "\tdemo-1\tno barrier\t-\n"),
                HasSubstr("is no class."))
        << classes;
  }
  EXPECT_THAT(error_of("1\tme/demo#1\tBAR\tdemo-1\t-\t-\n"), HasSubstr("what went wrong"));
  EXPECT_THAT(error_of("1\tme/demo#1\tBAR\tdemo-1\tno barrier\ttwo queues\n"),
              HasSubstr("has a file, or says what it needs"));
  EXPECT_THAT(error_of("1\tme/demo#1\tBAR\t-\tno barrier\t-\n"),
              HasSubstr("has a file, or says what it needs"));
}

TEST(BugIndex, HasABugOnceAndNumbersInOrder) {
  const std::string line = "\tBAR\tdemo\tno barrier\t-\n";
  EXPECT_THAT(error_of("1\tme/demo#1" + line + "2\tme/demo#2" + line), IsEmpty());
  EXPECT_THAT(error_of("1\tme/demo#1" + line + "2\tme/demo#1" + line),
              HasSubstr("index.tsv:2: error: 'me/demo#1' has a line already."));
  EXPECT_THAT(error_of("2\tme/demo#2" + line + "1\tme/demo#1" + line),
              HasSubstr("index.tsv:2: error: its number is less"));
  EXPECT_THAT(error_of("-\tme/demo#2" + line + "1\tme/demo#1" + line),
              HasSubstr("index.tsv:2: error: its number is less"));
}

TEST_F(BugFolder, IsJudgedByItsPrograms) {
  write_demo(kHazard, kRepaired);
  EXPECT_EQ(demo().found_as, "RAW");
  EXPECT_EQ(demo().twin, "clean");
  EXPECT_TRUE(demo().is_as_expected);
}

TEST_F(BugFolder, HasProgramsOfSeveralQueues) {
  const std::string start =
      "interlock 1\nmemory x 64\nq1: queue serial\n"
      "produce: dispatch Produce writes x\nsignal s=1\n";
  const std::string use = "consume: dispatch Consume reads x on q1\n";
  write_demo(start + use + "expect RAW produce consume\n",
             start + "wait s=1 on q1\n" + use + "expect clean\n");
  EXPECT_EQ(demo().found_as, "RAW");
  EXPECT_EQ(demo().twin, "clean");
  EXPECT_TRUE(demo().is_as_expected);
}

TEST_F(BugFolder, TellsOfAFindingThatIsNotThere) {
  std::string expects_more = kHazard;
  expects_more += "expect WAW produce consume\n";
  write_demo(expects_more, kRepaired);
  EXPECT_EQ(demo().found_as, "not as expected");
  EXPECT_FALSE(demo().is_as_expected);
}

TEST_F(BugFolder, TellsOfABugThatIsNone) {
  write_demo(kRepaired, kRepaired);
  EXPECT_EQ(demo().found_as, "not as expected");
  EXPECT_FALSE(demo().is_as_expected);
}

TEST_F(BugFolder, TellsOfATwinThatIsNotRepaired) {
  write_demo(kHazard, kHazard);
  EXPECT_EQ(demo().found_as, "RAW");
  EXPECT_EQ(demo().twin, "not as expected");
  EXPECT_FALSE(demo().is_as_expected);
}

TEST_F(BugFolder, WantsNoBarrierTooManyInTheTwinOfOne) {
  write_demo(kSlow, kRepaired);
  EXPECT_EQ(demo().found_as, "redundant");
  EXPECT_TRUE(demo().is_as_expected);
  std::string still_slow = kSlow;
  still_slow = still_slow.substr(0, still_slow.find("expect")) + "expect clean\n";
  write_demo(kSlow, still_slow);
  EXPECT_EQ(demo().twin, "not as expected");
  EXPECT_FALSE(demo().is_as_expected);
  // Elsewhere it is advice.
  write_demo(kHazard, still_slow);
  EXPECT_TRUE(demo().is_as_expected);
}

TEST_F(BugFolder, HasALineForEveryProgramAndTheReverse) {
  EXPECT_THAT(error(), HasSubstr("A folder of bugs has one; give its path."));
  fs::create_directories(path("index.tsv"));
  EXPECT_THAT(error(), HasSubstr("Is a directory. A folder of bugs has one; give its path."));
  fs::remove(path("index.tsv"));
  write_demo(kHazard, kRepaired);
  write("demo-2.ilk", kHazard);
  EXPECT_THAT(error(), HasSubstr("index.tsv: no line is about 'demo-2.ilk'."));
  write("index.tsv",
        "1\tme/demo#1\tBAR\tdemo-1\tno barrier\t-\n"
        "2\tme/demo#2\tBAR\tdemo-2\tno barrier\t-\n");
  EXPECT_THAT(error(), HasSubstr("index.tsv: 'demo-2.fixed.ilk' is not beside it."));
  write("demo-2.fixed.ilk", kRepaired);
  EXPECT_THAT(error(), IsEmpty());
}

TEST(BugTable, FindsEveryBugOfTheCorpusAndNothingInItsTwin) {
  const auto bugs = judge_bugs(kCorpus, every_queue());
  ASSERT_TRUE(bugs.has_value()) << bugs.error().message;
  for (const JudgedBug& bug : *bugs) {
    EXPECT_TRUE(bug.is_as_expected) << bug.entry.bug << ": " << bug.found_as << ", " << bug.twin;
  }
  std::set<std::string> numbers;
  std::set<std::string> found_numbers;
  for (const JudgedBug& bug : *bugs) {
    numbers.insert(bug.entry.number);
    if (bug.entry.has_file()) found_numbers.insert(bug.entry.number);
  }
  EXPECT_GE(numbers.size(), 82u);  // One is none.
  EXPECT_GE(found_numbers.size(), 75u);
  const auto found = std::find_if(bugs->begin(), bugs->end(), [](const JudgedBug& bug) {
    return bug.entry.bug == "ml-explore/mlx#3630";
  });
  ASSERT_NE(found, bugs->end());
  EXPECT_EQ(found->found_as, "WAR");
}

// What the head of a file says is about the bug in its line: it has the number, or the start of the
// commit; that of a twin may have the name of the file instead.
TEST(BugTable, NamesInEveryProgramABugOfItsLines) {
  const auto bugs = judge_bugs(kCorpus, every_queue());
  ASSERT_TRUE(bugs.has_value()) << bugs.error().message;
  std::map<std::string, bool> is_named;
  for (const JudgedBug& bug : *bugs) {
    if (!bug.entry.has_file()) continue;
    const size_t mark = bug.entry.bug.find_first_of("#@");
    const std::string id =
        bug.entry.bug[mark] == '#' ? bug.entry.bug.substr(mark) : bug.entry.bug.substr(mark + 1, 7);
    for (const std::string suffix : {".ilk", ".fixed.ilk"}) {
      std::ifstream file(kCorpus + "/" + bug.entry.file + suffix);
      std::string head;
      for (std::string line; std::getline(file, line);) {
        if (line.starts_with("# ")) head.append(line).append("\n");
      }
      bool& is_in_head = is_named[bug.entry.file + suffix];
      if (head.find(id) != std::string::npos) is_in_head = true;
      if (suffix != ".ilk" && head.find(bug.entry.file) != std::string::npos) is_in_head = true;
    }
  }
  for (const auto& [name, is_in_head] : is_named) EXPECT_TRUE(is_in_head) << name;
}

}  // namespace
}  // namespace interlock::bug_table_test
