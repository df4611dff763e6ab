// The emulated device finds what a device of CUDA may make of wrong kernels, each beside its
// repair.
#include "backends/cuda/emulation/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "backends/cuda/emulation/words.h"
#include "backends/cuda/kernels/device_kernels.h"
#include "simulator/schedules/choice.h"

namespace interlock::emulated_device_test {
namespace {

using testing::HasSubstr;

constexpr uint32_t kThreadCount = 32;

// Launches without a finding.
template <class... Parameters>
void launch(uint64_t seed, const LaunchShape& shape, void (*kernel)(Parameters...),
            const std::type_identity_t<Parameters>&... arguments) {
  EmulatedDevice device;
  SeededChoice choice(seed);
  const auto launched = launch_kernel(device, choice, shape, kernel, arguments...);
  ASSERT_TRUE(launched.has_value()) << launched.error().message;
  EXPECT_FALSE(launched->has_value()) << text_of(**launched);
}

template <class... Parameters>
LaunchFinding finding_of(const LaunchShape& shape, void (*kernel)(Parameters...),
                         const std::type_identity_t<Parameters>&... arguments) {
  EmulatedDevice device;
  SeededChoice choice(1);
  const auto launched = launch_kernel(device, choice, shape, kernel, arguments...);
  EXPECT_TRUE(launched.has_value() && launched->has_value());
  return launched->value_or(LaunchFinding{});
}

__global__ void note_indices(std::vector<uint64_t>* places) {
  const uint64_t block = blockIdx.x + gridDim.x * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
  const uint64_t thread =
      threadIdx.x + blockDim.x * (threadIdx.y + uint64_t{blockDim.y} * threadIdx.z);
  places->push_back(block * 100 + thread);
}

TEST(EmulatedDevice, RunsEveryThreadOfEveryBlockOnceInManyOrders) {
  std::set<std::vector<uint64_t>> orders;
  std::set<uint64_t> first_blocks;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<uint64_t> places;
    launch(seed, {.grid = {3, 2, 2}, .block = {2, 3, 2}}, note_indices, &places);
    EXPECT_EQ(places.size(), 12u * 12u);
    EXPECT_EQ(std::set<uint64_t>(places.begin(), places.end()).size(), places.size());
    first_blocks.insert(places[0] / 100);
    orders.insert(std::move(places));
  }
  EXPECT_EQ(orders.size(), 20u);
  EXPECT_GE(first_blocks.size(), 5u);  // Of 12 blocks, fewer with odds below 1e-6.
}

// A sum by 32 threads in two rounds, in the dialect of kernels. Operand 0: 32 values; operand 1:
// the sum of the values and, by an own second sum, that of the values doubled.
enum class Planted { kNothing, kNoBarrierBeforeTheSum, kNoBarrierBehindTheSum };

template <Planted What>
struct TwoSums {
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams&, uint64_t) {
    for (uint32_t round = 0; round < 2; ++round) {
      lane.shared(lane.index()) = static_cast<float>(round + 1) * memory.load_f32(0, lane.index());
      if constexpr (What != Planted::kNoBarrierBeforeTheSum) lane.sync();
      float sum = 0;
      for (uint32_t i = 0; i < lane.count(); ++i) sum += lane.shared(i);
      if constexpr (What != Planted::kNoBarrierBehindTheSum) lane.sync();
      memory.store_f32(1, round * lane.count() + lane.index(), sum);
    }
  }
};

// In how many of 20 launches some thread gets a wrong sum.
template <Planted What>
int wrong_count() {
  int count = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<float> x(kThreadCount, 1.0f);
    std::vector<float> y(2 * kThreadCount, 0.0f);
    const LaunchOperand operands[] = {
        {reinterpret_cast<uint8_t*>(x.data()), 4 * kThreadCount, AccessMode::kRead, false},
        {reinterpret_cast<uint8_t*>(y.data()), 8 * kThreadCount, AccessMode::kWrite, false}};
    LaunchArguments arguments;
    arguments.operands = operands;
    arguments.operand_count = 2;
    launch(seed, {.grid = {}, .block = {kThreadCount, 1, 1}, .shared_bytes = kSliceSharedBytes},
           run_slices<TwoSums<What>>, arguments);
    std::vector<float> expected(kThreadCount, 32.0f);
    expected.resize(2 * kThreadCount, 64.0f);
    count += y != expected;
  }
  return count;
}

// Threads run from barrier to barrier one by one. Without the first barrier every thread but the
// last reads words that nobody wrote; it shows in every launch.
TEST(EmulatedDevice, FindsAMissingBarrierBeforeSharedValuesAreRead) {
  EXPECT_EQ(wrong_count<Planted::kNoBarrierBeforeTheSum>(), 20);
}

// Without the second, a thread that is not the last to go on overwrites its value while others
// still add: in every launch likewise.
TEST(EmulatedDevice, FindsAMissingBarrierBeforeSharedValuesAreOverwritten) {
  EXPECT_EQ(wrong_count<Planted::kNoBarrierBehindTheSum>(), 20);
}

TEST(EmulatedDevice, FindsNothingWithBothBarriers) {
  EXPECT_EQ(wrong_count<Planted::kNothing>(), 0);
}

// Only thread 0 reads: a launch misses the missing barrier if it runs last, with odds of 1/32, and
// all 20 do with odds of 1e-30.
template <bool HasBarrier>
__global__ void sum_by_thread_0(float* y) {
  float* const values = reinterpret_cast<float*>(shared_storage);
  values[threadIdx.x] = 1.0f;
  if constexpr (HasBarrier) __syncthreads();
  if (threadIdx.x != 0) return;
  *y = 0;
  for (uint32_t i = 0; i < blockDim.x; ++i) *y += values[i];
}

TEST(EmulatedDevice, FindsAMissingBarrierThatOneThreadDependsOn) {
  const LaunchShape shape{.grid = {}, .block = {kThreadCount, 1, 1}, .shared_bytes = 128};
  int wrong_count = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    float y = 0;
    launch(seed, shape, sum_by_thread_0<false>, &y);
    wrong_count += y != 32.0f;
    launch(seed, shape, sum_by_thread_0<true>, &y);
    EXPECT_EQ(y, 32.0f);
  }
  EXPECT_GE(wrong_count, 1);
}

template <bool Clears>
__global__ void count_up(uint32_t* counts) {
  auto* const word = reinterpret_cast<uint32_t*>(shared_storage);
  if constexpr (Clears) *word = 0;
  counts[blockIdx.x] = *word + 1;
}

// A word that nobody wrote has 2^22 values; two blocks see the same with odds of 2^-22. As a float
// it is no number.
TEST(EmulatedDevice, FillsSharedMemoryWithOtherBytesForEveryBlock) {
  const LaunchShape shape{.grid = {2, 1, 1}, .block = {}, .shared_bytes = 4};
  uint32_t counts[2];
  launch(1, shape, count_up<false>, counts);
  EXPECT_NE(counts[0], counts[1]);
  EXPECT_NE(f32_of_bits(counts[0] - 1), f32_of_bits(counts[0] - 1));
  launch(1, shape, count_up<true>, counts);
  EXPECT_EQ(counts[0], 1u);
  EXPECT_EQ(counts[1], 1u);
}

__global__ void wait_below(uint32_t thread_count) {
  if (blockIdx.y == 2 && threadIdx.x >= thread_count) return;
  __syncthreads();
}

TEST(EmulatedDevice, ReportsABarrierThatSomeThreadsNeverReach) {
  const LaunchShape shape{.grid = {1, 5, 1}, .block = {kThreadCount, 1, 1}};
  const LaunchFinding finding = finding_of(shape, wait_below, 7u);
  EXPECT_EQ(finding.kind, LaunchFindingKind::kBarrierDivergence);
  EXPECT_EQ(finding.block, (Index3{0, 2, 0}));
  EXPECT_EQ(finding.thread_count, 32u);
  EXPECT_EQ(finding.waiting_count, 7u);
  EXPECT_EQ(finding.waiting_elsewhere_count, 0u);
  EXPECT_EQ(finding.ended_count, 25u);
  EXPECT_THAT(text_of(finding),
              HasSubstr("Block (0, 2, 0) diverges at a barrier: of 32 threads, 7 wait in line "));
  EXPECT_THAT(text_of(finding),
              HasSubstr(" of emulated_device_test.cc, 0 wait elsewhere, 25 have ended."));
  launch(1, shape, wait_below, kThreadCount);
  launch(1, shape, wait_below, 0u);
}

__global__ void wait_in_two_places(uint32_t thread_count) {
  if (threadIdx.x < thread_count) {  // NOLINT(bugprone-branch-clone): two lines.
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST(EmulatedDevice, ReportsThreadsThatWaitInDifferentPlaces) {
  const LaunchShape shape{.grid = {}, .block = {kThreadCount, 1, 1}};
  const LaunchFinding finding = finding_of(shape, wait_in_two_places, 7u);
  EXPECT_EQ(finding.waiting_count, 7u);
  EXPECT_EQ(finding.waiting_elsewhere_count, 25u);
  EXPECT_EQ(finding.ended_count, 0u);
  launch(1, shape, wait_in_two_places, 0u);
  launch(1, shape, wait_in_two_places, kThreadCount);
}

__global__ void store_shared(uint32_t offset) { shared_storage[offset] = 0; }

TEST(EmulatedDevice, ReportsWritesBehindSharedMemory) {
  const LaunchShape shape{.grid = {}, .block = {2, 1, 1}, .shared_bytes = 10};
  EXPECT_EQ(finding_of(shape, store_shared, 10u).kind, LaunchFindingKind::kSharedOverrun);
  EXPECT_EQ(text_of(finding_of(shape, store_shared, 265u)),
            "Block (0, 0, 0) writes past its shared memory.");
  launch(1, shape, store_shared, 9u);
}

// The device goes on after a finding, with new stacks.
TEST(EmulatedDevice, LaunchesAgainAfterAFinding) {
  EmulatedDevice device;
  SeededChoice choice(1);
  const LaunchShape shape{.grid = {1, 3, 1}, .block = {kThreadCount, 1, 1}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(launch_kernel(device, choice, shape, wait_below, 7u).value().has_value());
    EXPECT_FALSE(launch_kernel(device, choice, shape, wait_below, 0u).value().has_value());
  }
}

template <bool IsAtomic>
__global__ void add_one(unsigned int* count, unsigned int* rounds) {
  for (int i = 0; i < 4; ++i) {
    const unsigned int old = atomicCAS(count, ~0u, 0u);  // Gives way by chance.
    if (!IsAtomic) {
      atomicAdd(rounds, 1u);
      *count = old + 1;
      continue;
    }
    for (unsigned int expected = old;;) {
      atomicAdd(rounds, 1u);
      const unsigned int found = atomicCAS(count, expected, expected + 1);
      if (found == expected) break;
      expected = found;
    }
  }
}

// Threads give way at one atomic in four. 128 sums without an atomic lose none with odds far below
// 1e-6, since each that gives way between load and store loses those of all other threads then.
TEST(EmulatedDevice, InterleavesThreadsAtAtomics) {
  const LaunchShape shape{.grid = {}, .block = {kThreadCount, 1, 1}};
  unsigned int count = 0;
  unsigned int rounds = 0;
  launch(1, shape, add_one<true>, &count, &rounds);
  EXPECT_EQ(count, 4 * kThreadCount);
  EXPECT_GT(rounds, 4 * kThreadCount);  // Some compared in vain.
  count = 0;
  launch(1, shape, add_one<false>, &count, &rounds);
  EXPECT_LT(count, 4 * kThreadCount);
}

TEST(EmulatedDevice, RefusesShapesThatNoDeviceTakes) {
  EmulatedDevice device;
  SeededChoice choice(1);
  const auto message_of = [&](const LaunchShape& shape) {
    const auto launched = launch_kernel(device, choice, shape, store_shared, 0u);
    return launched.has_value() ? "" : launched.error().message;
  };
  EXPECT_EQ(message_of({.grid = {0, 1, 1}, .block = {}}),
            "A launch needs at least one block, and a block at least one thread.");
  EXPECT_EQ(message_of({.grid = {}, .block = {1025, 1, 1}}),
            "A block has 1025 x 1 x 1 threads; a device takes at most 1024 in all.");
  EXPECT_EQ(
      message_of({.grid = {~0u, ~0u, ~0u}, .block = {}}),
      "A launch has 4294967295 x 4294967295 x 4294967295 blocks; the emulated device takes at most 16777216 in all.");
  EXPECT_EQ(message_of({.grid = {}, .block = {}, .shared_bytes = 50'000}),
            "A block has 50000 bytes of shared memory; a device takes at most 49152.");
  EXPECT_EQ(message_of({.grid = {}, .block = {1024, 1, 1}, .shared_bytes = 49'152}), "");
}

}  // namespace
}  // namespace interlock::emulated_device_test
