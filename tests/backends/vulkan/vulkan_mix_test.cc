// mix on the Vulkan device has the bits of the CPU at the sizes where one launch becomes several.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/vulkan/program_lowering.h"
#include "encoder/text/printer.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"
#include "tests/program_count.h"

namespace interlock::vulkan_mix_test {
namespace {

using VulkanMix = OnVulkan;

void expect_the_bits_of_the_cpu(const Program& program, const Schedule& schedule) {
  EXPECT_TRUE(image_on_vulkan(program, schedule) == image_after(program, schedule))
      << print(program);
}

TEST_F(VulkanMix, HasOperandsOfAnySize) {
  // Beyond what one workgroup runs, and from byte 1 (r) beyond what this device binds at once; from
  // byte 0, and in a slow build, it is a tenth of that.
  for (const char* offset : {"0", "1"}) {
    const bool is_beyond = offset[0] == '1' && !is_slow_build();
    const uint64_t r_bytes = is_beyond ? 140'000'001 : 14'000'001;
    const Program program = parsed(fmt::format(R"(interlock 1
memory r {1}
memory y 5000001
memory u 3000003
memory c 2000002
dispatch K reads r[{0}:{1}] writes y[{0}:5000001] updates u atomics c[{0}:2000002] atomic=max
)",
                                               offset, r_bytes));
    expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
    if (offset[0] == '1' || is_slow_build()) continue;
    expect_the_bits_of_the_cpu(program, lazy_schedule(program, HappensBefore(program)));
  }
}

// Commands of the program as the device of lavapipe gets it.
size_t command_count_of(const Program& program) {
  DeviceLimits limits;
  limits.lane_count = 8;
  DeviceLayout layout(program);
  CommandList list;
  HostCopies host(program);
  EXPECT_TRUE(lower_statements({program, limits, layout, list, host}).has_value());
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
          parsed(fmt::format("interlock 1\n"
                             "memory a {0}\n"
                             "memory y 64\n"
                             "tensor t u8[{0}] at a+0 = iota\n"
                             "dispatch K {1}\n",
                             size_bytes + more, c.clauses));
      EXPECT_EQ(command_count_of(program) == 1, more <= 0);
      const Schedule issue = reference_order_schedule(program);
      EXPECT_TRUE(image_on_vulkan(program, issue) == image_after(program, issue));
    }
  }
  for (const char* clauses : {"reads a", "writes a", "updates a", "atomics a atomic=xor"}) {
    for (const int size_bytes : {1'048'575, 1'048'576, 1'048'577}) {
      SCOPED_TRACE(fmt::format("{} of {} bytes", clauses, size_bytes));
      const Program program =
          parsed(fmt::format("interlock 1\nmemory a {}\nmemory y 64\ndispatch K {} {}\n",
                             size_bytes, clauses, clauses[0] == 'r' ? "writes y" : ""));
      const Schedule issue = reference_order_schedule(program);
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
    expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
  }
}

}  // namespace
}  // namespace interlock::vulkan_mix_test
