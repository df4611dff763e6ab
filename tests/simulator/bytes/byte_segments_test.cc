// Byte segments: every access covers exactly its bytes, in few and in many endpoints.
#include "simulator/bytes/byte_segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::byte_segments_test {
namespace {

// A program that has nothing but accesses, which is all that ByteSegments looks at.
Program random_accesses(Choice& choice, uint64_t access_count, uint64_t memory_bytes) {
  Program program;
  program.memories.resize(3);
  for (uint64_t i = 0; i < access_count; ++i) {
    Access access;
    access.memory = MemoryId(choice.below(3));
    const uint64_t begin = choice.below(memory_bytes);
    access.range = {begin, begin + choice.below(memory_bytes - begin + 1)};
    program.accesses.push_back(access);
    if (choice.chance(1, 3)) {
      program.accesses.push_back(program.accesses[choice.below(program.accesses.size())]);
    }
  }
  return program;
}

void expect_exact(const Program& program) {
  const ByteSegments segments(program);
  std::set<std::pair<MemoryId, uint64_t>> endpoints;
  for (size_t i = 0; i < program.accesses.size(); ++i) {
    const Access& access = program.accesses[i];
    const SegmentSpan span = segments.span_of(i);
    ASSERT_EQ(span.is_empty(), access.range.is_empty());
    if (span.is_empty()) {
      continue;
    }
    ASSERT_EQ(segments.bytes_of(span), access.range);
    const SegmentSpan memory = segments.segments_of(access.memory);
    ASSERT_TRUE(memory.begin <= span.begin && span.end < memory.end);
    endpoints.insert({access.memory, access.range.begin});
    endpoints.insert({access.memory, access.range.end});
  }
  EXPECT_EQ(segments.count(), endpoints.size());
}

TEST(ByteSegments, CoverEveryAccessExactly) {
  SeededChoice choice(1);
  for (const uint64_t access_count : {0, 1, 5, 50, 500}) {
    expect_exact(random_accesses(choice, access_count, 40));
    expect_exact(random_accesses(choice, access_count, uint64_t{1} << 48));
  }
}

TEST(ByteSegments, CoverEveryAccessExactlyWhereThereAreMany) {
  // Above some thousand endpoints a memory they are sorted by digits.
  SeededChoice choice(2);
  for (const uint64_t memory_bytes : {uint64_t{1000}, uint64_t{1} << 22, uint64_t{1} << 48}) {
    expect_exact(random_accesses(choice, is_slow_build() ? 5'000 : 20'000, memory_bytes));
  }
}

// Offsets of every magnitude, in every order: however many digits the first or the last has, others
// have more and fewer.
TEST(ByteSegments, CoverEveryAccessExactlyInWhateverOrderTheyCome) {
  SeededChoice choice(3);
  Program program;
  program.memories.resize(1);
  for (int i = 0; i < 3'000; ++i) {
    const uint64_t begin = choice.below(uint64_t{1} << choice.below(48));
    const uint64_t size = 1 + choice.below(uint64_t{1} << choice.below(48));
    Access access;
    access.memory = MemoryId(0);
    access.range = {begin, begin + size};
    program.accesses.push_back(access);
  }
  const auto begins_before = [](const Access& a, const Access& b) {
    return std::pair(a.range.begin, a.range.end) < std::pair(b.range.begin, b.range.end);
  };
  expect_exact(program);
  std::sort(program.accesses.begin(), program.accesses.end(), begins_before);
  expect_exact(program);
  std::reverse(program.accesses.begin(), program.accesses.end());
  expect_exact(program);
}

TEST(ByteSegments, TouchingRangesShareAnEndpoint) {
  const Program program = program_on_abc("dispatch A reads a[0:8] a[8:16] a[4:4] writes b[8:16]\n");
  const ByteSegments segments(program);
  EXPECT_EQ(segments.count(), 5u);
  EXPECT_EQ(segments.span_of(0).end, segments.span_of(1).begin);
  EXPECT_TRUE(segments.span_of(2).is_empty());
  EXPECT_EQ(segments.bytes_of(segments.span_of(3)), (ByteRange{8, 16}));
}

}  // namespace
}  // namespace interlock::byte_segments_test
