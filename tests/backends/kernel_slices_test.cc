// What the kernel table declares of slices against what bodies touch: the ground under every proof
// of the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "backends/cpu/instrumented.h"
#include "backends/dispatch_params.h"
#include "tests/backends/kernel_case.h"

namespace interlock {
namespace {

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
  EXPECT_EQ(run->image, image_after(program, issue_order_schedule(program)));
  return touches;
}

// Not only within what is declared: exactly that, so that declarations are as tight as can be, and
// a write overwrites all that it claims.
TEST(Slices, TouchExactlyWhatTheyDeclare) {
  for (const KernelCase& c : all_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const Program program = program_of(c);
    const Dispatch& dispatch = program.dispatches[0];
    const KernelParams params = dispatch_params_of(program, DispatchId{0});
    const auto touches = touches_of(program);
    ASSERT_EQ(touches.size(), slice_count_of(program, dispatch));
    for (size_t slice = 0; slice < touches.size(); ++slice) {
      for (size_t i = 0; i < touches[slice].size(); ++i) {
        const Access& access = program.accesses_of(dispatch)[i];
        const auto declared =
            runs_of(slice_range_of(program, dispatch, params, slice, static_cast<int>(i)), access);
        const OperandTouches& touched = touches[slice][i];
        ASSERT_EQ(access.reads() ? touched.loaded : touched.stored, declared)
            << "slice " << slice << " operand " << i;
        ASSERT_TRUE((access.reads() ? touched.stored : touched.loaded).empty());
      }
    }
  }
}

constexpr size_t kNobody = SIZE_MAX;

// Which slice stores each byte of operand `output`; fails the test where two do.
std::vector<size_t> writers_of(const std::vector<std::vector<OperandTouches>>& touches,
                               size_t output, uint64_t size_bytes) {
  std::vector<size_t> writers(size_bytes, kNobody);
  for (size_t slice = 0; slice < touches.size(); ++slice) {
    for (const TouchedRange& range : touches[slice][output].stored) {
      for (int64_t byte = range.begin; byte < range.end; ++byte) {
        size_t& writer = writers[static_cast<size_t>(byte)];
        if (writer != kNobody) {
          ADD_FAILURE() << "slices " << writer << " and " << slice << " both store byte " << byte;
        }
        writer = slice;
      }
    }
  }
  return writers;
}

// An output may lie on `input`: then no slice may load what another one stores.
void expect_own_loads(const std::vector<std::vector<OperandTouches>>& touches, size_t input,
                      const std::vector<size_t>& writers) {
  for (size_t slice = 0; slice < touches.size(); ++slice) {
    for (const TouchedRange& range : touches[slice][input].loaded) {
      for (int64_t byte = range.begin; byte < range.end; ++byte) {
        ASSERT_EQ(writers[static_cast<size_t>(byte)], slice) << "byte " << byte;
      }
    }
  }
}

// TouchExactlyWhatTheyDeclare carries this over to the declared ranges.
TEST(Slices, NeverConflict) {
  for (const KernelCase& c : all_cases()) {
    SCOPED_TRACE(testing::PrintToString(c));
    const Program program = program_of(c);
    const std::span<const Access> accesses = program.accesses_of(DispatchId{0});
    const auto touches = touches_of(program);
    std::vector<std::vector<size_t>> writers;
    for (size_t i = 0; i < accesses.size(); ++i) {
      writers.push_back(writers_of(touches, i, accesses[i].range.size_bytes()));
    }
    for (const auto& pair : kernel_entry(program.dispatches[0].kernel).identical_pairs) {
      expect_own_loads(touches, static_cast<size_t>(pair.first),
                       writers[static_cast<size_t>(pair.second)]);
    }
  }
}

TEST(Slices, GiveTheSameBitsInEveryOrder) {
  for (const KernelCase& c : all_cases()) {
    const Program program = program_of(c);
    const MemoryImage expected = image_after(program, issue_order_schedule(program));
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
}  // namespace interlock
