// mix in CUDA's words, emulated, has the bits of the CPU: whatever the operands, their modes and
// their alignment, in one block or in two launches of many, at once or late.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/hazards/alias_contracts.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/cuda/emulated_cuda.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::emulated_mix_test {
namespace {

// True: one block whatever the size; false: two launches.
class EmulatedMix : public testing::TestWithParam<bool> {
 protected:
  void expect_the_bits_of_the_cpu(const Program& program, const Schedule& schedule) {
    EXPECT_TRUE(image_on(backend_, program, schedule) == image_after(program, schedule))
        << print(program);
  }

  void expect_the_bits_of_the_cpu(const Program& program) {
    const HappensBefore order(program);
    expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
    expect_the_bits_of_the_cpu(program, epoch_reversed_schedule(program, order));
    expect_the_bits_of_the_cpu(program, lazy_schedule(program, order));
  }

  EmulatedCudaBackend backend_{
      {.block_thread_count = 32, .mix_block_bytes_max = GetParam() ? UINT64_MAX : 0}};
};

INSTANTIATE_TEST_SUITE_P(Launches, EmulatedMix, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& is_one_block) {
                           return is_one_block.param ? "OneBlock" : "TwoLaunches";
                         });

TEST_P(EmulatedMix, HasTheBytesThatEveryBackendHas) {
  const Program program = parsed(R"(interlock 1
memory a 6
memory y 6
memory c 3
memory p 3
tensor ta u8[6] at a+0 = iota
tensor tp u8[3] at p+0 = iota
tensor tc u8[3] at c+0 = iota
label: dispatch Kernel reads a writes y atomics c atomic=add
partly: dispatch Kernel reads a writes p partial
)");
  const MemoryImage image = image_on(backend_, program, issue_order_schedule(program));
  EXPECT_EQ(image.memories[1], (std::vector<uint8_t>{190, 111, 202, 249, 143, 25}));
  EXPECT_EQ(image.memories[2], (std::vector<uint8_t>{132, 217, 32}));
  EXPECT_EQ(image.memories[3], (std::vector<uint8_t>{156, 136, 128}));
}

// Ranges of a few bytes at any place, all modes, late commits. Alias violations are left out:
// within them the order of bytes matters.
TEST_P(EmulatedMix, HasTheBitsOfTheCpuOnRandomPrograms) {
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(program_count(600)); ++seed) {
    SeededChoice choice(seed);
    RandomProgramOptions options;
    options.memory_bytes = 5 + seed % 60;
    options.range_bytes_max = 2 + seed % 40;
    const Program program = random_program(choice, options);
    if (!find_alias_violations(program).empty()) continue;
    const HappensBefore order(program);
    expect_the_bits_of_the_cpu(program, random_schedule(program, order, choice));
    expect_the_bits_of_the_cpu(program, lazy_schedule(program, order));
  }
}

TEST_P(EmulatedMix, AppliesEveryAtomic) {
  for (const char* op : kAtomicWords) {
    for (const char* range : {"c", "c[1:30]", "c[2:3]", "c[5:9]"}) {
      expect_the_bits_of_the_cpu(parsed(fmt::format(R"(interlock 1
memory x 8
memory c 33
a: dispatch Kernel reads x atomics {0} atomic={1}
b: dispatch Kernel reads x atomics {0} atomic={1}
p: dispatch Kernel reads x atomics {0} partial atomic={1}
)",
                                                    range, op)));
    }
  }
}

TEST_P(EmulatedMix, TakesEmptyRangesAndNoOperands) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory a 8
dispatch Nothing
dispatch Empty reads a[4:4] writes a[8:8] atomics a[0:0] atomic=add
)"));
}

TEST_P(EmulatedMix, RunsInPlace) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory a 301
memory b 300
k: dispatch Kernel reads a b writes a b
l: dispatch Kernel reads b[1:300] updates b[1:300]
)"));
}

TEST_P(EmulatedMix, KeepsATraceOfOldBytesInPartialWrites) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory x 21
memory y 35
a: dispatch Kernel reads x writes y[3:30] partial
b: dispatch Kernel reads x writes y[1:35] updates x[1:20] partial
)"));
}

TEST_P(EmulatedMix, HasAnyNumberOfOperands) {
  for (const char* range : {"[0:40]", "[3:40]"}) {
    std::string text = "interlock 1\n";
    std::string clauses[4] = {" reads", " writes", " updates", " atomics"};
    for (int i = 0; i < 36; ++i) {
      text += fmt::format("memory m{} 44\n", i);
      clauses[i % 4] += fmt::format(" m{}{}", i, range);
    }
    for (const char* partial : {"", " partial"}) {
      expect_the_bits_of_the_cpu(parsed(text + "dispatch K" + clauses[0] + clauses[1] + clauses[2] +
                                        clauses[3] + partial + " atomic=xor\n"));
    }
  }
}

// Many blocks by size, at the bounds of a word and of a block.
TEST(EmulatedMixLaunches, HaveTheBitsOfTheCpuAtAnySize) {
  for (const uint64_t size : {65'535u, 65'536u, 65'537u, 200'003u}) {
    for (const int begin : {0, 1}) {
      const Program program = parsed(fmt::format(R"(interlock 1
memory r {0}
memory y 3001
memory u 4002
memory c 2003
k: dispatch K reads r[{1}:{0}] writes y[{1}:3001] updates u atomics c[{1}:2003] atomic=max
)",
                                                 size, begin));
      for (const Schedule& schedule :
           {issue_order_schedule(program), lazy_schedule(program, HappensBefore(program))}) {
        EXPECT_TRUE(image_on_emulated_cuda(program, schedule, {.block_thread_count = 32}) ==
                    image_after(program, schedule))
            << size << " from " << begin;
      }
    }
  }
}

}  // namespace
}  // namespace interlock::emulated_mix_test
