// What shaders can do to their bindings: each of a few shaders, spelled out in SPIR-V assembly, so
// that what it does stands here.
#include "capture/spirv/shader_accesses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include <string>
#include <vector>

namespace interlock::shader_accesses_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr BindingUse loads(uint32_t binding) { return {0, binding, true, false}; }
constexpr BindingUse stores(uint32_t binding) { return {0, binding, false, true}; }
constexpr BindingUse both(uint32_t binding) { return {0, binding, true, true}; }

// Two storage buffers %a and %b of words, the second one decorated by a group, and an image %image
// of words; `functions` are `main` and others.
std::string module_with(const std::string& functions) {
  return R"(
      OpCapability Shader
      OpCapability VariablePointersStorageBuffer
      OpCapability Int64
      OpMemoryModel Logical GLSL450
      OpEntryPoint GLCompute %main "main"
      OpExecutionMode %main LocalSize 1 1 1
      OpDecorate %a DescriptorSet 0
      OpDecorate %a Binding 0
      OpDecorate %group DescriptorSet 0
      OpDecorate %group Binding 1
      %group = OpDecorationGroup
      OpGroupDecorate %group %b
      OpDecorate %image DescriptorSet 0
      OpDecorate %image Binding 2
      OpMemberDecorate %block 0 Offset 0
      OpDecorate %words ArrayStride 4
      OpDecorate %block Block
      %void = OpTypeVoid
      %fn = OpTypeFunction %void
      %bool = OpTypeBool
      %true = OpConstantTrue %bool
      %uint = OpTypeInt 32 0
      %zero = OpConstant %uint 0
      %one = OpConstant %uint 1
      %v2 = OpTypeVector %uint 2
      %v4 = OpTypeVector %uint 4
      %at = OpConstantComposite %v2 %zero %zero
      %words = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %words
      %ptr_block = OpTypePointer StorageBuffer %block
      %ptr = OpTypePointer StorageBuffer %uint
      %takes = OpTypeFunction %void %ptr
      %gives = OpTypeFunction %ptr
      %image_type = OpTypeImage %uint 2D 0 0 0 2 R32ui
      %ptr_image = OpTypePointer UniformConstant %image_type
      %ptr_texel = OpTypePointer Image %uint
      %a = OpVariable %ptr_block StorageBuffer
      %b = OpVariable %ptr_block StorageBuffer
      %image = OpVariable %ptr_image UniformConstant
      )" +
         functions;
}

std::string main_with(const std::string& body) {
  return "%main = OpFunction %void None %fn\n%start = OpLabel\n" + body +
         "\nOpReturn\nOpFunctionEnd\n";
}

Result<ShaderAccesses> accesses_of(const std::string& functions,
                                   const std::string& entry = "main") {
  const spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(module_with(functions), &words));
  return shader_accesses_of(words, entry);
}

std::vector<BindingUse> uses_of(const std::string& body) {
  const Result<ShaderAccesses> accesses = accesses_of(main_with(body));
  EXPECT_TRUE(accesses.has_value());
  return accesses ? accesses->bindings : std::vector<BindingUse>();
}

TEST(ShaderAccesses, TellsLoadsFromStores) {
  EXPECT_THAT(uses_of(R"(
      %p = OpAccessChain %ptr %a %zero %zero
      %q = OpAccessChain %ptr %b %zero %zero
      %x = OpLoad %uint %p
      OpStore %q %x)"),
              ElementsAre(loads(0), stores(1)));
}

TEST(ShaderAccesses, LeavesOutWhatIsOnlyNamed) {
  EXPECT_THAT(uses_of(R"(
      %p = OpAccessChain %ptr %a %zero %zero
      %length = OpArrayLength %uint %b 0)"),
              IsEmpty());
}

TEST(ShaderAccesses, TakesAtomicsForBoth) {
  EXPECT_THAT(uses_of(R"(
      %p = OpAccessChain %ptr %b %zero %zero
      %old = OpAtomicIAdd %uint %p %one %zero %one)"),
              ElementsAre(both(1)));
}

TEST(ShaderAccesses, FollowsImages) {
  EXPECT_THAT(uses_of(R"(
      %loaded = OpLoad %image_type %image
      %texel = OpImageRead %v4 %loaded %at)"),
              ElementsAre(loads(2)));
  EXPECT_THAT(uses_of(R"(
      %loaded = OpLoad %image_type %image
      %value = OpCompositeConstruct %v4 %one %one %one %one
      OpImageWrite %loaded %at %value)"),
              ElementsAre(stores(2)));
  EXPECT_THAT(uses_of(R"(
      %p = OpImageTexelPointer %ptr_texel %image %at %zero
      %old = OpAtomicUMax %uint %p %one %zero %one)"),
              ElementsAre(both(2)));
  EXPECT_THAT(uses_of("%loaded = OpLoad %image_type %image"), IsEmpty());
}

TEST(ShaderAccesses, FollowsEveryBaseThatAPointerMayHave) {
  EXPECT_THAT(uses_of(R"(
      %p = OpAccessChain %ptr %a %zero %zero
      %q = OpAccessChain %ptr %b %zero %zero
      %either = OpSelect %ptr %true %p %q
      OpStore %either %one)"),
              ElementsAre(stores(0), stores(1)));
  EXPECT_THAT(uses_of(R"(
      %p = OpAccessChain %ptr %a %zero %zero
      %q = OpAccessChain %ptr %b %zero %zero
      OpCopyMemory %q %p)"),
              ElementsAre(loads(0), stores(1)));
}

TEST(ShaderAccesses, FollowsPointersThroughFunctions) {
  const std::string functions = R"(
      %write = OpFunction %void None %takes
      %to = OpFunctionParameter %ptr
      %write_start = OpLabel
      OpStore %to %one
      OpReturn
      OpFunctionEnd
      %pointer_to_a = OpFunction %ptr None %gives
      %give_start = OpLabel
      %p = OpAccessChain %ptr %a %zero %zero
      OpReturnValue %p
      OpFunctionEnd
      %never = OpFunction %void None %fn
      %never_start = OpLabel
      %unused = OpAccessChain %ptr %b %zero %zero
      %unread = OpLoad %uint %unused
      OpReturn
      OpFunctionEnd
      )" + main_with(R"(
      %got = OpFunctionCall %ptr %pointer_to_a
      %done = OpFunctionCall %void %write %got)");
  const Result<ShaderAccesses> accesses = accesses_of(functions);
  ASSERT_TRUE(accesses.has_value());
  // What no call reaches does nothing.
  EXPECT_THAT(accesses->bindings, ElementsAre(stores(0)));
  EXPECT_THAT(accesses->addresses, IsEmpty());
}

TEST(ShaderAccesses, SaysThatAVariableHasNoBinding) {
  const std::string before = "%unbound = OpVariable %ptr_block StorageBuffer\n";
  const std::string use = "%p = OpAccessChain %ptr %unbound %zero %zero\nOpStore %p %one";
  const Result<ShaderAccesses> accesses = accesses_of(before + main_with(use));
  ASSERT_TRUE(accesses.has_value());
  EXPECT_TRUE(accesses->has_unbound);
  EXPECT_FALSE(accesses_of(before + main_with(""))->has_unbound);
}

// Each pointer may be one more variable than the one before it.
TEST(ShaderAccesses, GivesUpOnTooManyBases) {
  std::string variables;
  std::string body = "%s0 = OpAccessChain %ptr %a %zero %zero\n";
  constexpr int kCount = 4'000;
  for (int i = 1; i <= kCount; ++i) {
    variables += "%var" + std::to_string(i) + " = OpVariable %ptr_block StorageBuffer\n";
    body += "%p" + std::to_string(i) + " = OpAccessChain %ptr %var" + std::to_string(i) +
            " %zero %zero\n%s" + std::to_string(i) + " = OpSelect %ptr %true %s" +
            std::to_string(i - 1) + " %p" + std::to_string(i) + "\n";
  }
  const Result<ShaderAccesses> accesses = accesses_of(variables + main_with(body));
  ASSERT_FALSE(accesses.has_value());
  EXPECT_THAT(accesses.error().message, HasSubstr("may come from too many variables"));
}

TEST(ShaderAccesses, SaysWhatIsWrong) {
  EXPECT_THAT(accesses_of(main_with(""), "other").error().message,
              HasSubstr("has no compute entry point 'other'."));
  const std::vector<uint32_t> words = {0x07230203, 0x00010000, 0, 5, 0, 0xffff0001};
  EXPECT_THAT(shader_accesses_of(words, "main").error().message,
              HasSubstr("the shader module is not valid SPIR-V: "));
  EXPECT_FALSE(shader_accesses_of({}, "main").has_value());
}

}  // namespace
}  // namespace interlock::shader_accesses_test
