// Fibers of every kind of switch: each keeps its stack and its registers while others run.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "backends/cuda/emulation/fiber.h"

namespace interlock::emulated_fiber_test {
namespace {

class Fibers : public testing::TestWithParam<FiberSwitch> {
 protected:
  std::unique_ptr<Fiber> make() {
    auto fiber = Fiber::create(GetParam());
    EXPECT_TRUE(fiber.has_value());
    return std::move(fiber).value();
  }
};

INSTANTIATE_TEST_SUITE_P(Switches, Fibers, testing::ValuesIn(fiber_switches()),
                         [](const testing::TestParamInfo<FiberSwitch>& kind) {
                           return kind.param == FiberSwitch::kAssembly ? "Assembly" : "Ucontext";
                         });

struct Counter {
  Fiber* fiber = nullptr;
  uint32_t round_count = 0;
  uint64_t sum = 0;
  double product = 1;
};

// Values that live across a switch are in registers and on the stack, of integers and floats.
void count(void* argument) {
  Counter& counter = *static_cast<Counter*>(argument);
  const uint32_t round_count = counter.round_count;
  uint64_t sum = 0;
  double product = 1;
  for (uint32_t i = 1; i <= round_count; ++i) {
    char bytes[512];
    std::memset(bytes, static_cast<int>(i), sizeof bytes);
    counter.fiber->give_way();
    sum += static_cast<uint64_t>(bytes[i % sizeof bytes]);
    product *= 1.5;
  }
  counter.sum = sum;
  counter.product = product;
}

TEST_P(Fibers, KeepTheirStateWhileOthersRun) {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Counter> counters(40);
  for (uint32_t i = 0; i < counters.size(); ++i) {
    fibers.push_back(make());
    counters[i] = {.fiber = fibers[i].get(), .round_count = i % 7};
    fibers[i]->start(count, &counters[i]);
  }
  for (uint32_t round = 0; round < 7; ++round) {
    for (uint32_t i = 0; i < counters.size(); ++i) {
      EXPECT_EQ(fibers[i]->is_done(), i % 7 < round);
      if (!fibers[i]->is_done()) fibers[i]->resume();
    }
  }
  for (uint32_t i = 0; i < counters.size(); ++i) {
    const uint32_t n = i % 7;
    EXPECT_TRUE(fibers[i]->is_done());
    EXPECT_EQ(counters[i].sum, n * (n + 1) / 2);
    double product = 1;
    for (uint32_t k = 0; k < n; ++k) product *= 1.5;
    EXPECT_EQ(counters[i].product, product);
  }
}

TEST_P(Fibers, StartAgainWhenTheyAreDone) {
  const std::unique_ptr<Fiber> fiber = make();
  EXPECT_TRUE(fiber->is_done());
  for (uint32_t i = 0; i < 3; ++i) {
    Counter counter{.fiber = fiber.get(), .round_count = i};
    fiber->start(count, &counter);
    while (!fiber->is_done()) fiber->resume();
    EXPECT_EQ(counter.sum, i * (i + 1) / 2);
  }
}

TEST_P(Fibers, MayBeAbandonedOnTheWay) {
  Counter counter{.fiber = nullptr, .round_count = 5};
  for (int i = 0; i < 20; ++i) {
    const std::unique_ptr<Fiber> fiber = make();
    counter.fiber = fiber.get();
    fiber->start(count, &counter);
    fiber->resume();
    fiber->resume();
    EXPECT_FALSE(fiber->is_done());
  }
  EXPECT_EQ(counter.sum, 0u);
}

// A fiber may run fibers of its own.
struct Outer {
  Fiber* fiber = nullptr;
  Fiber* inner = nullptr;
  int round_count = 0;
};

TEST_P(Fibers, MayResumeOthers) {
  const std::unique_ptr<Fiber> fiber = make();
  const std::unique_ptr<Fiber> inner = make();
  Counter counter{.fiber = inner.get(), .round_count = 4};
  inner->start(count, &counter);
  Outer outer{fiber.get(), inner.get()};
  fiber->start(
      [](void* argument) {
        Outer& self = *static_cast<Outer*>(argument);
        while (!self.inner->is_done()) {
          self.inner->resume();
          ++self.round_count;
          self.fiber->give_way();
        }
      },
      &outer);
  while (!fiber->is_done()) fiber->resume();
  EXPECT_EQ(outer.round_count, 5);
  EXPECT_EQ(counter.sum, 10u);
}

}  // namespace
}  // namespace interlock::emulated_fiber_test
