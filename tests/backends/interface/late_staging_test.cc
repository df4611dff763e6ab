// Late staging: what is staged, what moves, in which order, and up to which limit.
#include "backends/interface/late_staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "backends/interface/partial_steps.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::late_staging_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Three rows of 16 bytes; and a dispatch of every mode.
Program program_of_rows() {
  return parsed(R"(interlock 1
memory m 128
memory n 64
tensor x f32[3,4] at m+0 = random(1)
tensor y f32[3,4] at n+0
first: dispatch softmax reads x writes y
second: dispatch K reads m[0:4] writes m[16:16] updates m[8:16] atomics n[0:4] atomic=add
)");
}

// A copy is its number.
using Staging = LateStaging<int>;

Result<Success> stage(Staging& staging, const Program& program, const Step& step, int number) {
  return staging.stage(piece_of(program, step),
                       PartialSteps<int>(program).staged_operands(step.dispatch),
                       [&](size_t, ByteRange) { return number; });
}

TEST(LateStaging, StagesWhatADispatchWritesAndNothingThatItReads) {
  const Program program = program_of_rows();
  Staging staging(program, 1000, StagingSpace::kLastsForTheRun);
  std::vector<std::pair<size_t, ByteRange>> staged;
  ASSERT_TRUE(staging.stage(piece_of(program, run_late(1)),
                            PartialSteps<int>(program).staged_operands(DispatchId(1)),
                            [&](size_t access, ByteRange range) {
                              staged.emplace_back(access, range);
                              return 0;
                            }));
  EXPECT_THAT(staged, ElementsAre(std::pair(size_t{2}, ByteRange{8, 16}),
                                  std::pair(size_t{3}, ByteRange{0, 4})));
}

TEST(LateStaging, CommitsInPieceOrder) {
  const Program program = program_of_rows();
  Staging staging(program, 1000, StagingSpace::kLastsForTheRun);
  ASSERT_TRUE(stage(staging, program, run_late(0, 2, 1), 7));
  ASSERT_TRUE(stage(staging, program, run_late(0, 0, 2), 5));
  std::vector<std::pair<int, uint64_t>> committed;
  ASSERT_TRUE(staging.for_each_copy(DispatchId(0),
                                    [&](const DispatchPiece& piece, const Access& access,
                                        const Staging::Operand& operand) -> Result<Success> {
                                      EXPECT_EQ(operand.access, 1);
                                      EXPECT_EQ(operand.range, access.range);
                                      committed.emplace_back(operand.copy, piece.first_slice);
                                      return Success{};
                                    }));
  EXPECT_THAT(committed, ElementsAre(std::pair(7, uint64_t{2}), std::pair(5, uint64_t{0})));
  EXPECT_FALSE(staging.is_empty());
  staging.forget(DispatchId(0));
  EXPECT_TRUE(staging.is_empty());
}

TEST(LateStaging, EndsWithTheFirstErrorOfACommit) {
  const Program program = program_of_rows();
  Staging staging(program, 1000, StagingSpace::kLastsForTheRun);
  ASSERT_TRUE(stage(staging, program, run_late(1), 1));
  int count = 0;
  const auto moved = staging.for_each_copy(
      DispatchId(1), [&](const DispatchPiece&, const Access&, const Staging::Operand&) {
        ++count;
        return Result<Success>(Error{"no"});
      });
  EXPECT_EQ(moved.error().message, "no");
  EXPECT_EQ(count, 1);
}

// The copies of both dispatches take 48 and 12 bytes.
TEST(LateStaging, HasALimitWhichCommitsMayGiveBack) {
  const Program program = program_of_rows();
  for (const StagingSpace space :
       {StagingSpace::kIsFreedByCommits, StagingSpace::kLastsForTheRun}) {
    for (const uint64_t limit_bytes : {59u, 60u}) {
      Staging staging(program, limit_bytes, space);
      ASSERT_TRUE(stage(staging, program, run_late(0, 0, 3), 0));
      const auto second = stage(staging, program, run_late(1), 0);
      EXPECT_EQ(second.has_value(), limit_bytes == 60);
      if (!second) {
        EXPECT_EQ(
            second.error().message,
            "The late writes of this schedule need more than 59 bytes, the execution limit, while second (dispatch 1) commits late.");
        continue;
      }
      staging.forget(DispatchId(0));
      EXPECT_EQ(stage(staging, program, run_late(0, 0, 3), 0).has_value(),
                space == StagingSpace::kIsFreedByCommits);
    }
  }
}

std::vector<ByteRange> runs_of(const Program& program, const Step& step, int access) {
  std::vector<ByteRange> runs;
  for_each_written_run(program, piece_of(program, step), access,
                       [&](ByteRange run) { runs.push_back(run); });
  return runs;
}

TEST(WrittenRuns, AreThoseOfTheSlicesAndTouchingOnesAreOne) {
  const Program program = program_of_rows();
  EXPECT_THAT(runs_of(program, run_late(0, 1, 1), 1), ElementsAre(ByteRange{16, 32}));
  EXPECT_THAT(runs_of(program, run_late(0, 0, 3), 1), ElementsAre(ByteRange{0, 48}));
  EXPECT_THAT(runs_of(program, run_late(1), 1), IsEmpty());
}

// As a transposition touches its input, column by column.
TEST(WrittenRuns, LeaveOutWhatIsBetween) {
  const Program program = parsed(R"(interlock 1
memory m 64
memory n 64
tensor x f32[2,3] at m+0 = random(1)
tensor y f32[3,2] at n+0
dispatch transpose reads x writes y
)");
  EXPECT_THAT(runs_of(program, run_late(0, 1, 1), 0),
              ElementsAre(ByteRange{4, 8}, ByteRange{16, 20}));
}

TEST(OldBytes, AreNeededByUpdatesAndPartialWritesAlone) {
  for (const bool is_partial : {false, true}) {
    KernelParams params;
    params.is_partial = is_partial;
    const auto needs = [&](AccessMode mode) {
      Access access;
      access.mode = mode;
      return needs_old_bytes(access, params);
    };
    EXPECT_TRUE(needs(AccessMode::kUpdate));
    EXPECT_EQ(needs(AccessMode::kWrite), is_partial);
    EXPECT_FALSE(needs(AccessMode::kAtomic));
    EXPECT_FALSE(needs(AccessMode::kRead));
  }
}

TEST(PartialSteps, AskForOneContentOfWhatAPartialUpdateReadsAndLeaves) {
  const Program program = parsed(R"(interlock 1
memory m 16
dispatch K reads m[8:16] updates m[0:8] partial
dispatch K reads m[8:16] updates m[0:8]
)");
  const StepBytes read{MemoryId{0}, {2, 6}, StageAccess::kComputeRead};
  const StepBytes left{MemoryId{0}, {0, 8}, StageAccess::kComputeWrite};
  const StepBytes elsewhere{MemoryId{0}, {8, 12}, StageAccess::kComputeRead};
  const auto is_one = [&](uint32_t dispatch, const std::vector<StepBytes>& fetched) {
    return check_one_content(program, DispatchId{dispatch}, fetched).has_value();
  };
  EXPECT_FALSE(is_one(0, {read}));
  EXPECT_FALSE(is_one(0, {left, elsewhere}));
  EXPECT_FALSE(is_one(0, {left, read}));  // Bytes 0 and 1 are left as they were, and read later.
  EXPECT_TRUE(is_one(0, {left, {MemoryId{0}, {0, 8}, StageAccess::kComputeRead}, elsewhere}));
  EXPECT_TRUE(is_one(0, {elsewhere}));
  EXPECT_TRUE(is_one(1, {read}));
}

}  // namespace
}  // namespace interlock::late_staging_test
