// Modules that note what they touch: which bindings are measured, where their bytes are, and that
// what they computed before stays. SPIRV-Tools says whether each result is valid.
#include "capture/spirv/instrument.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spirv-tools/libspirv.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "capture/spirv/access_plan.h"
#include "capture/spirv/spirv_words.h"

namespace interlock::instrument_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint32_t kOwnSet = 7;

// Buffers %a of words, %b of structs with a matrix by rows, %h of halves, an array %c of two
// buffers, and images: %image of words, %sampled with a sampler.
std::string module_with(const std::string& functions, const std::string& more_types = "") {
  return R"(
      OpCapability Shader
      OpCapability StorageUniformBufferBlock16
      OpCapability Float16
      OpCapability VariablePointersStorageBuffer
      OpCapability SampledCubeArray
      OpMemoryModel Logical GLSL450
      OpEntryPoint GLCompute %main "main"
      OpExecutionMode %main LocalSize 1 1 1
      OpDecorate %a DescriptorSet 0
      OpDecorate %a Binding 0
      OpDecorate %b DescriptorSet 0
      OpDecorate %b Binding 1
      OpDecorate %h DescriptorSet 0
      OpDecorate %h Binding 2
      OpDecorate %c DescriptorSet 1
      OpDecorate %c Binding 0
      OpDecorate %image DescriptorSet 1
      OpDecorate %image Binding 1
      OpDecorate %sampled DescriptorSet 1
      OpDecorate %sampled Binding 2
      OpDecorate %cube DescriptorSet 1
      OpDecorate %cube Binding 3
      OpMemberDecorate %block 0 Offset 0
      OpDecorate %words ArrayStride 4
      OpDecorate %block Block
      OpMemberDecorate %cell 0 Offset 0
      OpMemberDecorate %cell 1 Offset 16
      OpMemberDecorate %cell 1 RowMajor
      OpMemberDecorate %cell 1 MatrixStride 16
      OpDecorate %cells ArrayStride 64
      OpMemberDecorate %cell_block 0 Offset 8
      OpDecorate %cell_block Block
      OpMemberDecorate %half_block 0 Offset 0
      OpDecorate %halves ArrayStride 2
      OpDecorate %half_block Block
      %void = OpTypeVoid
      %fn = OpTypeFunction %void
      %bool = OpTypeBool
      %true = OpConstantTrue %bool
      %uint = OpTypeInt 32 0
      %int = OpTypeInt 32 1
      %float = OpTypeFloat 32
      %half = OpTypeFloat 16
      %zero = OpConstant %uint 0
      %one = OpConstant %uint 1
      %two = OpConstant %uint 2
      %half_float = OpConstant %float 0.5
      %v2 = OpTypeVector %uint 2
      %v3 = OpTypeVector %float 3
      %v4 = OpTypeVector %float 4
      %u4 = OpTypeVector %uint 4
      %f2 = OpTypeVector %float 2
      %matrix = OpTypeMatrix %v3 3
      %at = OpConstantComposite %v2 %one %two
      %near = OpConstantComposite %f2 %half_float %half_float
      %words = OpTypeRuntimeArray %uint
      %block = OpTypeStruct %words
      %cell = OpTypeStruct %float %matrix
      %cells = OpTypeRuntimeArray %cell
      %cell_block = OpTypeStruct %cells
      %halves = OpTypeRuntimeArray %half
      %half_block = OpTypeStruct %halves
      %pair = OpTypeArray %block %two
      %ptr_block = OpTypePointer StorageBuffer %block
      %ptr_cells = OpTypePointer StorageBuffer %cell_block
      %ptr_halves = OpTypePointer StorageBuffer %half_block
      %ptr_pair = OpTypePointer StorageBuffer %pair
      %ptr = OpTypePointer StorageBuffer %uint
      %ptr_float = OpTypePointer StorageBuffer %float
      %ptr_v3 = OpTypePointer StorageBuffer %v3
      %ptr_matrix = OpTypePointer StorageBuffer %matrix
      %ptr_half = OpTypePointer StorageBuffer %half
      %takes = OpTypeFunction %void %ptr
      %image_type = OpTypeImage %uint 2D 0 0 0 2 R32ui
      %ptr_image = OpTypePointer UniformConstant %image_type
      %texel = OpTypePointer Image %uint
      %photo_type = OpTypeImage %float 2D 0 0 0 1 Unknown
      %sampled_type = OpTypeSampledImage %photo_type
      %ptr_sampled = OpTypePointer UniformConstant %sampled_type
      %cube_type = OpTypeImage %float Cube 0 0 0 1 Unknown
      %cube_sampled = OpTypeSampledImage %cube_type
      %ptr_cube = OpTypePointer UniformConstant %cube_sampled
      %a = OpVariable %ptr_block StorageBuffer
      %b = OpVariable %ptr_cells StorageBuffer
      %h = OpVariable %ptr_halves StorageBuffer
      %c = OpVariable %ptr_pair StorageBuffer
      %image = OpVariable %ptr_image UniformConstant
      %sampled = OpVariable %ptr_sampled UniformConstant
      %cube = OpVariable %ptr_cube UniformConstant
      )" +
         more_types + functions;
}

std::string main_of(const std::string& body) {
  return "%main = OpFunction %void None %fn\n%start = OpLabel\n" + body +
         "\nOpReturn\nOpFunctionEnd\n";
}

std::vector<uint32_t> assembled(const std::string& text,
                                spv_target_env environment = SPV_ENV_UNIVERSAL_1_3) {
  const spvtools::SpirvTools tools(environment);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(text, &words));
  return words;
}

InstrumentedModule instrumented(const std::string& text) {
  Result<InstrumentedModule> result = instrument(assembled(text), kOwnSet);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? std::move(*result) : InstrumentedModule();
}

// Why a binding is left as it is; empty if it is measured.
std::string reason_of(const InstrumentedModule& module, uint32_t set, uint32_t binding) {
  for (const UnmeasuredBinding& each : module.unmeasured) {
    if (each.set == set && each.binding == binding) return each.reason;
  }
  return "";
}

const MeasuredBinding* find(const InstrumentedModule& module, uint32_t set, uint32_t binding) {
  for (const MeasuredBinding& each : module.measured) {
    if (each.set == set && each.binding == binding) return &each;
  }
  return nullptr;
}

// Everything at once, of which nothing is refused.
const char* const kMeasured = R"(
      %p = OpAccessChain %ptr %a %zero %one
      %x = OpLoad %uint %p
      %q = OpAccessChain %ptr %c %x %zero %x
      %y = OpAtomicIAdd %uint %q %one %zero %one
      %m = OpAccessChain %ptr_v3 %b %zero %x %one %one
      %column = OpLoad %v3 %m
      %f = OpAccessChain %ptr_float %b %zero %two %zero
      %copy = OpCopyObject %ptr_float %f
      OpStore %copy %half_float
      %hp = OpAccessChain %ptr_half %h %zero %x
      %hq = OpAccessChain %ptr_half %h %zero %one
      OpCopyMemory %hp %hq
      %t = OpImageTexelPointer %texel %image %at %zero
      %z = OpAtomicOr %uint %t %one %zero %one
      %i = OpLoad %image_type %image
      %r = OpImageRead %u4 %i %at
      OpImageWrite %i %at %r
      %s = OpLoad %sampled_type %sampled
      %colour = OpImageSampleExplicitLod %v4 %s %near Lod %half_float
      %plain = OpImage %photo_type %s
      %fetched = OpImageFetch %v4 %plain %at Lod %zero
      %size = OpArrayLength %uint %a 0)";

TEST(Instrument, MeasuresWhatItUnderstands) {
  const InstrumentedModule module = instrumented(module_with(main_of(kMeasured)));
  EXPECT_THAT(module.unmeasured, ElementsAre(testing::Field(&UnmeasuredBinding::binding, 3u)));
  ASSERT_THAT(module.measured, SizeIs(6));
  EXPECT_EQ(module.entry_count, 7u);
  const MeasuredBinding* const a = find(module, 0, 0);
  const MeasuredBinding* const b = find(module, 0, 1);
  const MeasuredBinding* const h = find(module, 0, 2);
  const MeasuredBinding* const c = find(module, 1, 0);
  const MeasuredBinding* const image = find(module, 1, 1);
  const MeasuredBinding* const sampled = find(module, 1, 2);
  for (const MeasuredBinding* const each : {a, b, h, c, image, sampled}) ASSERT_NE(each, nullptr);
  EXPECT_TRUE(a->is_loaded && !a->is_stored);
  EXPECT_EQ(a->granule_shift, 2u);
  EXPECT_TRUE(b->is_loaded && b->is_stored);
  EXPECT_TRUE(h->is_loaded && h->is_stored);
  EXPECT_EQ(h->granule_shift, 1u);  // A word would be two halves.
  EXPECT_TRUE(c->is_loaded && c->is_stored);
  EXPECT_EQ(c->element_count, 2u);
  EXPECT_TRUE(image->is_image && image->is_loaded && image->is_stored && !image->is_sampled);
  EXPECT_EQ(image->axis_count, 2u);
  EXPECT_TRUE(sampled->is_sampled && sampled->is_loaded && !sampled->is_stored);
}

TEST(Instrument, IsValidInEachVersion) {
  for (const auto environment :
       {SPV_ENV_UNIVERSAL_1_3, SPV_ENV_UNIVERSAL_1_5, SPV_ENV_UNIVERSAL_1_6}) {
    // From 1.4 on an entry point names every variable.
    std::string text = module_with(main_of(kMeasured));
    if (environment != SPV_ENV_UNIVERSAL_1_3) {
      const std::string entry = "%main \"main\"";
      text.insert(text.find(entry) + entry.size(), " %a %b %h %c %image %sampled");
    }
    const Result<InstrumentedModule> result = instrument(assembled(text, environment), kOwnSet);
    ASSERT_TRUE(result.has_value()) << result.error().message;
    EXPECT_TRUE(spvtools::SpirvTools(environment).Validate(result->words));
  }
}

// Instruction by instruction.
TEST(Instrument, KeepsWhatTheModuleDid) {
  const std::vector<uint32_t> before = assembled(module_with(main_of(kMeasured)));
  const InstrumentedModule after = instrumented(module_with(main_of(kMeasured)));
  const Result<SpirvWords> first = SpirvWords::read(before);
  const Result<SpirvWords> second = SpirvWords::read(after.words);
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_GT(second->instructions().size(), first->instructions().size() + 50);
  auto at = second->instructions().begin();
  for (const SpirvInstruction& instruction : first->instructions()) {
    const auto words = first->words_of(instruction);
    at = std::find_if(at, second->instructions().end(), [&](const SpirvInstruction& other) {
      return std::ranges::equal(second->words_of(other), words);
    });
    ASSERT_NE(at, second->instructions().end());
    ++at;
  }
}

TEST(AccessPlan, KnowsTheBytesOfMatricesByRows) {
  const auto words = SpirvWords::read(assembled(module_with(main_of(R"(
      %p = OpAccessChain %ptr %a %zero %one
      %x = OpLoad %uint %p
      %m = OpAccessChain %ptr_v3 %b %zero %x %one %two
      %column = OpLoad %v3 %m
      %n = OpAccessChain %ptr_matrix %b %zero %two %one
      %all = OpLoad %matrix %n)"))));
  ASSERT_TRUE(words.has_value());
  const AccessPlan plan = plan_accesses(*words);
  ASSERT_THAT(plan.accesses, SizeIs(3));
  // Column 2: a float of each row, rows being 16 bytes apart. 8 + 16 + 2 * 4, and x times 64.
  const PlannedAccess& column = plan.accesses[1];
  EXPECT_EQ(column.offset, 32u);
  ASSERT_THAT(column.terms, SizeIs(1));
  EXPECT_EQ(column.terms[0].second, 64u);
  std::vector<std::pair<uint64_t, uint64_t>> pieces;
  for (const BytePiece& piece : column.pieces) pieces.emplace_back(piece.offset, piece.size);
  EXPECT_THAT(pieces, ElementsAre(std::pair(0, 4), std::pair(16, 4), std::pair(32, 4)));
  uint64_t all_bytes = 0;
  for (const BytePiece& piece : plan.accesses[2].pieces) all_bytes += piece.size;
  EXPECT_EQ(plan.accesses[2].offset, 8u + 2 * 64 + 16);
  EXPECT_EQ(all_bytes, 36u);
}

// What is not understood is left as it is, and the rest is measured.
TEST(Instrument, LeavesAndNamesWhatItDoesNotUnderstand) {
  const InstrumentedModule passed = instrumented(module_with(R"(
      %main = OpFunction %void None %fn
      %start = OpLabel
      %p = OpAccessChain %ptr %a %zero %one
      %u = OpFunctionCall %void %sets %p
      %f = OpAccessChain %ptr_float %b %zero %two %zero
      OpStore %f %half_float
      OpReturn
      OpFunctionEnd
      %sets = OpFunction %void None %takes
      %to = OpFunctionParameter %ptr
      %in = OpLabel
      OpStore %to %one
      OpReturn
      OpFunctionEnd)"));
  EXPECT_THAT(reason_of(passed, 0, 0), HasSubstr("more than loaded and stored through"));
  EXPECT_NE(find(passed, 0, 1), nullptr);
  const InstrumentedModule selected = instrumented(module_with(main_of(R"(
      %p = OpAccessChain %ptr %a %zero %one
      %q = OpAccessChain %ptr %c %zero %zero %one
      %s = OpSelect %ptr %true %p %q
      OpStore %s %one)")));
  EXPECT_THAT(reason_of(selected, 0, 0), HasSubstr("more than loaded and stored through"));
  EXPECT_THAT(reason_of(selected, 1, 0), HasSubstr("more than loaded and stored through"));
  EXPECT_THAT(reason_of(selected, 1, 3), HasSubstr("a cube"));
  const InstrumentedModule gathered = instrumented(module_with(main_of(R"(
      %s = OpLoad %sampled_type %sampled
      %g = OpImageGather %v4 %s %near %zero
      %i = OpLoad %image_type %image
      %size = OpArrayLength %uint %a 0)")));
  EXPECT_THAT(reason_of(gathered, 1, 2), HasSubstr("more than read, written and sampled"));
  EXPECT_EQ(reason_of(gathered, 0, 0), "");
}

TEST(Instrument, RefusesWholeModulesAndSaysWhy) {
  const auto error_of_module = [](const std::vector<uint32_t>& words, uint32_t own_set) {
    const Result<InstrumentedModule> result = instrument(words, own_set);
    return result ? "" : result.error().message;
  };
  const std::vector<uint32_t> words = assembled(module_with(main_of(kMeasured)));
  EXPECT_THAT(error_of_module({1, 2, 3}, kOwnSet), HasSubstr("it is not valid SPIR-V"));
  EXPECT_THAT(error_of_module(words, 1), HasSubstr("it uses every descriptor set"));
  const std::string group = "%g = OpDecorationGroup\nOpGroupDecorate %g %b\n";
  std::string text = module_with(main_of(kMeasured));
  text.insert(text.find("OpMemberDecorate %block"), group);
  EXPECT_THAT(error_of_module(assembled(text), kOwnSet), HasSubstr("groups of decorations"));
  // A word is not what it was: no such module leaves here.
  for (size_t i = 5; i < words.size(); i += 7) {
    std::vector<uint32_t> broken = words;
    broken[i] ^= 1u << i % 9;
    const Result<InstrumentedModule> result = instrument(broken, kOwnSet);
    if (!result) continue;
    spvtools::ValidatorOptions options;
    options.SetSkipBlockLayout(true);
    EXPECT_TRUE(spvtools::SpirvTools(SPV_ENV_UNIVERSAL_1_6)
                    .Validate(result->words.data(), result->words.size(), options))
        << i;
  }
}

}  // namespace
}  // namespace interlock::instrument_test
