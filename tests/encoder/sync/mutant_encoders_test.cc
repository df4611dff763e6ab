// Each planted fault shows on some random program, and shows as what it is marked as.

#include "tests/encoder/sync/mutant_encoders.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "encoder/sync/interlock_encoder.h"
#include "tests/encoder/sync/obvious_checks.h"
#include "tests/encoder/sync/random_dispatches.h"

namespace interlock::mutant_encoders_test {
namespace {

// Small programs of every kind, and some with the many disjoint outputs that overflow a table.
std::vector<TestDispatch> next_dispatches(TestRandom& random, int round) {
  if (round % 4 != 0) return random_dispatches(random);
  RandomDispatchesOptions options;
  options.max_dispatches = 40;
  options.max_accesses = 6;
  options.memory_bytes = 4;
  options.memories = 60;
  return random_dispatches(random, options);
}

constexpr int kRounds = 2'000;

TEST(MutantEncoders, DifferFromARightEncoderByTheirFaultAlone) {
  TestRandom random(4);
  for (int i = 0; i < kRounds; ++i) {
    const std::vector<TestDispatch> dispatches = next_dispatches(random, i);
    InterlockEncoder right;
    ASSERT_EQ(encode_all(dispatches, *make_faultless_encoder()), encode_all(dispatches, right))
        << text_of(dispatches);
  }
}

TEST(MutantEncoders, ShowTheirFaultOnRandomPrograms) {
  for (const MutantEncoder& mutant : mutant_encoders()) {
    TestRandom random(5);
    bool has_hazard = false;
    bool has_excess = false;
    for (int i = 0; i < kRounds && !has_hazard; ++i) {
      const std::vector<TestDispatch> dispatches = next_dispatches(random, i);
      const std::vector<Command> commands = encode_all(dispatches, *mutant.create());
      has_hazard = !obvious_hazard(dispatches, commands).empty();
      if (has_excess || mutant.kind == MutantKind::kUnsafe) continue;
      InterlockEncoder right;
      has_excess = barrier_count_of(commands) > barrier_count_of(encode_all(dispatches, right));
    }
    EXPECT_EQ(has_hazard, mutant.kind == MutantKind::kUnsafe) << mutant.name;
    EXPECT_EQ(has_excess, mutant.kind == MutantKind::kExcess) << mutant.name;
  }
}

TEST(MutantEncoders, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const MutantEncoder& mutant : mutant_encoders()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    EXPECT_EQ(find_encoder(mutant.name), nullptr) << mutant.name;
  }
}

}  // namespace
}  // namespace interlock::mutant_encoders_test
