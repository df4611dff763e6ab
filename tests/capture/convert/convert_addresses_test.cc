// Dispatches that find their buffers by address: what of them is known, and what is bounded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_addresses_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kPipeline = 5;
constexpr uint64_t kFirstAddress = 0x10'0000;  // Of buffer n: n times as much.
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr const char* kAnyAddress =
    "a dispatch or draw by addresses that are in no push constant (it may touch every buffer whose "
    "address was asked for)";
constexpr const char* kReckoned =
    "a dispatch or draw by an address that is reckoned of one in the push constants (it is taken to "
    "stay in that one's buffer)";

// Stores to the word that the address at 8 of the push constants names what the one at 0 does; and,
// where `is_table`, to the word whose address stands there.
std::vector<uint32_t> address_shader(bool is_table) {
  return shader_of(R"(
    OpCapability Shader
    OpCapability PhysicalStorageBufferAddresses
    OpExtension "SPV_KHR_physical_storage_buffer"
    OpMemoryModel PhysicalStorageBuffer64 GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpMemberDecorate %push 0 Offset 0
    OpMemberDecorate %push 1 Offset 8)",
                   std::string(R"(
    %one = OpConstant %uint 1
    %word = OpTypePointer PhysicalStorageBuffer %uint
    %entry = OpTypePointer PhysicalStorageBuffer %word
    %pointers = OpTypePointer PushConstant %word
    %push = OpTypeStruct %word %)") +
                       (is_table ? "entry" : "word") + R"(
    %ptr_push = OpTypePointer PushConstant %push
    %ptr_to = OpTypePointer PushConstant %)" +
                       (is_table ? "entry" : "word") + R"(
    %pushed = OpVariable %ptr_push PushConstant
    %main = OpFunction %void None %fn
    %start = OpLabel
    %at_from = OpAccessChain %pointers %pushed %zero
    %at_to = OpAccessChain %ptr_to %pushed %one
    %from = OpLoad %word %at_from
    %given = OpLoad %)" +
                       (is_table ? "entry" : "word") +
                       R"( %at_to
    %to = )" + (is_table ? "OpLoad %word %given Aligned 8" : "OpCopyObject %word %given") +
                       R"(
    %x = OpLoad %uint %from Aligned 4
    OpStore %to %x Aligned 4
    OpReturn
    OpFunctionEnd)");
}

// Stores 64 bytes before what the number at 8 of the push constants names.
std::vector<uint32_t> reckoning_shader() {
  return shader_of(R"(
    OpCapability Shader
    OpCapability Int64
    OpCapability PhysicalStorageBufferAddresses
    OpExtension "SPV_KHR_physical_storage_buffer"
    OpMemoryModel PhysicalStorageBuffer64 GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpMemberDecorate %push 0 Offset 8)",
                   R"(
    %long = OpTypeInt 64 0
    %bytes = OpConstant %long 64
    %word = OpTypePointer PhysicalStorageBuffer %uint
    %push = OpTypeStruct %long
    %ptr_push = OpTypePointer PushConstant %push
    %ptr_long = OpTypePointer PushConstant %long
    %pushed = OpVariable %ptr_push PushConstant
    %main = OpFunction %void None %fn
    %start = OpLabel
    %at = OpAccessChain %ptr_long %pushed %zero
    %number = OpLoad %long %at
    %before = OpISub %long %number %bytes
    %to = OpConvertUToPtr %word %before
    OpStore %to %zero Aligned 4
    OpReturn
    OpFunctionEnd)");
}

// Buffers 1 to 3, of which the first two have addresses, and a pipeline of such a shader.
SyntheticLog log_with_addresses(const std::vector<uint32_t>& shader) {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  for (const uint64_t buffer : {1, 2, 3}) log.add_buffer(buffer);
  for (const uint64_t buffer : {1, 2})
    log.append(BufferAddressRecord{buffer, buffer * kFirstAddress});
  log.append(CreatePipelineLayoutRecord{kPipeline, {}});
  log.append(CreateComputePipelineRecord{kPipeline, kPipeline, 0, shader, "main"});
  log.append(BeginCommandsRecord{kCommands, 0});
  return log;
}

SyntheticLog log_with_addresses(bool is_table = false) {
  return log_with_addresses(address_shader(is_table));
}

void push(SyntheticLog& log, uint32_t offset_bytes, uint64_t address) {
  PushConstantsRecord record{kCommands, VK_SHADER_STAGE_COMPUTE_BIT, offset_bytes, {}};
  for (int i = 0; i < 8; ++i) record.bytes.push_back(static_cast<uint8_t>(address >> (8 * i)));
  log.append(record);
}

void dispatch(SyntheticLog& log, uint64_t from, uint64_t to) {
  log.append(BindPipelineRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, kPipeline});
  push(log, 0, from);
  push(log, 8, to);
  log.append(DispatchRecord{kCommands, 1, 1, 1});
}

TEST(ConvertAddresses, BoundAnAccessFromThereToTheEndOfItsBuffer) {
  SyntheticLog log = log_with_addresses();
  dispatch(log, kFirstAddress + 256, 2 * kFirstAddress + 1020);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text,
              HasSubstr("reads m1[256:1024] writes m2[1020:1024] partial approximate"));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.summary.remarks, IsEmpty());
}

TEST(ConvertAddresses, FindWhatABarrierRepairs) {
  for (const bool is_ordered : {false, true}) {
    SyntheticLog log = log_with_addresses();
    log.append(BufferAddressRecord{3, 3 * kFirstAddress});
    dispatch(log, kFirstAddress, 2 * kFirstAddress);
    if (is_ordered) {
      log.add_barrier(kCommands, kCompute, VK_ACCESS_2_SHADER_WRITE_BIT, kCompute,
                      VK_ACCESS_2_SHADER_READ_BIT);
    }
    dispatch(log, 2 * kFirstAddress, 3 * kFirstAddress);
    log.submit(kQueue, kCommands);
    const std::vector<std::string> findings = findings_of(converted(log.bytes()).text);
    EXPECT_EQ(findings.size(), is_ordered ? 0u : 1u);
  }
}

TEST(ConvertAddresses, MeanEveryBufferThatHasOneWhereTheyAreNotKnown) {
  SyntheticLog log = log_with_addresses(true);
  dispatch(log, kFirstAddress, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  // Never the third one, whose address nobody has.
  EXPECT_THAT(result.text, HasSubstr("updates m1[0:1024] m2[0:1024] partial approximate"));
  EXPECT_THAT(result.summary.not_understood, IsEmpty());
  EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kAnyAddress, 1)));
}

TEST(ConvertAddresses, AreNotKnownWhereNothingOrAnotherNumberWasPushed) {
  for (const bool is_pushed : {false, true}) {
    SyntheticLog log = log_with_addresses();
    log.append(BindPipelineRecord{kCommands, VK_PIPELINE_BIND_POINT_COMPUTE, kPipeline});
    push(log, 0, kFirstAddress);
    // After the end of buffer 2.
    if (is_pushed) push(log, 8, 2 * kFirstAddress + 1024);
    log.append(DispatchRecord{kCommands, 1, 1, 1});
    log.submit(kQueue, kCommands);
    const ConvertedLog result = converted(log.bytes());
    EXPECT_THAT(result.text, HasSubstr("writes m2[0:1024] updates m1[0:1024]"));
    EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kAnyAddress, 1)));
  }
  // Nothing is touched through a null pointer.
  SyntheticLog log = log_with_addresses();
  dispatch(log, kFirstAddress, 0);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text, Not(HasSubstr("writes")));
}

// The program of a dispatch that reckons with this number.
ConvertedLog reckoned_of(SyntheticLog& log, uint64_t number) {
  dispatch(log, 0, number);
  log.submit(kQueue, kCommands);
  return converted(log.bytes());
}

TEST(ConvertAddresses, AreTakenToStayInTheBufferOfOneThatTheyAreReckonedOf) {
  SyntheticLog log = log_with_addresses(reckoning_shader());
  const ConvertedLog result = reckoned_of(log, 2 * kFirstAddress + 512);
  EXPECT_THAT(result.text, HasSubstr("writes m2[0:1024] partial approximate"));
  EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kReckoned, 1)));
}

// The end of one may be the begin of the next: both may be meant.
TEST(ConvertAddresses, MayBeReckonedOfTheEndOfABuffer) {
  SyntheticLog log = log_with_addresses(reckoning_shader());
  log.append(BufferAddressRecord{2, kFirstAddress + 1024});
  EXPECT_THAT(reckoned_of(log, kFirstAddress + 1024).text,
              HasSubstr("writes m1[0:1024] m2[0:1024] partial approximate"));
  SyntheticLog alone = log_with_addresses(reckoning_shader());
  EXPECT_THAT(reckoned_of(alone, kFirstAddress + 1024).text,
              HasSubstr("writes m1[0:1024] partial approximate"));
}

TEST(ConvertAddresses, AreNotKnownWhereTheyAreReckonedOfNone) {
  for (const uint64_t number : {kFirstAddress - 64, uint64_t{5}}) {
    SyntheticLog log = log_with_addresses(reckoning_shader());
    const ConvertedLog result = reckoned_of(log, number);
    EXPECT_THAT(result.text, HasSubstr("writes m1[0:1024] m2[0:1024] partial approximate"));
    EXPECT_THAT(result.summary.remarks, ElementsAre(Pair(kAnyAddress, 1)));
  }
}

// Buffers in one memory, the first over all of it, and the others at its begin.
SyntheticLog log_with_many(uint64_t count) {
  constexpr uint64_t kMemoryBytes = 1 << 20;
  SyntheticLog log = log_with_addresses();
  log.append(AllocateMemoryRecord{4, kMemoryBytes, 0});
  for (uint64_t i = 0; i < count; ++i) {
    log.append(CreateBufferRecord{4 + i, i == 0 ? kMemoryBytes : 64, 0, 0});
    log.append(BindBufferRecord{4 + i, 4, i});
    log.append(BufferAddressRecord{4 + i, 4 * kFirstAddress + i});
  }
  return log;
}

TEST(ConvertAddresses, AreOfABufferThatBeginsFarBelow) {
  for (const uint64_t count : {4000, 5000}) {
    SyntheticLog log = log_with_many(count);
    dispatch(log, 0, 4 * kFirstAddress + 8192);
    log.submit(kQueue, kCommands);
    const ConvertedLog result = converted(log.bytes());
    const bool is_found = count == 4000;
    EXPECT_THAT(result.text, HasSubstr(is_found ? "writes m4[8192:1048576] partial"
                                                : "writes m1[0:1024] m2[0:1024] m4[0:1048576]"));
    EXPECT_EQ(result.summary.remarks.size(), is_found ? 0u : 1u);
  }
}

TEST(ConvertAddresses, AreNamedWhereTheyMayBeOfTooManyBuffers) {
  SyntheticLog log = log_with_many(70'000);
  dispatch(log, 0, 5);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              ElementsAre(Pair("addresses of too many buffers", 1)));
}

TEST(ConvertAddresses, AreNamedWhereABufferHasNoMemory) {
  SyntheticLog log = log_with_addresses(true);
  log.append(CreateBufferRecord{4, 1024, 0, 0});
  log.append(BufferAddressRecord{4, 4 * kFirstAddress});
  dispatch(log, kFirstAddress, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              ElementsAre(Pair("an address of a buffer whose memory is not known", 1)));
}

// One that nobody destroyed, whose handle is another's: its device is gone.
TEST(ConvertAddresses, EndWithTheirHandle) {
  SyntheticLog log = log_with_addresses();
  log.append(CreateBufferRecord{2, 1024, 0, 0});
  log.append(BindBufferRecord{2, 3, 0});
  dispatch(log, 0, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text, HasSubstr("writes m1[0:1024] partial approximate"));
}

// The handle and the address of a buffer that was destroyed are those of another one.
TEST(ConvertAddresses, AreOfTheBufferThatIsThereWhenItIsSubmitted) {
  SyntheticLog log = log_with_addresses();
  log.append(DestroyRecord{VK_OBJECT_TYPE_BUFFER, 2});
  log.append(DestroyRecord{VK_OBJECT_TYPE_DEVICE_MEMORY, 2});
  log.add_buffer(2);
  log.append(BufferAddressRecord{2, 2 * kFirstAddress});
  dispatch(log, kFirstAddress, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).text, HasSubstr("reads m1[0:1024] writes m4[0:1024]"));
}

TEST(ConvertAddresses, AreNamedWhereNobodyAskedForOne) {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.append(CreatePipelineLayoutRecord{kPipeline, {}});
  log.append(CreateComputePipelineRecord{kPipeline, kPipeline, 0, address_shader(false), "main"});
  log.append(BeginCommandsRecord{kCommands, 0});
  dispatch(log, kFirstAddress, 2 * kFirstAddress);
  log.append(BufferAddressRecord{77, 77 * kFirstAddress});
  log.submit(kQueue, kCommands);
  EXPECT_THAT(converted(log.bytes()).summary.not_understood,
              testing::UnorderedElementsAre(Key("an address of a buffer that was never asked for"),
                                            Key("an address of a buffer that is not known")));
}

// A log may push anything anywhere, and give any buffer any address.
TEST(ConvertAddresses, TakeWhatAHostileLogSays) {
  SyntheticLog log = log_with_addresses();
  log.append(BufferAddressRecord{1, UINT64_MAX - 1});
  log.append(BufferAddressRecord{3, UINT64_MAX});
  log.append(PushConstantsRecord{kCommands, UINT32_MAX, UINT32_MAX, {1, 2, 3}});
  log.append(PushConstantsRecord{kCommands, UINT32_MAX, 4095, {1, 2, 3}});
  dispatch(log, UINT64_MAX, 2 * kFirstAddress);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("reads m1[1:1024] m3[0:1024] writes m2[0:1024]"));
}

}  // namespace
}  // namespace interlock::convert_addresses_test
