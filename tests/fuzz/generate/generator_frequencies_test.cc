// How often generated programs have what makes them worth a try. A feature that becomes rare is
// missed by no test of single programs, and by campaigns only in the long run.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/shares.h"
#include "tests/program_count.h"

namespace interlock::generator_frequencies_test {
namespace {

constexpr uint64_t kProgramCount = program_count(3000);

Program generated(uint64_t seed, bool has_barriers, FeatureCounts* counts = nullptr) {
  SeededChoice choice(seed);
  GeneratorOptions options;
  options.has_barriers = has_barriers;
  return build(generate(choice, options, counts)).value();
}

uint64_t& count_in(FeatureCounts& counts, Feature feature) {
  return counts.counts[static_cast<size_t>(feature)];
}

// Those features that a program shows by what stands in it.
FeatureCounts counts_shown_by(const Program& program) {
  FeatureCounts counts;
  for (const Memory& memory : program.memories) {
    count_in(counts, Feature::kScratch) += memory.is_scratch;
  }
  for (const Tensor& tensor : program.tensors) {
    count_in(counts, Feature::kView) += tensor.placement == Placement::kView;
    count_in(counts, Feature::kDonation) += tensor.placement == Placement::kDonation;
  }
  for (const Dispatch& dispatch : program.dispatches) {
    bool updates = false;  // Some update several operands.
    bool has_atomics = false;
    for (const Access& access : program.accesses_of(dispatch)) {
      updates |= access.mode == AccessMode::kUpdate;
      has_atomics |= access.mode == AccessMode::kAtomic;
    }
    count_in(counts, Feature::kPartial) += dispatch.is_partial;
    count_in(counts, Feature::kUpdate) += updates;
    count_in(counts, Feature::kAtomic) += has_atomics;
  }
  count_in(counts, Feature::kOutputs) = !program.outputs.empty();
  count_in(counts, Feature::kProgramOrder) = program.has_program_order;
  return counts;
}

constexpr Feature kShown[] = {Feature::kScratch, Feature::kView,        Feature::kDonation,
                              Feature::kPartial, Feature::kUpdate,      Feature::kAtomic,
                              Feature::kOutputs, Feature::kProgramOrder};

TEST(GeneratorFrequencies, CountsWhatStandsInTheProgram) {
  for (int seed = 0; seed < program_count(1000); ++seed) {
    FeatureCounts noted;
    const Program program = generated(seed, seed % 2 == 0, &noted);
    FeatureCounts shown = counts_shown_by(program);
    for (const Feature feature : kShown) {
      if (feature == Feature::kProgramOrder && program.dispatches.empty()) continue;
      EXPECT_EQ(count_in(noted, feature), count_in(shown, feature))
          << word_of(feature) << " of seed " << seed << "\n"
          << print(program);
    }
  }
}

struct FeatureShare {
  Feature feature;
  double share;  // Of the programs that have it.
};

// A feature is on in every second program and comes then with a weight of about 7 in 16, time and
// again: so its share is below 1/2, and the nearer the oftener a program can have it. The shares
// are those of 20,000 programs. The last two are drawn once per program, with odds of 1/8 and 1/4.
constexpr FeatureShare kShares[] = {
    {Feature::kElementwise, 0.300},   {Feature::kReduction, 0.303},
    {Feature::kMatmul, 0.298},        {Feature::kNormalization, 0.303},
    {Feature::kVjpGroup, 0.313},      {Feature::kBackwardGroup, 0.310},
    {Feature::kBytewise, 0.301},      {Feature::kOpaqueTensors, 0.309},
    {Feature::kOpaqueRanges, 0.311},  {Feature::kTinyOverlap, 0.142},
    {Feature::kEmptyRange, 0.157},    {Feature::kUpdate, 0.255},
    {Feature::kAtomic, 0.152},        {Feature::kPartial, 0.147},
    {Feature::kInPlace, 0.233},       {Feature::kDonation, 0.327},
    {Feature::kView, 0.338},          {Feature::kSlotReuse, 0.232},
    {Feature::kScratch, 0.355},       {Feature::kOutputs, 0.413},
    {Feature::kInitialValues, 0.322}, {Feature::kManyReaders, 0.164},
    {Feature::kManyOutputs, 0.384},   {Feature::kProgramOrder, 1.0 / 8},
    {Feature::kScopes, 1.0 / 4},
};
static_assert(std::size(kShares) == kFeatureCount);

TEST(GeneratorFrequencies, HaveEachFeatureInItsShareOfThePrograms) {
  std::array<uint64_t, kFeatureCount> counts{};
  for (uint64_t seed = 0; seed < kProgramCount; ++seed) {
    FeatureCounts noted;
    SeededChoice choice(seed);
    GeneratorOptions options;
    options.has_barriers = true;
    generate(choice, options, &noted);
    for (size_t i = 0; i < kFeatureCount; ++i) counts[i] += noted.counts[i] > 0;
  }
  for (const auto& [feature, share] : kShares) {
    expect_share(word_of(feature), counts[static_cast<size_t>(feature)], kProgramCount, share);
  }
}

// After each dispatch with odds of 1/2, and a tenth more after kinds that add none; every third
// is for execution only. In one of four programs 7 of 8 are scoped, and each of those comes twice
// with odds of 1/8: that makes 63 of 71.
TEST(GeneratorFrequencies, PlaceBarriersOfEveryKind) {
  std::array<uint64_t, 3> counts{};  // Full, execution and scoped, of programs without scopes.
  uint64_t dispatch_count = 0;
  uint64_t scoped_count = 0;
  uint64_t beside_scoped_count = 0;
  for (uint64_t seed = 0; seed < kProgramCount; ++seed) {
    FeatureCounts noted;
    const Program program = generated(seed, true, &noted);
    const bool has_scopes = count_in(noted, Feature::kScopes) > 0;
    if (!has_scopes) dispatch_count += program.dispatches.size();
    for (const Barrier& barrier : program.barriers) {
      const bool is_scoped = barrier.kind == BarrierKind::kScoped;
      if (has_scopes) {
        ++(is_scoped ? scoped_count : beside_scoped_count);
      } else {
        ++counts[is_scoped ? 2 : barrier.kind == BarrierKind::kExecution ? 1 : 0];
      }
    }
  }
  EXPECT_EQ(counts[2], 0u);
  expect_share("barriers after dispatches", counts[0] + counts[1], dispatch_count, 0.55);
  expect_share("execution barriers", counts[1], counts[0] + counts[1], 1.0 / 3);
  expect_share("scoped barriers", scoped_count, scoped_count + beside_scoped_count, 63.0 / 71);
}

// At most 4, 8, 16 and 32 dispatches with odds of 1/4, 3/16, 9/64 and 27/64, and then any number of
// them. A group of several dispatches may go a little over what was drawn, but never over the most.
TEST(GeneratorFrequencies, MakeShortAndLongProgramsOfAllLengths) {
  std::array<uint64_t, 33> counts{};
  uint64_t short_count = 0;
  uint64_t long_count = 0;
  for (uint64_t seed = 0; seed < kProgramCount; ++seed) {
    const size_t length = generated(seed, false).dispatches.size();
    ASSERT_LE(length, 32u);
    ++counts[length];
    short_count += length <= 4;
    long_count += length > 16;
  }
  expect_share("up to 4 dispatches", short_count, kProgramCount, 0.412);
  expect_share("over 16 dispatches", long_count, kProgramCount, 27.0 / 64 / 2);
  if (is_slow_build()) return;
  // The rarest lengths have odds of 27 in 2048: 40 programs.
  for (size_t length = 1; length <= 32; ++length) EXPECT_GT(counts[length], 10u) << length;
}

// One in eight has an order of its own, one in five of those ignores some dependencies, and every
// second of those has a read that shows it.
TEST(GeneratorFrequencies, ContradictTheirDataFlowInOneOfEightyPrograms) {
  uint64_t count = 0;
  for (uint64_t seed = 0; seed < kProgramCount; ++seed) {
    const Program program = generated(seed, true);
    count += program.has_program_order && !find_reordered(program).empty();
  }
  expect_share("reordered programs", count, kProgramCount, 1.0 / 80);
}

}  // namespace
}  // namespace interlock::generator_frequencies_test
