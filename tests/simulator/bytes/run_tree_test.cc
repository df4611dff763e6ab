// Trees of runs against plain arrays of bytes.
#include "simulator/bytes/run_tree.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::run_tree_test {
namespace {

// The same by looking at every byte.
class Bytes {
 public:
  explicit Bytes(uint64_t size) : stamps_(size) {}

  RunStamps max(ByteRange bytes) const {
    RunStamps found;
    for (uint64_t i = bytes.begin; i < bytes.end; ++i) found.raise(stamps_[i]);
    return found;
  }
  void raise(ByteRange bytes, const RunStamps& stamps) {
    for (uint64_t i = bytes.begin; i < bytes.end; ++i) stamps_[i].raise(stamps);
  }
  void assign(ByteRange bytes, const RunStamps& stamps) {
    for (uint64_t i = bytes.begin; i < bytes.end; ++i) stamps_[i] = stamps;
  }

 private:
  std::vector<RunStamps> stamps_;
};

// Steps of random ranges, each found in a tree and in an array, and recorded in both.
class Comparison {
 public:
  explicit Comparison(uint64_t size) : size_(size), bytes_(size) {}

  void step(ByteRange bytes, bool is_write) {
    RunTree::Place place;
    const RunStamps found = bytes_.max(bytes);
    ASSERT_EQ(tree_.max(bytes, place), found) << bytes.begin << " " << bytes.end;
    ++stamp_;
    if (is_write) {
      const Stamp level = found.any_level + 1;
      tree_.write(bytes, stamp_, level, place);
      bytes_.assign(bytes, {stamp_, stamp_, level, level});
    } else {
      const Stamp level = found.write_level + 1;
      tree_.read(bytes, stamp_, level, place);
      bytes_.raise(bytes, {.any = stamp_, .any_level = level});
    }
  }

  // Ranges begin and end at multiples of `grid_bytes`.
  void random_steps(uint64_t count, uint64_t length_max, uint64_t write_percent, uint64_t seed,
                    uint64_t grid_bytes = 1) {
    SeededChoice choice(seed);
    for (uint64_t i = 0; i < count && !testing::Test::HasFatalFailure(); ++i) {
      const uint64_t begin = choice.below(size_ / grid_bytes);
      const uint64_t room = std::min(length_max, size_ - begin * grid_bytes);
      const uint64_t length = 1 + choice.below(room / grid_bytes);
      step({begin * grid_bytes, (begin + length) * grid_bytes}, choice.below(100) < write_percent);
    }
  }

  const RunTree& tree() const { return tree_; }

 private:
  uint64_t size_;
  Bytes bytes_;
  RunTree tree_;
  Stamp stamp_ = 0;
};

TEST(RunTree, AgreesWithAnArrayInOneLeaf) {
  for (uint64_t seed = 1; seed <= 40; ++seed) Comparison(24).random_steps(100, 8, 40, seed);
}

TEST(RunTree, AgreesWithAnArrayInOneBranch) {
  Comparison(2000).random_steps(is_slow_build() ? 1500 : 4000, 30, 40, 1);
  Comparison(2000).random_steps(is_slow_build() ? 1500 : 4000, 2000, 10, 2);
}

TEST(RunTree, AgreesWithAnArrayInSeveralBranches) {
  Comparison comparison(12'000);
  for (uint64_t round = 0; round < (is_slow_build() ? 1 : 3); ++round) {
    comparison.random_steps(12'000, 2, 50, 3 * round + 1);  // Nearly each byte is a run.
    comparison.random_steps(300, 3000, 5, 3 * round + 2);   // Mostly read as a whole.
    comparison.random_steps(40, 4000, 90, 3 * round + 3);   // Hidden again.
  }
}

// What a write leaves of a node at its end is asked for by whoever begins there.
TEST(RunTree, AgreesWithAnArrayWhereRangesTouch) {
  Comparison comparison(12'000);
  for (uint64_t round = 0; round < (is_slow_build() ? 3 : 10); ++round) {
    comparison.random_steps(2000, 3, 50, 2 * round + 1);
    comparison.random_steps(300, 4000, 30, 2 * round + 2, 200);
  }
}

TEST(RunTree, RemembersTheReadsOfManyRunsThatAreCutLater) {
  Comparison comparison(6000);
  for (uint64_t i = 0; i < 3000; ++i) comparison.step({2 * i, 2 * i + 1}, true);
  comparison.step({0, 6000}, false);
  comparison.step({1000, 5001}, false);
  comparison.random_steps(5000, 3, 50, 1);
}

TEST(RunTree, TakesWhatAPlaceIsWorthThoughTheTreeHasChanged) {
  RunTree tree;
  RunTree::Place first;
  RunTree::Place second;
  for (uint64_t i = 0; i < 500; ++i) tree.write({i, i + 1}, 1, 1, first);
  EXPECT_EQ(tree.max({490, 495}, second).any, 1u);
  tree.write({10, 600}, 2, 2, first);
  tree.read({490, 495}, 3, 3, second);
  EXPECT_EQ(tree.max({480, 491}, first), (RunStamps{2, 3, 2, 3}));
  EXPECT_EQ(tree.max({495, 599}, first), (RunStamps{2, 2, 2, 2}));
}

TEST(RunTree, ForgetsWhatIsHidden) {
  RunTree tree;
  const size_t empty_bytes = tree.size_bytes();
  RunTree::Place place;
  Stamp stamp = 0;
  size_t bytes_max = 0;
  for (int round = 0; round < 20; ++round) {
    for (uint64_t i = 0; i < 1000; ++i) tree.read({3 * i, 3 * i + 2}, ++stamp, 1, place);
    ++stamp;
    tree.write({0, 5000}, stamp, stamp, place);
    if (round == 0) bytes_max = tree.size_bytes();
  }
  EXPECT_GT(bytes_max, 10 * empty_bytes);
  EXPECT_LE(tree.size_bytes(), 2 * bytes_max);
}

}  // namespace
}  // namespace interlock::run_tree_test
