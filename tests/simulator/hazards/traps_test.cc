// The traps of scoped barriers, in pairs: what looks right and is a hazard
// (corpus/seeds/trap-*.ilk), and beside it the smallest repair (trap-*.fixed.ilk). Judged by the
// check, by the definition and by all executions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "encoder/text/files.h"
#include "simulator/report/check.h"
#include "tests/simulator/judges/cache_machine.h"
#include "tests/simulator/judges/reference_order.h"

namespace interlock::traps_test {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

constexpr FindingKind kRaw = FindingKind::kReadAfterWrite;
constexpr FindingKind kWar = FindingKind::kWriteAfterRead;
constexpr FindingKind kWaw = FindingKind::kWriteAfterWrite;

fs::path seeds() { return fs::path(INTERLOCK_SOURCE_DIR) / "corpus" / "seeds"; }

Program parsed(const std::string& name) {
  Result<Program> program = parse_file((seeds() / (name + ".ilk")).string());
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? *program : Program{};
}

std::vector<FindingKind> kinds_of(const CheckReport& report) {
  std::vector<FindingKind> kinds;
  for (const Finding& finding : report.findings) kinds.push_back(finding.kind);
  return kinds;
}

// Each with the hazards that the first of the pair has.
const std::vector<std::pair<std::string, std::vector<FindingKind>>>& traps() {
  static const auto* const kTraps =
      new std::vector<std::pair<std::string, std::vector<FindingKind>>>{
          {"trap-one-command", {kRaw}},
          {"trap-same-barrier-twice", {kRaw}},
          {"trap-other-buffer-order", {kWar}},
          {"trap-other-buffer-memory", {kRaw}},
          {"trap-uniform", {kRaw}},
          {"trap-execution-only-war", {kWar}},
          {"trap-execution-only-raw", {kRaw}},
          {"trap-execution-only-waw", {kWaw}},
          {"trap-atomics", {kRaw, kWar, kWaw}},
      };
  return *kTraps;
}

TEST(Traps, AreHazardsByEveryMethod) {
  for (const auto& [name, kinds] : traps()) {
    const Program program = parsed(name);
    EXPECT_EQ(kinds_of(check(program)), kinds) << name;
    EXPECT_TRUE(reference_has_hazard(program)) << name;
    EXPECT_TRUE(execute_in_every_way(program).differs) << name;
  }
}

TEST(Traps, AreRepairedByEveryMethod) {
  for (const auto& [name, kinds] : traps()) {
    const Program program = parsed(name + ".fixed");
    EXPECT_THAT(kinds_of(check(program)), IsEmpty()) << name;
    EXPECT_FALSE(reference_has_hazard(program)) << name;
    const CacheVerdict verdict = execute_in_every_way(program);
    EXPECT_FALSE(verdict.differs) << name << ": " << verdict.execution;
  }
}

TEST(Traps, AreAllOfTheCorpus) {
  std::set<std::string> files;
  std::set<std::string> expected;
  for (const auto& entry : fs::directory_iterator(seeds())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("trap-")) files.insert(name);
  }
  for (const auto& [name, kinds] : traps()) {
    expected.insert(name + ".ilk");
    expected.insert(name + ".fixed.ilk");
  }
  EXPECT_EQ(files, expected);
}

// A removal that would be wrong: each of the two equal barriers is needed.
TEST(Traps, EqualBarriersAreNotRedundant) {
  EXPECT_THAT(check(parsed("trap-same-barrier-twice.fixed")).redundant, IsEmpty());
  EXPECT_THAT(check(parsed("trap-one-command.fixed")).redundant, IsEmpty());
}

}  // namespace
}  // namespace interlock::traps_test
