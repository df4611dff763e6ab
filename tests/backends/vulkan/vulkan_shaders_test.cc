// The access truth of the shaders: what their SPIR-V may do to each binding against what the kernel
// table declares. Needs no device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "backends/vulkan/shaders.h"
#include "backends/vulkan/spirv.h"
#include "encoder/kernel/kernel_table.h"
#include "tests/backends/vulkan/spirv_access.h"

namespace interlock::vulkan_shaders_test {
namespace {

constexpr OperandWidth kWidths[] = {OperandWidth::kWords, OperandWidth::kBytes};

// "r", "w", "rw", and "u" for a uniform buffer, by binding.
std::vector<std::string> accesses_of_shader(std::string_view name, OperandWidth width) {
  const std::span<const uint32_t> module = shaders()[shader_index(name, width)].module;
  const std::vector<SpirvAccess> declared = buffer_accesses_of(module);
  std::vector<std::string> accesses;
  for (const SpirvBinding& binding : bindings_of(module)) {
    const SpirvAccess& access = declared[accesses.size()];
    EXPECT_EQ(binding.set, 0u);
    EXPECT_EQ(binding.binding, accesses.size());
    accesses.push_back(binding.is_uniform       ? "u"
                       : access.is_non_writable ? "r"
                       : access.is_non_readable ? "w"
                                                : "rw");
  }
  return accesses;
}

TEST(VulkanShaders, AccessOperandsAsTheKernelTableDeclares) {
  for (const KernelEntry& entry : kernel_table()) {
    if (entry.is_variadic) continue;
    for (const OperandWidth width : kWidths) {
      std::vector<std::string> declared;
      for (const KernelOperand& operand : entry.operands) {
        const bool loads = operand.mode == AccessMode::kUpdate || operand.streams;
        declared.push_back(operand.mode == AccessMode::kRead ? "r" : loads ? "rw" : "w");
      }
      EXPECT_EQ(accesses_of_shader(entry.name, width), declared) << entry.name;
    }
  }
}

TEST(VulkanShaders, AccessTheOperandsOfMixByTheirModes) {
  for (const OperandWidth width : kWidths) {
    EXPECT_THAT(accesses_of_shader("mix", width),
                testing::ElementsAre("u", "u", "r", "r", "r", "r", "r", "w", "w", "w", "rw", "rw",
                                     "rw", "rw"));
    EXPECT_THAT(accesses_of_shader("mix_digest", width), testing::ElementsAre("r", "rw"));
    EXPECT_THAT(accesses_of_shader("mix_write", width), testing::ElementsAre("w", "r"));
    EXPECT_THAT(accesses_of_shader("mix_partial", width), testing::ElementsAre("rw", "r"));
    EXPECT_THAT(accesses_of_shader("mix_atomic", width), testing::ElementsAre("rw", "r"));
    EXPECT_THAT(accesses_of_shader("commit_atomic", width), testing::ElementsAre("rw", "r"));
  }
}

// A module of three words per instruction, written down by hand: void main() is not needed to
// decorate.
std::vector<uint32_t> tiny_module() {
  return {0x07230203,    0x00010300, 0,  10, 0, 3u << 16 | 71, 1, 2,  // OpDecorate %1 Block
          4u << 16 | 71, 3,          34, 0,    // OpDecorate %3 DescriptorSet 0
          4u << 16 | 71, 3,          33, 5,    // OpDecorate %3 Binding 5
          4u << 16 | 72, 1,          0,  24,   // OpMemberDecorate %1 0 NonWritable
          4u << 16 | 21, 4,          32, 0,    // %4 = OpTypeInt 32 0
          3u << 16 | 30, 1,          4,        // %1 = OpTypeStruct %4
          4u << 16 | 32, 2,          12, 1,    // %2 = OpTypePointer StorageBuffer %1
          4u << 16 | 59, 2,          3,  12};  // %3 = OpVariable %2 StorageBuffer
}

TEST(Spirv, ReadsBindingsAndTheirDecorations) {
  const auto bindings = bindings_of(tiny_module());
  ASSERT_EQ(bindings.size(), 1u);
  EXPECT_EQ(bindings[0].binding, 5u);
  EXPECT_EQ(bindings[0].variable_id, 3u);
  EXPECT_FALSE(bindings[0].is_uniform);
  const auto accesses = buffer_accesses_of(tiny_module());
  ASSERT_EQ(accesses.size(), 1u);
  EXPECT_TRUE(accesses[0].is_non_writable);
  EXPECT_FALSE(accesses[0].is_non_readable);
}

TEST(Spirv, AMemberWithoutTheDecorationMakesTheBindingWritable) {
  std::vector<uint32_t> module = tiny_module();
  module.insert(module.end() - 11 + 3, 4);  // A second member: OpTypeStruct %4 %4.
  module[module.size() - 12] = 4u << 16 | 30;
  ASSERT_EQ(buffer_accesses_of(module).size(), 1u);
  EXPECT_FALSE(buffer_accesses_of(module)[0].is_non_writable);
}

TEST(Spirv, DecoratesEveryStorageBufferAsAliased) {
  const std::vector<uint32_t> module = tiny_module();
  const std::vector<uint32_t> aliased = with_aliased_buffers(module);
  ASSERT_EQ(aliased.size(), module.size() + 3);
  // In front of the other decorations, after the header.
  EXPECT_THAT(std::vector<uint32_t>(aliased.begin() + 5, aliased.begin() + 8),
              testing::ElementsAre(3u << 16 | 71, 3, 20));
  EXPECT_EQ(bindings_of(aliased).size(), 1u);
}

}  // namespace
}  // namespace interlock::vulkan_shaders_test
