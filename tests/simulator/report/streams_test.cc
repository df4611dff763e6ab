// The recorded streams: every number of corpus/streams/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/text/files.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/check.h"
#include "tests/program_count.h"

namespace interlock::streams_test {
namespace {

// One row of the table.
struct Stream {
  std::string name;
  uint64_t dispatch_count;
  uint64_t access_count;
  uint64_t barrier_count;
  uint64_t fewest_barriers;
  uint64_t longest_chain;
  uint64_t reordered_count;
};

std::ostream& operator<<(std::ostream& os, const Stream& stream) { return os << stream.name; }

const Stream kStreams[] = {
    {"ggml-llama24-metal", 456, 1080, 455, 407, 407, 0},
    {"ggml-llama24-metal-reorder", 456, 1080, 431, 383, 383, 0},
    {"ggml-llama24-nobarrier", 456, 1080, 0, 407, 407, 0},
    {"ggml-llama24-vulkan", 456, 1080, 407, 407, 407, 0},
    {"ggml-llama24kv-metal", 532, 1353, 483, 459, 459, 0},
    {"ggml-llama24kv-vulkan-reorder", 532, 1353, 435, 435, 435, 0},
    {"ggml-llama24-metal-64steps", 34048, 86592, 30975, 29439, 29439, 0},
    {"ggml-train-metal-4", 192, 497, 156, 140, 139, 0},
    {"ggml-train-metal-30", 1414, 3643, 1044, 997, 996, 0},
    {"ggml-soft-max-back-alias", 3, 4, 1, 1, 1, 0},
    {"ggml-rms-norm-back-alias", 4, 6, 3, 2, 1, 0},
    {"ggml-vulkan-reorder-min", 5, 8, 3, 3, 3, 1},
    {"ggml-vulkan-reorder-bad1", 24, 53, 6, 6, 6, 1},
    {"ggml-vulkan-reorder-bad2", 24, 55, 7, 7, 6, 1},
    {"ggml-vulkan-reorder-bad3", 24, 52, 5, 5, 5, 1},
    {"ggml-vulkan-reorder-ok1", 24, 56, 5, 5, 4, 0},
    {"ggml-vulkan-reorder-ok2", 24, 51, 6, 6, 5, 0},
    {"ggml-vulkan-reorder-ok3", 24, 52, 7, 7, 6, 0},
    {"ggml-vulkan-reorder-falsepos", 24, 54, 9, 9, 8, 0},
    {"torch-transformer", 1099, 2249, 1098, 524, 190, 0},
    {"torch-norms", 263, 680, 262, 161, 96, 0},
};

Program load(const std::string& name) {
  Result<Program> program =
      parse_file(std::string(INTERLOCK_SOURCE_DIR "/corpus/streams/") + name + ".ilk");
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? std::move(program).value() : Program{};
}

class RecordedStream : public ::testing::TestWithParam<Stream> {};

TEST_P(RecordedStream, HasTheNumbersOfTheTable) {
  const Stream& stream = GetParam();
  const CheckReport report = check(load(stream.name));
  EXPECT_EQ(report.dispatch_count, stream.dispatch_count);
  EXPECT_EQ(report.access_count, stream.access_count);
  EXPECT_EQ(report.barrier_count, stream.barrier_count);
  EXPECT_EQ(report.fewest_barriers, stream.fewest_barriers);
  EXPECT_EQ(report.longest_chain, stream.longest_chain);
  uint64_t reordered_count = 0;
  for (const Finding& finding : report.findings) {
    reordered_count += finding.kind == FindingKind::kReordered;
  }
  EXPECT_EQ(reordered_count, stream.reordered_count);
  // Only the stream without barriers has hazards; none has an alias violation.
  if (stream.barrier_count > 0) {
    EXPECT_EQ(report.findings.size(), stream.reordered_count);
  }
}

std::string test_name_of(const ::testing::TestParamInfo<Stream>& parameter) {
  std::string name = parameter.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Streams, RecordedStream, ::testing::ValuesIn(kStreams), test_name_of);

TEST(RecordedStreams, WithoutBarriersHaveTheHazardousPairsOfTheTable) {
  if (is_slow_build()) GTEST_SKIP() << "A table of one large stream.";
  CheckOptions options;
  options.lists_all_pairs = true;
  options.observability_budget = 0;
  const CheckReport report = check(load("ggml-llama24-nobarrier"), options);
  EXPECT_EQ(report.raw_count, 40'740u);
  EXPECT_EQ(report.war_count, 40'308u);
  EXPECT_EQ(report.waw_count, 32'316u);
  EXPECT_EQ(report.pair_count, 73'788u);
  EXPECT_EQ(report.findings.size(), 40'740u + 40'308u + 32'316u);
  EXPECT_FALSE(report.is_truncated());
}

// Returns which of the barriers can be deleted, one at a time, without creating a hazard.
std::vector<uint32_t> removable_barriers(const Program& program) {
  const ProgramDraft draft = draft_of(program);
  std::vector<uint32_t> removable;
  uint32_t barrier = 0;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (!std::holds_alternative<BarrierDraft>(draft.items[i])) {
      continue;
    }
    ProgramDraft less = draft;
    less.items.erase(less.items.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<Program> built = build(less);
    EXPECT_TRUE(built.has_value());
    if (built && find_hazards(*built, HappensBefore(*built), {.limit = 1}).hazards.empty()) {
      removable.push_back(barrier);
    }
    ++barrier;
  }
  return removable;
}

std::vector<uint32_t> redundant_barriers(const Program& program) {
  std::vector<uint32_t> barriers;
  for (const RedundantBarrier& redundant : check(program).redundant) {
    barriers.push_back(redundant.barrier.index);
  }
  return barriers;
}

TEST(RecordedStreams, OfVulkanNeedEveryBarrier) {
  EXPECT_THAT(redundant_barriers(load("ggml-llama24-vulkan")), ::testing::IsEmpty());
  EXPECT_THAT(redundant_barriers(load("ggml-llama24kv-vulkan-reorder")), ::testing::IsEmpty());
}

TEST(RecordedStreams, OfMetalHaveBarriersThatNothingNeeds) {
  for (const char* name :
       {"ggml-llama24-metal", "ggml-llama24-metal-reorder", "ggml-llama24kv-metal",
        "ggml-train-metal-4", "ggml-rms-norm-back-alias"}) {
    SCOPED_TRACE(name);
    const Program program = load(name);
    if (is_slow_build() && program.barriers.size() > 100) continue;
    const std::vector<uint32_t> redundant = redundant_barriers(program);
    EXPECT_EQ(redundant, removable_barriers(program));
    // In these streams all of them can go together.
    EXPECT_EQ(redundant.size(), program.barriers.size() - check(program).fewest_barriers);
  }
}

TEST(RecordedStreams, OfALongMetalRunHaveBarriersThatNothingNeeds) {
  EXPECT_EQ(redundant_barriers(load("ggml-llama24-metal-64steps")).size(), 30'975u - 29'439u);
  EXPECT_EQ(redundant_barriers(load("ggml-train-metal-30")).size(), 1'044u - 997u);
}

}  // namespace
}  // namespace interlock::streams_test
