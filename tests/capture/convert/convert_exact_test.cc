// What dispatches touched, as records of the log tell: exact ranges in place of whole bindings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "capture/convert/exact_index.h"
#include "capture/log/exact_records.h"
#include "capture/log/log_format.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_exact_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;
constexpr uint64_t kSubmission = 9;

// Buffers 1 to 3, sets 1 (1 to 2) and 2 (2 to 3), pipeline 1; two dispatches that are slots 11 and
// 12, with nothing between them.
SyntheticLog log_of_two() {
  SyntheticLog log;
  log.append(DeviceRecord{1, "device", "", VK_API_VERSION_1_3});
  log.append(ExactModeRecord{1, 7});
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_chain();
  log.append(BeginCommandsRecord{kCommands, 0});
  for (const uint64_t slot : {11, 12}) {
    log.append(ExactSlotRecord{kCommands, slot});
    log.add_dispatch(kCommands, 1, slot - 10);
  }
  log.append(ExactSubmissionRecord{kQueue, kSubmission});
  log.submit(kQueue, kCommands);
  return log;
}

// Of binding 0 or 1, in words.
MeasuredElementFields element(uint32_t binding, std::vector<uint64_t> loads,
                              std::vector<uint64_t> stores) {
  MeasuredElementFields fields;
  fields.binding = binding;
  fields.granule_shift = 2;
  fields.loads = std::move(loads);
  fields.stores = std::move(stores);
  return fields;
}

ExactAccessesRecord accesses(uint64_t slot, std::vector<uint64_t> loads,
                             std::vector<uint64_t> stores) {
  return {
      kSubmission, slot, 0, {element(0, std::move(loads), {}), element(1, {}, std::move(stores))}};
}

TEST(ConvertExact, WritesWhatWasTouched) {
  SyntheticLog log = log_of_two();
  log.append(accesses(11, {0, 256}, {0, 64}));
  log.append(accesses(12, {64, 65, 70, 80}, {0, 16}));
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text,
              HasSubstr("s1.b0.c0: dispatch Pipeline1 reads m1[0:1024] writes m2[0:256]\n"));
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c1: dispatch Pipeline1 reads m2[256:260] m2[280:320] "
                                     "writes m3[0:64]\n"));
  EXPECT_THAT(findings_of(result.text), IsEmpty());
  EXPECT_EQ(result.summary.exact_count, 2u);
  EXPECT_EQ(result.summary.approximate_count, 0u);
}

TEST(ConvertExact, IsCertainWhereBothTouchAByte) {
  SyntheticLog log = log_of_two();
  log.append(accesses(11, {0, 256}, {0, 64}));
  log.append(accesses(12, {63, 64}, {0, 16}));
  EXPECT_THAT(findings_of(converted(log.bytes()).text),
              ElementsAre("RAW hazard: s1.b0.c1 (dispatch 1) reads m2[252:256], which s1.b0.c0 "
                          "(dispatch 0) writes."));
}

TEST(ConvertExact, BoundsWhatTheLogDoesNotTell) {
  SyntheticLog log = log_of_two();
  log.append(accesses(11, {0, 256}, {0, 64}));
  // Of the second one nothing is known: the application ended before.
  const ConvertedLog one = converted(log.bytes());
  EXPECT_THAT(one.text, HasSubstr("reads m2[0:1024] writes m3[0:1024] partial approximate\n"));
  EXPECT_EQ(one.summary.exact_count, 1u);
  // Of one of two bindings, of several executions at once, and of too many ranges.
  for (const int what : {0, 1, 2}) {
    SyntheticLog doubtful = log_of_two();
    ExactAccessesRecord record = accesses(12, {64, 128}, {0, 16});
    if (what == 0) record.elements.pop_back();
    if (what == 1) record.is_shared = 1;
    if (what == 2) record.elements[0].is_bounded = 1;
    doubtful.append(record);
    const ConvertedLog result = converted(doubtful.bytes());
    EXPECT_THAT(result.text,
                HasSubstr("s1.b0.c1: dispatch Pipeline1 reads m2[256:512] writes m3["
                          "0:" +
                          std::string(what == 0 ? "1024" : "64") + "] partial approximate\n"));
  }
}

TEST(ConvertExact, TakesTheRecordsOfItsSubmissionAlone) {
  SyntheticLog log = log_of_two();
  // The same command buffer again: its records name another submission.
  log.append(ExactSubmissionRecord{kQueue, kSubmission + 1});
  log.submit(kQueue, kCommands);
  log.submit(kQueue, kCommands);
  for (const uint64_t slot : {11, 12}) {
    ExactAccessesRecord record = accesses(slot, {0, 1}, {1, 2});
    log.append(record);
    record.submission += 1;
    record.elements[0].loads = {5, 6};
    log.append(record);
  }
  const std::string text = converted(log.bytes()).text;
  EXPECT_THAT(text, HasSubstr("s1.b0.c0: dispatch Pipeline1 reads m1[0:4] writes m2[4:8]"));
  EXPECT_THAT(text, HasSubstr("s2.b0.c0: dispatch Pipeline1 reads m1[20:24] writes m2[4:8]"));
  EXPECT_THAT(text, HasSubstr("s3.b0.c0: dispatch Pipeline1 reads m1[0:1024] writes m2[0:1024] "
                              "partial approximate"));
}

// Of two records with the same numbers nobody knows which one is meant.
TEST(ConvertExact, BoundsWhatTheLogTellsTwice) {
  SyntheticLog log = log_of_two();
  log.append(accesses(11, {0, 1}, {0, 1}));
  log.append(accesses(11, {5, 6}, {5, 6}));
  log.append(accesses(12, {64, 65}, {0, 16}));
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text,
              HasSubstr("s1.b0.c0: dispatch Pipeline1 reads m1[0:1024] writes m2[0:1024] "
                        "partial approximate\n"));
  EXPECT_THAT(result.text, HasSubstr("reads m2[256:260] writes m3[0:64]\n"));
  EXPECT_EQ(result.summary.exact_count, 1u);
}

// It keeps what is ahead within its reach, and nothing that was passed: whatever the log's length.
TEST(ExactIndex, KeepsNoMoreThanWhatIsAhead) {
  SyntheticLog log;
  constexpr uint64_t kRecords = 1000;
  for (uint64_t slot = 1; slot <= kRecords; ++slot) log.append(accesses(slot, {0, 1}, {1, 2}));
  const uint64_t record_bytes = (log.bytes().size() - kLogHeaderBytes) / kRecords;
  std::istringstream input(log.bytes());
  ExactIndex index(input, "test.ilog", 10 * record_bytes);
  input.seekg(kLogHeaderBytes);
  index.look_ahead();
  EXPECT_EQ(index.size(), 0u);  // The log has none, as far as is known.
  index.begin();
  for (uint64_t passed = 0; passed < kRecords; ++passed) {
    const auto here = static_cast<std::streamoff>(kLogHeaderBytes + passed * record_bytes);
    input.seekg(here);
    index.look_ahead();
    EXPECT_LE(index.size(), 10u);
    EXPECT_EQ(input.tellg(), here);
    EXPECT_EQ(index.size_of(kSubmission, passed), 0u);
    // At least half of its reach.
    for (uint64_t slot = passed + 1; slot <= std::min(passed + 5, kRecords); ++slot) {
      const auto found = index.find(kSubmission, slot);
      ASSERT_TRUE(found.has_value()) << slot;
      EXPECT_EQ(found->slot, slot);
    }
  }
}

TEST(ConvertExact, TellsRegularRangesAsRows) {
  SyntheticLog log = log_of_two();
  ExactAccessesRecord record = accesses(11, {}, {});
  for (uint64_t i = 0; i < 60; ++i) {
    record.elements[1].stores.push_back(4 * i + 1);
    record.elements[1].stores.push_back(4 * i + 3);
  }
  log.append(record);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c0: dispatch Pipeline1 "
                                     "writes m2[4:956 rows 60 pitch 16 width 8]\n"));
}

// Reads and writes that alternate in one buffer, which both bindings name.
TEST(ConvertExact, KeepsReadsAndWritesOfOneBufferApart) {
  SyntheticLog log = log_of_two();
  log.add_set(3, 1, 1);
  log.append(BeginCommandsRecord{kCommands, 0});
  log.append(ExactSlotRecord{kCommands, 13});
  log.add_dispatch(kCommands, 1, 3);
  log.append(ExactSubmissionRecord{kQueue, 77});
  log.submit(kQueue, kCommands);
  ExactAccessesRecord record = accesses(13, {}, {});
  record.submission = 77;
  for (uint64_t i = 0; i < 8; ++i) {
    for (const uint64_t end : {2 * i, 2 * i + 1}) record.elements[0].loads.push_back(end);
    for (const uint64_t end : {2 * i + 1, 2 * i + 2}) record.elements[1].stores.push_back(end);
  }
  record.elements[1].stores.insert(record.elements[1].stores.end(), {100, 102});
  record.elements[0].loads.insert(record.elements[0].loads.end(), {101, 103});
  log.append(record);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(
      result.text,
      HasSubstr("reads m1[0:60 rows 8 pitch 8 width 4] m1[408:412] "
                "writes m1[4:64 rows 8 pitch 8 width 4] m1[400:404] updates m1[404:408]\n"));
}

TEST(ConvertExact, BoundsMoreRangesThanADispatchMayHave) {
  SyntheticLog log = log_of_two();
  ExactAccessesRecord record = accesses(11, {}, {});
  // The distances grow and shrink: no rows of three.
  for (uint64_t i = 0, at = 0; i < 80; ++i, at += i % 2 == 0 ? 2 : 4) {
    for (const uint64_t end : {at, at + 1}) record.elements[1].stores.push_back(end);
  }
  for (const uint64_t shift : {0, 1, 2}) {
    record.elements.push_back(record.elements[1]);
    record.elements.back().granule_shift = static_cast<uint32_t>(shift);
  }
  record.elements[0].granule_shift = 0;
  for (uint64_t i = 0, at = 0; i < 300; ++i, at += i % 2 == 0 ? 2 : 4) {
    for (const uint64_t end : {at, at + 1}) record.elements[0].loads.push_back(end);
  }
  log.append(record);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c0: dispatch Pipeline1 reads m1[0:899] writes m2[0:"));
  EXPECT_THAT(result.text, HasSubstr("partial approximate\n"));
}

TEST(ConvertExact, TakesTexelsForTheBytesOfTheirRows) {
  SyntheticLog log;
  log.append(ExactModeRecord{1, 7});
  // Two layers of 4 by 4 texels of 4 bytes, with a mip of 16 bytes each.
  CreateImageRecord image;
  image.image = 5;
  image.type = VK_IMAGE_TYPE_2D;
  image.format = VK_FORMAT_R32_UINT;
  image.width = image.height = 4;
  image.depth = 1;
  image.mip_count = 2;
  image.layer_count = 2;
  image.sample_count = 1;
  log.append(image);
  log.append(AllocateMemoryRecord{5, 4096, 0});
  log.append(BindImageRecord{5, 5, 256, 0});
  log.append(CreateImageViewRecord{
      6, 5, VK_IMAGE_VIEW_TYPE_2D_ARRAY, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 2}});
  log.add_buffer(1);
  log.append(CreateSetLayoutRecord{
      1,
      0,
      {{0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, 0}, {1, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1, 0}}});
  log.append(CreatePipelineLayoutRecord{1, {1}});
  log.add_pipeline(1);
  log.append(AllocateSetsRecord{1, {1}, {1}, {}});
  log.append(
      UpdateSetsRecord{{{1, 0, 0, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, {{1, 0, VK_WHOLE_SIZE}}},
                        {1, 1, 0, VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, {{6, 0, 0}}}},
                       {}});
  log.append(BeginCommandsRecord{kCommands, 0});
  log.append(ExactSlotRecord{kCommands, 11});
  log.add_dispatch(kCommands, 1, 1);
  log.append(ExactSubmissionRecord{kQueue, kSubmission});
  log.submit(kQueue, kCommands);
  ExactAccessesRecord record = accesses(11, {}, {14, 18});
  record.elements[1].is_image = 1;
  record.elements[1].width = record.elements[1].height = 4;
  record.elements[1].depth = 2;
  SyntheticLog other = log;
  log.append(record);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.error, "");
  // The last two texels of the first layer; the first two of the second, which begins 80 later.
  EXPECT_THAT(result.text, HasSubstr("writes m1[312:320] m1[336:344]\n"));
  // A texel past the end of an image is none: nothing is touched there.
  record.elements[1].is_past = 1;
  SyntheticLog past = other;
  past.append(record);
  const ConvertedLog clamped = converted(past.bytes());
  EXPECT_THAT(clamped.text, HasSubstr("writes m1[312:320] m1[336:344]\n"));
  EXPECT_EQ(clamped.summary.remarks.at("an image that was reached past its end"), 1u);
  // Of a view of another size it says nothing.
  record.elements[1].width = 5;
  other.append(record);
  EXPECT_THAT(converted(other.bytes()).text,
              HasSubstr("writes m1[256:320] m1[336:400] partial approximate\n"));
}

// Ranges that do not ascend are none: what they name could be asked for again and again.
TEST(ConvertExact, BoundsRangesThatDoNotAscend) {
  for (const std::vector<uint64_t>& stores :
       {std::vector<uint64_t>{5, 2}, {0, 4, 2, 6}, {0, 4, 0, 4}, {4, 8, 0, 2}, {0, 4, 9}, {3, 3}}) {
    SyntheticLog log = log_of_two();
    log.append(accesses(11, {0, 1}, stores));
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    EXPECT_THAT(result.text, HasSubstr("s1.b0.c0: dispatch Pipeline1 reads m1[0:4] writes "
                                       "m2[0:1024] partial approximate\n"));
    EXPECT_EQ(result.summary.exact_count, 0u);
  }
}

// Of a hostile log: ranges that end before they begin, are odd, or are longer than anything.
TEST(ConvertExact, StaysWithinWhatIsBound) {
  for (const std::vector<uint64_t>& stores : {std::vector<uint64_t>{UINT64_MAX - 1, UINT64_MAX},
                                              {5, 2},
                                              {7},
                                              {0, UINT64_MAX},
                                              {255, 257, 256, 300}}) {
    for (const uint32_t shift : {0u, 2u, 40u, UINT32_MAX}) {
      SyntheticLog log = log_of_two();
      ExactAccessesRecord record = accesses(11, {}, stores);
      record.elements[1].granule_shift = shift;
      log.append(record);
      log.append(record);
      EXPECT_EQ(converted(log.bytes()).error, "");
    }
  }
}

TEST(ConvertExact, CountsWhatIsAsItIs) {
  SyntheticLog log = log_of_two();
  log.append(ExactRemarkRecord{"a shader as it is: why"});
  log.append(ExactRemarkRecord{"a shader as it is: why"});
  log.append(accesses(11, {}, {0, 1}));
  const ConvertedLog result = converted(log.bytes());
  EXPECT_EQ(result.summary.remarks.at("a shader as it is: why"), 2u);
  EXPECT_THAT(text_of(result.summary),
              HasSubstr("  exact: 1 of 2 dispatches with the ranges that they touched.\n"));
}

// What is past the end of a buffer may be other memory: nobody knows what that does.
TEST(ConvertExact, UnderstandsNothingPastTheEndOfABuffer) {
  SyntheticLog log = log_of_two();
  ExactAccessesRecord record = accesses(11, {}, {0, 1});
  record.elements[1].is_past = 1;
  log.append(record);
  const ConvertedLog result = converted(log.bytes());
  EXPECT_THAT(text_of(result.summary),
              HasSubstr("not understood: a binding that was reached past its end (what is further "
                        "is not known) (1 time)\n"));
  EXPECT_THAT(result.text, HasSubstr("s1.b0.c0: dispatch Pipeline1 writes m2[0:4] partial "
                                     "approximate\n"));
  EXPECT_EQ(result.summary.exact_count, 0u);
  EXPECT_EQ(result.summary.unknown_submission_count, 1u);
}

}  // namespace
}  // namespace interlock::convert_exact_test
