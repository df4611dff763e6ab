// Which finds a campaign keeps, and which runs it judges.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/signature.h"
#include "tests/program_count.h"

namespace interlock::campaign_finds_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << report.error().message;
  return std::move(report).value();
}

// What a find is in short, by the finding itself and not by its name.
std::string shape_of(const CampaignFind& find) {
  for (const Fact& fact : find_exactly(find.program)) {
    if (signature_of(find.program, fact) != find.signature) continue;
    return signature_of(find.program, fact, SignatureDetail::kShape);
  }
  return find.signature;
}

std::map<std::string, uint64_t> finds_by_shape(const CampaignReport& report) {
  std::map<std::string, uint64_t> counts;
  for (const CampaignFind& find : report.finds) ++counts[shape_of(find)];
  return counts;
}

std::set<std::string> keys_of(const std::map<std::string, uint64_t>& counts) {
  std::set<std::string> keys;
  for (const auto& [key, count] : counts) keys.insert(key);
  return keys;
}

class FindsPerShape : public testing::TestWithParam<const char*> {};

// Of programs as they stand, where hazards may be ordered, and of what an encoder left open.
TEST_P(FindsPerShape, AreAsManyAsAskedForAndOfEveryShape) {
  CampaignOptions options;
  options.encoder = find_encoder(GetParam());
  options.keeps_all_signatures = true;
  options.run_count = is_slow_build() ? 40 : 100;
  options.finds_per_shape = 1;
  const auto one = finds_by_shape(reported(options));
  for (const auto& [shape, count] : one) EXPECT_EQ(count, 1u) << shape;
  EXPECT_GT(one.size(), 5u);
  options.finds_per_shape = 3;
  const auto three = finds_by_shape(reported(options));
  EXPECT_EQ(keys_of(one), keys_of(three));
  uint64_t most = 0;
  for (const auto& [shape, count] : three) most = std::max(most, count);
  EXPECT_EQ(most, 3u);
  if (options.encoder == nullptr) {
    EXPECT_EQ(one.count("RAW-ordered-overlap") + one.count("RAW-ordered-same_range"), 2u);
  }
}

INSTANTIATE_TEST_SUITE_P(Campaign, FindsPerShape, testing::Values("none", ""));

TEST(CampaignFinds, EndWithTheLimit) {
  for (uint64_t limit = 1; limit < 5; limit += is_slow_build() ? 3 : 1) {
    CampaignOptions options;
    options.encoder = find_encoder("none");
    options.run_count = 50;
    options.find_limit = limit;
    EXPECT_THAT(reported(options).finds, SizeIs(std::min(limit, uint64_t{3}))) << "RAW, WAR, WAW";
    options.keeps_all_signatures = true;
    EXPECT_THAT(reported(options).finds, SizeIs(limit));
  }
}

TEST(CampaignRuns, AreTheSameInTwoHalves) {
  CampaignOptions options;
  options.encoder = find_encoder("mlx-2024");
  options.finds_per_shape = 0;  // What is found is counted, and not minimized.
  options.run_count = 400;      // More than a block.
  const CampaignReport whole = reported(options);
  EXPECT_EQ(whole.run_count, 400u);
  EXPECT_GT(whole.failing_run_count, 50u);
  options.run_count = 300;
  const CampaignReport first = reported(options);
  options.first_run = 300;
  options.run_count = 100;
  const CampaignReport second = reported(options);
  EXPECT_EQ(first.run_count + second.run_count, whole.run_count);
  EXPECT_GT(second.failing_run_count, 0u);
  EXPECT_EQ(first.failing_run_count + second.failing_run_count, whole.failing_run_count);
}

// Neighbouring seeds and numbers included; a few small programs come twice.
TEST(CampaignRuns, HaveAProgramOfTheirOwnForEachSeedAndNumber) {
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    for (uint64_t run = 0; run < 16; ++run) {
      CampaignOptions options;
      options.seed = seed;
      texts.insert(print(draft_of_run(options, run)));
    }
  }
  EXPECT_GT(texts.size(), 16u * 16u - 5u);
}

// A third, and those of the rest whose only root is in a memory of its own.
TEST(CampaignRuns, GiveAThirdOfTheProgramsOneMemoryForEachRoot) {
  int apart_count = 0;
  int shared_count = 0;
  for (uint64_t run = 0; run < 600; ++run) {
    const Program program = build(draft_of_run({}, run)).value();
    uint64_t placed_count = 0;
    bool is_apart = true;
    for (const Tensor& tensor : program.tensors) {
      if (tensor.placement != Placement::kPlaced) continue;
      ++placed_count;
      is_apart &= tensor.range.begin == 0;
    }
    if (placed_count > 3) ++(is_apart ? apart_count : shared_count);
  }
  const int share_percent = 100 * apart_count / (apart_count + shared_count);
  EXPECT_GE(share_percent, 25);
  EXPECT_LE(share_percent, 42);
}

TEST(CampaignRuns, HaveBarriersOfTheirOwnWithoutAnEncoderAlone) {
  CampaignOptions options;
  uint64_t with = 0;
  for (uint64_t run = 0; run < 100; ++run) {
    options.encoder = nullptr;
    with += !build(draft_of_run(options, run)).value().barriers.empty();
    options.encoder = find_encoder("none");
    EXPECT_THAT(build(draft_of_run(options, run)).value().barriers, IsEmpty());
  }
  EXPECT_GT(with, 50u);
}

// A backward pass differentiates by some of the inputs, by all, and never by none.
TEST(CampaignRuns, DifferentiateBySomeOfTheInputs) {
  CampaignOptions options;
  options.backward = find_backward("one-shot");
  int some_count = 0;
  int all_count = 0;
  for (uint64_t run = 0; run < 200; ++run) {
    size_t input_count = 0;
    for (const ItemDraft& item : draft_of_run(options, run).items) {
      if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
        input_count += tensor->initial.kind != InitialKind::kNone;
      } else if (const auto* backward = std::get_if<BackwardDraft>(&item)) {
        ASSERT_FALSE(backward->wrt.empty());
        if (input_count > 1) ++(backward->wrt.size() < input_count ? some_count : all_count);
      }
    }
  }
  EXPECT_GT(some_count, 40);
  EXPECT_GT(all_count, 40);
}

// The last of them is what the report says.
TEST(CampaignProgressOf, EndsWithWhatIsReported) {
  CampaignOptions options;
  options.encoder = find_encoder("none");
  options.run_count = 20;
  CampaignProgress last;
  std::vector<std::string> saved;
  options.on_progress = [&](const CampaignProgress& progress) { last = progress; };
  options.on_find = [&](const CampaignFind& find) {
    if (!find.is_better_one) saved.push_back(find.cause.name);
  };
  const CampaignReport report = reported(options);
  EXPECT_EQ(last.run_count, 20u);
  EXPECT_EQ(last.failing_run_count, report.failing_run_count);
  EXPECT_EQ(last.find_count, report.finds.size());
  ASSERT_EQ(saved.size(), report.finds.size());
  for (size_t i = 0; i < saved.size(); ++i) EXPECT_EQ(saved[i], report.finds[i].cause.name);
}

std::vector<Fact> find_nothing(const Program& program, const HappensBefore& order,
                               const ByteSegments& segments,
                               std::span<ConflictObserver* const> observers) {
  find_exactly(program, order, segments, observers);  // The bound sees what there is to find.
  return {};
}

// With a check that is blind: the campaign ends with the first program that says so, and leaves it
// as small as it can be.
TEST(CampaignDisagreements, EndTheCampaignAndLeaveASmallProgram) {
  CampaignOptions options;
  options.run_count = 200;
  options.oracles.methods.find = find_nothing;
  options.out_dir = (std::filesystem::path(testing::TempDir()) /
                     ("interlock_disagreements_" + std::to_string(getpid())))
                        .string();
  std::filesystem::remove_all(options.out_dir);
  const CampaignReport report = reported(options);
  EXPECT_LT(report.run_count, 50u);
  ASSERT_FALSE(report.disagreements.empty());
  EXPECT_THAT(report.finds, IsEmpty());
  int file_count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(options.out_dir)) {
    if (entry.path().extension() == ".journal") continue;
    ++file_count;
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("disagreement-"));
    const auto program = parse_file(entry.path().string());
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_LE(program->dispatches.size(), 2u) << print(*program);
    EXPECT_THAT(judge(*program, options.oracles, report.run_count - 1).disagreements,
                testing::Not(IsEmpty()));
    EXPECT_THAT(report.disagreements[0],
                HasSubstr(fmt::format(" to {} dispatches: ", program->dispatches.size())));
  }
  EXPECT_GT(file_count, 0);
  std::filesystem::remove_all(options.out_dir);
}

}  // namespace
}  // namespace interlock::campaign_finds_test
