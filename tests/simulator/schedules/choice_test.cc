#include "simulator/schedules/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "simulator/schedules/byte_choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/choices.h"

namespace interlock::choice_test {
namespace {

using ::testing::ElementsAre;

TEST(SeededChoice, IsSplitmix64) {
  // The first numbers of seed 1234567 in the reference implementation, modulo 2^64 - 1 (none is
  // it).
  SeededChoice choice(1234567);
  EXPECT_EQ(choice.below(UINT64_MAX), 6457827717110365317u);
  EXPECT_EQ(choice.below(UINT64_MAX), 3203168211198807973u);
  EXPECT_EQ(choice.below(UINT64_MAX), 9817491932198370423u);
}

TEST(SeededChoice, StaysBelowTheBound) {
  SeededChoice choice(7);
  for (uint64_t n = 1; n < 200; ++n) EXPECT_LT(choice.below(n), n);
}

TEST(ByteChoice, TakesAsManyBytesAsTheBoundNeeds) {
  const std::vector<uint8_t> bytes = {5, 0x34, 0x12, 9};
  ByteChoice choice(bytes);
  EXPECT_EQ(choice.below(1), 0u);  // Needs none.
  EXPECT_EQ(choice.below(256), 5u);
  EXPECT_EQ(choice.below(65536), 0x1234u);
  EXPECT_EQ(choice.below(4), 1u);
}

TEST(ByteChoice, AnswersZeroOnceTheBytesAreSpent) {
  ByteChoice choice({});
  EXPECT_EQ(choice.below(1000), 0u);
  EXPECT_FALSE(choice.below(2) == 1);
}

TEST(ExhaustiveChoice, EnumeratesEverySequenceOnce) {
  ExhaustiveChoice choice;
  std::vector<std::vector<uint64_t>> sequences;
  do {
    std::vector<uint64_t> sequence = {choice.below(2)};
    if (sequence[0] == 1)
      sequence.push_back(choice.below(3));  // Later bounds may depend on answers.
    sequences.push_back(sequence);
  } while (choice.advance());
  EXPECT_THAT(sequences,
              ElementsAre(ElementsAre(0), ElementsAre(1, 0), ElementsAre(1, 1), ElementsAre(1, 2)));
}

std::vector<uint64_t> shared_answers(uint64_t seed) {
  ShareOfChoices choice(100, seed);
  std::vector<uint64_t> answers;
  do answers.push_back(choice.below(1000));
  while (choice.advance());
  return answers;
}

TEST(ShareOfChoices, AreAsManyAsSaidAndTheSameAgain) {
  EXPECT_EQ(shared_answers(1).size(), tries_all() ? 1000u : 100u);
  EXPECT_EQ(shared_answers(1), shared_answers(1));
  EXPECT_EQ(shared_answers(1) == shared_answers(2), tries_all());
}

}  // namespace
}  // namespace interlock::choice_test
