// Barriers of a program are lowered as what they say: the lowering itself, without a device, and
// with one what synchronization validation makes of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volk.h>

#include <string>
#include <variant>
#include <vector>

#include "backends/vulkan/barrier_lowering.h"
#include "tests/backends/kernels/kernel_case.h"
#include "tests/backends/vulkan/vulkan_device.h"

namespace interlock::vulkan_barriers_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

CommandList lowered(const Program& program) {
  CommandList list;
  const DeviceLayout layout(program);
  for (const Barrier& barrier : program.barriers) lower_barrier(program, barrier, layout, list);
  return list;
}

constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kCopy = VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT;

TEST(LowerBarrier, AFullBarrierHasEverything) {
  const CommandList list = lowered(parsed("interlock 1\nmemory a 4\nbarrier\n"));
  ASSERT_EQ(list.dependencies.size(), 1u);
  const DeviceDependency& full = list.dependencies[0];
  EXPECT_EQ(full.source_stages,
            VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT);
  EXPECT_EQ(full.source_stages, full.destination_stages);
  EXPECT_NE(full.source_accesses & VK_ACCESS_2_MEMORY_WRITE_BIT, 0u);
  EXPECT_NE(full.destination_accesses & VK_ACCESS_2_MEMORY_READ_BIT, 0u);
}

TEST(LowerBarrier, AnExecutionBarrierHasNoAccess) {
  const CommandList list = lowered(parsed("interlock 1\nmemory a 4\nbarrier execution\n"));
  ASSERT_EQ(list.dependencies.size(), 1u);
  EXPECT_EQ(list.dependencies[0].source_accesses, 0u);
  EXPECT_EQ(list.dependencies[0].destination_accesses, 0u);
  EXPECT_NE(list.dependencies[0].source_stages & VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0u);
}

TEST(LowerBarrier, AScopedBarrierHasItsStagesAndAccesses) {
  const CommandList list = lowered(parsed(R"(interlock 1
memory a 64
barrier compute.write|copy -> compute.uniform|copy.read, host.write -> indirect.read
)"));
  ASSERT_EQ(list.commands.size(), 1u);
  EXPECT_EQ(std::get<DeviceBarrier>(list.commands[0].work).dependency_count, 2u);
  ASSERT_EQ(list.dependencies.size(), 2u);
  const DeviceDependency& first = list.dependencies[0];
  EXPECT_EQ(first.source_stages, kCompute | kCopy);
  EXPECT_EQ(first.source_accesses, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
  EXPECT_EQ(first.destination_stages, kCompute | kCopy);
  EXPECT_EQ(first.destination_accesses,
            VK_ACCESS_2_UNIFORM_READ_BIT | VK_ACCESS_2_TRANSFER_READ_BIT);
  EXPECT_EQ(first.range_count, 0u);
  const DeviceDependency& second = list.dependencies[1];
  EXPECT_EQ(second.source_stages, VK_PIPELINE_STAGE_2_HOST_BIT);
  EXPECT_EQ(second.source_accesses, VK_ACCESS_2_HOST_WRITE_BIT);
  EXPECT_EQ(second.destination_stages, VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT);
  EXPECT_EQ(second.destination_accesses, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT);
}

TEST(LowerBarrier, OperandsBecomeBufferRanges) {
  const Program program = parsed(R"(interlock 1
memory a 64
memory b 64
barrier compute.write -> compute.read a[16:32] b
barrier compute.write -> compute.read a[4:4]
)");
  const CommandList list = lowered(program);
  const DeviceLayout layout(program);
  ASSERT_EQ(list.dependencies.size(), 3u);
  ASSERT_EQ(list.dependencies[0].range_count, 2u);
  EXPECT_EQ(list.barrier_ranges[0].offset_bytes, layout.range_of(MemoryId(0)).offset_bytes + 16);
  EXPECT_EQ(list.barrier_ranges[0].size_bytes, 16u);
  EXPECT_EQ(list.barrier_ranges[1].offset_bytes, layout.range_of(MemoryId(1)).offset_bytes);
  EXPECT_EQ(list.barrier_ranges[1].size_bytes, 64u);
  // The order of execution, which operands do not narrow.
  EXPECT_EQ(list.dependencies[1].range_count, 0u);
  EXPECT_EQ(list.dependencies[1].source_accesses, 0u);
  EXPECT_EQ(list.dependencies[1].source_stages, kCompute);
  // No byte becomes visible, so only that is left.
  EXPECT_EQ(list.dependencies[2].range_count, 0u);
  EXPECT_EQ(list.dependencies[2].source_accesses, 0u);
  EXPECT_EQ(list.dependencies[2].source_stages, kCompute);
}

// --- With a device
// --------------------------------------------------------------------------------

using VulkanBarriers = OnVulkan;

// What synchronization validation says of three statements: two dispatches with sync between them.
std::vector<std::string> hazards_of(const std::string& first, const std::string& sync,
                                    const std::string& second) {
  const Program program = parsed("interlock 1\nmemory a 256\nmemory b 256\nmemory c 256\n" + first +
                                 "\n" + sync + "\n" + second + "\n");
  vulkan().take_messages();
  const auto image =
      vulkan().run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
  EXPECT_TRUE(image.has_value()) << image.error().message;
  return vulkan().take_messages();
}

const char* const kProduce = "dispatch Produce reads a writes b";
const char* const kConsume = "dispatch Consume reads b writes c";

TEST_F(VulkanBarriers, MissingOnesAreSeen) {
  EXPECT_THAT(hazards_of(kProduce, "", kConsume), ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  EXPECT_THAT(hazards_of(kProduce, "", "dispatch copy reads b writes c"),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  EXPECT_THAT(hazards_of("dispatch copy reads a writes b", "", kConsume),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  EXPECT_THAT(hazards_of(kConsume, "", "dispatch fill writes b value=3"),
              ElementsAre(HasSubstr("WRITE-AFTER-READ")));
  EXPECT_THAT(hazards_of(kProduce, "", "dispatch Consume uniform b writes c"),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
}

TEST_F(VulkanBarriers, FullOnesAreEnough) {
  EXPECT_THAT(hazards_of(kProduce, "barrier", kConsume), IsEmpty());
  EXPECT_THAT(hazards_of(kProduce, "barrier", "dispatch copy reads b writes c"), IsEmpty());
  EXPECT_THAT(hazards_of("dispatch copy reads a writes b", "barrier", kConsume), IsEmpty());
  EXPECT_THAT(hazards_of(kProduce, "barrier", "dispatch Consume uniform b writes c"), IsEmpty());
}

TEST_F(VulkanBarriers, ExecutionOnlyOnesOrderAWriteAfterAReadAndNoMore) {
  EXPECT_THAT(hazards_of(kConsume, "barrier execution", kProduce), IsEmpty());
  EXPECT_THAT(hazards_of(kProduce, "barrier execution", kConsume),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
}

TEST_F(VulkanBarriers, ScopedOnesCoverWhatTheySayAndNoMore) {
  const char* const kComputeToCompute = "barrier compute.write -> compute.read";
  const char* const kCopyFromB = "dispatch copy reads b writes c";
  EXPECT_THAT(hazards_of(kProduce, kComputeToCompute, kConsume), IsEmpty());
  EXPECT_THAT(hazards_of(kProduce, kComputeToCompute, kCopyFromB),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  EXPECT_THAT(hazards_of(kProduce, "barrier compute.write -> copy.read", kCopyFromB), IsEmpty());
  EXPECT_THAT(hazards_of(kProduce, kComputeToCompute, "dispatch Consume uniform b writes c"),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  EXPECT_THAT(hazards_of(kProduce, "barrier compute.write -> compute.uniform",
                         "dispatch Consume uniform b writes c"),
              IsEmpty());
}

TEST_F(VulkanBarriers, OperandsNarrowTheMemoryThatBecomesVisible) {
  EXPECT_THAT(hazards_of(kProduce, "barrier compute.write -> compute.read b", kConsume), IsEmpty());
  EXPECT_THAT(hazards_of(kProduce, "barrier compute.write -> compute.read a", kConsume),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  EXPECT_THAT(hazards_of(kConsume, "barrier compute -> compute.write a", kProduce), IsEmpty());
}

// --- Work that runs elsewhere than where the program has it
// -----------------------------------

// As hazards_of(), with memories for operands of any kind.
std::vector<std::string> hazards_of(const std::string& statements) {
  const Program program = parsed("interlock 1\nmemory m 20000\nmemory y 512\n" + statements);
  vulkan().take_messages();
  const auto image =
      vulkan().run(program, reference_order_schedule(program), ExecutionMode::kOverlap);
  EXPECT_TRUE(image.has_value()) << image.error().message;
  return vulkan().take_messages();
}

TEST_F(VulkanBarriers, ThatNameCopiesCoverThoseThatAreComputeShaders) {
  const std::string fill = "dispatch fill writes m[64:127] value=1\n";
  const std::string copy = "dispatch copy reads m[0:64] writes m[32:96]\n";
  const std::string use = "dispatch A reads m[64:128] writes y[0:64]\n";
  const std::string make = "dispatch A reads y[0:64] writes m[0:128]\n";
  for (const std::string& elsewhere : {fill, copy}) {
    const std::string transfer = "dispatch copy reads m[64:124] writes y[0:60]\n";
    EXPECT_THAT(hazards_of(elsewhere + "barrier copy.write -> compute.read\n" + use), IsEmpty());
    EXPECT_THAT(hazards_of(elsewhere + "barrier copy.write -> compute.read m[64:128]\n" + use),
                IsEmpty());
    EXPECT_THAT(
        hazards_of(make + "barrier compute -> copy, compute.write -> copy.read|copy.write\n" +
                   elsewhere),
        IsEmpty());
    EXPECT_THAT(hazards_of(elsewhere + "barrier copy.write -> copy.read\n" + transfer), IsEmpty());
    EXPECT_THAT(hazards_of(use + "barrier compute -> copy.write\n" + fill), IsEmpty());
    EXPECT_THAT(hazards_of(elsewhere + use), ElementsAre(HasSubstr("READ-AFTER-WRITE")));
    EXPECT_THAT(hazards_of(elsewhere + "barrier execution\n" + use),
                ElementsAre(HasSubstr("READ-AFTER-WRITE")));
    EXPECT_THAT(hazards_of(elsewhere + "barrier copy.write -> compute.uniform\n" + use),
                ElementsAre(HasSubstr("READ-AFTER-WRITE")));
    EXPECT_THAT(hazards_of(elsewhere + "barrier copy.write -> compute.read m[128:192]\n" + use),
                ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  }
}

TEST_F(VulkanBarriers, ThatNameUniformsCoverThoseThatAreStorageBuffers) {
  const std::string make = "dispatch A writes m\n";
  for (const char* uniforms : {"m", "m[0:64] m[256:300] m[300:310]", "m[0:64]"}) {
    const std::string use = fmt::format("dispatch B uniform {} writes y[0:64]\n", uniforms);
    EXPECT_THAT(hazards_of(make + "barrier compute.write -> compute.uniform\n" + use), IsEmpty());
    EXPECT_THAT(hazards_of(make + use), Contains(HasSubstr("READ-AFTER-WRITE")));
    EXPECT_THAT(hazards_of(make + "barrier execution\n" + use),
                Contains(HasSubstr("READ-AFTER-WRITE")));
    EXPECT_THAT(hazards_of(make + "barrier compute.write -> copy.read\n" + use),
                Contains(HasSubstr("READ-AFTER-WRITE")));
  }
}

// A program without such operands has the scopes that it says and no more.
TEST_F(VulkanBarriers, AreNotWiderWithoutSuchOperands) {
  EXPECT_THAT(hazards_of("dispatch fill writes m[0:64] value=1\n"
                         "barrier compute.write -> compute.read\n"
                         "dispatch A reads m[0:64] writes y[0:64]\n"),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
  EXPECT_THAT(hazards_of("dispatch A writes m[0:64]\nbarrier compute.write -> compute.uniform\n"
                         "dispatch B reads m[0:64] writes y[0:64]\n"),
              ElementsAre(HasSubstr("READ-AFTER-WRITE")));
}

}  // namespace
}  // namespace interlock::vulkan_barriers_test
