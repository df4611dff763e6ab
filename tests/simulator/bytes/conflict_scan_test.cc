// The scan by runs of bytes against histories by segments.
#include "simulator/bytes/conflict_scan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "simulator/schedules/choice.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::conflict_scan_test {
namespace {

struct Seen {
  uint64_t by_runs = 0;  // Dispatches whose level was known.
  uint64_t by_history = 0;
};

// Compares the scan of `program` with two histories, of dispatches and of levels. From
// `history_from` on somebody asks for what was recorded.
void expect_same_conflicts(const Program& program, size_t history_from, Seen& seen) {
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
    const bool is_by_runs = found.level != 0;
    ++(is_by_runs ? seen.by_runs : seen.by_history);
    ASSERT_EQ(found.level, is_by_runs ? level : 0) << i;
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
  options.dispatch_count_max = 60;
  Seen seen;
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    SeededChoice choice(seed);
    options.has_atomics = seed % 4 == 0;
    options.memory_bytes = 6 + seed % 100;
    options.range_bytes_max = 1 + seed % 40;
    options.memory_count = 1 + seed % 3;
    const Program program = random_program(choice, options);
    const size_t count = program.dispatches.size();
    const size_t history_from = seed % 2 == 0 ? count : choice.below(count);
    ASSERT_NO_FATAL_FAILURE(expect_same_conflicts(program, history_from, seen)) << seed;
  }
  EXPECT_GT(seen.by_runs, 5000u);
  EXPECT_GT(seen.by_history, 5000u);
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
  EXPECT_EQ(seen.by_runs, 4000u);
}

TEST(ConflictScan, ChangesToSegmentsWhereRunsTakeMoreMemory) {
  Seen seen;
  expect_same_conflicts(random_stream(30'000, uint64_t{1} << 40, 100), SIZE_MAX, seen);
  EXPECT_GT(seen.by_runs, 1000u);
  EXPECT_GT(seen.by_history, 1000u);
}

TEST(ConflictScan, KnowsWhereEachMemoryIs) {
  // The memories would not fit into one row of bytes.
  Program program = random_stream(100, uint64_t{1} << 40, 1000);
  program.memories.push_back({NameId(0), UINT64_MAX - 5, false});
  for (size_t i = 0; i < program.accesses.size(); i += 2) program.accesses[i].memory = MemoryId(1);
  Seen seen;
  expect_same_conflicts(program, SIZE_MAX, seen);
  EXPECT_EQ(seen.by_runs, 0u);
  program.memories[1].size_bytes = uint64_t{1} << 40;
  expect_same_conflicts(program, SIZE_MAX, seen);
  EXPECT_EQ(seen.by_runs, 100u);
}

}  // namespace
}  // namespace interlock::conflict_scan_test
