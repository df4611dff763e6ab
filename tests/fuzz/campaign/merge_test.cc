// Shards of a campaign, merged, are that campaign: its files, byte for byte.
#include "fuzz/campaign/merge.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal.h"
#include "tests/fuzz/campaign/campaign_folders.h"
#include "tests/program_count.h"

namespace interlock::merge_test {
namespace {

using campaign_folders::campaign_of;
using campaign_folders::expect_same_report;
using campaign_folders::files_in;
using campaign_folders::fresh_folder;
using campaign_folders::journal_of;
using campaign_folders::reported;
using testing::HasSubstr;

// Runs the shards, each in a folder of its own; returns the folders.
std::vector<std::string> run_shards(const CampaignOptions& campaign, uint64_t shard_count) {
  std::vector<std::string> folders;
  for (uint64_t shard = 1; shard <= shard_count; ++shard) {
    CampaignOptions options = campaign;
    options.out_dir = fresh_folder(fmt::format("shard_{}_of_{}", shard, shard_count));
    EXPECT_TRUE(take_shard(options, shard, shard_count));
    reported(options);
    folders.push_back(options.out_dir);
  }
  return folders;
}

CampaignReport merged(CampaignOptions campaign, const std::vector<std::string>& folders) {
  auto blocks = MergedBlocks::of(folders);
  EXPECT_TRUE(blocks) << blocks.error().message;
  if (!blocks) return {};
  EXPECT_EQ((*blocks)->campaign().first_run, campaign.first_run);
  EXPECT_EQ((*blocks)->campaign().run_count, campaign.run_count);
  campaign.next_block = [&] { return (*blocks)->next(); };
  return reported(campaign);
}

std::string error_of_merge(const std::vector<std::string>& folders) {
  auto blocks = MergedBlocks::of(folders);
  if (!blocks) return blocks.error().message;
  for (;;) {
    const auto block = (*blocks)->next();
    if (!block) return block.error().message;
    if (!*block) return "";
  }
}

struct Sample {
  std::string name;
  uint64_t shard_count;
  std::string encoder;
  bool keeps_all_signatures;
};

class Shards : public testing::TestWithParam<Sample> {};

TEST_P(Shards, AreTheCampaignOnceTheyAreMerged) {
  // A number of blocks that no number of shards divides, and a last one that is not whole.
  CampaignOptions options = campaign_of(GetParam().encoder, 1290, fresh_folder("one"));
  options.first_run = 100;
  options.keeps_all_signatures = GetParam().keeps_all_signatures;
  options.finds_per_shape = is_slow_build() ? 1 : 2;
  const CampaignReport one = reported(options);
  const auto files = files_in(options.out_dir);
  EXPECT_GT(files.size(), 1u);
  std::vector<std::string> folders = run_shards(options, GetParam().shard_count);
  std::ranges::reverse(folders);
  options.out_dir = fresh_folder("merged");
  expect_same_report(merged(options, folders), one);
  EXPECT_EQ(files_in(options.out_dir), files);
  // Again, it is there already.
  EXPECT_TRUE(merged(options, folders).was_complete);
  EXPECT_EQ(files_in(options.out_dir), files);
}

INSTANTIATE_TEST_SUITE_P(Of, Shards,
                         testing::Values(Sample{"Two", 2, "none", false},
                                         Sample{"Three", 3, "mlx-2024", true},
                                         Sample{"Five", 5, "mlx-2024", false}),
                         [](const auto& sample) { return sample.param.name; });

TEST(MergedBlocks, LeaveOutRunsThatTheFolderHas) {
  CampaignOptions options = campaign_of("none", 520, fresh_folder("whole"));
  options.finds_per_shape = 1;
  const CampaignReport whole = reported(options);
  const std::vector<std::string> folders = run_shards(options, 2);
  options.out_dir = fresh_folder("has_some");
  CampaignOptions some = options;
  some.first_run = 100;
  some.run_count = 30;
  const CampaignReport part = reported(some);
  EXPECT_EQ(merged(options, folders).run_count, 490u);
  const CampaignReport again = reported(options);
  EXPECT_TRUE(again.was_complete);
  EXPECT_EQ(again.failing_run_count + part.failing_run_count, whole.failing_run_count);
}

TEST(TakeShard, MakesPartsThatAreAllOfIt) {
  for (const uint64_t run_count : {256, 257, 5000}) {
    for (const uint64_t shard_count : {1, 2, 3, 7, 20}) {
      uint64_t next = 11;
      bool has_all = true;
      for (uint64_t shard = 1; shard <= shard_count; ++shard) {
        CampaignOptions options;
        options.first_run = 11;
        options.run_count = run_count;
        has_all &= bool(take_shard(options, shard, shard_count));
        if (!has_all) break;
        EXPECT_EQ(options.first_run, next);
        EXPECT_EQ((options.first_run - 11) % kJournalBlockRunsMax, 0u);
        next += options.run_count;
      }
      EXPECT_EQ(has_all, shard_count <= (run_count + 255) / 256);
      EXPECT_TRUE(!has_all || next == 11 + run_count) << next;
    }
  }
  CampaignOptions options;
  EXPECT_FALSE(take_shard(options, 0, 2));
  EXPECT_FALSE(take_shard(options, 3, 2));
  options.find_limit = 1;
  EXPECT_FALSE(take_shard(options, 1, 2));
  options.find_limit = 0;
  options.seconds = 1;
  EXPECT_FALSE(take_shard(options, 1, 2));
}

TEST(MergedBlocks, RefuseWhatIsNoCampaign) {
  CampaignOptions options = campaign_of("interlock", 600, "");
  const std::vector<std::string> folders = run_shards(options, 3);
  EXPECT_EQ(error_of_merge(folders), "");
  EXPECT_THAT(error_of_merge({folders[0], folders[2]}), HasSubstr("is in no shard"));
  // Those at either end are missed, too.
  EXPECT_EQ(error_of_merge({folders[1], folders[2]}),
            "run 0 is in no shard: the campaign has the runs 0 to 599.");
  EXPECT_EQ(error_of_merge({folders[0], folders[1]}),
            "run 512 is in no shard: the campaign has the runs 0 to 599.");
  options.run_count = 700;
  EXPECT_THAT(error_of_merge({folders[0], folders[1], run_shards(options, 2)[1]}),
              HasSubstr("are no shards of one campaign"));
  options.run_count = 600;
  EXPECT_THAT(error_of_merge({folders[0], folders[1], folders[1]}), HasSubstr("is in two shards"));
  EXPECT_THAT(error_of_merge({fresh_folder("none")}), HasSubstr("cannot read"));
  options.seed = 9;
  const std::vector<std::string> others = run_shards(options, 2);
  EXPECT_THAT(error_of_merge({others[0], fresh_folder("x")}), HasSubstr("cannot read"));
  const std::string other = fresh_folder("other");
  options.out_dir = other;
  options.first_run = 256;
  options.run_count = 256;
  reported(options);
  const std::string path = journal_path(other);
  EXPECT_THAT(error_of_merge({other, others[0]}), HasSubstr("are no shards of one campaign"));
  std::string text = read_file(path).value();
  ASSERT_TRUE(write_file(path, text.substr(0, text.rfind("end "))));
  EXPECT_THAT(error_of_merge({other}), HasSubstr("has not ended"));
  ASSERT_TRUE(write_file(path, journal_of({JournalHeader{"00"}})));
  EXPECT_THAT(error_of_merge({other}), HasSubstr("was written by another build"));
  ASSERT_TRUE(write_file(
      path, journal_of({JournalHeader{build_id()},
                        JournalCampaign{3, 0, 300, 0, 0, "interlock fuzz --encoder=interlock"},
                        JournalEnd{}})));
  EXPECT_THAT(error_of_merge({other}), HasSubstr("run 0 is in no shard"));
  ASSERT_TRUE(write_file(
      path, journal_of({JournalHeader{build_id()},
                        JournalCampaign{3, 0, 0, 1500, 2, "interlock fuzz --encoder=interlock"},
                        JournalEnd{}})));
  EXPECT_THAT(error_of_merge({other}),
              HasSubstr("--seed=3 --first-run=0 --seconds=1.5 --max-finds=2 has no fixed number"));
}

}  // namespace
}  // namespace interlock::merge_test
