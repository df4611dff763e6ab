// The traps of several queues and of the host, in pairs: what looks right and is not
// (corpus/queues/NAME.ilk), and beside it the smallest repair (NAME.fixed.ilk). Each says what a
// check finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"

namespace interlock::queue_corpus_test {
namespace {

namespace fs = std::filesystem;

const std::string kRepaired = ".fixed";

fs::path folder() { return fs::path(INTERLOCK_SOURCE_DIR) / "corpus" / "queues"; }

std::vector<std::string> names_of_pairs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder())) {
    const std::string stem = entry.path().stem().string();
    if (!stem.ends_with(kRepaired)) names.push_back(stem);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Program parsed(const std::string& name) {
  ParseOptions options;
  options.reads_every_queue = true;
  Result<Program> program = parse_file((folder() / (name + ".ilk")).string(), options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? *program : Program{};
}

void expect_as_it_says(const Program& program) {
  const CheckReport report = check(program);
  const ExpectationOutcome outcome = judge_expectations(program, report);
  for (const SubjectOutcome& subject : outcome.subjects) {
    EXPECT_THAT(subject.failures, ::testing::IsEmpty());
    EXPECT_THAT(subject.unjudged, ::testing::IsEmpty());
  }
  EXPECT_TRUE(is_as_expected(program, report, outcome));
}

bool is_expected_clean(const Program& program) {
  return std::ranges::any_of(program.expectations, &Expectation::is_clean);
}

TEST(QueueTraps, AreFound) {
  ASSERT_GE(names_of_pairs().size(), 30);
  for (const std::string& name : names_of_pairs()) {
    SCOPED_TRACE(name);
    const Program program = parsed(name);
    EXPECT_FALSE(program.expectations.empty());
    EXPECT_FALSE(is_expected_clean(program));
    expect_as_it_says(program);
  }
}

TEST(QueueTraps, AreRepairedByTheSecondOfEachPair) {
  for (const std::string& name : names_of_pairs()) {
    SCOPED_TRACE(name);
    const Program program = parsed(name + kRepaired);
    EXPECT_TRUE(is_expected_clean(program));
    expect_as_it_says(program);
  }
}

// A reader of the corpus learns from each what it is about.
TEST(QueueTraps, SayWhatTheyShow) {
  for (const auto& entry : fs::directory_iterator(folder())) {
    std::ifstream file(entry.path());
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line, "interlock 1") << entry.path();
    std::getline(file, line);
    EXPECT_TRUE(line.starts_with("# ")) << entry.path();
  }
}

}  // namespace
}  // namespace interlock::queue_corpus_test
