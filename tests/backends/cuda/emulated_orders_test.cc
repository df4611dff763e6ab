// Small blocks of the emulated device in all orders of their threads: what holds there holds
// whatever a seed draws, and the odds of missing a mistake are counted.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/cuda/emulated/kernels.h"
#include "backends/cuda/emulation/words.h"
#include "backends/cuda/kernels/device_kernels.h"
#include "backends/interface/dispatch_params.h"
#include "simulator/schedules/choice.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/simulator/programs/choices.h"

namespace interlock::emulated_orders_test {
namespace {

struct OrderCounts {
  int all = 0;
  int right = 0;
};

// Calls `run(choice)`, which says whether the result was right, for all answers of the choice.
template <class Run>
OrderCounts count_orders(const Run& run) {
  OrderCounts counts;
  ExhaustiveChoice choice;
  do {
    ++counts.all;
    counts.right += run(choice) ? 1 : 0;
  } while (choice.advance());
  return counts;
}

template <bool HasBarrier>
__global__ void sum_in_order(float* y) {
  float* const values = reinterpret_cast<float*>(shared_storage);
  values[threadIdx.x] = 1.0f;
  if constexpr (HasBarrier) __syncthreads();
  if (threadIdx.x != 0) return;
  *y = 0;
  for (uint32_t i = 0; i < blockDim.x; ++i) *y += values[i];
}

OrderCounts count_sums(void (*kernel)(float*)) {
  EmulatedDevice device;
  return count_orders([&](Choice& choice) {
    float y = 0;
    const LaunchShape shape{.grid = {}, .block = {4, 1, 1}, .shared_bytes = 16};
    const auto launched = launch_kernel(device, choice, shape, kernel, &y);
    EXPECT_FALSE(launched.value().has_value());
    return y == 4.0f;
  });
}

// Of the 24 orders of four threads, those hide the missing barrier in which thread 0 runs last.
TEST(EmulatedOrders, HideAMissingBarrierInOneOfFourOrdersOfFourThreads) {
  const OrderCounts counts = count_sums(sum_in_order<false>);
  EXPECT_EQ(counts.all, 24);
  EXPECT_EQ(counts.right, 6);
}

TEST(EmulatedOrders, AreAllRightWithTheBarrier) {
  const OrderCounts counts = count_sums(sum_in_order<true>);
  EXPECT_EQ(counts.all, 24 * 24);
  EXPECT_EQ(counts.right, counts.all);
}

// The only dispatch of `program`, of one slice, by so many threads: in how many orders it leaves
// the bytes that the CPU leaves.
OrderCounts count_dispatches(const Program& program, uint32_t thread_count) {
  const DispatchId id{0};
  const MemoryImage before = initial_image(program, kExecutionLimitBytes).value();
  const MemoryImage expected = image_after(program, reference_order_schedule(program));
  EmulatedDevice device;
  return count_orders([&](Choice& choice) {
    MemoryImage image = before;
    std::vector<LaunchOperand> operands;
    for (const Access& access : program.accesses_of(id)) {
      operands.push_back({image.memories[access.memory.index].data() + access.range.begin,
                          access.range.size_bytes(), access.mode, false});
    }
    LaunchArguments arguments;
    arguments.operands = operands.data();
    arguments.operand_count = static_cast<uint32_t>(operands.size());
    arguments.params = dispatch_params_of(program, id);
    const auto launched =
        launch_slices({device, choice, thread_count}, program.dispatch(id).kernel, 1, arguments);
    EXPECT_FALSE(launched.value().has_value());
    return image == expected;
  });
}

// Between barriers two threads have two orders. A sum over a row has seven barriers.
TEST(EmulatedOrders, OfTwoThreadsGiveTheSameBitsInEverySum) {
  const OrderCounts sum =
      count_dispatches(program_of({.kernel = "row_sum", .rows = 1, .cols = 35}), 2);
  EXPECT_EQ(sum.all, 1 << 8);
  EXPECT_EQ(sum.right, sum.all);
  const OrderCounts norm =
      count_dispatches(program_of({.kernel = "rms_norm", .rows = 1, .cols = 35}), 2);
  EXPECT_EQ(norm.all, 1 << 8);
  EXPECT_EQ(norm.right, norm.all);
}

// Two barriers part three turns, each in six orders.
TEST(EmulatedOrders, OfThreeThreadsGiveTheSameBitsInMix) {
  const OrderCounts counts = count_dispatches(parsed(R"(interlock 1
memory a 23
memory y 9
dispatch Kernel reads a writes a[3:14] updates y
)"),
                                              3);
  EXPECT_EQ(counts.all, 6 * 6 * 6);
  EXPECT_EQ(counts.right, counts.all);
}

__global__ void add_to_byte(uint8_t* word, uint32_t stride) {
  update_byte(word + threadIdx.x * stride, AtomicOp::kAdd, static_cast<uint8_t>(threadIdx.x + 1));
}

// Two threads on one byte and on two of a word; each may give way before each of its atomics.
TEST(EmulatedOrders, OfAtomicsOnBytesLoseNoUpdate) {
  for (const uint32_t stride : {0u, 1u, 3u}) {
    std::vector<uint8_t> expected = {10, 20, 30, 40};
    expected[0] = static_cast<uint8_t>(expected[0] + 1);
    expected[stride] = static_cast<uint8_t>(expected[stride] + 2);
    EmulatedDevice device;
    const OrderCounts counts = count_orders([&](Choice& choice) {
      std::vector<uint8_t> word = {10, 20, 30, 40};
      const LaunchShape shape{.grid = {}, .block = {2, 1, 1}};
      const auto launched = launch_kernel(device, choice, shape, add_to_byte, word.data(), stride);
      EXPECT_FALSE(launched.value().has_value());
      return word == expected;
    });
    EXPECT_GT(counts.all, 2 * 4 * 4 * 4 * 4);  // Two atomics each, and the thread that starts.
    EXPECT_EQ(counts.right, counts.all);
  }
}

}  // namespace
}  // namespace interlock::emulated_orders_test
