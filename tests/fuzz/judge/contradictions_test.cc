// Without a fault no verdict is contradicted: what `./dev faults --seeds` finds is of the faults.
#include "tests/fuzz/judge/contradictions.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/program_count.h"

namespace interlock::contradictions_test {
namespace {

TEST(Contradictions, AreNoneWithoutAFault) {
  constexpr uint64_t kSeedCount = 5;
  const auto count = static_cast<uint64_t>(proof_count(4'000, 160, 20));
  for (uint64_t seed = 1; seed <= kSeedCount; ++seed) {
    for (uint64_t number = 0; number < count; ++number) {
      const auto found = find_contradiction(seed, number);
      ASSERT_FALSE(found) << "seed " << seed << ", " << number << ", " << found->method << ": "
                          << found->message << "\n"
                          << found->program;
    }
  }
  const auto tried = static_cast<int>(count * kSeedCount);
  print_proof(tried,
              "no verdict that the faults at several queues are held against is contradicted");
}

TEST(Contradictions, AreNoneByTheMachineWithoutAFault) {
  constexpr uint64_t kSeedCount = 5;
  const auto count = static_cast<uint64_t>(share_count(2'000, 5));
  for (uint64_t seed = 1; seed <= kSeedCount; ++seed) {
    for (uint64_t number = 0; number < count; ++number) {
      const auto found = find_contradiction_by_machine(seed, number);
      ASSERT_FALSE(found) << "seed " << seed << ", " << number << ": " << found->message << "\n"
                          << found->program;
    }
  }
}

}  // namespace
}  // namespace interlock::contradictions_test
