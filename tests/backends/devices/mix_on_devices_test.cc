// mix has the bits of the CPU on every device: whatever the operands, their modes and their
// alignment, in one launch or in several, at once or late.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/hazards/alias_contracts.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/devices/test_device.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::mix_on_devices_test {
namespace {

class MixOnDevices : public OnDevices {
 protected:
  using OnDevices::expect_the_bits_of_the_cpu;

  void expect_the_bits_of_the_cpu(const Program& program) const {
    const HappensBefore order(program);
    expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
    expect_the_bits_of_the_cpu(program, epoch_reversed_schedule(program, order));
    expect_the_bits_of_the_cpu(program, lazy_schedule(program, order));
  }
};

INTERLOCK_ON_DEVICES(MixOnDevices);

TEST_P(MixOnDevices, HasTheBytesThatEveryBackendHas) {
  const MemoryImage image = image_on_device(parsed(R"(interlock 1
memory a 6
memory y 6
memory c 3
memory p 3
tensor ta u8[6] at a+0 = iota
tensor tp u8[3] at p+0 = iota
tensor tc u8[3] at c+0 = iota
label: dispatch Kernel reads a writes y atomics c atomic=add
partly: dispatch Kernel reads a writes p partial
)"));
  ASSERT_EQ(image.memories.size(), 4u);
  EXPECT_EQ(image.memories[1], (std::vector<uint8_t>{190, 111, 202, 249, 143, 25}));
  EXPECT_EQ(image.memories[2], (std::vector<uint8_t>{132, 217, 32}));
  EXPECT_EQ(image.memories[3], (std::vector<uint8_t>{156, 136, 128}));
}

// Ranges of a few bytes at any place, all modes, late commits. Alias violations are left out:
// within them the order of bytes matters.
TEST_P(MixOnDevices, HasTheBitsOfTheCpuOnRandomPrograms) {
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(program_count(600, 4)); ++seed) {
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

TEST_P(MixOnDevices, ReadsUniformOperandsAtAnyAlignment) {
  for (const int begin : {0, 1, 3, 4, 17, 250}) {
    for (const int size : {1, 2, 3, 4, 5, 16, 33, 700}) {
      const Program program = parsed(fmt::format(R"(interlock 1
memory u 1024
memory a 64
memory y 64
dispatch Kernel uniform u[{}:{}] reads a writes y
)",
                                                 begin, begin + size));
      expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
    }
  }
}

TEST_P(MixOnDevices, ReadsUniformOperandsThatNoUniformBufferHolds) {
  const Program program = parsed(R"(interlock 1
memory u 100000
memory y 64
dispatch Kernel uniform u[3:90001] writes y
)");
  expect_the_bits_of_the_cpu(program, reference_order_schedule(program));
}

TEST_P(MixOnDevices, AppliesEveryAtomic) {
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

// An atomic of a device replaces the word around it, and the other bytes of the word are written.
TEST_P(MixOnDevices, CommitsWritesBesideAtomicsInOneWord) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory c 9
k: dispatch Kernel writes c[0:1] c[3:5] atomics c[1:2] c[6:9] atomic=add
l: dispatch Kernel updates c[5:6] atomics c[2:5] atomic=max
)"));
}

TEST_P(MixOnDevices, TakesEmptyRangesAndNoOperands) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory a 8
dispatch Nothing
dispatch Empty reads a[4:4] writes a[8:8] atomics a[0:0] atomic=add
)"));
}

TEST_P(MixOnDevices, RunsInPlace) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory a 301
memory b 300
k: dispatch Kernel reads a b writes a b
l: dispatch Kernel reads b[1:300] updates b[1:300]
)"));
}

TEST_P(MixOnDevices, KeepsATraceOfOldBytesInPartialWrites) {
  expect_the_bits_of_the_cpu(parsed(R"(interlock 1
memory x 21
memory y 35
a: dispatch Kernel reads x writes y[3:30] partial
b: dispatch Kernel reads x writes y[1:35] updates x[1:20] partial
)"));
}

// More operands than one launch of Vulkan binds.
TEST_P(MixOnDevices, HasAnyNumberOfOperands) {
  for (const char* range : {"[0:40]", "[3:40]"}) {
    std::string text = "interlock 1\n";
    std::string clauses[4] = {" reads", " writes", " updates", " atomics"};
    for (int i = 0; i < 40; ++i) {
      text += fmt::format("memory m{} 44\n", i);
      clauses[i % 4] += fmt::format(" m{}{}", i, range);
    }
    text += "dispatch K" + clauses[0] + clauses[1] + clauses[2];
    for (const char* partial : {"", " partial"}) {
      expect_the_bits_of_the_cpu(parsed(text + partial + "\n"));
      expect_the_bits_of_the_cpu(parsed(text + clauses[3] + partial + " atomic=xor\n"));
    }
  }
}

// Beyond one block of CUDA: two launches, with a digest between them that starts at zero in each
// piece.
TEST_P(MixOnDevices, HasOperandsOfAnySize) {
  const int scale = GetParam().is_slow ? 1 : 64;
  for (const char* offset : {"0", "1"}) {
    expect_the_bits_of_the_cpu(parsed(fmt::format(R"(interlock 1
memory r {1}
memory y {2}
memory u {2}
memory c {2}
a: dispatch K reads r[{0}:{1}] writes y[{0}:{2}] updates u atomics c[{0}:{2}] atomic=max
b: dispatch K reads y writes r[{0}:{2}] atomics c[{0}:{2}] partial atomic=add
)",
                                                  offset, 70'001 * scale, 5'003 * scale)));
  }
}

}  // namespace
}  // namespace interlock::mix_on_devices_test
