// mix on a CUDA device has the bits of the CPU: whatever the operands, their modes and their
// alignment, in one launch or in two, at once or late.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/text.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/cuda/cuda_device.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::cuda_mix_test {
namespace {

class CudaMix : public OnCuda {
 protected:
  void expect_the_bits_of_the_cpu(const Program& program, const Schedule& schedule) {
    EXPECT_TRUE(image_on_cuda(program, schedule) == image_after(program, schedule))
        << print(program);
  }

  void expect_the_bits_of_the_cpu(const Program& program) {
    const HappensBefore order(program);
    expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
    expect_the_bits_of_the_cpu(program, epoch_reversed_schedule(program, order));
    expect_the_bits_of_the_cpu(program, lazy_schedule(program, order));
  }
};

INTERLOCK_ON_CUDA(CudaMix);

// Ranges of a few bytes at any place, all modes, late commits. Alias violations are left out:
// within them the order of bytes matters.
TEST_P(CudaMix, HasTheBitsOfTheCpuOnRandomPrograms) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
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

TEST_P(CudaMix, AppliesEveryAtomic) {
  for (const char* op : kAtomicWords) {
    for (const char* range : {"c", "c[1:30]", "c[2:3]", "c[5:9]"}) {
      expect_the_bits_of_the_cpu(parsed(fmt::format(R"(interlock 1
memory x 8
memory c 33
a: dispatch Kernel reads x atomics {0} atomic={1}
b: dispatch Kernel reads x atomics {0} atomic={1}
)",
                                                    range, op)));
    }
  }
}

TEST_P(CudaMix, TakesEmptyRangesAndNoOperands) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory a 8
dispatch Nothing
dispatch Empty reads a[4:4] writes a[8:8] atomics a[0:0] atomic=add
)"));
}

TEST_P(CudaMix, HasAnyNumberOfOperands) {
  std::string text = "interlock 1\n";
  std::string operands;
  for (int i = 0; i < 30; ++i) text += fmt::format("memory m{} 44\n", i);
  for (const char* clause : {"reads", "writes", "updates"}) {
    operands += fmt::format(" {}", clause);
    for (int i = 0; i < 10; ++i) {
      operands += fmt::format(" m{}[3:40]", i + 10 * (clause[0] == 'w') + 20 * (clause[0] == 'u'));
    }
  }
  expect_the_bits_of_the_cpu(parsed(text + "dispatch K" + operands + "\n"));
  expect_the_bits_of_the_cpu(parsed(text + "dispatch K" + operands + " partial\n"));
}

// Beyond one block: two launches, with a digest between them that starts at zero in each piece.
TEST_P(CudaMix, HasOperandsOfAnySize) {
  const int scale = is_on_host() ? 1 : 64;
  for (const char* offset : {"0", "1"}) {
    const Program program = parsed(fmt::format(R"(interlock 1
memory r {1}
memory y {2}
memory u {2}
memory c {2}
a: dispatch K reads r[{0}:{1}] writes y[{0}:{2}] updates u atomics c[{0}:{2}] atomic=max
b: dispatch K reads y writes r[{0}:{2}] atomics c[{0}:{2}] partial atomic=add
)",
                                               offset, 70'001 * scale, 5'003 * scale));
    expect_the_bits_of_the_cpu(program);
  }
}

}  // namespace
}  // namespace interlock::cuda_mix_test
