// Every kernel on a CUDA device has the bits of the CPU: at any shape and alignment, in place, and
// piece by piece.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/text.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/backends/cuda/cuda_device.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::cuda_kernels_test {
namespace {

using CudaKernels = OnCuda;
INTERLOCK_ON_CUDA(CudaKernels);

TEST_P(CudaKernels, HaveTheBitsOfTheCpu) {
  for (const KernelCase& c : is_on_host() ? one_case_per_kernel() : all_cases()) {
    const Program program = program_of(c);
    const Schedule issue = issue_order_schedule(program);
    EXPECT_TRUE(image_on_cuda(program, issue) == image_after(program, issue)) << c;
  }
}

TEST_P(CudaKernels, RunAtAnyAlignmentOfTheirElements) {
  for (const KernelCase& c : one_case_per_kernel()) {
    for (const int shift : {4, 8, 12, 124}) {
      std::string text = print(program_of(c));
      for (size_t at = text.find("+256"); at != std::string::npos; at = text.find("+256", at + 1)) {
        text.replace(at, 4, "+" + std::to_string(256 + shift));
      }
      const Program program = parsed(text);
      const Schedule issue = issue_order_schedule(program);
      EXPECT_TRUE(image_on_cuda(program, issue) == image_after(program, issue))
          << c << " shifted by " << shift;
    }
  }
}

TEST_P(CudaKernels, CopyAndFillAnyBytes) {
  for (const int from : {0, 1, 2, 3}) {
    for (const int to : {0, 1, 2, 3}) {
      const Program program = parsed(fmt::format(R"(interlock 1
memory a 9000
memory b 9000
dispatch copy reads a[{0}:{1}] writes b[{2}:{3}]
dispatch fill writes a[{2}:{3}] value=77
)",
                                                 from, from + 8885, to, to + 8885));
      for (const Schedule& schedule :
           {issue_order_schedule(program), lazy_schedule(program, HappensBefore(program))}) {
        EXPECT_TRUE(image_on_cuda(program, schedule) == image_after(program, schedule))
            << from << " to " << to;
      }
    }
  }
}

TEST_P(CudaKernels, RunInPlaceWhereTheTableAllowsIt) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const std::vector<CaseOperand> operands = operands_of(c);
    for (const auto& [input, output] :
         kernel_entry(find_kernel(c.kernel).value()).identical_pairs) {
      const std::string& replaced = operands[static_cast<size_t>(input)].name;
      const std::string& name = operands[static_cast<size_t>(output)].name;
      const Program program = program_of(c, {{name, {replaced, 0}}});
      for (const Schedule& schedule :
           {issue_order_schedule(program), slices_in_order(shuffled_slices(program, 1))}) {
        EXPECT_TRUE(image_on_cuda(program, schedule) == image_after(program, schedule))
            << c << ": " << name << " on " << replaced;
      }
    }
  }
}

TEST_P(CudaKernels, GiveTheSameBitsInPieces) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    const MemoryImage whole = image_on_cuda(program, issue_order_schedule(program));
    EXPECT_TRUE(image_on_cuda(program, slices_in_order(descending_slices(program))) == whole) << c;
    EXPECT_TRUE(image_on_cuda(program, slices_in_order(shuffled_slices(program, 1))) == whole) << c;
  }
}

// Late pieces write to staging copies, and no byte between their rows changes.
TEST_P(CudaKernels, CommitLatePiecesRowByRow) {
  for (const KernelCase& c : one_case_per_kernel()) {
    const Program program = program_of(c);
    Schedule late = slices_in_order(shuffled_slices(program, 2));
    for (Step& step : late.steps) step.kind = StepKind::kRunLate;
    late.steps.push_back(whole_step(program, DispatchId(0), StepKind::kCommit));
    EXPECT_TRUE(image_on_cuda(program, late) == image_after(program, late)) << c;
  }
}

// Infinities and NaNs come out as on the CPU; every NaN is the canonical one.
TEST_P(CudaKernels, TreatSpecialValuesAsTheCpuDoes) {
  const Program program = parsed(R"(interlock 1
memory a_bytes 32
memory y_bytes 32
memory z_bytes 32
tensor a f32[8] at a_bytes+0
tensor y f32[8] at y_bytes+0
tensor z f32[8] at z_bytes+0
dispatch fill writes a_bytes[0:4] value=255
dispatch fill writes a_bytes[4:8] value=127
dispatch fill writes a_bytes[10:12] value=127
dispatch fill writes a_bytes[8:10] value=0
dispatch fill writes a_bytes[12:16] value=0
dispatch fill writes a_bytes[12:13] value=1
barrier
dispatch silu reads a writes y
dispatch mul reads a a writes z
)");
  const Schedule issue = issue_order_schedule(program);
  const MemoryImage image = image_on_cuda(program, issue);
  EXPECT_TRUE(image == image_after(program, issue));
  EXPECT_TRUE(std::isnan(values_of(program, image, "y")[0]));
}

}  // namespace
}  // namespace interlock::cuda_kernels_test
