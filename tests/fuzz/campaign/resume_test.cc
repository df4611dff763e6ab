// What a campaign makes of the journal that it finds in its folder: its own, that of others, and
// what is none.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "encoder/program/hash.h"
#include "encoder/program/stop.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal.h"
#include "tests/fuzz/campaign/campaign_folders.h"

namespace interlock::resume_test {
namespace {

using campaign_folders::campaign_of;
using campaign_folders::expect_same_report;
using campaign_folders::Files;
using campaign_folders::files_in;
using campaign_folders::fresh_folder;
using campaign_folders::journal_of;
using campaign_folders::reported;
using testing::HasSubstr;

TEST(Resume, MakesNoRunAgain) {
  CampaignOptions options = campaign_of("mlx-2024", 300, fresh_folder("again"));
  uint64_t progress_runs = 0;
  options.on_recall = [&](const CampaignProgress& progress) { progress_runs = progress.run_count; };
  const CampaignReport first = reported(options);
  EXPECT_FALSE(first.was_complete);
  EXPECT_EQ(progress_runs, 0u);
  const CampaignReport again = reported(options);
  EXPECT_TRUE(again.was_complete);
  EXPECT_EQ(again.run_count, 300u);
  EXPECT_EQ(progress_runs, 300u);
  options.run_count = 500;
  const CampaignReport more = reported(options);
  EXPECT_FALSE(more.was_complete);
  EXPECT_EQ(more.run_count, 200u);
  options.first_run = 100;
  EXPECT_EQ(reported(options).run_count, 100u);
}

// Each of them takes no time, which says nothing of how many runs can be judged at once.
TEST(Resume, MakesRunsBetweenManyOthers) {
  CampaignOptions options = campaign_of("interlock", 1, fresh_folder("between"));
  constexpr uint64_t kGaps = 70;
  for (uint64_t gap = 0; gap < kGaps; ++gap) {
    options.first_run = 2 * gap + 1;
    reported(options);
  }
  options.first_run = 0;
  options.run_count = 2 * kGaps;
  EXPECT_EQ(reported(options).run_count, kGaps);
}

// A journal may come from anybody, and its lines may be long.
TEST(Resume, CanBeInterruptedWhileItReads) {
  CampaignOptions options = campaign_of("none", 40, fresh_folder("reads"));
  reported(options);
  const auto files = campaign_folders::files_in(options.out_dir);
  Stop stop;
  stop.request_at_poll(20);
  options.stop = &stop;
  const CampaignReport report = reported(options);
  EXPECT_TRUE(report.was_stopped);
  EXPECT_EQ(report.run_count, 0u);
  EXPECT_EQ(campaign_folders::files_in(options.out_dir), files);
}

// Of one fault two seeds leave one file, and the second tells of nothing that the first has told.
TEST(Resume, AddsToWhatAnotherSeedFound) {
  CampaignOptions options = campaign_of("mlx-2024", 300, fresh_folder("seeds"));
  const CampaignReport first = reported(options);
  ASSERT_EQ(first.finds.size(), 1u);
  options.seed = 4;
  bool has_new = false;
  options.on_find = [&](const CampaignFind& find) { has_new |= !find.is_better_one; };
  const CampaignReport second = reported(options);
  EXPECT_FALSE(has_new);
  EXPECT_EQ(second.run_count, 300u);
  ASSERT_EQ(second.finds.size(), 1u);
  EXPECT_TRUE(second.finds[0].is_known);
  const Files files = files_in(options.out_dir);
  EXPECT_EQ(files.size(), 2u);
  EXPECT_EQ(files.at("WAR.ilk"), second.finds[0].text);
  EXPECT_THAT(second.finds[0].text,
              HasSubstr(fmt::format("--seed={} --first-run={} ", second.finds[0].seed,
                                    second.finds[0].run_index)));
  EXPECT_GT(second.finds[0].signatures.size(), first.finds[0].signatures.size());
}

TEST(Resume, KeepsTheFindsOfAnotherEncoderApart) {
  const std::string folder = fresh_folder("encoders");
  const CampaignReport first = reported(campaign_of("mlx-2024", 300, folder));
  const std::string text = files_in(folder).at("WAR.ilk");
  const CampaignReport second = reported(campaign_of("none", 300, folder));
  for (const CampaignFind& find : second.finds) EXPECT_FALSE(find.is_known);
  const Files files = files_in(folder);
  EXPECT_EQ(files.at("WAR.ilk"), text);
  EXPECT_THAT(files.at("WAR.2.ilk"), HasSubstr("--encoder=none"));
  // Each goes on by itself.
  expect_same_report(reported(campaign_of("mlx-2024", 300, folder)), first);
  expect_same_report(reported(campaign_of("none", 300, folder)), second);
  EXPECT_EQ(files_in(folder), files);
}

TEST(Resume, KnowsHowMuchTimeIsLeft) {
  CampaignOptions options = campaign_of("none", 0, fresh_folder("seconds"));
  options.seconds = 1e6;
  Stop stop;
  stop.request_at_poll(10'000);
  options.stop = &stop;
  std::filesystem::create_directories(options.out_dir);
  JournalBlock block{0, {}, 1'000'000'001};
  block.outcomes.resize(1);
  block.outcomes[0].ran = true;
  ASSERT_TRUE(write_file(
      journal_path(options.out_dir),
      journal_of({JournalHeader{build_id()},
                  JournalCampaign{3, 0, 0, 1'000'000'000, 0, "interlock fuzz --encoder=none"},
                  block})));
  EXPECT_EQ(reported(options).run_count, 1u);
}

TEST(Resume, TakesNoJournalThatWasMadeUp) {
  const CampaignOptions options = campaign_of("interlock", 10, fresh_folder("made_up"));
  std::filesystem::create_directories(options.out_dir);
  JournalBlock block{0, {}, 0};
  block.outcomes.resize(1);
  block.outcomes[0].ran = true;
  block.outcomes[0].signatures = {"RAW-view-copy-fill"};
  ASSERT_TRUE(write_file(
      journal_path(options.out_dir),
      journal_of({JournalHeader{build_id()},
                  JournalCampaign{3, 0, 10, 0, 0, "interlock fuzz --encoder=interlock"}, block})));
  const auto report = run_campaign(options);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message,
              HasSubstr("run 0 of seed 3 does not give 'RAW-view-copy-fill'"));
}

// Two campaigns of a seed leave each other's runs out.
TEST(Resume, TakesNoRunTwice) {
  CampaignOptions options = campaign_of("interlock", 10, fresh_folder("twice"));
  std::filesystem::create_directories(options.out_dir);
  JournalBlock block{0, {}, 0};
  block.outcomes.resize(8);
  for (RunOutcome& outcome : block.outcomes) outcome.ran = true;
  const std::string subject = "interlock fuzz --encoder=interlock";
  std::vector<JournalRecord> records = {JournalHeader{build_id()},
                                        JournalCampaign{3, 0, 10, 0, 0, subject}, block,
                                        JournalCampaign{4, 5, 10, 0, 0, subject}};
  block.first_run = 7;
  records.push_back(block);
  ASSERT_TRUE(write_file(journal_path(options.out_dir), journal_of(records)));
  EXPECT_EQ(reported(options).run_count, 10u);  // Of another seed.
  records[3] = JournalCampaign{3, 5, 10, 0, 0, subject};
  ASSERT_TRUE(write_file(journal_path(options.out_dir), journal_of(records)));
  const auto report = run_campaign(options);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("tells twice of run 7 of a seed"));
}

// A file that an interruption put away, and that the campaign does not come to, goes when it goes
// on; unless somebody has changed it.
TEST(Resume, RemovesWhatAnInterruptionPutAwayBeforeItsTime) {
  const CampaignOptions options = campaign_of("interlock", 10, fresh_folder("provisional"));
  const JournalCampaign campaign{3, 0, 10, 0, 0, "interlock fuzz --encoder=interlock"};
  reported(options);
  const Files files = files_in(options.out_dir);
  std::filesystem::remove_all(options.out_dir);
  std::filesystem::create_directories(options.out_dir);
  ASSERT_TRUE(write_file(
      journal_path(options.out_dir),
      journal_of({JournalHeader{build_id()}, campaign, JournalProvisional{"old.ilk", fnv1a("old")},
                  JournalProvisional{"changed.ilk", fnv1a("old")}})));
  ASSERT_TRUE(write_file(options.out_dir + "/old.ilk", "old"));
  ASSERT_TRUE(write_file(options.out_dir + "/changed.ilk", "new"));
  ASSERT_TRUE(write_file(options.out_dir + "/other.ilk", "old"));
  reported(options);
  Files expected = files;
  expected["changed.ilk"] = "new";
  expected["other.ilk"] = "old";
  EXPECT_EQ(files_in(options.out_dir), expected);
}

// Of a journal that cannot be gone on with nothing changes.
TEST(Resume, RefusesAJournalThatIsNotItsOwn) {
  const CampaignOptions options = campaign_of("none", 10, fresh_folder("foreign"));
  std::filesystem::create_directories(options.out_dir);
  const std::string path = journal_path(options.out_dir);
  for (const auto& [text, error] : std::map<std::string, std::string>{
           {"my notes\n", "campaign.journal:1: error: this is no journal of `interlock fuzz`."},
           {"my notes", "campaign.journal:1: error: this is no journal of `interlock fuzz`."},
           {journal_of({JournalHeader{"00"}}), "was written by another build"},
           {"interlock-journal 9 x\n", "the journal has version '9'"}}) {
    ASSERT_TRUE(write_file(path, text));
    const auto report = run_campaign(options);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, HasSubstr(error));
    EXPECT_EQ(read_file(path).value(), text);
  }
  std::filesystem::remove(path);
  std::filesystem::create_directories(path);
  EXPECT_FALSE(run_campaign(options));
}

TEST(Resume, RefusesAFolderInWhichAnotherCampaignRuns) {
  const CampaignOptions options = campaign_of("none", 10, fresh_folder("locked"));
  std::filesystem::create_directories(options.out_dir);
  {
    const auto journal = Journal::open(options.out_dir, nullptr);
    ASSERT_TRUE(journal);
    const auto report = run_campaign(options);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message, HasSubstr("another campaign runs in the folder"));
  }
  EXPECT_TRUE(run_campaign(options));
}

TEST(Resume, KnowsItsBuild) {
  EXPECT_GE(build_id().size(), 16u) << "The linker gives none; other builds are not told apart.";
  EXPECT_EQ(build_id(), build_id());
}

}  // namespace
}  // namespace interlock::resume_test
