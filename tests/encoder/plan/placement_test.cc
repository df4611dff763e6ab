// Placement algorithms against the obvious definition and against all placements of tiny problems.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/plan/best_fit.h"
#include "encoder/plan/ordered_fit.h"
#include "encoder/plan/placement_problem.h"
#include "encoder/program/range.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::placement_test {
namespace {

PlacementProblem problem_of(std::vector<ValueLife> values, uint32_t step_count = 10) {
  PlacementProblem problem;
  problem.step_count = step_count;
  problem.values = std::move(values);
  return problem;
}

BestFitOptions options_of(bool takes_largest_first, bool spares_the_end, bool avoids_barriers,
                          uint64_t budget_bytes) {
  BestFitOptions options;
  options.takes_largest_first = takes_largest_first;
  options.spares_the_end = spares_the_end;
  options.avoids_barriers = avoids_barriers;
  options.budget_bytes = budget_bytes;
  return options;
}

// What follows is the obvious definition of a valid placement, quadratic in the values.
bool is_in_place(const PlacementProblem& problem, uint32_t output, uint32_t input) {
  for (const InPlaceChoice& choice : problem.in_place) {
    if (choice.output == output && choice.input == input) return true;
  }
  return false;
}

// Requires: `earlier` begins no later than `later`.
bool may_share(const PlacementProblem& problem, const ValuePlacement& placement, uint32_t earlier,
               uint32_t later) {
  if (problem.values[earlier].last_step < problem.values[later].first_step) {
    return problem.rule == nullptr || problem.rule->allows(earlier, later);
  }
  return placement.offsets_bytes[earlier] == placement.offsets_bytes[later] &&
         is_in_place(problem, later, earlier);
}

// True iff values share bytes only one after the other, as the rule allows, or in place.
bool is_valid(const PlacementProblem& problem, const ValuePlacement& placement) {
  if (placement.offsets_bytes.size() != problem.values.size()) return false;
  if (placement.size_bytes < size_bytes_of(problem, placement.offsets_bytes)) return false;
  const auto range_of = [&](uint32_t value) {
    const uint64_t begin = placement.offsets_bytes[value];
    return ByteRange{begin, begin + problem.values[value].size_bytes};
  };
  for (uint32_t a = 0; a < problem.values.size(); ++a) {
    for (uint32_t b = 0; b < a; ++b) {
      if (!problem.values[a].is_used() || !problem.values[b].is_used()) continue;
      if (!share_a_byte(range_of(a), range_of(b))) continue;
      const bool is_a_earlier =
          std::pair(problem.values[a].first_step, problem.values[a].last_step) <
          std::pair(problem.values[b].first_step, problem.values[b].last_step);
      if (!may_share(problem, placement, is_a_earlier ? a : b, is_a_earlier ? b : a)) return false;
    }
  }
  return true;
}

// In place is possible wherever one value dies in the step in which another of its size begins.
void allow_in_place(PlacementProblem& problem) {
  for (uint32_t step = 0; step < problem.step_count; ++step) {
    for (uint32_t output = 0; output < problem.values.size(); ++output) {
      for (uint32_t input = 0; input < problem.values.size(); ++input) {
        const ValueLife& a = problem.values[input];
        const ValueLife& b = problem.values[output];
        const bool is_possible = b.is_used() && b.first_step == step && a.is_used() &&
                                 a.last_step == step && a.first_step < step &&
                                 a.size_bytes == b.size_bytes;
        if (is_possible) problem.in_place.push_back({output, input, 0});
      }
    }
  }
}

PlacementProblem random_problem(Choice& choice, uint64_t value_count, uint32_t step_count,
                                uint64_t size_count) {
  std::vector<ValueLife> values;
  for (uint64_t i = 0; i < value_count; ++i) {
    const uint32_t first = static_cast<uint32_t>(choice.below(step_count));
    const uint32_t last = first + static_cast<uint32_t>(choice.below(step_count - first));
    values.push_back({1 + choice.below(size_count), first, last});
  }
  PlacementProblem problem = problem_of(std::move(values), step_count);
  if (choice.chance(1, 2)) allow_in_place(problem);
  return problem;
}

// The smallest pool, by trying all offsets of all values.
uint64_t brute_force_bytes(const PlacementProblem& problem, uint64_t limit_bytes) {
  for (uint64_t size_bytes = lower_bound_bytes(problem); size_bytes < limit_bytes; ++size_bytes) {
    ValuePlacement placement{std::vector<uint64_t>(problem.values.size(), 0), size_bytes};
    while (true) {
      if (is_valid(problem, placement)) return size_bytes;
      size_t i = 0;
      while (i < problem.values.size() &&
             ++placement.offsets_bytes[i] + problem.values[i].size_bytes > size_bytes) {
        placement.offsets_bytes[i++] = 0;
      }
      if (i == problem.values.size()) break;
    }
  }
  return limit_bytes;
}

TEST(LowerBound, IsTheLargestLiveSet) {
  EXPECT_EQ(lower_bound_bytes(problem_of({{8, 1, 3}, {8, 3, 5}, {4, 4, 4}})), 16u);
  EXPECT_EQ(lower_bound_bytes(problem_of({{8, 1, 2}, {8, 3, 5}, {4, 4, 4}})), 12u);
  EXPECT_EQ(lower_bound_bytes(problem_of({})), 0u);
}

TEST(LowerBound, CountsAnOutputInPlaceOnce) {
  PlacementProblem problem = problem_of({{8, 1, 3}, {8, 3, 5}});
  allow_in_place(problem);
  EXPECT_EQ(lower_bound_bytes(problem), 8u);
}

// Two outputs may replace the one input, and only one of them can.
TEST(LowerBound, CountsAnInputOnce) {
  PlacementProblem problem = problem_of({{8, 1, 3}, {8, 3, 5}, {8, 3, 4}});
  allow_in_place(problem);
  ASSERT_EQ(problem.in_place.size(), 2u);
  EXPECT_EQ(lower_bound_bytes(problem), 16u);
}

TEST(IsValid, SaysWhichValuesMayShareBytes) {
  PlacementProblem problem = problem_of({{8, 1, 3}, {8, 3, 5}, {8, 4, 6}});
  EXPECT_TRUE(is_valid(problem, {{0, 8, 0}, 16}));
  EXPECT_FALSE(is_valid(problem, {{0, 0, 8}, 16})) << "both live in step 3";
  EXPECT_FALSE(is_valid(problem, {{0, 8, 4}, 16})) << "half of the second";
  EXPECT_FALSE(is_valid(problem, {{0, 8, 0}, 15})) << "past the end";
  allow_in_place(problem);
  EXPECT_TRUE(is_valid(problem, {{0, 0, 8}, 16}));
  EXPECT_FALSE(is_valid(problem, {{0, 4, 12}, 20})) << "in place is all or nothing";
}

TEST(BestFit, TakesTheSmallestFreeBytesThatFit) {
  // Two holes, of 16 bytes at 0 and of 8 at 24, then a value of 8.
  const PlacementProblem problem =
      problem_of({{16, 1, 2}, {8, 1, 9}, {8, 1, 2}, {8, 1, 9}, {8, 3, 4}});
  const ValuePlacement placement = place_best_fit(problem, options_of(false, false, false, 0));
  EXPECT_EQ(placement.offsets_bytes, (std::vector<uint64_t>{0, 16, 24, 32, 24}));
  EXPECT_EQ(placement.size_bytes, 40u);
}

TEST(BestFit, JoinsFreeNeighbours) {
  const PlacementProblem problem = problem_of({{8, 1, 2}, {8, 1, 2}, {8, 1, 9}, {16, 3, 4}});
  EXPECT_EQ(place_best_fit(problem).offsets_bytes[3], 0u);
}

// The reader of step 2 and the writer of step 3 need no barrier between them; a fresh slot keeps it
// so, and the slot that died before the barrier costs nothing.
TEST(BestFit, AvoidsBytesOfTheCurrentEpochWithinItsBudget) {
  PlacementProblem problem = problem_of({{8, 1, 2}, {8, 3, 4}, {8, 6, 7}});
  problem.latest_conflicts = {0, 0, 1, 0, 3, 0, 0, 6, 0, 0};
  EXPECT_EQ(place_best_fit(problem, options_of(true, false, true, 16)).offsets_bytes,
            (std::vector<uint64_t>{0, 8, 0}));
  EXPECT_EQ(place_best_fit(problem, options_of(true, false, true, 8)).offsets_bytes,
            (std::vector<uint64_t>{0, 0, 0}));
}

TEST(PlaceExactly, IsAsSmallAsAnyPlacementOfATinyProblem) {
  SeededChoice choice(1);
  for (int i = 0; i < proof_count(3000, 80, 16); ++i) {
    const PlacementProblem problem = random_problem(choice, 6, 12, 4);
    const ValuePlacement placement = place_exactly(problem);
    ASSERT_TRUE(is_valid(problem, placement)) << "problem " << i;
    ASSERT_EQ(placement.size_bytes, brute_force_bytes(problem, 25)) << "problem " << i;
  }
}

TEST(Placements, AreValidAndAtLeastTheLowerBound) {
  SeededChoice choice(2);
  for (int i = 0; i < share_count(20'000, 5, 80); ++i) {
    PlacementProblem problem = random_problem(choice, 1 + choice.below(14),
                                              2 + static_cast<uint32_t>(choice.below(12)), 6);
    problem.latest_conflicts.assign(problem.step_count, 0);
    for (uint32_t step = 1; step < problem.step_count; ++step) {
      problem.latest_conflicts[step] = static_cast<uint32_t>(choice.below(step));
    }
    std::vector<ValuePlacement> placements;
    for (uint64_t set = 0; set < 8; ++set) {
      placements.push_back(place_best_fit(
          problem, options_of((set & 1) != 0, (set & 2) != 0, (set & 4) != 0, choice.below(30))));
    }
    const std::vector<ValueChain> chains = chains_of(problem, problem.in_place);
    for (size_t order = 0; order < kFitOrderCount; ++order) {
      placements.push_back(place_ordered(problem, chains, static_cast<FitOrder>(order)));
    }
    for (size_t p = 0; p < placements.size(); ++p) {
      ASSERT_TRUE(is_valid(problem, placements[p])) << "problem " << i << ", placement " << p;
      ASSERT_GE(placements[p].size_bytes, lower_bound_bytes(problem)) << "problem " << i;
    }
  }
}

// Only values whose numbers have the same parity may follow each other.
class ParityRule final : public ReuseRule {
 public:
  bool allows(uint32_t earlier, uint32_t later) const override { return earlier % 2 == later % 2; }
};

TEST(Placements, ObeyTheRule) {
  const ParityRule rule;
  SeededChoice choice(3);
  for (int i = 0; i < program_count(10'000); ++i) {
    PlacementProblem problem = random_problem(choice, 1 + choice.below(8), 10, 4);
    problem.in_place.clear();
    problem.rule = &rule;
    const std::vector<ValueChain> chains = chains_of(problem, {});
    ASSERT_TRUE(is_valid(problem, place_best_fit(problem))) << "problem " << i;
    for (size_t order = 0; order < kFitOrderCount; ++order) {
      ASSERT_TRUE(is_valid(problem, place_ordered(problem, chains, static_cast<FitOrder>(order))));
    }
  }
}

}  // namespace
}  // namespace interlock::placement_test
