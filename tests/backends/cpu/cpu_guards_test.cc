// The guards of the cpu backend, by bodies that write where they must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/interface/guarded_buffer.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::cpu_guards_test {
namespace {

using testing::HasSubstr;

constexpr const char* kRowSum = R"(interlock 1
memory m 256
memory n 64
tensor x f32[4,8] at m+64 = random(1)
tensor y f32[4] at n+0
sum: dispatch row_sum reads x writes y
)";

// Of `program` with `body` in the place of row_sum; "" without an error.
std::string error_of(CpuBody body, const Schedule& schedule) {
  std::vector<CpuBody> bodies(cpu_bodies().begin(), cpu_bodies().end());
  bodies[find_kernel("row_sum").value().index] = body;
  CpuBackend cpu(kExecutionLimitBytes, bodies);
  const auto image = cpu.run(parsed(kRowSum), schedule, ExecutionMode::kWitness);
  return image ? "" : image.error().message;
}

std::string error_of(CpuBody body) { return error_of(body, slices_in_order({0, 1, 2, 3})); }

TEST(CpuGuards, NameTheByteBehindAMemory) {
  EXPECT_EQ(
      error_of([](CpuMemory& memory, const KernelParams&, uint64_t slice) {
        memory.store_f32(1, slice, 1.0f);
        if (slice == 3) memory.store_f32(1, 16, 1.0f);
      }),
      "A kernel wrote byte 64 of memory 'n', which has 64 bytes: its body on the CPU is wrong.");
}

TEST(CpuGuards, NameTheByteBeforeAMemory) {
  EXPECT_THAT(error_of([](CpuMemory& memory, const KernelParams&, uint64_t) {
                memory.store_byte(1, uint64_t{0} - 256, 0);
              }),
              HasSubstr("wrote byte -256 of memory 'n'"));
  EXPECT_THAT(error_of([](CpuMemory& memory, const KernelParams&, uint64_t) {
                memory.store_byte(0, uint64_t{0} - 65, 0);
              }),
              HasSubstr("wrote byte -1 of memory 'm'"));
}

TEST(CpuGuards, SurroundStagingCopies) {
  const Schedule late = {{{StepKind::kRunLate, DispatchId{0}, 0, 2},
                          {StepKind::kRun, DispatchId{0}, 2, 2},
                          {StepKind::kCommit, DispatchId{0}, 0, 0}}};
  EXPECT_THAT(error_of(
                  [](CpuMemory& memory, const KernelParams&, uint64_t slice) {
                    if (slice == 1) memory.store_byte(1, 8, 0);
                  },
                  late),
              HasSubstr("wrote byte 8 of a staging copy of memory 'n', which has 8 bytes"));
}

TEST(CpuGuards, AreSilentAboutRightBodies) {
  EXPECT_EQ(error_of(cpu_bodies()[find_kernel("row_sum").value().index]), "");
}

TEST(GuardedBuffer, KeepTheirBytes) {
  const std::vector<uint8_t> bytes = {1, 2, 3};
  GuardedBuffer guarded(bytes);
  EXPECT_EQ(guarded.size_bytes(), 3u);
  EXPECT_EQ(guarded.data()[2], 3);
  EXPECT_FALSE(guarded.stray_offset().has_value());
  for (const int64_t offset : {int64_t{-256}, int64_t{-1}, int64_t{3}, int64_t{258}}) {
    GuardedBuffer strayed(bytes);
    strayed.data()[offset] = 0;
    EXPECT_EQ(strayed.stray_offset(), offset);
    EXPECT_EQ(std::move(strayed).release(), bytes);
  }
}

}  // namespace
}  // namespace interlock::cpu_guards_test
