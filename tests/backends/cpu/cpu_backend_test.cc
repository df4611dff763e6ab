// The cpu backend: schedules, pieces, late commits, limits, and the bytes of one large program.
#include "backends/cpu/cpu_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/interface/image.h"
#include "backends/registry.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "tests/backends/dispatch_steps.h"
#include "tests/backends/kernels/kernel_case.h"

namespace interlock::cpu_backend_test {
namespace {

using testing::HasSubstr;

Schedule schedule_by(const Program& program, std::vector<Displacement> displacements) {
  auto schedule = schedule_of(program, HappensBefore(program), displacements);
  EXPECT_TRUE(schedule.has_value()) << (schedule ? "" : schedule.error().message);
  return schedule ? *schedule : Schedule{};
}

// The bytes of a go to b, and those of b to c.
constexpr const char* kCopiedOn = R"(interlock 1
memory a 64
memory b 64
memory c 64
produce: dispatch copy reads a writes b
consume: dispatch copy reads b writes c
)";

TEST(CpuBackend, IsAvailableForWitnessModeOnly) {
  Backend* cpu = find_backend("cpu");
  ASSERT_NE(cpu, nullptr);
  EXPECT_EQ(backend_registry().front(), cpu);
  EXPECT_TRUE(cpu->availability().is_available);
  EXPECT_TRUE(cpu->supports(ExecutionMode::kWitness));
  EXPECT_FALSE(cpu->supports(ExecutionMode::kOverlap));
  const Program program = parsed("interlock 1\nmemory a 4\n");
  const auto image = cpu->run(program, {}, ExecutionMode::kOverlap);
  ASSERT_FALSE(image.has_value());
  EXPECT_THAT(image.error().message, HasSubstr("has no overlap mode"));
  EXPECT_EQ(find_backend("gpu"), nullptr);
}

TEST(CpuBackend, RefusesProgramsAboveItsLimit) {
  const Program program = parsed("interlock 1\nmemory a 1025\n");
  CpuBackend cpu(1024);
  const auto image = cpu.run(program, {}, ExecutionMode::kWitness);
  ASSERT_FALSE(image.has_value());
  EXPECT_THAT(image.error().message, HasSubstr("more than 1024 bytes"));
}

// MLX #3630: gx is donated from g, and nothing orders the bias reduction before the VJP.
constexpr const char* kMlx3630 = R"(interlock 1
memory a 4096
memory b 4096
memory c 256
memory d 4096
memory e 256
tensor x f32[16,64] at a+0 = random(1)
tensor g f32[16,64] at b+0 = random(2)
tensor w f32[64] at e+0 = random(3)
tensor gx f32[16,64] donates g
tensor gb f32[64] at c+0
tensor gw_rows f32[16,64] at d+0
output gb gx
reduce: dispatch col_sum reads g writes gb
vjp: dispatch layer_norm_vjp reads x w g writes gx gw_rows
)";

TEST(CpuBackend, ShowsTheWrongBiasGradientOfMlx3630) {
  const Program program = parsed(kMlx3630);
  const MemoryImage right = image_after(program, reference_order_schedule(program));
  const MemoryImage wrong = image_after(
      program, schedule_by(program, {{DispatchId{1}, DispatchId{0}, DisplacementKind::kBefore}}));
  EXPECT_NE(values_of(program, wrong, "gb"), values_of(program, right, "gb"));
  EXPECT_EQ(values_of(program, wrong, "gx"), values_of(program, right, "gx"));
  EXPECT_EQ(values_of(program, wrong, "gw_rows"), values_of(program, right, "gw_rows"));
}

TEST(CpuBackend, ShowsItWithHalfOfTheSlices) {
  const Program program = parsed(kMlx3630);
  const MemoryImage right = image_after(program, reference_order_schedule(program));
  const MemoryImage half = image_after(program, {{run(1, 0, 8), run(0, 0, 4), run(1, 8, 8)}});
  const MemoryImage all = image_after(program, {{run(1, 0, 16), run(0, 0, 4)}});
  EXPECT_NE(values_of(program, half, "gb"), values_of(program, right, "gb"));
  EXPECT_NE(values_of(program, half, "gb"), values_of(program, all, "gb"));
  EXPECT_EQ(values_of(program, half, "gx"), values_of(program, right, "gx"));
}

TEST(CpuBackend, HidesItWhereTheVjpCommitsLate) {
  const Program program = parsed(kMlx3630);
  const MemoryImage right = image_after(program, reference_order_schedule(program));
  EXPECT_EQ(image_after(program, {{run_late(1, 0, 16), run(0, 0, 4), commit(1)}}), right);
  // In pieces, some late: those have not overwritten g yet.
  EXPECT_EQ(image_after(program, {{run_late(1, 4, 7), run_late(1, 0, 4), run(0, 0, 4),
                                   run(1, 11, 5), commit(1)}}),
            right);
  EXPECT_NE(image_after(program, {{run_late(1, 4, 7), run(1, 0, 4), run(0, 0, 4), run(1, 11, 5),
                                   commit(1)}}),
            right);
}

TEST(CpuBackend, ShowsOldBytesUntilTheCommit) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
memory c 64
produce: dispatch copy reads a writes b
barrier execution
consume: dispatch copy reads b writes c
)");
  const MemoryImage before = initial_image(program, 1000).value();
  const MemoryImage late = image_after(
      program,
      schedule_by(program, {{DispatchId{0}, DispatchId{1}, DisplacementKind::kCommitsAfter}}));
  EXPECT_EQ(late.memories[1], before.memories[0]);
  EXPECT_EQ(late.memories[2], before.memories[1]);
}

TEST(CpuBackend, LetsALateUpdateReadWhatItUpdates) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
update: dispatch Kernel updates a
partly: dispatch Kernel writes b[1:60] partial
)");
  const MemoryImage expected = image_after(program, reference_order_schedule(program));
  EXPECT_EQ(image_after(program, {{run_late(0), run_late(1), commit(1), commit(0)}}), expected);
}

// A late update loses what was written in between: that is what makes it a hazard.
TEST(CpuBackend, CommitsTheBytesOfALateUpdateOverLaterOnes) {
  const Program program = parsed(R"(interlock 1
memory a 64
update: dispatch Kernel updates a
other: dispatch Other writes a[0:32]
)");
  const MemoryImage alone =
      image_after(program, {{run(1), run(0)}});  // The update reads what `other` wrote,
  const MemoryImage late = image_after(program, {{run_late(0), run(1), commit(0)}});
  EXPECT_NE(late, alone);  // or it does not.
  const Program only = parsed("interlock 1\nmemory a 64\nupdate: dispatch Kernel updates a\n");
  EXPECT_EQ(late, image_after(only, reference_order_schedule(only)));
}

TEST(CpuBackend, AppliesLateAtomicsAtTheirCommit) {
  for (const char* op : kAtomicWords) {
    const Program program =
        parsed(std::string("interlock 1\nmemory c 64\nmemory x 8\n") +
               "first: dispatch Kernel reads x atomics c atomic=" + op +
               "\nsecond: dispatch Kernel reads x atomics c[3:50] atomic=" + op + "\n");
    const MemoryImage expected = image_after(program, reference_order_schedule(program));
    EXPECT_EQ(image_after(program, {{run_late(0), run(1), commit(0)}}), expected) << op;
    EXPECT_EQ(image_after(program, {{run_late(0), run_late(1), commit(1), commit(0)}}), expected)
        << op;
  }
}

TEST(CpuBackend, CommitsSomeBytesByThemselves) {
  const Program program = parsed(kCopiedOn);
  const MemoryImage before = initial_image(program, 1000).value();
  const StepBytes middle{MemoryId{1}, {16, 48}};
  const Step some{StepKind::kCommit, DispatchId{0}, 0, 1};
  const MemoryImage image =
      image_after(program, {{run_late(0), some, run(1), commit(0)}, {middle}});
  EXPECT_EQ(image.memories[1], before.memories[0]);
  for (size_t i = 0; i < 64; ++i) {
    const bool is_early = i >= 16 && i < 48;
    EXPECT_EQ(image.memories[2][i], before.memories[is_early ? 0 : 1][i]) << i;
  }
  // What has been committed by itself does not come again, over what was written since.
  const Program twice = parsed(R"(interlock 1
memory a 64
memory b 64
memory c 64
first: dispatch copy reads a writes b
second: dispatch copy reads c writes b
)");
  const MemoryImage left = image_after(twice, {{run_late(0), some, run(1), commit(0)}, {middle}});
  for (size_t i = 0; i < 64; ++i) {
    const bool is_early = i >= 16 && i < 48;
    EXPECT_EQ(left.memories[1][i], before.memories[is_early ? 2 : 0][i]) << i;
  }
}

TEST(CpuBackend, ReadsWhatItHasFetched) {
  const Program program = parsed(kCopiedOn);
  const MemoryImage before = initial_image(program, 1000).value();
  const Step fetch{StepKind::kFetch, DispatchId{1}, 0, 1};
  for (const StageAccess sort : {StageAccess::kCopyRead, StageAccess::kCopyWrite}) {
    const StepBytes place{MemoryId{1}, {16, 48}, sort};
    const MemoryImage image = image_after(program, {{fetch, run(0), run(1)}, {place}});
    EXPECT_EQ(image.memories[1], before.memories[0]);
    for (size_t i = 0; i < 64; ++i) {
      const bool is_stale = i >= 16 && i < 48 && sort == StageAccess::kCopyRead;
      EXPECT_EQ(image.memories[2][i], before.memories[is_stale ? 1 : 0][i]) << i;
    }
  }
}

TEST(CpuBackend, LeavesInPlaceWhatAPartialWriteHasFetched) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
produce: dispatch copy reads a writes b
partly: dispatch Kernel writes b partial
)");
  const Step fetch{StepKind::kFetch, DispatchId{1}, 0, 1};
  const StepBytes place{MemoryId{1}, {0, 64}, StageAccess::kComputeWrite};
  const MemoryImage alone = image_after(program, {{run(1), run(0)}});
  const MemoryImage stale = image_after(program, {{fetch, run(0), run(1)}, {place}});
  EXPECT_NE(stale, alone);
  EXPECT_NE(stale, image_after(program, reference_order_schedule(program)));
}

// What it reads decides what it writes elsewhere; what it leaves in place is of another cache.
TEST(CpuBackend, TellsWhatAPartialUpdateReadsFromWhatItLeaves) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
memory c 4
produce: dispatch copy reads a writes b
partly: dispatch Kernel writes c updates b partial
)");
  const Step fetch{StepKind::kFetch, DispatchId{1}, 0, 1};
  const MemoryImage reference = image_after(program, reference_order_schedule(program));
  for (const StageAccess sort : {StageAccess::kComputeRead, StageAccess::kComputeWrite}) {
    const StepBytes place{MemoryId{1}, {0, 64}, sort};
    const MemoryImage stale = image_after(program, {{fetch, run(0), run(1)}, {place}});
    EXPECT_EQ(stale.memories[2] == reference.memories[2], sort == StageAccess::kComputeWrite);
    EXPECT_NE(stale.memories[1], reference.memories[1]);
    // Later fetches stand for earlier ones, each of its own sort.
    const Schedule twice{{fetch, run(0), {StepKind::kFetch, DispatchId{1}, 1, 1}, run(1)},
                         {place, place}};
    EXPECT_EQ(image_after(program, twice), reference);
  }
}

TEST(CpuBackend, BoundsTheLateWritesThatWait) {
  const Program program = parsed(R"(interlock 1
memory a 1000
first: dispatch Kernel writes a
second: dispatch Kernel writes a
)");
  CpuBackend cpu(1500);
  const Schedule both{{run_late(0), run_late(1), commit(0), commit(1)}};
  const auto image = cpu.run(program, both, ExecutionMode::kWitness);
  ASSERT_FALSE(image.has_value());
  EXPECT_THAT(image.error().message, HasSubstr("while second (dispatch 1) commits late"));
  const Schedule in_turn{{run_late(0), commit(0), run_late(1), commit(1)}};
  EXPECT_TRUE(cpu.run(program, in_turn, ExecutionMode::kWitness).has_value());
}

// A layer with its backward pass, and every kernel. The bytes are the same from every compiler, in
// every build: one hash pins all of them.
TEST(CpuBackend, GivesTheseBytesForEveryKernel) {
  const Program program = parsed(R"(interlock 1
memory m 65536
memory n 65536
memory raw 5000
tensor x f32[13,37] at m+0 = random(1)
tensor w f32[37] at m+2048 = random(2)
tensor b f32[37] at m+2304 = random(3)
tensor v f32[37,21] at m+2560 = random(4)
tensor vt f32[21,37] at m+6144 = random(5)
tensor h f32[13,37] at m+10240
tensor r f32[13,37] at m+12288
tensor y f32[13,21] at m+14336
tensor z f32[13,21] at m+16384
tensor s f32[13,21] at n+0
tensor p f32[13,21] at n+2048
tensor gs f32[13,21] at n+4096 = random(6)
tensor gv f32[37,21] at n+8192
tensor gh f32[13,37] at n+12288
tensor gx f32[13,37] donates gh
tensor gw_rows f32[13,37] at n+16384
tensor gw f32[37] at n+20480
tensor gb f32[37] at n+20736
tensor gr f32[13,37] at n+22528
tensor gr_rows f32[13,37] at n+24576
tensor rows f32[13] at n+28672
tensor total f32[13,37] at n+30720
tensor wt f32[21,37] at n+34816
dispatch layer_norm reads x w b writes h
dispatch rms_norm reads x w writes r eps=0.001
dispatch matmul_nn reads h v writes y
dispatch matmul_nt reads r vt writes z
dispatch silu reads y writes s
dispatch mul reads s z writes p
dispatch matmul_tn reads h gs writes gv
dispatch copy reads vt writes wt
dispatch matmul_nn reads gs wt writes gh
dispatch col_sum reads gh writes gb
dispatch rms_norm_vjp reads x w gh writes gr gr_rows
dispatch layer_norm_vjp reads x w gh writes gx gw_rows
dispatch col_sum reads gw_rows writes gw
dispatch add reads gx gr writes total
dispatch scale reads total writes total factor=-0.3
dispatch row_sum reads total writes rows
dispatch fill writes raw[17:1050] value=7
dispatch Opaque reads n[0:40000] raw writes raw[2000:4001] m[60000:60007]
dispatch mix reads m updates raw[100:200] atomics raw[300:307] partial atomic=max
)");
  const MemoryImage image = image_after(program, reference_order_schedule(program));
  EXPECT_EQ(output_digest(program, image), 17329363885168203102u);
}

}  // namespace
}  // namespace interlock::cpu_backend_test
