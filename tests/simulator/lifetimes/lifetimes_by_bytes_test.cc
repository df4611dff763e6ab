// Which statements change some bytes, against a look at each of them.
#include "simulator/lifetimes/lifetimes_by_bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "simulator/lifetimes/held_value.h"
#include "simulator/schedules/choice.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::lifetimes_by_bytes_test {
namespace {

// Tensors that overlap, in two memories, and a reset now and then.
std::string random_lifetimes(SeededChoice& choice) {
  std::string text = "interlock 1\nmemory m 40\nmemory k 40\nq1: queue serial\n";
  const size_t tensor_count = 1 + choice.below(6);
  for (size_t i = 0; i < tensor_count; ++i) {
    const size_t begin = choice.below(32);
    text += "tensor t" + std::to_string(i) + " u8[" + std::to_string(1 + choice.below(40 - begin)) +
            "] at " + (choice.below(2) == 0 ? "m+" : "k+") + std::to_string(begin) + "\n";
  }
  const size_t count = choice.below(12);
  for (size_t i = 0; i < count; ++i) {
    text += choice.below(4) == 0 ? std::string("reset m\n")
                                 : "free t" + std::to_string(choice.below(tensor_count)) + "\n";
  }
  return text;
}

TEST(LifetimesByBytes, AreThoseThatALookAtEachFinds) {
  for (uint64_t seed = 0; seed < 2'000; ++seed) {
    SeededChoice choice(seed);
    const Program program = program_with_queues(random_lifetimes(choice));
    const size_t count = program.lifetimes.size();
    std::vector<LifetimeId> ids;  // Some of them.
    for (size_t i = 0; i < count; ++i) {
      if (choice.below(4) != 0) ids.push_back(LifetimeId(i));
    }
    const LifetimesByBytes by_bytes(program, ids);
    const MemoryId memory(choice.below(2));
    const uint64_t from = choice.below(39);
    const ByteRange bytes{from, from + 1 + choice.below(39 - from)};
    const LifetimeId begin(choice.below(count + 1));
    const LifetimeId end(choice.below(count + 1));
    std::set<LifetimeId> expected;
    LifetimeId last;
    for (const LifetimeId id : ids) {
      const Lifetime& lifetime = program.lifetimes[id.index];
      const bool changes =
          lifetime.memory == memory && share_a_byte(affected_by(program, lifetime), bytes);
      if (changes && begin <= id && id < end) expected.insert(id);
      if (changes && id < end) last = id;
    }
    std::vector<std::span<const LifetimeId>> lists;
    by_bytes.find(memory, bytes, begin, end, lists);
    std::set<LifetimeId> found;
    for (const auto& list : lists) {
      ASSERT_FALSE(list.empty());
      ASSERT_TRUE(std::ranges::is_sorted(list));
      found.insert(list.begin(), list.end());
    }
    ASSERT_EQ(found, expected) << "seed " << seed;
    ASSERT_EQ(by_bytes.last_before(end, memory, bytes), last) << "seed " << seed;
  }
}

}  // namespace
}  // namespace interlock::lifetimes_by_bytes_test
