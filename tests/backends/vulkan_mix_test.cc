// mix on the Vulkan device has the bits of the CPU: whatever the operands, their modes and their
// alignment, in one launch or in several, at once or late.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/text.h"
#include "simulator/alias_contracts.h"
#include "simulator/choice.h"
#include "simulator/strategies.h"
#include "tests/backends/kernel_case.h"
#include "tests/backends/vulkan_device.h"
#include "tests/simulator/random_programs.h"

namespace interlock {
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
  for (const char* op : {"add", "min", "max", "and", "or", "xor"}) {
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
  // Beyond what one workgroup runs, and (r) beyond what this device binds at once.
  for (const char* offset : {"0", "1"}) {
    const Program program = parsed(fmt::format(R"(interlock 1
memory r 140000001
memory y 5000001
memory u 3000003
memory c 2000002
dispatch K reads r[{0}:140000001] writes y[{0}:5000001] updates u atomics c[{0}:2000002] atomic=max
)",
                                               offset));
    expect_the_bits_of_the_cpu(program, issue_order_schedule(program));
    if (offset[0] == '1') continue;
    expect_the_bits_of_the_cpu(program, lazy_schedule(program, HappensBefore(program)));
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
}  // namespace interlock
