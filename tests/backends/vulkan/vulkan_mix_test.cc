// mix on the Vulkan device has the bits of the CPU: whatever the operands, their modes and their
// alignment, in one launch or in several, at once or late.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/vulkan/program_lowering.h"
#include "encoder/text/text.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::vulkan_mix_test {
namespace {

using VulkanMix = OnVulkan;

void expect_the_bits_of_the_cpu(const Program& program, const Schedule& schedule) {
  EXPECT_TRUE(image_on_vulkan(program, schedule) == image_after(program, schedule))
      << print(program);
}

void expect_the_bits_of_the_cpu(const Program& program) {
  const HappensBefore order(program);
  expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
  expect_the_bits_of_the_cpu(program, epoch_reversed_schedule(program, order));
  expect_the_bits_of_the_cpu(program, lazy_schedule(program, order));
}

TEST_F(VulkanMix, HasTheBytesThatEveryBackendHas) {
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
  const MemoryImage image = image_on_vulkan(program, issue_order_schedule(program));
  EXPECT_EQ(image.memories[1], (std::vector<uint8_t>{190, 111, 202, 249, 143, 25}));
  EXPECT_EQ(image.memories[2], (std::vector<uint8_t>{132, 217, 32}));
  EXPECT_EQ(image.memories[3], (std::vector<uint8_t>{156, 136, 128}));
}

// Ranges of a few bytes at any place, all modes, late commits. Alias violations are left out:
// within them the order of bytes matters.
TEST_F(VulkanMix, HasTheBitsOfTheCpuOnRandomPrograms) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
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

TEST_F(VulkanMix, ReadsUniformOperandsAtAnyAlignment) {
  for (const int begin : {0, 1, 3, 4, 17, 250}) {
    for (const int size : {1, 2, 3, 4, 5, 16, 33, 700}) {
      const Program program = parsed(fmt::format(R"(interlock 1
memory u 1024
memory a 64
memory y 64
dispatch Kernel uniform u[{}:{}] reads a writes y
)",
                                                 begin, begin + size));
      expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
    }
  }
}

TEST_F(VulkanMix, ReadsUniformOperandsThatNoUniformBufferHolds) {
  const Program program = parsed(R"(interlock 1
memory u 100000
memory y 64
dispatch Kernel uniform u[3:90001] writes y
)");
  expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
}

TEST_F(VulkanMix, AppliesEveryAtomic) {
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

TEST_F(VulkanMix, TakesEmptyRangesAndNoOperands) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory a 8
dispatch Nothing
dispatch Empty reads a[4:4] writes a[8:8] atomics a[0:0] atomic=add
)"));
}

TEST_F(VulkanMix, RunsInPlace) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory a 301
memory b 300
k: dispatch Kernel reads a b writes a b
l: dispatch Kernel reads b[1:300] updates b[1:300]
)"));
}

// More operands than one launch binds: phases, each a launch per operand.
TEST_F(VulkanMix, HasAnyNumberOfOperands) {
  for (const char* range : {"[0:40]", "[3:40]"}) {
    std::string text = "interlock 1\n";
    std::string reads;
    std::string writes;
    std::string updates;
    std::string atomics;
    for (int i = 0; i < 9; ++i) {
      text += fmt::format("memory r{0} 44\nmemory w{0} 44\nmemory u{0} 44\nmemory t{0} 44\n", i);
      reads += fmt::format(" r{}{}", i, range);
      writes += fmt::format(" w{}{}", i, range);
      updates += fmt::format(" u{}{}", i, range);
      atomics += fmt::format(" t{}{}", i, range);
    }
    for (const char* partial : {"", " partial"}) {
      const Program program =
          parsed(text + "dispatch K reads" + reads + " writes" + writes + " updates" + updates +
                 " atomics" + atomics + partial + " atomic=xor\n");
      expect_the_bits_of_the_cpu(program);
    }
  }
}

TEST_F(VulkanMix, HasOperandsOfAnySize) {
  // Beyond what one workgroup runs, and (r) beyond what this device binds at once; a slow build has
  // a tenth of r.
  const uint64_t r_bytes = is_slow_build() ? 14'000'001 : 140'000'001;
  for (const char* offset : {"0", "1"}) {
    const Program program = parsed(fmt::format(R"(interlock 1
memory r {1}
memory y 5000001
memory u 3000003
memory c 2000002
dispatch K reads r[{0}:{1}] writes y[{0}:5000001] updates u atomics c[{0}:2000002] atomic=max
)",
                                               offset, r_bytes));
    expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
    if (offset[0] == '1' || is_slow_build()) continue;
    expect_the_bits_of_the_cpu(program, lazy_schedule(program, HappensBefore(program)));
  }
}

// Commands of the program as the device of lavapipe gets it.
size_t command_count_of(const Program& program) {
  DeviceLimits limits;
  limits.lane_count = 8;
  ArenaLayout layout(program);
  CommandList list;
  EXPECT_TRUE(lower_statements({program, limits, layout, list}).has_value());
  return list.commands.size();
}

// lavapipe ends the loops of an invocation silently after 65,535 rounds in all. The thresholds: one
// launch up to 32,767 rounds of 8 lanes, and up to 1 MiB.
TEST_F(VulkanMix, HasTheBitsOfTheCpuWhereOneLaunchBecomesSeveral) {
  struct ThresholdCase {
    const char* clauses;
    int rounds_per_word;
    int other_rounds = 0;
  };
  const ThresholdCase cases[] = {
      {"reads a writes y", 1, 2},
      {"uniform a writes y", 1, 2},
      {"writes a", 1},
      {"writes a partial", 1},
      {"updates a", 2},
      {"updates a partial", 2},
      {"reads a writes a", 2},
      {"atomics a atomic=add", 8},
      {"atomics a atomic=max", 8},
  };
  for (const ThresholdCase& c : cases) {
    const int size_bytes = 32 * ((32'767 - c.other_rounds) / c.rounds_per_word);
    for (const int more : {-1, 0, 1, 4, 32}) {
      SCOPED_TRACE(fmt::format("{} of {} bytes", c.clauses, size_bytes + more));
      const Program program =
          parsed(fmt::format("interlock 1\nmemory a {0}\nmemory y 64\ntensor t u8[{0}] at a+0 = "
                             "iota\ndispatch K {1}\n",
                             size_bytes + more, c.clauses));
      EXPECT_EQ(command_count_of(program) == 1, more <= 0);
      const Schedule issue = issue_order_schedule(program);
      EXPECT_TRUE(image_on_vulkan(program, issue) == image_after(program, issue));
    }
  }
  for (const char* clauses : {"reads a", "writes a", "updates a", "atomics a atomic=xor"}) {
    for (const int size_bytes : {1'048'575, 1'048'576, 1'048'577}) {
      SCOPED_TRACE(fmt::format("{} of {} bytes", clauses, size_bytes));
      const Program program =
          parsed(fmt::format("interlock 1\nmemory a {}\nmemory y 64\ndispatch K {} {}\n",
                             size_bytes, clauses, clauses[0] == 'r' ? "writes y" : ""));
      const Schedule issue = issue_order_schedule(program);
      EXPECT_TRUE(image_on_vulkan(program, issue) == image_after(program, issue));
    }
  }
}

// Operands share the rounds: their sum makes several launches of K and L.
TEST_F(VulkanMix, CountsTheRoundsOfAllOperands) {
  for (const int half : {131'036, 131'068, 131'072, 209'696, 209'728, 262'144}) {
    const Program program = parsed(fmt::format(R"(interlock 1
memory a {0}
memory b {0}
memory c {0}
memory y 64
tensor ta u8[{0}] at a+0 = iota
tensor tc u8[{0}] at c+0 = iota
dispatch K reads a writes c updates b
dispatch L reads c updates a b partial
dispatch M uniform a[0:16384] reads b writes y atomics c[0:16384] atomic=add
)",
                                               half));
    expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
  }
}

TEST_F(VulkanMix, KeepsATraceOfOldBytesInPartialWrites) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory x 21
memory y 35
a: dispatch Kernel reads x writes y[3:30] partial
b: dispatch Kernel reads x writes y[1:35] updates x[1:20] partial
)"));
}

}  // namespace
}  // namespace interlock::vulkan_mix_test
