// What the kernel table declares of slices against what bodies touch: every proof of the simulator
// rests on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "backends/cpu/instrumented.h"
#include "backends/interface/dispatch_params.h"
#include "encoder/kernel/kernel_binding.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/kernels/number_case.h"
#include "tests/program_count.h"

namespace interlock::kernel_slices_test {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

// The runs of `range` relative to the operand, joined where they touch.
std::vector<TouchedRange> runs_of(const StridedRange& range, const Access& access) {
  std::vector<TouchedRange> runs;
  for (uint64_t k = 0; k < range.run_count; ++k) {
    const int64_t begin = static_cast<int64_t>(range.run(k).begin - access.range.begin);
    const int64_t end = static_cast<int64_t>(range.run(k).end - access.range.begin);
    if (begin == end) {
      continue;
    }
    if (!runs.empty() && runs.back().end == begin) {
      runs.back().end = end;
    } else {
      runs.push_back({begin, end});
    }
  }
  return runs;
}

// By slice, then by operand.
std::vector<std::vector<OperandTouches>> touches_of(const Program& program) {
  std::vector<std::vector<OperandTouches>> touches;
  InstrumentedOptions options;
  options.on_slice = [&](DispatchId, uint64_t, std::span<const OperandTouches> operands) {
    touches.emplace_back(operands.begin(), operands.end());
  };
  const auto run = run_instrumented(program, options);
  EXPECT_TRUE(run.has_value());
  EXPECT_THAT(run->findings, IsEmpty());
  EXPECT_EQ(run->image, image_after(program, reference_order_schedule(program)));
  return touches;
}

// Not only within what is declared: exactly that, so that declarations are as tight as can be, and
// a write overwrites all that it claims. Where ids choose, only within.
TEST(Slices, TouchExactlyWhatTheyDeclare) {
  const std::vector<TouchedRange> kNothing;
  std::vector<KernelCase> cases = is_slow_build() ? one_case_per_kernel() : all_cases();
  for (const KernelCase& c : one_case_per_kernel()) {
    const std::vector<KernelCase> shapes = random_shapes(c.kernel, 1);
    cases.insert(cases.end(), shapes.begin(), shapes.end());
  }
  for (const KernelCase& c : cases) {
    SCOPED_TRACE(testing::PrintToString(c));
    const Program program = program_of(c);
    const Dispatch& dispatch = program.dispatches[0];
    const KernelEntry& entry = kernel_entry(dispatch.kernel);
    const KernelParams params = dispatch_params_of(program, DispatchId{0});
    const std::vector<CaseOperand> operands = operands_of(c);
    const auto touches = touches_of(program);
    ASSERT_EQ(touches.size(), slice_count_of(program, dispatch));
    for (size_t slice = 0; slice < touches.size(); ++slice) {
      for (size_t i = 0; i < touches[slice].size(); ++i) {
        const Access& access = program.accesses_of(dispatch)[i];
        const auto declared =
            runs_of(slice_range_of(program, dispatch, params, slice, static_cast<int>(i)), access);
        const OperandTouches& touched = touches[slice][i];
        const bool loads = access.reads_plainly() || entry.operands[i].streams;
        if (operands[i].is_gathered) {
          EXPECT_THAT(touched.undeclared_loads, IsEmpty());
        } else {
          EXPECT_THAT(touched.loaded, ElementsAreArray(loads ? declared : kNothing))
              << "slice " << slice << " operand " << i;
        }
        EXPECT_THAT(touched.stored, ElementsAreArray(access.writes_plainly() ? declared : kNothing))
            << "slice " << slice << " operand " << i;
      }
    }
  }
}

bool intersect(const std::vector<TouchedRange>& a, const std::vector<TouchedRange>& b) {
  return std::any_of(a.begin(), a.end(), [&](const TouchedRange& x) {
    return std::any_of(b.begin(), b.end(),
                       [&](const TouchedRange& y) { return x.begin < y.end && y.begin < x.end; });
  });
}

// Outputs apart from each other; and where an output may lie on an input, apart from what other
// slices read there. TouchExactlyWhatTheyDeclare carries this over to the declared ranges.
TEST(Slices, NeverConflict) {
  for (const KernelCase& c : is_slow_build() ? one_case_per_kernel() : all_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const Program program = program_of(c);
    const KernelEntry& entry = kernel_entry(program.dispatches[0].kernel);
    const auto touches = touches_of(program);
    for (size_t s = 0; s < touches.size(); ++s) {
      for (size_t t = 0; t < touches.size(); ++t) {
        if (s == t) {
          continue;
        }
        for (size_t i = 0; i < touches[s].size(); ++i) {
          EXPECT_FALSE(intersect(touches[s][i].stored, touches[t][i].stored)) << s << " " << t;
        }
        for (const auto& [input, output] : entry.identical_pairs) {
          EXPECT_FALSE(intersect(touches[s][static_cast<size_t>(input)].loaded,
                                 touches[t][static_cast<size_t>(output)].stored))
              << s << " " << t;
        }
      }
    }
  }
}

TEST(Slices, GiveTheSameBitsInEveryOrder) {
  for (const KernelCase& c : all_cases()) {
    const Program program = program_of(c);
    const MemoryImage expected = image_after(program, reference_order_schedule(program));
    EXPECT_EQ(image_after(program, slices_in_order(descending_slices(program))), expected) << c;
    EXPECT_EQ(image_after(program, slices_in_order(shuffled_slices(program, 1))), expected) << c;
  }
}

TEST(Slices, CoverLargeOperandsWithAtMost1024Blocks) {
  const Program program = parsed(R"(interlock 1
memory a 4194308
memory b 4194308
tensor x f32[1048577] at a+0
tensor y f32[1048577] at b+0
tensor wide f32[1,40000] at a+0
tensor sums f32[40000] at b+0
dispatch silu reads x writes y
dispatch copy reads a writes b
dispatch col_sum reads wide writes sums
)");
  for (size_t i = 0; i < 3; ++i) {
    const DispatchId id{i};
    const Dispatch& dispatch = program.dispatch(id);
    const KernelParams params = dispatch_params_of(program, id);
    const uint64_t slice_count = slice_count_of(program, dispatch);
    EXPECT_LE(slice_count, 1024u);
    EXPECT_GT(slice_count, 512u);
    const int output = static_cast<int>(dispatch.access_count) - 1;
    uint64_t end = 0;
    for (uint64_t slice = 0; slice < slice_count; ++slice) {
      const ByteRange run = slice_range_of(program, dispatch, params, slice, output).run(0);
      EXPECT_EQ(run.begin, end);
      EXPECT_LT(run.begin, run.end);
      end = run.end;
    }
    EXPECT_EQ(end, program.accesses_of(id).back().range.end);
  }
}

}  // namespace
}  // namespace interlock::kernel_slices_test
