#include "tests/capture/convert/synthetic_log.h"

#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <spirv-tools/libspirv.hpp>
#include <sstream>
#include <utility>

#include "capture/convert/convert.h"
#include "encoder/text/parser.h"
#include "simulator/report/check.h"
#include "simulator/report/read_every_queue.h"

namespace interlock {
namespace {

// Loads binding 0 and stores binding 1.
std::vector<uint32_t> copy_shader() {
  return shader_of(R"(
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %from DescriptorSet 0
    OpDecorate %from Binding 0
    OpDecorate %to DescriptorSet 0
    OpDecorate %to Binding 1)",
                   R"(
    %from = OpVariable %ptr_block StorageBuffer
    %to = OpVariable %ptr_block StorageBuffer
    %main = OpFunction %void None %fn
    %start = OpLabel
    %p = OpAccessChain %ptr %from %zero %zero
    %q = OpAccessChain %ptr %to %zero %zero
    %x = OpLoad %uint %p
    OpStore %q %x
    OpReturn
    OpFunctionEnd)");
}

ParseOptions options_of_every_queue() {
  ParseOptions options;
  read_every_queue(options);
  return options;
}

}  // namespace

std::vector<uint32_t> shader_of(const std::string& head, const std::string& body) {
  constexpr const char* kDeclarations = R"(
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %words ArrayStride 4
    OpDecorate %block Block
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %uint = OpTypeInt 32 0
    %zero = OpConstant %uint 0
    %words = OpTypeRuntimeArray %uint
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr = OpTypePointer StorageBuffer %uint)";
  const spvtools::SpirvTools tools(SPV_ENV_UNIVERSAL_1_6);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(head + kDeclarations + body, &words));
  return words;
}

SyntheticLog::SyntheticLog() {
  const LogHeader header;
  bytes_.assign(reinterpret_cast<const char*>(&header), sizeof(header));
}

void SyntheticLog::add_buffer(uint64_t handle) {
  append(AllocateMemoryRecord{handle, 1024, 0});
  append(CreateBufferRecord{handle, 1024, 0, 0});
  append(BindBufferRecord{handle, handle, 0});
}

void SyntheticLog::add_pipeline(uint64_t handle) {
  append(CreateSetLayoutRecord{handle,
                               0,
                               {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, 0},
                                {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, 0}}});
  append(CreatePipelineLayoutRecord{handle, {handle}});
  append(CreateComputePipelineRecord{handle, handle, 0, copy_shader(), "main"});
}

void SyntheticLog::add_set(uint64_t handle, uint64_t from, uint64_t to) {
  append(AllocateSetsRecord{1, {handle}, {1}, {}});
  append(UpdateSetsRecord{
      {{handle, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{from, 0, VK_WHOLE_SIZE}}},
       {handle, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{to, 0, VK_WHOLE_SIZE}}}},
      {}});
}

void SyntheticLog::add_chain() {
  for (const uint64_t buffer : {1, 2, 3}) add_buffer(buffer);
  add_pipeline(1);
  add_set(1, 1, 2);
  add_set(2, 2, 3);
}

void SyntheticLog::add_dispatch(uint64_t commands, uint64_t pipeline, uint64_t set) {
  append(BindPipelineRecord{commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline});
  append(BindSetsRecord{commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline, 0, {set}, {}});
  append(DispatchRecord{commands, 1, 1, 1});
}

void SyntheticLog::add_barrier(uint64_t commands, uint64_t source_stages, uint64_t source_accesses,
                               uint64_t destination_stages, uint64_t destination_accesses) {
  DependencyFields fields;
  fields.source_stages = source_stages;
  fields.source_accesses = source_accesses;
  fields.destination_stages = destination_stages;
  fields.destination_accesses = destination_accesses;
  append(BarrierRecord{commands, {fields}});
}

void SyntheticLog::add_fill(uint64_t commands, uint64_t buffer, uint64_t offset_bytes,
                            uint64_t size_bytes) {
  TransferEndFields end;
  end.handle = buffer;
  end.offset_bytes = offset_bytes;
  end.size_bytes = size_bytes;
  append(TransferRecord{commands, TransferUse::kFill, {{{}, {end}}}});
}

void SyntheticLog::submit(uint64_t queue, uint64_t commands, uint64_t fence) {
  append(SubmitRecord{queue, fence, {{{}, {commands}, {}}}});
}

ConvertedLog converted(const std::string& log, const Limits& limits) {
  ConvertedLog result;
  std::istringstream input(log);
  std::ostringstream output;
  const Result<CaptureSummary> summary = convert_log(input, "test.ilog", output, limits);
  if (!summary) {
    result.error = summary.error().message;
    return result;
  }
  result.summary = *summary;
  const std::string text = output.str();
  const Result<Program> program = parse(text, "test.ilk", options_of_every_queue());
  if (!program) result.error = program.error().message;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) result.text += line + "\n";
  }
  return result;
}

std::vector<CapturedWindow> windows_of(const std::string& log, uint64_t window_bytes,
                                       CaptureSummary* summary) {
  std::istringstream input(log);
  std::vector<CapturedWindow> windows;
  const Result<CaptureSummary> converted = convert_log_in_windows(
      input, "test.ilog", window_bytes, [&](CapturedWindow window, const CaptureSummary&) {
        EXPECT_TRUE(parse(window.text, "test.ilk", options_of_every_queue()).has_value())
            << window.text;
        windows.push_back(std::move(window));
        return Result<Success>(Success{});
      });
  EXPECT_TRUE(converted.has_value());
  if (converted && summary != nullptr) *summary = *converted;
  return windows;
}

std::vector<std::string> findings_of(const std::string& text) {
  const Result<Program> program = parse(text, "test.ilk", options_of_every_queue());
  EXPECT_TRUE(program.has_value());
  std::vector<std::string> findings;
  if (!program) return findings;
  CheckOptions options;
  options.counts_possible = true;
  for (const Finding& finding : check(*program, options).findings) {
    findings.push_back(finding.headline);
  }
  return findings;
}

}  // namespace interlock
