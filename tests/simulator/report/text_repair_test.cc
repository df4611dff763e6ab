// Repaired texts: the search of chains finds no hazard in them, no change with fewer barriers does
// on one queue, and no line of one can go with several. And all else of a text stays. Fixed seeds.
#include "simulator/report/text_repair.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/printer.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_queue_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::text_repair_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSubsetOf;
using ::testing::Not;

Result<TextRepair> repair_of(const std::string& text,
                             uint64_t hazard_limit = CheckOptions{}.pair_limit) {
  ParseOptions options;
  read_every_queue(options);
  return repair_text(text, "test", options, {.hazard_limit = hazard_limit});
}

// A write after own read is noted and does not count.
bool is_noted(const ChainHazard& hazard, const CheckReport& report) {
  return std::ranges::any_of(report.noted, [&](const Finding& finding) {
    return finding.is_after_own_read && finding.kind == hazard.kind &&
           finding.first.dispatch == hazard.first && finding.second->dispatch == hazard.second;
  });
}

bool is_clean(const std::string& text) {
  const std::optional<Program> program = parse_queues(text);
  if (!program) return false;
  const auto hazards = chain_hazards_of(*program);
  if (!hazards) return false;  // A deadlock.
  if (hazards->empty()) return true;
  const CheckReport report =
      check(*program, {.lists_all_pairs = true, .observability_budget = 0, .repair_budget = 0});
  return std::ranges::all_of(*hazards,
                             [&](const ChainHazard& hazard) { return is_noted(hazard, report); });
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Whether so many barriers more are enough, wherever they stand, if each one that is there is about
// memory, too.
bool do_barriers_repair(std::vector<std::string> lines, size_t count, size_t begin) {
  if (count == 0) return is_clean(joined(lines));
  for (size_t i = begin; i < lines.size(); ++i) {
    if (!lines[i].starts_with("dispatch")) continue;
    std::vector<std::string> with = lines;
    with.insert(with.begin() + static_cast<std::ptrdiff_t>(i), "barrier");
    if (do_barriers_repair(with, count - 1, i + 2)) return true;
  }
  return false;
}

struct Tally {
  int repaired = 0;
  int with_new_barriers = 0;
  int with_fuller_ones = 0;
  int of_several = 0;
  int by_rounds = 0;
};

void expect_fewest(const std::string& text, Tally& tally,
                   uint64_t hazard_limit = CheckOptions{}.pair_limit) {
  SCOPED_TRACE(text);
  const Result<TextRepair> repair = repair_of(text, hazard_limit);
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->hazard_count_before == 0, is_clean(text));
  EXPECT_EQ(repair->hazard_count_before == 0, repair->text == text);
  EXPECT_EQ(repair->hazard_count, 0);
  EXPECT_TRUE(is_clean(repair->text)) << repair->text;
  if (repair->hazard_count_before == 0) return;
  ++tally.repaired;
  tally.with_new_barriers += repair->added_count > 0;
  tally.with_fuller_ones += repair->changed_count > 0;
  tally.of_several += repair->added_count > 1;
  tally.by_rounds += repair->counts_all_before ? 0 : 1;
  if (repair->added_count == 0) return;
  std::vector<std::string> lines = text_lines_of(text);
  for (std::string& line : lines) {
    if (line == "barrier execution") line = "barrier";
  }
  EXPECT_FALSE(do_barriers_repair(lines, repair->added_count - 1, 0)) << repair->text;
}

TEST(TextRepair, PlacesTheFewestBarriersOnOneQueue) {
  const int count = share_count(1500, 3);
  Tally tally;
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    expect_fewest(print(random_program(choice, {.memory_bytes = 4})), tally);
  }
  EXPECT_GT(tally.repaired, count / 2);
  EXPECT_GT(tally.with_new_barriers, count / 4);
  EXPECT_GT(tally.with_fuller_ones, count / 40);
  EXPECT_GT(tally.of_several, count / 20);
}

TEST(TextRepair, PlacesTheFewestBarriersBesideScopes) {
  const int count = share_count(1500, 5, 120);
  Tally tally;
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    expect_fewest(print(random_scoped_program(choice)), tally);
  }
  EXPECT_GT(tally.repaired, count / 2);
  EXPECT_GT(tally.with_new_barriers, count / 2);
}

TEST(TextRepair, PlacesTheFewestBarriersWhereFewHazardsAreListed) {
  const int count = share_count(500, 3);
  Tally tally;
  int refused = 0;
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    const uint64_t limit = 1 + static_cast<uint64_t>(seed % 3);
    SeededChoice choice(static_cast<uint64_t>(seed) + 40'000);
    expect_fewest(print(random_program(choice, {.memory_bytes = 4})), tally, limit);
    // Where all that are listed are noted and do not count, there is nothing to go on with.
    const std::string scoped = print(random_scoped_program(choice));
    if (repair_of(scoped, limit)) {
      expect_fewest(scoped, tally, limit);
    } else {
      ++refused;
    }
  }
  EXPECT_GT(tally.by_rounds, count / 2);
  EXPECT_LT(refused, count / 10);
}

TEST(TextRepair, NamesTheLimitThatLeavesNoVerdict) {
  const Result<TextRepair> repair = repair_of(
      "interlock 1\nmemory a 64\nq1: queue concurrent\nx: dispatch X writes a on q1\n"
      "y: dispatch Y writes a on q0\nz: dispatch Z writes a on q1\n",
      1);
  ASSERT_FALSE(repair);
  EXPECT_THAT(repair.error().message, HasSubstr("more hazards than 1, the limit"));
}

// Lines of the change, as text_lines_of() numbers them in the repaired text. A changed line counts,
// too: it is taken back by the one that it was.
struct ChangedLine {
  size_t line = 0;
  std::optional<std::string> original;
};

// Its first two words.
std::string_view begin_of(std::string_view line) {
  return line.substr(0, line.find(' ', std::min(line.find(' '), line.size() - 1) + 1));
}

std::vector<ChangedLine> changed_lines(const std::vector<std::string>& before,
                                       const std::vector<std::string>& after) {
  std::vector<ChangedLine> changed;
  size_t next = 0;
  for (size_t i = 0; i < after.size(); ++i) {
    if (next < before.size() && before[next] == after[i]) {
      ++next;
      continue;
    }
    // Of a line that is new the next old one still comes; one that changed begins as it did.
    const bool is_new = next == before.size() || begin_of(before[next]) != begin_of(after[i]) ||
                        std::find(after.begin() + static_cast<std::ptrdiff_t>(i), after.end(),
                                  before[next]) != after.end();
    changed.push_back({i, is_new ? std::nullopt : std::optional(before[next])});
    if (!is_new) ++next;
  }
  return changed;
}

TEST(TextRepair, LeavesNothingThatCanGoWithSeveralQueues) {
  const int count = share_count(600, 8, 120);
  int repaired = 0;
  int line_count = 0;
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 900'000);
    const std::string text = random_queue_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program || !chain_hazards_of(*program)) continue;  // Not valid, or a deadlock.
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const Result<TextRepair> repair = repair_of(text);
    ASSERT_TRUE(repair) << repair.error().message;
    ASSERT_EQ(repair->hazard_count, 0);
    ASSERT_TRUE(is_clean(repair->text)) << repair->text;
    if (repair->hazard_count_before == 0) continue;
    ++repaired;
    const std::vector<std::string> lines = text_lines_of(repair->text);
    for (const ChangedLine& change : changed_lines(text_lines_of(text), lines)) {
      std::vector<std::string> without = lines;
      const auto at = without.begin() + static_cast<std::ptrdiff_t>(change.line);
      if (change.original) {
        *at = *change.original;
      } else {
        without.erase(at);
      }
      // What is noted for a byte of a pair could hide a hazard of another one.
      const std::optional<Program> program_without = parse_queues(joined(without));
      if (program_without && !check(*program_without).noted.empty()) continue;
      ++line_count;
      ASSERT_FALSE(is_clean(joined(without))) << repair->text << lines[change.line];
    }
  }
  EXPECT_GT(repaired, count / 4);
  EXPECT_GT(line_count, repaired);
}

TEST(TextRepair, EndsDeadlocks) {
  const int count = share_count(900, 2);
  int stuck = 0;
  int ended = 0;
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 2'000'000);
    const std::string text = random_queue_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program || chain_hazards_of(*program)) continue;
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    const Result<TextRepair> repair = repair_of(text);
    ASSERT_TRUE(repair) << repair.error().message;
    ASSERT_TRUE(repair->has_deadlock_before);
    ++stuck;
    ASSERT_EQ(!repair->has_deadlock, chain_hazards_of(*parse_queues(repair->text)).has_value());
    if (repair->has_deadlock) continue;
    ++ended;
    ASSERT_EQ(repair->hazard_count, 0);
    ASSERT_TRUE(is_clean(repair->text)) << repair->text;
  }
  EXPECT_GE(stuck, is_slow_build() ? 0 : count / 100);
  EXPECT_GE(ended, stuck / 2);
}

TEST(TextRepair, RewritesTheExpectationOfADeadlockThatIsNoneAnyMore) {
  constexpr std::string_view kBegin = "interlock 1\nmemory x 64\nq1: queue concurrent\n";
  constexpr std::string_view kEnd = "dispatch One writes x on q1\nsignal a=1 on q1\n";
  const Result<TextRepair> repair = repair_of(
      fmt::format("{}held: wait a=1 on q1\n{}expect deadlock held  # Itself.\n", kBegin, kEnd));
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->text, fmt::format("{}{}expect clean\n", kBegin, kEnd));
  EXPECT_EQ(repair->changed_count, 1);
}

TEST(TextRepair, KeepsAllElseOfTheText) {
  constexpr std::string_view kText =
      "interlock 1\r\n# Two of them.\r\nmemory a 64  # all\r\n\r\n"
      "  x: dispatch X writes a\r\n\tm: barrier execution  # too little\r\n"
      "  y: dispatch Y reads a\r\n  z: dispatch Z writes a # last";
  const Result<TextRepair> repair = repair_of(std::string(kText));
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->text,
            "interlock 1\r\n# Two of them.\r\nmemory a 64  # all\r\n\r\n"
            "  x: dispatch X writes a\r\n\tm: barrier  # too little\r\n"
            "  y: dispatch Y reads a\r\n  barrier execution\r\n  z: dispatch Z writes a # last");
  EXPECT_EQ(repair->before, kText);
  EXPECT_EQ(repair->added_count, 1);
  EXPECT_EQ(repair->changed_count, 1);
}

TEST(TextRepair, KeepsCommentsWhateverStandsBeforeThem) {
  for (const char* const comment : {"# close", "\t# after a tab", " # once # twice"}) {
    const std::string_view format =
        "interlock 1\nmemory a 64\ndispatch X writes a\nbarrier{}{}\ndispatch Y reads a\n";
    const auto text = [&](std::string_view kind) {
      return fmt::format(fmt::runtime(format), kind, comment);
    };
    const Result<TextRepair> repair = repair_of(text(" execution"));
    ASSERT_TRUE(repair) << repair.error().message;
    EXPECT_EQ(repair->text, text(""));
  }
}

TEST(TextRepair, EndsExpectationsAsItsLinesEnd) {
  const Result<TextRepair> repair = repair_of(
      "interlock 1\r\nmemory a 64\r\nx: dispatch X writes a\r\ny: dispatch Y reads a\r\n"
      "expect RAW x y");
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->text,
            "interlock 1\r\nmemory a 64\r\nx: dispatch X writes a\r\nbarrier\r\n"
            "y: dispatch Y reads a\r\nexpect clean\r\n");
}

TEST(TextRepair, NamesStagesWhereAllBarriersDo) {
  const Result<TextRepair> repair = repair_of(
      "interlock 1\nmemory a 64\nmemory b 64\ndispatch X writes a b\n"
      "barrier compute.write -> compute.read a\ndispatch Y reads a\n"
      "copy: dispatch copy reads b writes a\n");
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_THAT(repair->text, HasSubstr("dispatch Y reads a\nbarrier compute.write -> copy."));
  EXPECT_TRUE(is_clean(repair->text)) << repair->text;
}

// A number counts statements, and a repair adds some.
TEST(TextRepair, LeavesNoLineThatNamesAStatementByItsNumber) {
  const Result<TextRepair> repair = repair_of(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x on q1\n"
      "host reads x\nexpect RAW 0 @1\n");
  ASSERT_TRUE(repair.has_value()) << repair.error().message;
  EXPECT_EQ(repair->hazard_count_before, 1u);
  EXPECT_EQ(repair->hazard_count, 0u);
  EXPECT_THAT(repair->text, Not(HasSubstr("expect")));
}

TEST(TextRepair, RewritesExpectationsThatAreThere) {
  constexpr std::string_view kBody =
      "interlock 1\nmemory a 64\nx: dispatch X writes a\n{}y: dispatch Y reads a\n{}";
  const auto text = [&](std::string_view barrier, std::string_view expect) {
    return fmt::format(fmt::runtime(kBody), barrier, expect);
  };
  const Result<TextRepair> expected = repair_of(text("", "expect RAW x y\n"));
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(expected->text, text("barrier\n", "expect clean\n"));
  const Result<TextRepair> silent = repair_of(text("", ""));
  ASSERT_TRUE(silent) << silent.error().message;
  EXPECT_EQ(silent->text, text("barrier\n", ""));
}

TEST(TextRepair, SpellsOutWhatReplaysRecord) {
  const std::string text =
      "interlock 1\nmemory a 64\nmemory b 64\ncapture step\n  dispatch X writes a\n"
      "  dispatch Y reads a writes b\nend\nreplay step\nreplay step\n";
  const Result<TextRepair> repair = repair_of(text);
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_TRUE(repair->is_spelled_out);
  EXPECT_TRUE(is_clean(repair->text)) << repair->text;
  EXPECT_THAT(text_lines_of(repair->before), IsSubsetOf(text_lines_of(repair->text)));
  EXPECT_GT(repair->added_count, 0);
}

TEST(TextRepair, LeavesWhatNoSyncRepairs) {
  const std::string text = "interlock 1\nmemory a 64\ndispatch X reads a[0:8] writes a[4:12]\n";
  const Result<TextRepair> repair = repair_of(text);
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->text, text);
  EXPECT_EQ(repair->hazard_count_before, 0);
  EXPECT_EQ(check(repair->program).findings.size(), 1);
}

TEST(TextRepair, GivesTheErrorOfATextThatIsNone) {
  const Result<TextRepair> repair = repair_of("interlock 1\nmemory a\n");
  ASSERT_FALSE(repair);
  EXPECT_THAT(repair.error().message, HasSubstr("test:2:"));
}

}  // namespace
}  // namespace interlock::text_repair_test
