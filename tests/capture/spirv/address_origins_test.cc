// Where the addresses of shaders come from: each of a few shaders, spelled out in SPIR-V assembly.
#include "capture/spirv/address_origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include <string>
#include <utility>
#include <vector>

#include "capture/spirv/shader_accesses.h"

namespace interlock::address_origins_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Push constants: at 0 and 8 pointers to blocks of words, at 16 a number of 64 bits, at 24 two
// words, at 32 an index. A storage buffer %table has a pointer at 0. `functions` are `main` and
// others.
Result<ShaderAccesses> accesses_of(const std::string& functions) {
  const std::string text = R"(
      OpCapability Shader
      OpCapability Int64
      OpCapability PhysicalStorageBufferAddresses
      OpExtension "SPV_KHR_physical_storage_buffer"
      OpMemoryModel PhysicalStorageBuffer64 GLSL450
      OpEntryPoint GLCompute %main "main"
      OpExecutionMode %main LocalSize 1 1 1
      OpDecorate %table DescriptorSet 0
      OpDecorate %table Binding 0
      OpMemberDecorate %push 0 Offset 0
      OpMemberDecorate %push 1 Offset 8
      OpMemberDecorate %push 2 Offset 16
      OpMemberDecorate %push 3 Offset 24
      OpMemberDecorate %push 4 Offset 32
      OpDecorate %push Block
      OpMemberDecorate %table_block 0 Offset 0
      OpDecorate %table_block Block
      OpMemberDecorate %block 0 Offset 0
      OpDecorate %words ArrayStride 4
      OpDecorate %block Block
      OpTypeForwardPointer %address PhysicalStorageBuffer
      %void = OpTypeVoid
      %fn = OpTypeFunction %void
      %bool = OpTypeBool
      %true = OpConstantTrue %bool
      %uint = OpTypeInt 32 0
      %long = OpTypeInt 64 0
      %int = OpTypeInt 32 1
      %v2 = OpTypeVector %uint 2
      %0 = OpConstant %uint 0
      %1 = OpConstant %uint 1
      %2 = OpConstant %uint 2
      %3 = OpConstant %uint 3
      %4 = OpConstant %uint 4
      %long_64 = OpConstant %long 64
      %minus_16 = OpConstant %int -16
      %far = OpConstant %long 140000000000000
      %mask = OpConstant %long 18446744073709551600
      %given = OpSpecConstant %long 0
      %words = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %words
      %address = OpTypePointer PhysicalStorageBuffer %block
      %word = OpTypePointer PhysicalStorageBuffer %uint
      %push = OpTypeStruct %address %address %long %v2 %uint
      %ptr_push = OpTypePointer PushConstant %push
      %ptr_pushed = OpTypePointer PushConstant %address
      %ptr_long = OpTypePointer PushConstant %long
      %ptr_v2 = OpTypePointer PushConstant %v2
      %ptr_uint = OpTypePointer PushConstant %uint
      %table_block = OpTypeStruct %address
      %ptr_table = OpTypePointer StorageBuffer %table_block
      %ptr_entry = OpTypePointer StorageBuffer %address
      %local = OpTypePointer Function %address
      %takes = OpTypeFunction %void %address
      %pushed = OpVariable %ptr_push PushConstant
      %private = OpTypePointer Private %address
      %kept = OpVariable %private Private
      %gives = OpTypeFunction %address
      %table = OpVariable %ptr_table StorageBuffer
      )" + functions;
  const spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(text, &words));
  return shader_accesses_of(words, "main");
}

std::string main_with(const std::string& body) {
  return "%main = OpFunction %void None %fn\n%start = OpLabel\n" + body +
         "\nOpReturn\nOpFunctionEnd\n";
}

std::vector<AddressUse> uses_of(const std::string& functions) {
  const Result<ShaderAccesses> accesses = accesses_of(functions);
  EXPECT_TRUE(accesses.has_value());
  return accesses ? accesses->addresses : std::vector<AddressUse>();
}

// Both pointers of the push constants, and one word of each.
const std::string kBoth = R"(
      %at_from = OpAccessChain %ptr_pushed %pushed %0
      %at_to = OpAccessChain %ptr_pushed %pushed %1
      %from = OpLoad %address %at_from
      %to = OpLoad %address %at_to
      %p = OpAccessChain %word %from %0 %3
      %q = OpAccessChain %word %to %0 %3
      )";

TEST(AddressOrigins, ArePushConstants) {
  EXPECT_THAT(
      uses_of(main_with(kBoth + R"(
      %x = OpLoad %uint %p Aligned 4
      OpStore %q %x Aligned 4)")),
      ElementsAre(AddressUse{{{0, false}}, true, false}, AddressUse{{{8, false}}, false, true}));
  EXPECT_THAT(uses_of(main_with(kBoth + "%x = OpAtomicIAdd %uint %q %1 %0 %1")),
              ElementsAre(AddressUse{{{8, false}}, true, true}));
  EXPECT_THAT(uses_of(main_with(kBoth)), IsEmpty());
}

TEST(AddressOrigins, AreAllThatAPointerMayComeFrom) {
  EXPECT_THAT(uses_of(main_with(kBoth + R"(
      %either = OpSelect %word %true %p %q
      OpStore %either %0 Aligned 4)")),
              ElementsAre(AddressUse{{{0, false}, {8, false}}, false, true}));
}

TEST(AddressOrigins, GoThroughFunctionsAndTheirVariables) {
  const std::string functions = R"(
      %write = OpFunction %void None %takes
      %passed = OpFunctionParameter %address
      %write_start = OpLabel
      %held = OpVariable %local Function
      OpStore %held %passed
      %again = OpLoad %address %held
      %r = OpAccessChain %word %again %0 %0
      OpStore %r %1 Aligned 4
      OpReturn
      OpFunctionEnd
      )" + main_with(kBoth + "%done = OpFunctionCall %void %write %to");
  EXPECT_THAT(uses_of(functions), ElementsAre(AddressUse{{{8, false}}, false, true}));
}

TEST(AddressOrigins, TellWhatIsReckoned) {
  EXPECT_THAT(uses_of(main_with(R"(
      %at = OpAccessChain %ptr_long %pushed %2
      %at_index = OpAccessChain %ptr_uint %pushed %4
      %number = OpLoad %long %at
      %index = OpLoad %uint %at_index
      %wide = OpUConvert %long %index
      %offset = OpIMul %long %wide %long_64
      %sum = OpIAdd %long %number %offset
      %plain = OpConvertUToPtr %word %number
      %moved = OpConvertUToPtr %word %sum
      OpStore %moved %0 Aligned 4
      %x = OpLoad %uint %plain Aligned 4)")),
              ElementsAre(AddressUse{{{16, false}}, true, false},
                          AddressUse{{{16, true}, {32, true}}, false, true}));
  EXPECT_THAT(uses_of(main_with(R"(
      %at = OpAccessChain %ptr_v2 %pushed %3
      %pair = OpLoad %v2 %at
      %p = OpBitcast %word %pair
      OpStore %p %0 Aligned 4)")),
              ElementsAre(AddressUse{{{24, false}}, false, true}));
}

// To load an address is to read the table; what is done through it is done elsewhere.
TEST(AddressOrigins, AreNotKnownOfWhatABufferHolds) {
  const Result<ShaderAccesses> accesses = accesses_of(main_with(R"(
      %entry = OpAccessChain %ptr_entry %table %0
      %held = OpLoad %address %entry
      %p = OpAccessChain %word %held %0 %0
      OpStore %p %1 Aligned 4)"));
  ASSERT_TRUE(accesses.has_value());
  EXPECT_THAT(accesses->bindings, ElementsAre(BindingUse{0, 0, true, false}));
  EXPECT_THAT(accesses->addresses, ElementsAre(AddressUse{{}, false, true}));
}

// A value that is loaded through a known address may be an address, too: it is not known.
TEST(AddressOrigins, EndWhereAnAddressIsFollowed) {
  EXPECT_THAT(uses_of(main_with(R"(
      %at_from = OpAccessChain %ptr_pushed %pushed %0
      %from = OpLoad %address %at_from
      %p = OpAccessChain %word %from %0 %0
      %x = OpLoad %uint %p Aligned 4
      %wide = OpUConvert %long %x
      %q = OpConvertUToPtr %word %wide
      OpStore %q %0 Aligned 4)")),
              ElementsAre(AddressUse{{}, false, true}, AddressUse{{{0, false}}, true, false}));
}

// A loop that goes through one, and a function that returns the other.
TEST(AddressOrigins, GoThroughLoopsAndReturns) {
  const std::string functions = R"(
      %second = OpFunction %address None %gives
      %second_start = OpLabel
      %at_second = OpAccessChain %ptr_pushed %pushed %1
      %the_second = OpLoad %address %at_second
      OpReturnValue %the_second
      OpFunctionEnd
      )" + main_with(R"(
      %at_first = OpAccessChain %ptr_pushed %pushed %0
      %first = OpLoad %address %at_first
      %other = OpFunctionCall %address %second
      OpBranch %loop
      %loop = OpLabel
      %now = OpPhi %address %first %start %other %next
      %p = OpAccessChain %word %now %0 %0
      OpStore %p %1 Aligned 4
      OpLoopMerge %done %next None
      OpBranchConditional %true %next %done
      %next = OpLabel
      OpBranch %loop
      %done = OpLabel)");
  EXPECT_THAT(uses_of(functions), ElementsAre(AddressUse{{{0, false}, {8, false}}, false, true}));
}

TEST(AddressOrigins, GoThroughVariablesOfTheModule) {
  EXPECT_THAT(uses_of(main_with(kBoth + R"(
      OpStore %kept %from
      %again = OpLoad %address %kept
      %r = OpAccessChain %word %again %0 %0
      OpStore %r %1 Aligned 4)")),
              ElementsAre(AddressUse{{{0, false}}, false, true}));
  // Copied from the push constants to a variable, without a load.
  EXPECT_THAT(uses_of(main_with(R"(
      %at_to = OpAccessChain %ptr_pushed %pushed %1
      OpCopyMemory %kept %at_to
      %again = OpLoad %address %kept
      %r = OpAccessChain %word %again %0 %0
      OpStore %r %1 Aligned 4)")),
              ElementsAre(AddressUse{{{8, false}}, false, true}));
}

TEST(AddressOrigins, AreReckonedWhereAnElementIsOfAPointer) {
  EXPECT_THAT(uses_of(main_with(kBoth + R"(
      %before = OpPtrAccessChain %word %q %minus_16
      OpStore %before %0 Aligned 4)")),
              ElementsAre(AddressUse{{{8, true}}, false, true}));
}

// Beside one that was pushed, a constant that may be an address is one from elsewhere.
TEST(AddressOrigins, AreNotKnownOfConstants) {
  for (const auto& [constant, is_known] :
       {std::pair{"%given", false}, {"%far", false}, {"%mask", true}, {"%long_64", true}}) {
    const std::vector<AddressUse> uses = uses_of(main_with(std::string(R"(
      %at = OpAccessChain %ptr_long %pushed %2
      %number = OpLoad %long %at
      %either = OpSelect %long %true %number )") + constant +
                                                           R"(
      %r = OpConvertUToPtr %word %either
      OpStore %r %0 Aligned 4)"));
    ASSERT_EQ(uses.size(), 1u) << constant;
    EXPECT_EQ(uses[0].origins.empty(), !is_known) << constant;
  }
}

// What a part of the push constants is loaded from is known of one place, not of several.
TEST(AddressOrigins, AreNotKnownOfAWholeOfPushConstants) {
  EXPECT_THAT(uses_of(main_with(R"(
      %all = OpLoad %push %pushed
      %to = OpCompositeExtract %address %all 1
      %r = OpAccessChain %word %to %0 %0
      OpStore %r %1 Aligned 4)")),
              ElementsAre(AddressUse{{}, false, true}));
}

}  // namespace
}  // namespace interlock::address_origins_test
