// Programs of several queues: all of them are programs, and each feature comes in enough of them.
#include "fuzz/generate/queue_generator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/queue_launches.h"
#include "fuzz/generate/queue_meanings.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/any_bytes.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::queue_generator_test {
namespace {

const uint64_t kSeedCount = static_cast<uint64_t>(proof_count(20'000, 5'000, 20));

QueueGeneratorOptions options_of(uint64_t seed) {
  QueueGeneratorOptions options;
  options.operation_count_max = 2 + seed % 9;
  options.sync_count_max = seed % 17;
  options.memory_bytes = seed % 3 == 0 ? 6 : 16;
  return options;
}

ProgramDraft generated(uint64_t seed, QueueFeatureCounts* counts = nullptr) {
  SeededChoice choice(seed);
  ProgramDraft draft = generate_queues(choice, options_of(seed), counts);
  if (seed % 2 == 1) add_queue_meanings(draft, choice, counts);
  if (seed % 8 >= 6) add_queue_launches(draft, choice, counts);
  return draft;
}

TEST(QueueGenerator, MakesOnlyProgramsThatParseWithSignalsInTheOrderOfTheirValues) {
  for (uint64_t seed = 0; seed < kSeedCount; ++seed) {
    const std::string text = print(generated(seed));
    const Program program = program_with_queues(text);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    ASSERT_FALSE(find_unordered_signals(program)) << "seed " << seed << "\n" << text;
  }
}

TEST(QueueGenerator, MakesProgramsOfAnyBytes) {
  for_any_bytes(300, 5, [](Choice& choice, int size) {
    ProgramDraft draft = generate_queues(choice);
    add_queue_meanings(draft, choice);
    add_queue_launches(draft, choice);
    const auto program = build(draft);
    ASSERT_TRUE(program) << size << " bytes: " << program.error().message << "\n" << print(draft);
  });
}

TEST(QueueGenerator, UsesEveryFeature) {
  QueueFeatureCounts counts;
  for (uint64_t seed = 0; seed < kSeedCount; ++seed) generated(seed, &counts);
  std::printf("%-16s occurrences in %d programs\n", "feature", static_cast<int>(kSeedCount));
  for (int i = 0; i < kQueueFeatureCount; ++i) {
    const std::string word(word_of(static_cast<QueueFeature>(i)));
    std::printf("%-16s %llu\n", word.c_str(), static_cast<unsigned long long>(counts.counts[i]));
    // The rarest occurs some 500 times; a tenth of that means that it is being lost.
    EXPECT_GT(counts.counts[i], is_slow_build() ? 0u : 50u) << word;
  }
}

// What a campaign is for needs all of them: hazards, clean programs, runs in another order than the
// text, and now and then a deadlock.
TEST(QueueGenerator, MakesCleanProgramsHazardsAndDeadlocks) {
  uint64_t several_count = 0;
  uint64_t deadlock_count = 0;
  uint64_t reordered_count = 0;
  uint64_t clean_count = 0;
  for (uint64_t seed = 0; seed < kSeedCount; ++seed) {
    const Program program = build(generated(seed)).value();
    several_count += needs_queue_order(program);
    const ReferenceOrder reference = find_reference_order(program);
    deadlock_count += !reference.cycle.empty();
    if (!reference.cycle.empty()) continue;
    reordered_count += !reference.is_text_order;
    clean_count += find_everything(in_reference_order(program, reference)).empty();
  }
  EXPECT_GT(several_count, kSeedCount * 3 / 4);
  EXPECT_GT(deadlock_count, kSeedCount / 100);
  EXPECT_LT(deadlock_count, kSeedCount / 5);
  EXPECT_GT(reordered_count, kSeedCount / 100);
  EXPECT_GT(clean_count, kSeedCount / 20);
  EXPECT_LT(clean_count, kSeedCount * 3 / 4);
}

TEST(QueueGenerator, GivesTheSameProgramForTheSameSeed) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(print(generated(seed)), print(generated(seed)));
  }
}

}  // namespace
}  // namespace interlock::queue_generator_test
