// Stamp trees against plain arrays.
#include "simulator/bytes/stamp_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "simulator/schedules/choice.h"

namespace interlock::stamp_tree_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<StampRun> runs_of(const StampTree& tree, SegmentSpan span, Stamp threshold) {
  std::vector<StampRun> runs;
  tree.append_runs(span, threshold, runs);
  return runs;
}

// The same by looking at every segment.
std::vector<StampRun> obvious_runs(const std::vector<Stamp>& stamps, SegmentSpan span,
                                   Stamp threshold) {
  std::vector<StampRun> runs;
  for (uint32_t i = span.begin; i < span.end; ++i) {
    if (stamps[i] < threshold) {
      continue;
    }
    if (!runs.empty() && runs.back().span.end == i && runs.back().stamp == stamps[i]) {
      ++runs.back().span.end;
    } else {
      runs.push_back({{i, i + 1}, stamps[i]});
    }
  }
  return runs;
}

TEST(StampTree, TheLatestAssignmentWins) {
  StampTree tree(5);
  tree.raise({0, 5}, 1);
  tree.raise({1, 3}, 2);
  EXPECT_EQ(tree.max({0, 1}), 1u);
  EXPECT_EQ(tree.max({0, 5}), 2u);
  EXPECT_EQ(tree.max({3, 5}), 1u);
  EXPECT_THAT(runs_of(tree, {0, 5}, 1),
              ElementsAre(StampRun{{0, 1}, 1}, StampRun{{1, 3}, 2}, StampRun{{3, 5}, 1}));
  EXPECT_THAT(runs_of(tree, {2, 5}, 2), ElementsAre(StampRun{{2, 3}, 2}));
}

TEST(StampTree, EmptySpansHoldNothing) {
  StampTree tree(3);
  tree.raise({1, 1}, 7);
  EXPECT_EQ(tree.max({0, 3}), 0u);
  tree.raise({0, 3}, 7);
  EXPECT_EQ(tree.max({1, 1}), 0u);
  EXPECT_THAT(runs_of(tree, {1, 1}, 1), IsEmpty());
}

TEST(StampTree, AgreesWithAnArray) {
  SeededChoice choice(1);
  for (const uint32_t size : {1u, 2u, 15u, 16u, 17u, 31u, 100u, 255u, 256u, 257u, 700u, 5000u}) {
    StampTree tree(size);
    std::vector<Stamp> stamps(size, 0);
    for (Stamp step = 1; step <= 100; ++step) {
      const auto begin = static_cast<uint32_t>(choice.below(size));
      const auto end = static_cast<uint32_t>(begin + choice.below(size - begin + 1));
      // Monotone stamps assign; others raise.
      const Stamp stamp = size % 2 == 0 ? step : static_cast<Stamp>(1 + choice.below(20));
      tree.raise({begin, end}, stamp);
      for (uint32_t i = begin; i < end; ++i) {
        stamps[i] = std::max(stamps[i], stamp);
      }
      const auto from = static_cast<uint32_t>(choice.below(size));
      const auto to = static_cast<uint32_t>(from + choice.below(size - from + 1));
      Stamp greatest = 0;
      for (uint32_t i = from; i < to; ++i) {
        greatest = std::max(greatest, stamps[i]);
      }
      EXPECT_EQ(tree.max({from, to}), greatest);
      const Stamp threshold = static_cast<Stamp>(1 + choice.below(step));
      EXPECT_EQ(runs_of(tree, {from, to}, threshold), obvious_runs(stamps, {from, to}, threshold));
    }
  }
}

TEST(ZipRuns, VisitsThePiecesOfBothLists) {
  const std::vector<StampRun> a = {{{0, 4}, 1}, {{6, 8}, 2}};
  const std::vector<StampRun> b = {{{2, 5}, 9}, {{8, 9}, 7}};
  std::vector<std::tuple<uint32_t, uint32_t, Stamp, Stamp>> pieces;
  zip_runs(a, b, [&](SegmentSpan span, Stamp in_a, Stamp in_b) {
    pieces.emplace_back(span.begin, span.end, in_a, in_b);
  });
  using Piece = std::tuple<uint32_t, uint32_t, Stamp, Stamp>;
  EXPECT_THAT(pieces, ElementsAre(Piece(0, 2, 1, 0), Piece(2, 4, 1, 9), Piece(4, 5, 0, 9),
                                  Piece(6, 8, 2, 0), Piece(8, 9, 0, 7)));
}

}  // namespace
}  // namespace interlock::stamp_tree_test
