// Long programs: what is put between two dispatches conflicts with nothing.
#include "fuzz/generate/program_lengths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "encoder/assemble/build.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::program_lengths_test {
namespace {

size_t barriers_of(const Program& program) {
  InterlockEncoder encoder;
  return encode(program, encoder).barriers.size();
}

TEST(Lengthen, AddsWhatNeedsNoBarrier) {
  size_t longest = 0;
  for (int i = 0; i < program_count(200, 10); ++i) {
    SeededChoice choice(static_cast<uint64_t>(i));
    ProgramDraft draft = generate(choice);
    const Program given = build(draft).value();
    lengthen(draft, choice, 32);
    const auto longer = build(draft);
    ASSERT_TRUE(longer) << longer.error().message;
    EXPECT_EQ(barriers_of(*longer), barriers_of(given));
    const size_t added = longer->dispatches.size() - given.dispatches.size();
    EXPECT_EQ(added == 0, given.dispatches.size() < 2);
    EXPECT_LT(added, 512u);
    longest = std::max(longest, added);
  }
  EXPECT_GT(longest, 256u);
}

TEST(Lengthen, KeepsToTheLimitOfDispatches) {
  SeededChoice choice(1);
  ProgramDraft draft = generate(choice);
  const size_t given = build(draft).value().dispatches.size();
  lengthen(draft, choice, 1);
  EXPECT_LE(build(draft).value().dispatches.size(), given + 16);
}

}  // namespace
}  // namespace interlock::program_lengths_test
