#include "fuzz/campaign/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "backends/registry.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/replay.h"
#include "tests/program_count.h"

namespace interlock::campaign_test {
namespace {

using testing::_;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

CampaignOptions campaign_of(std::string_view encoder, uint64_t seed, uint64_t run_count) {
  CampaignOptions options;
  options.encoder = find_encoder(encoder);
  EXPECT_NE(options.encoder, nullptr);
  options.seed = seed;
  options.run_count = run_count;
  return options;
}

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << report.error().message;
  return std::move(report).value();
}

std::filesystem::path fresh_folder(const std::string& name) {
  // Two builds may run this test at once.
  const auto path = std::filesystem::path(testing::TempDir()) /
                    ("interlock_campaign_" + std::to_string(getpid()) + "_" + name);
  std::filesystem::remove_all(path);
  return path;
}

// Names and contents of the programs.
std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".journal") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().filename().string()] = std::string{std::istreambuf_iterator<char>(file), {}};
  }
  return files;
}

class BrokenEncoder : public testing::TestWithParam<std::tuple<std::string, uint64_t>> {};

// The first program with a finding was among the first 10 of each seed; the budget is 100. (Seed 1
// finds a softmax over one column first: a hazard, but its value is 1 whatever it reads.)
TEST_P(BrokenEncoder, IsFoundMinimizedToTwoDispatchesAndReplayed) {
  const auto& [encoder, seed] = GetParam();
  CampaignOptions options = campaign_of(encoder, seed, 100);
  options.find_limit = 1;
  const CampaignReport report = reported(options);
  EXPECT_THAT(report.disagreements, IsEmpty());
  ASSERT_EQ(report.finds.size(), 1u);
  const CampaignFind& find = report.finds[0];
  EXPECT_EQ(find.program.dispatches.size(), 2u) << find.text;
  EXPECT_EQ(find.program.witness.size(), 1u) << find.text;
  const auto program = parse(find.text);
  ASSERT_TRUE(program) << program.error().message << "\n" << find.text;
  const auto replayed = replay(*program, *find_backend("cpu"));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_TRUE(replayed->diverges) << find.text;
}

INSTANTIATE_TEST_SUITE_P(Campaign, BrokenEncoder,
                         testing::Combine(testing::Values("none", "mlx-2024"),
                                          testing::Values(2, 3, 4, 5, 6)));

TEST(Campaign, FindsOnlyWriteAfterReadInMlx2024) {
  CampaignOptions options = campaign_of("mlx-2024", 1, is_slow_build() ? 500 : 1500);
  options.keeps_all_signatures = true;
  const CampaignReport report = reported(options);
  EXPECT_GT(report.finds.size(), 4u);
  for (const CampaignFind& find : report.finds) EXPECT_THAT(find.signature, HasSubstr("WAR-"));
}

// MLX #3630 itself: the cotangent's sum is read while the VJP writes the donated cotangent.
TEST(Campaign, FindsTheDonatedCotangentOfMlx3630) {
  if (is_slow_build()) GTEST_SKIP() << "A budget of programs.";
  CampaignOptions options = campaign_of("mlx-2024", 1, 400);
  options.keeps_all_signatures = true;
  options.finds_per_shape = 100;
  bool has_it = false;
  for (const CampaignFind& find : reported(options).finds) {
    has_it |= find.signature == "WAR-donation-col_sum-layer_norm_vjp";
  }
  EXPECT_TRUE(has_it);
}

class CampaignOfJobs : public testing::TestWithParam<bool> {};

TEST_P(CampaignOfJobs, WritesTheSameFilesForAnyNumber) {
  CampaignOptions options =
      campaign_of(GetParam() ? "mlx-2024" : "none", 3, is_slow_build() ? 80 : 150);
  options.keeps_all_signatures = GetParam();
  const auto folder_of_one = fresh_folder("one");
  options.out_dir = folder_of_one.string();
  const CampaignReport one = reported(options);
  options.out_dir = fresh_folder("two").string();
  options.job_count = 2;
  const CampaignReport two = reported(options);
  EXPECT_EQ(one.failing_run_count, two.failing_run_count);
  const auto files = files_in(folder_of_one);
  EXPECT_EQ(files.size(), one.finds.size());
  EXPECT_GT(files.size(), 2u);
  EXPECT_EQ(files, files_in(options.out_dir));
}

INSTANTIATE_TEST_SUITE_P(Signatures, CampaignOfJobs, testing::Bool());

TEST(Campaign, ReproducesAFindFromItsRunAlone) {
  CampaignOptions options = campaign_of("mlx-2024", 4, 300);
  options.keeps_all_signatures = true;
  const CampaignReport report = reported(options);
  ASSERT_GT(report.finds.size(), 1u);
  const CampaignFind& last = report.finds.back();
  options.first_run = last.run_index;
  options.run_count = 1;
  options.finds_per_shape = 100;
  bool is_there = false;
  for (const CampaignFind& find : reported(options).finds) is_there |= find.text == last.text;
  EXPECT_TRUE(is_there) << last.text;
}

TEST(Campaign, KeepsOneFilePerSignatureIfAskedTo) {
  CampaignOptions options = campaign_of("none", 1, is_slow_build() ? 80 : 200);
  options.keeps_all_signatures = true;
  options.out_dir = fresh_folder("signatures").string();
  const CampaignReport report = reported(options);
  EXPECT_GT(report.finds.size(), 5u);
  EXPECT_EQ(files_in(options.out_dir).size(), report.finds.size());
  for (const CampaignFind& find : report.finds) {
    EXPECT_THAT(find.path, HasSubstr(find.signature + ".ilk"));
  }
}

// What fails first is a bias gradient that a donation overwrites; what stands for it is smaller.
TEST(Campaign, WritesOneFileForTheOneFaultOfMlx2024) {
  CampaignOptions options = campaign_of("mlx-2024", 21, is_slow_build() ? 60 : 400);
  options.out_dir = fresh_folder("cause").string();
  std::vector<CampaignFind> seen;
  options.on_find = [&](const CampaignFind& find) { seen.push_back(find); };
  const CampaignReport report = reported(options);
  ASSERT_EQ(report.finds.size(), 1u);
  const CampaignFind& find = report.finds[0];
  EXPECT_THAT(files_in(options.out_dir), ElementsAre(Pair("WAR.ilk", find.text)));
  EXPECT_GT(find.signatures.size(), 10u);
  EXPECT_THAT(find.text,
              HasSubstr("# The cause is WAR: encoder mlx-2024 goes wrong on this already:\n"));
  EXPECT_THAT(find.text, HasSubstr("#   WAR-donation-col_sum-layer_norm_vjp: in "));
  EXPECT_THAT(find.text, HasSubstr("# Replay with: interlock replay WAR.ilk\n"));
  ASSERT_GT(seen.size(), 1u);
  EXPECT_FALSE(seen.front().is_better_one);
  EXPECT_TRUE(seen.back().is_better_one);
  EXPECT_EQ(seen.back().run_index, find.run_index);
  const auto program = parse(find.text);
  ASSERT_TRUE(program) << program.error().message;
  const auto replayed = replay(*program, *find_backend("cpu"));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_TRUE(replayed->diverges) << find.text;
}

// Each test that is missing altogether is a cause of its own.
TEST(Campaign, WritesAFileForEachKindThatNoneMisses) {
  CampaignOptions options = campaign_of("none", 1, is_slow_build() ? 20 : 60);
  options.out_dir = fresh_folder("kinds").string();
  EXPECT_EQ(reported(options).finds.size(), 3u);
  EXPECT_THAT(files_in(options.out_dir),
              ElementsAre(Pair("RAW.ilk", _), Pair("WAR.ilk", _), Pair("WAW.ilk", _)));
}

// A second campaign into the folder replaces its file, and a limit of one find ends at the first.
TEST(Campaign, ReplacesTheFileOfACause) {
  CampaignOptions options = campaign_of("mlx-2024", 21, 60);
  options.out_dir = fresh_folder("again").string();
  options.find_limit = 1;
  const CampaignReport first = reported(options);
  ASSERT_EQ(first.finds.size(), 1u);
  EXPECT_EQ(first.finds[0].signature, "WAR-donation-col_sum-layer_norm_vjp");
  options.find_limit = 0;
  const CampaignReport second = reported(options);
  ASSERT_EQ(second.finds.size(), 1u);
  EXPECT_LE(second.finds[0].program.accesses.size(), first.finds[0].program.accesses.size());
  EXPECT_THAT(files_in(options.out_dir), ElementsAre(Pair("WAR.ilk", second.finds[0].text)));
}

// The command in the file leads to the same cause.
TEST(Campaign, FindsACauseAgainInItsRunAlone) {
  CampaignOptions options = campaign_of("none", 4, is_slow_build() ? 15 : 50);
  for (const CampaignFind& find : reported(options).finds) {
    CampaignOptions again = options;
    again.first_run = find.run_index;
    again.run_count = 1;
    const CampaignReport report = reported(again);
    EXPECT_TRUE(std::any_of(report.finds.begin(), report.finds.end(), [&](const CampaignFind& f) {
      return f.cause == find.cause && print(f.program) == print(find.program);
    })) << find.text;
  }
}

TEST(Campaign, EndsWhenAskedTo) {
  Stop stop;
  stop.request();
  CampaignOptions options = campaign_of("interlock", 1, UINT64_MAX);
  options.stop = &stop;
  const CampaignReport report = reported(options);
  EXPECT_TRUE(report.was_stopped);
  EXPECT_EQ(report.run_count, 0u);
}

// What a campaign that was killed in the middle of a write has left.
TEST(Campaign, ClearsWhatAKilledCampaignLeft) {
  CampaignOptions options = campaign_of("interlock", 1, 1);
  const auto folder = fresh_folder("abandoned");
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file((folder / "RAW-none.ilk.2147483647.0.tmp").string(), ""));
  options.out_dir = folder.string();
  EXPECT_THAT(reported(options).finds, IsEmpty());
  EXPECT_THAT(files_in(folder), IsEmpty());
}

TEST(Campaign, JudgesProgramsAsTheyStandWithoutAnEncoder) {
  CampaignOptions options;
  options.run_count = is_slow_build() ? 60 : 100;
  const CampaignReport report = reported(options);
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_GT(report.finds.size(), 5u);
  bool has_ordered = false;
  for (const CampaignFind& find : report.finds) {
    has_ordered |= find.signature.find("-ordered-") != std::string::npos;
  }
  EXPECT_TRUE(has_ordered);
}

TEST(Campaign, SaysThatAFolderCannotBeCreated) {
  CampaignOptions options = campaign_of("interlock", 1, 1);
  options.out_dir = "/dev/null/finds";
  const auto report = run_campaign(options);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("'/dev/null/finds' cannot be created"));
}

}  // namespace
}  // namespace interlock::campaign_test
