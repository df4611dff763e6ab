// Instrumented execution, by wrong bodies that it must find.
#include "backends/cpu/instrumented.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/backends/kernels/kernel_case.h"

namespace interlock::instrumented_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kRowSum = R"(interlock 1
memory m 256
memory n 64
tensor x f32[4,8] at m+64 = random(1)
tensor y f32[4] at n+16
sum: dispatch row_sum reads x writes y
)";

std::vector<Finding> findings_with(const Program& program, std::string_view kernel,
                                   RecordedBody body) {
  InstrumentedOptions options;
  options.bodies[find_kernel(kernel).value().index] = body;
  auto findings = find_undeclared(program, options);
  EXPECT_TRUE(findings.has_value());
  return findings ? *findings : std::vector<Finding>{};
}

TEST(FindUndeclared, IsSilentAboutRightBodies) {
  EXPECT_THAT(find_undeclared(parsed(kRowSum)).value(), IsEmpty());
}

TEST(FindUndeclared, FindsAReadOfTheNeighbourRow) {
  const auto findings =
      findings_with(parsed(kRowSum), "row_sum",
                    [](RecordingMemory& memory, const KernelParams& params, uint64_t slice) {
                      const uint64_t neighbour = slice == 0 ? 1 : slice;
                      memory.store_f32(1, slice, memory.load_f32(0, neighbour * params.cols));
                    });
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, FindingKind::kUndeclared);
  EXPECT_EQ(findings[0].first, (AccessRef{DispatchId{0}, 0}));
  EXPECT_EQ(findings[0].overlap, (ByteRange{96, 100}));
  EXPECT_EQ(
      findings[0].headline,
      "Undeclared read: sum (dispatch 0) reads bytes [96:100] of memory 'm' through operand 'x', which does not declare it.");
  EXPECT_THAT(findings[0].details,
              ElementsAre("Slice 0 does it; there the operand reads m[64:96]."));
  EXPECT_THAT(findings[0].fix, HasSubstr("row_sum"));
}

TEST(FindUndeclared, FindsAWritePastTheEndOfTheMemory) {
  const auto findings = findings_with(
      parsed(kRowSum), "row_sum", [](RecordingMemory& memory, const KernelParams&, uint64_t slice) {
        memory.store_f32(1, slice + 11, 1.0f);
      });
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].headline, AllOf(HasSubstr("Undeclared write"), HasSubstr("[60:64]")));
  EXPECT_THAT(findings[0].details,
              Contains("4 slices of this dispatch touch undeclared bytes so."));

  const auto outside = findings_with(
      parsed(kRowSum), "row_sum", [](RecordingMemory& memory, const KernelParams&, uint64_t slice) {
        memory.store_f32(1, slice + 12, 1.0f);
      });
  ASSERT_THAT(outside, SizeIs(1));
  EXPECT_THAT(outside[0].headline, HasSubstr("[64:68]"));
  EXPECT_EQ(outside[0].overlap, (ByteRange{64, 64}));
  EXPECT_THAT(outside[0].details, Contains("Memory 'n' has only 64 bytes."));
}

TEST(FindUndeclared, FindsAWriteToAnInput) {
  const auto findings =
      findings_with(parsed(kRowSum), "row_sum",
                    [](RecordingMemory& memory, const KernelParams& params, uint64_t slice) {
                      memory.store_f32(0, slice * params.cols, 1.0f);
                      memory.store_f32(1, slice, 1.0f);
                    });
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].first.access, 0u);
  EXPECT_THAT(findings[0].headline, HasSubstr("Undeclared write"));
  EXPECT_THAT(findings[0].details, Contains(HasSubstr("reads m[64:96]")));
}

TEST(FindUndeclared, FindsAReadOfAnOutput) {
  const auto findings = findings_with(
      parsed(kRowSum), "row_sum", [](RecordingMemory& memory, const KernelParams&, uint64_t slice) {
        memory.store_f32(1, slice, memory.load_f32(1, slice) + 1.0f);
      });
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].first.access, 1u);
  EXPECT_THAT(findings[0].headline, HasSubstr("Undeclared read"));
}

// An output that streams: what the slice has stored may be loaded, and nothing else.
TEST(FindUndeclared, FindsAReadOfWhatAStreamingSliceHasNotStored) {
  const Program program = parsed(R"(interlock 1
memory m 192
tensor y f32[2,8] at m+0 = random(1)
tensor g f32[2,8] at m+64 = random(2)
tensor gx f32[2,8] at m+128
dispatch softmax_vjp_stream reads y g writes gx
)");
  EXPECT_THAT(find_undeclared(program).value(), IsEmpty());
  const RecordedBody loads_first = [](RecordingMemory& memory, const KernelParams& params,
                                      uint64_t slice) {
    for (uint64_t i = slice * params.cols; i < (slice + 1) * params.cols; ++i) {
      memory.store_f32(2, i, memory.load_f32(2, i));
    }
  };
  EXPECT_THAT(findings_with(program, "softmax_vjp_stream", loads_first), SizeIs(1));
  const RecordedBody loads_what_another_stored = [](RecordingMemory& memory,
                                                    const KernelParams& params, uint64_t slice) {
    for (uint64_t i = 0; i < params.cols; ++i) {
      memory.store_f32(2, slice * params.cols + i, 1.0f);
      memory.load_f32(2, i);  // Row 0.
    }
  };
  const auto findings = findings_with(program, "softmax_vjp_stream", loads_what_another_stored);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].details, Contains(HasSubstr("Slice 1 does it")));
}

// An update is both: a body may do either, within the slice.
TEST(FindUndeclared, FindsAnUpdateOfAnotherBlock) {
  const Program program = parsed(R"(interlock 1
memory m 1024
tensor g f32[128] at m+0 = random(1)
tensor acc f32[128] at m+512 = random(2)
dispatch accumulate reads g updates acc
)");
  EXPECT_THAT(find_undeclared(program).value(), IsEmpty());
  const RecordedBody body = [](RecordingMemory& memory, const KernelParams&, uint64_t) {
    memory.store_f32(1, 0, memory.load_f32(1, 0) + memory.load_f32(0, 0));
  };
  EXPECT_THAT(findings_with(program, "accumulate", body), SizeIs(3));
}

// Offsets that wrap, in both directions, and the far ends of 64 bits: recorded, never followed.
TEST(FindUndeclared, SurvivesEveryOffset) {
  const auto findings = findings_with(
      parsed(kRowSum), "row_sum", [](RecordingMemory& memory, const KernelParams&, uint64_t slice) {
        for (const uint64_t offset :
             {uint64_t{0} - 1, uint64_t{0} - 64, uint64_t{0} - 65, uint64_t{1} << 63,
              (uint64_t{1} << 63) - 1, uint64_t{1} << 40}) {
          memory.store_byte(1, offset, memory.load_byte(0, offset));
          memory.store_word(1, offset, memory.load_word(0, offset));
          memory.atomic_byte(1, offset, AtomicOp::kAdd, 1);
          memory.store_f32(1, offset, memory.load_f32(0, offset));
        }
        memory.store_f32(1, slice, 1.0f);
      });
  EXPECT_THAT(findings, SizeIs(2));
}

TEST(FindUndeclared, AllowsAPartialWriteToLookAtItsBytes) {
  const char* text = R"(interlock 1
memory a 64
dispatch Kernel writes a[1:30] partial
)";
  EXPECT_THAT(find_undeclared(parsed(text)).value(), IsEmpty());
}

TEST(FindUndeclared, CoversMixInAllModes) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
memory c 64
memory d 64
dispatch Kernel uniform d[2:9] reads a[1:8] b writes b[3:40] updates a[5:64] atomics c[3:10] atomic=or
)");
  InstrumentedOptions options;
  std::vector<std::vector<TouchedRange>> stored;
  std::vector<std::vector<TouchedRange>> loaded;
  options.on_slice = [&](DispatchId, uint64_t, std::span<const OperandTouches> operands) {
    for (const OperandTouches& touches : operands) {
      stored.push_back(touches.stored);
      loaded.push_back(touches.loaded);
    }
  };
  const auto run = run_instrumented(program, options);
  ASSERT_TRUE(run.has_value());
  EXPECT_THAT(run->findings, IsEmpty());
  EXPECT_EQ(run->image, image_after(program, reference_order_schedule(program)));
  const auto whole = [](int64_t size_bytes) { return ElementsAre(TouchedRange{0, size_bytes}); };
  EXPECT_THAT(stored, ElementsAre(IsEmpty(), IsEmpty(), IsEmpty(), whole(37), whole(59), whole(7)));
  EXPECT_THAT(loaded, ElementsAre(whole(7), whole(7), whole(64), IsEmpty(), whole(59), whole(7)));
}

// A uniform operand is read, within its range, and never written.
TEST(FindUndeclared, FindsWhatIsDoneToAUniformOperand) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
dispatch Kernel uniform a[8:16] writes b[0:4]
)");
  const auto stores =
      findings_with(program, "mix", [](RecordingMemory& memory, const KernelParams&, uint64_t) {
        memory.store_word(1, 0, memory.load_word(0, 4));
        memory.store_byte(0, 7, 1);
      });
  ASSERT_THAT(stores, SizeIs(1));
  EXPECT_EQ(stores[0].first.access, 0u);
  EXPECT_THAT(stores[0].headline, AllOf(HasSubstr("Undeclared write"), HasSubstr("[15:16]")));
  const auto loads =
      findings_with(program, "mix", [](RecordingMemory& memory, const KernelParams&, uint64_t) {
        memory.store_word(1, 0, memory.load_word(0, 5));
      });
  ASSERT_THAT(loads, SizeIs(1));
  EXPECT_THAT(loads[0].headline, AllOf(HasSubstr("Undeclared read"), HasSubstr("[13:17]")));
}

TEST(FindUndeclared, RefusesProgramsAboveTheLimit) {
  InstrumentedOptions options;
  options.limit_bytes = 100;
  EXPECT_FALSE(find_undeclared(parsed(kRowSum), options).has_value());
}

}  // namespace
}  // namespace interlock::instrumented_test
