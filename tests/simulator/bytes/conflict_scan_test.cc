// The scan by a list, by numbered ranges, and by runs of bytes, against histories by segments.
#include "simulator/bytes/conflict_scan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/bytes/access_list.h"
#include "simulator/report/check.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::conflict_scan_test {
namespace {

struct Seen {
  uint64_t by_list = 0;   // Programs.
  uint64_t by_level = 0;  // Dispatches whose level was known.
  uint64_t by_history = 0;
};

// Compares the scan of `program` with two histories, of dispatches and of levels. From
// `history_from` on somebody asks for what was recorded.
void expect_same_conflicts(const Program& program, size_t history_from, Seen& seen) {
  seen.by_list += program.accesses.size() <= AccessList::kAccessesMax;
  const ByteSegments segments(program);
  ConflictScan scan(program, segments);
  AccessHistory latest(program, segments);
  AccessHistory levels(program, segments);
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const DispatchId id(i);
    const ScannedConflicts found = scan.find(id);
    ASSERT_EQ(found.write, latest.latest(id).write) << i;
    ASSERT_EQ(found.any, latest.latest(id).any) << i;
    const Stamp level = levels.latest(id).any + 1;
    const bool has_level = found.level != 0;
    ++(has_level ? seen.by_level : seen.by_history);
    ASSERT_EQ(found.level, has_level ? level : 0) << i;
    if (i >= history_from) {
      ASSERT_EQ(scan.history().latest(id).write, found.write) << i;
      ASSERT_EQ(scan.history().latest(id).any, found.any) << i;
    }
    scan.record(id);
    latest.record(id, id.index + 1);
    levels.record(id, level);
  }
}

TEST(ConflictScan, AgreesWithHistoriesOnRandomPrograms) {
  RandomProgramOptions options;
  Seen seen;
  const auto program_total = static_cast<uint64_t>(program_count(1500, 5));
  for (uint64_t seed = 1; seed <= program_total; ++seed) {
    SeededChoice choice(seed);
    options.dispatch_count_max = seed % 3 == 0 ? 240 : 60;
    options.has_atomics = seed % 4 == 0;
    options.memory_bytes = 6 + seed % 100;
    options.range_bytes_max = 1 + seed % 40;
    options.memory_count = 1 + seed % 3;
    const Program program = random_program(choice, options);
    const size_t count = program.dispatches.size();
    const size_t history_from = seed % 2 == 0 ? count : choice.below(count);
    ASSERT_NO_FATAL_FAILURE(expect_same_conflicts(program, history_from, seen)) << seed;
  }
  EXPECT_GT(seen.by_level, 2 * program_total);
  EXPECT_GT(seen.by_history, 2 * program_total);
  EXPECT_GT(seen.by_list, program_total / 2);
  EXPECT_LT(seen.by_list, program_total * 9 / 10);
}

// 2 reads and 1 write of up to `length_max` bytes in one memory.
Program random_stream(uint64_t dispatch_count, uint64_t memory_bytes, uint64_t length_max) {
  Program program;
  program.names = {"pool"};
  program.memories = {{NameId(0), memory_bytes, false}};
  SeededChoice choice(1);
  for (uint64_t i = 0; i < dispatch_count; ++i) {
    Dispatch dispatch;
    dispatch.first_access = static_cast<uint32_t>(program.accesses.size());
    dispatch.access_count = 3;
    program.dispatches.push_back(dispatch);
    for (const AccessMode mode : {AccessMode::kRead, AccessMode::kWrite, AccessMode::kRead}) {
      const uint64_t begin = choice.below(memory_bytes - length_max);
      const ByteRange range{begin, begin + 1 + choice.below(length_max)};
      program.accesses.push_back({MemoryId(0), TensorId(), range, mode, true});
    }
  }
  return program;
}

TEST(ConflictScan, AgreesWithHistoriesOnWideOverlaps) {
  Seen seen;
  expect_same_conflicts(random_stream(4000, uint64_t{1} << 40, uint64_t{1} << 34), SIZE_MAX, seen);
  EXPECT_EQ(seen.by_level, 4000u);
}

TEST(ConflictScan, ChangesToSegmentsWhereRunsTakeMoreMemory) {
  Seen seen;
  expect_same_conflicts(random_stream(30'000, uint64_t{1} << 40, 100), SIZE_MAX, seen);
  EXPECT_GT(seen.by_level, 1000u);
  EXPECT_GT(seen.by_history, 1000u);
}

// `random_stream()` of a few of its ranges, each used again and again; some are only read, and
// of those one in eight is empty.
Program recurring_stream(uint64_t dispatch_count, uint64_t range_count, SeededChoice& choice) {
  Program program = random_stream(dispatch_count, 400, 20);
  program.memories.resize(3, {NameId(0), 400, false});
  program.memories[2].size_bytes = 100'000;
  std::vector<Access> known;
  for (uint64_t i = 0; i < range_count; ++i) {
    known.push_back(program.accesses[choice.below(program.accesses.size())]);
    known.back().memory = MemoryId(choice.below(2));
  }
  const uint64_t written = choice.below(range_count) + 1;  // The others are only read.
  for (uint64_t i = written; i < range_count; ++i) {
    if (choice.chance(1, 8)) known[i].range.end = known[i].range.begin;
  }
  const AccessMode write = choice.chance(1, 4) ? AccessMode::kUpdate : AccessMode::kWrite;
  const AccessMode modes[] = {AccessMode::kRead, write, AccessMode::kUpdate};
  for (uint64_t i = 0; i < program.accesses.size(); ++i) {
    Access& access = program.accesses[i];
    const uint64_t from = choice.below(range_count);
    access = known[from];
    access.mode = from < written ? modes[choice.below(3)] : AccessMode::kRead;
    // Weights, each with a range of its own.
    if (choice.chance(1, 4)) access = {MemoryId(2), TensorId(), {i, 100'000}};
  }
  return program;
}

TEST(RecurringRanges, AgreeWithHistories) {
  Seen seen;
  const auto program_total = static_cast<uint64_t>(program_count(300, 5));
  for (uint64_t seed = 1; seed <= program_total; ++seed) {
    SeededChoice choice(seed);
    const uint64_t dispatch_count = 40 + choice.below(200);
    Program program = recurring_stream(dispatch_count, 2 + choice.below(24), choice);
    const uint64_t begins[] = {0, 400, 800};
    const auto recurring = RecurringRanges::of(program, begins);
    ASSERT_TRUE(recurring.has_value()) << seed;
    EXPECT_FALSE(recurring->has_atomics());
    const size_t history_from = seed % 2 == 0 ? SIZE_MAX : choice.below(dispatch_count);
    ASSERT_NO_FATAL_FAILURE(expect_same_conflicts(program, history_from, seen)) << seed;
  }
  EXPECT_GT(seen.by_level, 30 * program_total);
  EXPECT_GT(seen.by_history, 8 * program_total);
}

TEST(RecurringRanges, AgreeWithHistoriesOnALongStream) {
  SeededChoice choice(1);
  Seen seen;
  expect_same_conflicts(recurring_stream(30'000, 100, choice), SIZE_MAX, seen);
  EXPECT_EQ(seen.by_level, 30'000u);
}

TEST(RecurringRanges, GoOverToAHistoryAtTheFirstAtomic) {
  SeededChoice choice(1);
  Program program = recurring_stream(200, 10, choice);
  program.accesses[300].mode = AccessMode::kAtomic;
  Seen seen;
  expect_same_conflicts(program, SIZE_MAX, seen);
  EXPECT_EQ(seen.by_level, 100u);
  EXPECT_EQ(seen.by_history, 100u);
}

TEST(RecurringRanges, AreNotTakenWhereTheyDoNotPay) {
  const uint64_t begins[] = {0, 400, 800};
  SeededChoice choice(1);
  const auto take = [&](const Program& program) {
    return RecurringRanges::of(program, begins).has_value();
  };
  EXPECT_TRUE(take(recurring_stream(200, 10, choice)));
  EXPECT_FALSE(take(recurring_stream(20, 10, choice)));  // Few accesses.
  Program writes_nothing = recurring_stream(200, 10, choice);
  writes_nothing.accesses[7].range = {5, 5};
  writes_nothing.accesses[7].mode = AccessMode::kWrite;
  EXPECT_FALSE(take(writes_nothing));
  EXPECT_FALSE(take(random_stream(2000, uint64_t{1} << 40, uint64_t{1} << 34)));
  // More ranges than there are numbers, each of which comes three times.
  Program many = random_stream(3 * RecurringRanges::kRangesMax, 10'000'000, 20);
  for (size_t i = 0; i < many.accesses.size(); ++i) {
    many.accesses[i].range = {i / 3 * 20, i / 3 * 20 + 20};
  }
  EXPECT_FALSE(take(many));
  many.accesses.resize(3 * RecurringRanges::kRangesMax);
  many.dispatches.resize(RecurringRanges::kRangesMax);
  EXPECT_TRUE(take(many));
  // All of a memory again and again, which others cut into many segments.
  for (size_t i = 0; i < many.accesses.size(); ++i) {
    many.accesses[i].range = {i % 1000 * 20, i % 1000 * 20 + (i % 10 == 0 ? 1'000'000 : 20)};
  }
  EXPECT_FALSE(take(many));
}

// Text of such a program, with barriers: full ones, and in some programs others. A third of all
// have one before each dispatch, and so no hazard, but where an output lies on an input.
std::string text_that_recurs(SeededChoice& choice) {
  const uint64_t range_count = 2 + choice.below(20);
  const uint64_t read_only_count = choice.below(range_count);
  std::vector<std::string> ranges;
  for (uint64_t i = 0; i < range_count; ++i) {
    const uint64_t begin = choice.below(60);
    ranges.push_back(fmt::format(" {}[{}:{}]", choice.chance(1, 2) ? "p" : "q", begin,
                                 begin + 1 + choice.below(8)));
  }
  const uint64_t barrier_odds = 1 + choice.below(3);
  const bool are_all_full = choice.chance(1, 2);
  const bool is_ordered = choice.chance(1, 3);
  std::string text = "memory p 100\nmemory q 100\nmemory w 1000\n";
  const uint64_t dispatch_count = 40 + choice.below(60);
  for (uint64_t i = 0; i < dispatch_count; ++i) {
    while (choice.chance(barrier_odds, 4)) {
      text += are_all_full || choice.chance(2, 3) ? "barrier\n" : "barrier execution\n";
    }
    if (is_ordered) text += "barrier\n";
    text += "dispatch D reads";
    for (int k = 0; k < 2; ++k) text += ranges[choice.below(range_count)];
    text += fmt::format(" w[{}:{}]", i, i + 8);
    if (choice.chance(2, 3)) {
      text += " writes" + ranges[read_only_count + choice.below(range_count - read_only_count)];
    }
    text += '\n';
  }
  return text;
}

// A memory so large that ranges are not numbered: then runs of bytes say what there is.
TEST(RecurringRanges, LeaveAllVerdictsAsTheyAre) {
  const std::string huge = fmt::format("memory huge {}\n", uint64_t{1} << 48);
  const int program_total = program_count(400, 8);
  int clean_count = 0;
  int redundant_count = 0;
  for (int seed = 1; seed <= program_total; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text = text_that_recurs(choice);
    const CheckReport by_numbers = check(program_of(text));
    const CheckReport by_runs = check(program_of(huge + text));
    EXPECT_EQ(by_numbers.fewest_barriers, by_runs.fewest_barriers) << text;
    EXPECT_EQ(by_numbers.fewest_full_barriers, by_runs.fewest_full_barriers) << text;
    EXPECT_EQ(by_numbers.forcing, by_runs.forcing) << text;
    EXPECT_EQ(by_numbers.longest_chain, by_runs.longest_chain) << text;
    EXPECT_EQ(by_numbers.chain, by_runs.chain) << text;
    EXPECT_EQ(by_numbers.redundant, by_runs.redundant) << text;
    EXPECT_EQ(by_numbers.redundant_sync, by_runs.redundant_sync) << text;
    ASSERT_EQ(by_numbers.findings.size(), by_runs.findings.size()) << text;
    for (size_t i = 0; i < by_runs.findings.size(); ++i) {
      EXPECT_EQ(by_numbers.findings[i].headline, by_runs.findings[i].headline) << text;
      EXPECT_EQ(by_numbers.findings[i].details, by_runs.findings[i].details) << text;
    }
    clean_count += by_runs.findings.empty() ? 1 : 0;
    redundant_count += by_runs.redundant.empty() ? 0 : 1;
  }
  EXPECT_GT(clean_count, program_total / 20);
  EXPECT_GT(redundant_count, program_total / 4);
}

TEST(ConflictScan, KnowsWhereEachMemoryIs) {
  // The memories would not fit into one row of bytes.
  Program program = random_stream(100, uint64_t{1} << 40, 1000);
  program.memories.push_back({NameId(0), UINT64_MAX - 5, false});
  for (size_t i = 0; i < program.accesses.size(); i += 2) program.accesses[i].memory = MemoryId(1);
  Seen seen;
  expect_same_conflicts(program, SIZE_MAX, seen);
  EXPECT_EQ(seen.by_level, 0u);
  program.memories[1].size_bytes = uint64_t{1} << 40;
  expect_same_conflicts(program, SIZE_MAX, seen);
  EXPECT_EQ(seen.by_level, 100u);
}

}  // namespace
}  // namespace interlock::conflict_scan_test
