// Bindings that shaders use by atomics alone: those of one operation are told as such, which do not
// conflict with each other, and all others as reads and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <string>
#include <vector>

#include "capture/log/exact_records.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_atomics_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;

// Binding 0 is %from, and binding 1 is %to; %p and %q point to their first words.
std::vector<uint32_t> shader_with(const std::string& body) {
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
    %device = OpConstant %uint 1
    %workgroup = OpConstant %uint 2
    %from = OpVariable %ptr_block StorageBuffer
    %to = OpVariable %ptr_block StorageBuffer
    %main = OpFunction %void None %fn
    %start = OpLabel
    %p = OpAccessChain %ptr %from %zero %zero
    %q = OpAccessChain %ptr %to %zero %zero
    )" + body + R"(
    OpReturn
    OpFunctionEnd)");
}

constexpr const char* kAdd = "%a = OpAtomicIAdd %uint %q %device %zero %device";
constexpr const char* kIncrement = "%a = OpAtomicIIncrement %uint %q %device %zero";
constexpr const char* kMax = "%a = OpAtomicUMax %uint %q %device %zero %device";
constexpr const char* kExchange = "%a = OpAtomicExchange %uint %q %device %zero %device";

// Buffers 1 to 3; set 1 has buffers 1 and 2, and set 2 has 3 and 2.
SyntheticLog log_of_buffers() {
  SyntheticLog log;
  log.append(DeviceRecord{1, "device", "", VK_API_VERSION_1_3});
  log.append(QueueRecord{1, kQueue, 0, 0});
  for (const uint64_t buffer : {1, 2, 3}) log.add_buffer(buffer);
  log.add_pipeline(1);
  log.add_set(1, 1, 2);
  log.add_set(2, 3, 2);
  return log;
}

// Two dispatches of these shaders, each with a set of its own, with nothing between them.
SyntheticLog log_of_two(const std::string& first, const std::string& second) {
  SyntheticLog log = log_of_buffers();
  log.append(CreateComputePipelineRecord{11, 1, 0, shader_with(first), "main"});
  log.append(CreateComputePipelineRecord{12, 1, 0, shader_with(second), "main"});
  log.append(BeginCommandsRecord{kCommands, 0});
  log.add_dispatch(kCommands, 11, 1);
  log.add_dispatch(kCommands, 12, 2);
  log.submit(kQueue, kCommands);
  return log;
}

TEST(ConvertAtomics, OfOneOperationDoNotConflict) {
  const ConvertedLog result = converted(log_of_two(kAdd, kIncrement).bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c0: dispatch Pipeline2 atomics m2[0:1024] partial "
                                     "approximate atomic=add\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
  EXPECT_THAT(result.summary.remarks,
              ElementsAre(Pair("dispatches with atomics of one operation (which do not race with "
                               "each other)",
                               2)));
}

TEST(ConvertAtomics, OfTwoOperationsDo) {
  EXPECT_THAT(findings_of(converted(log_of_two(kAdd, kMax).bytes()).text), Not(IsEmpty()));
}

// Each of these has no atomic of one operation in the second dispatch.
TEST(ConvertAtomics, ConflictWithAllThatIsNotAtomic) {
  const std::string narrow = "%a = OpAtomicIAdd %uint %q %workgroup %zero %device";
  for (const std::string& second :
       {std::string("%x = OpLoad %uint %q"), std::string("OpStore %q %device"),
        std::string(kExchange), narrow, std::string(kAdd) + "\n%x = OpLoad %uint %q"}) {
    const ConvertedLog result = converted(log_of_two(kAdd, second).bytes());
    EXPECT_EQ(result.error, "") << second;
    EXPECT_THAT(findings_of(result.text), Not(IsEmpty())) << second;
  }
}

TEST(ConvertAtomics, SayWhereTheirResultsAreUsed) {
  const std::string used = std::string(kAdd) + "\nOpStore %p %a";
  const ConvertedLog result = converted(log_of_two(used, used).bytes());
  EXPECT_THAT(findings_of(result.text), IsEmpty());
  EXPECT_THAT(result.summary.remarks,
              Contains(Pair("dispatches that use what such atomics return (it depends on their "
                            "order, which nobody checks)",
                            2)));
}

// A dispatch has atomics of one operation; the other binding is read and written.
TEST(ConvertAtomics, AreOfOneOperationInADispatch) {
  const std::string both = "%b = OpAtomicIAdd %uint %p %device %zero %device\n" + std::string(kMax);
  const ConvertedLog result = converted(log_of_two(both, both).bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("dispatch Pipeline2 updates m2[0:1024] atomics m1[0:1024] "
                                     "partial approximate atomic=add\n"));
  // Those of the other one are still known to be atomic.
  const CapturedPlace first{1, 0, 0};
  EXPECT_TRUE(result.summary.places.are_atomics(first, {2, {0, 1024}}));
  EXPECT_TRUE(result.summary.places.are_atomics(first, {2, {100, 200}}));
  EXPECT_FALSE(result.summary.places.are_atomics(first, {2, {0, 1025}}));
  EXPECT_FALSE(result.summary.places.are_atomics(first, {1, {0, 4}}));
  EXPECT_FALSE(result.summary.places.are_atomics({1, 0, 7}, {2, {0, 4}}));
}

// The same buffer at both bindings, by atomics at one of them and loaded at the other.
TEST(ConvertAtomics, AreUpdatesWhereTheirBytesAreReadToo) {
  SyntheticLog log = log_of_buffers();
  log.add_set(3, 2, 2);
  const std::string body = std::string(kAdd) + "\n%x = OpLoad %uint %p";
  log.append(CreateComputePipelineRecord{11, 1, 0, shader_with(body), "main"});
  log.append(BeginCommandsRecord{kCommands, 0});
  log.add_dispatch(kCommands, 11, 3);
  log.add_dispatch(kCommands, 11, 3);
  log.submit(kQueue, kCommands);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text,
              HasSubstr("dispatch Pipeline2 updates m2[0:1024] partial approximate\n"));
  EXPECT_THAT(findings_of(result.text), Not(IsEmpty()));
}

// What was measured notes an atomic as a load and a store of the same words.
TEST(ConvertAtomics, AreExactWhereTheyWereMeasured) {
  constexpr uint64_t kSubmission = 9;
  SyntheticLog log = log_of_buffers();
  log.append(ExactModeRecord{1, 7});
  log.append(CreateComputePipelineRecord{11, 1, 0, shader_with(kAdd), "main"});
  log.append(BeginCommandsRecord{kCommands, 0});
  for (const uint64_t slot : {11, 12}) {
    log.append(ExactSlotRecord{kCommands, slot});
    log.add_dispatch(kCommands, 11, 1);
  }
  log.append(ExactSubmissionRecord{kQueue, kSubmission});
  log.submit(kQueue, kCommands);
  for (const uint64_t slot : {11, 12}) {
    MeasuredElementFields fields;
    fields.binding = 1;
    fields.granule_shift = 2;
    fields.loads = fields.stores = {0, 1};
    log.append(ExactAccessesRecord{kSubmission, slot, 0, {fields}});
  }
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c1: dispatch Pipeline2 atomics m2[0:4] atomic=add\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
}

}  // namespace
}  // namespace interlock::convert_atomics_test
