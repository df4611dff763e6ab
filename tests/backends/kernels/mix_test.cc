// mix, the meaning of opaque dispatches: what changes its outputs, and the very bytes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/cpu/execute.h"
#include "backends/interface/dispatch_params.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::mix_test {
namespace {

using testing::ElementsAre;

// An execution of the only dispatch of `program` on given bytes.
MemoryImage mixed(const Program& program, MemoryImage image) {
  std::vector<CpuOperand> operands;
  for (const Access& access : program.accesses_of(DispatchId{0})) {
    operands.push_back({.data = image.memories[access.memory.index].data() + access.range.begin,
                        .size_bytes = access.range.size_bytes(),
                        .mode = access.mode});
  }
  CpuMemory memory(operands);
  cpu_bodies()[mix_kernel().index](memory, dispatch_params_of(program, DispatchId{0}), 0);
  return image;
}

MemoryImage before(const Program& program) {
  return initial_image(program, kExecutionLimitBytes).value();
}

// Bytes of memory `m` in which the two images differ.
size_t difference_count(const MemoryImage& a, const MemoryImage& b, size_t m) {
  size_t count = 0;
  for (size_t i = 0; i < a.memories[m].size(); ++i) {
    count += a.memories[m][i] != b.memories[m][i];
  }
  return count;
}

// A byte of one output keeps its value with odds of 1/256. Of 40 bytes more than 4 keep it with
// odds below 1e-6; the inputs are fixed, so this holds or it does not.
TEST(Mix, ChangesAllOutputsWithEveryInputByte) {
  const Program program = parsed(R"(interlock 1
memory a 23
memory b 9
memory y 40
memory z 40
dispatch Kernel reads a b[1:8] writes y z
)");
  const MemoryImage expected = mixed(program, before(program));
  for (const size_t input : {0u, 1u}) {
    for (size_t i = 0; i < program.memories[input].size_bytes; ++i) {
      const bool is_read = input == 0 || (i >= 1 && i < 8);
      for (const int flip : {0x01, 0x80, 0xff}) {
        MemoryImage image = before(program);
        image.memories[input][i] = static_cast<uint8_t>(image.memories[input][i] ^ flip);
        image = mixed(program, std::move(image));
        EXPECT_GE(difference_count(image, expected, 2), is_read ? 36u : 0u);
        EXPECT_GE(difference_count(image, expected, 3), is_read ? 36u : 0u);
        if (!is_read) {
          EXPECT_EQ(image.memories[2], expected.memories[2]);
        }
      }
    }
  }
}

TEST(Mix, TellsSwappedAndShiftedInputsApart) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory y 40
dispatch Kernel reads a writes y
)");
  MemoryImage zeros = before(program);
  std::fill(zeros.memories[0].begin(), zeros.memories[0].end(), uint8_t{0});
  std::vector<MemoryImage> images;
  for (size_t i = 0; i < 64; ++i) {
    MemoryImage image = zeros;
    image.memories[0][i] = 1;
    images.push_back(mixed(program, std::move(image)));
  }
  for (size_t i = 0; i < images.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      EXPECT_GE(difference_count(images[i], images[k], 1), 36u) << i << " " << k;
    }
  }
}

TEST(Mix, TellsDispatchesApart) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory y 40
memory z 40
first: dispatch Kernel reads a writes y
second: dispatch Kernel reads a writes z
)");
  const MemoryImage image = image_after(program, reference_order_schedule(program));
  EXPECT_NE(image.memories[1], image.memories[2]);
  EXPECT_NE(dispatch_params_of(program, DispatchId{0}).identity,
            dispatch_params_of(program, DispatchId{1}).identity);
}

TEST(Mix, KeepsItsBytesWhenOtherDispatchesGo) {
  const Program all = parsed(R"(interlock 1
memory a 64
memory y 40
dispatch Other reads y
kept: dispatch Kernel reads a writes y
)");
  const Program one = parsed(R"(interlock 1
memory a 64
memory y 40
kept: dispatch Kernel reads a writes y
)");
  EXPECT_EQ(image_after(all, reference_order_schedule(all)),
            image_after(one, reference_order_schedule(one)));
}

TEST(Mix, ReadsWhatItUpdatesAndOverwritesWhatItWrites) {
  const Program program = parsed(R"(interlock 1
memory u 16
memory y 16
dispatch Kernel writes y updates u
)");
  const MemoryImage expected = mixed(program, before(program));
  MemoryImage other = before(program);
  other.memories[1][5] ^= 1;  // A write does not depend on what was there;
  EXPECT_EQ(mixed(program, other), expected);
  other = before(program);
  other.memories[0][5] ^= 1;  // an update does.
  EXPECT_GE(difference_count(mixed(program, other), expected, 1), 12u);
}

TEST(Mix, KeepsATraceOfEveryOldByteInPartialWrites) {
  const Program program = parsed(R"(interlock 1
memory y 15
dispatch Kernel writes y partial
)");
  const MemoryImage expected = mixed(program, before(program));
  for (size_t i = 0; i < 15; ++i) {
    for (int flip = 1; flip < 256; ++flip) {
      MemoryImage image = before(program);
      image.memories[0][i] = static_cast<uint8_t>(image.memories[0][i] ^ flip);
      image = mixed(program, std::move(image));
      EXPECT_EQ(difference_count(image, expected, 0), 1u);  // Itself, and for sure.
      EXPECT_NE(image.memories[0][i], expected.memories[0][i]);
    }
  }
}

TEST(Mix, AppliesAtomicsInAnyOrder) {
  for (const char* op : kAtomicWords) {
    const Program program =
        parsed(std::string(R"(interlock 1
memory x 8
memory c 13
a: dispatch Kernel reads x atomics c atomic=)") +
               op + "\nb: dispatch Kernel reads x atomics c atomic=" + op + "\n");
    const MemoryImage forward = image_after(program, reference_order_schedule(program));
    const MemoryImage backward = image_after(program, {{run(1), run(0)}});
    EXPECT_EQ(forward, backward) << op;
    EXPECT_NE(forward, before(program)) << op;
  }
}

TEST(Mix, AcceptsEmptyRangesAndNoOperands) {
  const Program program = parsed(R"(interlock 1
memory a 8
dispatch Nothing
dispatch Empty reads a[4:4] writes a[8:8] atomics a[0:0] atomic=add
)");
  EXPECT_EQ(image_after(program, reference_order_schedule(program)), before(program));
}

// Backends of other languages restate mix: these bytes are what they must give, too.
TEST(Mix, HasTheseBytes) {
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
  EXPECT_EQ(dispatch_params_of(program, DispatchId{0}).identity, 4137097213u);
  const MemoryImage image = image_after(program, reference_order_schedule(program));
  EXPECT_THAT(image.memories[1], ElementsAre(190, 111, 202, 249, 143, 25));
  EXPECT_THAT(image.memories[2], ElementsAre(132, 217, 32));
  EXPECT_THAT(image.memories[3], ElementsAre(156, 136, 128));
}

}  // namespace
}  // namespace interlock::mix_test
