// A campaign that was killed, wherever that was, or interrupted, goes on when it is started again:
// what it leaves in its folder is what it leaves undisturbed, byte for byte.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/program/stop.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal.h"
#include "tests/program_count.h"

namespace interlock::resume_test {
namespace {

using testing::HasSubstr;

using Files = std::map<std::string, std::string>;

Files files_in(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename().string()] = read_file(entry.path().string()).value();
  }
  return files;
}

std::string fresh_folder(const std::string& name) {
  const std::string path =
      testing::TempDir() + fmt::format("interlock_resume_{}_{}", getpid(), name);
  std::filesystem::remove_all(path);
  return path;
}

CampaignOptions campaign_of(std::string_view encoder, uint64_t run_count,
                            const std::string& folder) {
  CampaignOptions options;
  options.encoder = find_encoder(encoder);
  options.seed = 3;
  options.run_count = run_count;
  options.out_dir = folder;
  return options;
}

CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << report.error().message;
  return report ? std::move(*report) : CampaignReport();
}

// Runs the campaign in a process of its own. True if it was killed.
bool is_killed(const std::function<void()>& campaign) {
  const pid_t child = fork();
  if (child == 0) {
    campaign();
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status);
}

// Kills itself after so many writes of the journal, and likewise after finds that it shows.
bool is_killed_at(CampaignOptions options, uint64_t write_count, uint64_t find_count) {
  return is_killed([&] {
    const auto count_down = [](uint64_t& count) {
      if (--count == 0) kill(getpid(), SIGKILL);
    };
    options.on_journal_write = [&] { count_down(write_count); };
    options.on_find = [&](const CampaignFind&) { count_down(find_count); };
    reported(options);
  });
}

// What it counts is that of the undisturbed one, too.
void expect_same(const CampaignReport& report, const CampaignReport& undisturbed) {
  EXPECT_EQ(report.run_count, undisturbed.run_count);
  EXPECT_EQ(report.failing_run_count, undisturbed.failing_run_count);
  EXPECT_EQ(report.cpu_run_count, undisturbed.cpu_run_count);
  ASSERT_EQ(report.finds.size(), undisturbed.finds.size());
  for (size_t i = 0; i < report.finds.size(); ++i) {
    EXPECT_EQ(report.finds[i].signature, undisturbed.finds[i].signature);
    EXPECT_EQ(report.finds[i].is_known, false);
  }
}

// What a journal of these records holds.
std::string journal_of(const std::vector<JournalRecord>& records) {
  JournalContext context;
  std::string text;
  for (const JournalRecord& record : records) text += journal_line(record, context);
  return text;
}

struct Sample {
  std::string name;
  std::string_view encoder;
  bool keeps_all_signatures;
  uint64_t find_limit;
  uint32_t job_count;
};

CampaignOptions campaign_of(const Sample& sample, const std::string& folder) {
  CampaignOptions options = campaign_of(sample.encoder, is_slow_build() ? 260 : 600, folder);
  options.keeps_all_signatures = sample.keeps_all_signatures;
  options.find_limit = sample.find_limit;
  options.job_count = sample.job_count;
  options.finds_per_shape = is_slow_build() ? 1 : 3;
  return options;
}

class KilledCampaign : public testing::TestWithParam<Sample> {
 protected:
  KilledCampaign() {
    CampaignOptions options = campaign_of(GetParam(), folder_);
    options.out_dir = whole_folder_;
    options.job_count = 1;
    options.on_journal_write = [&] { ++write_count_; };
    options.on_find = [&](const CampaignFind&) { ++find_count_; };
    undisturbed_ = reported(options);
    files_ = files_in(whole_folder_);
  }
  ~KilledCampaign() override {
    std::filesystem::remove_all(whole_folder_);
    std::filesystem::remove_all(folder_);
  }

  // As a second start leaves it.
  void expect_undisturbed(const std::string& where) {
    CampaignOptions options = campaign_of(GetParam(), folder_);
    recalled_ = {};
    options.on_recall = [&](const CampaignProgress& progress) { recalled_ = progress; };
    expect_same(reported(options), undisturbed_);
    EXPECT_EQ(files_in(folder_), files_) << where;
  }

  const std::string whole_folder_ = fresh_folder("whole");
  const std::string folder_ = fresh_folder("killed");
  uint64_t write_count_ = 0;
  uint64_t find_count_ = 0;
  CampaignReport undisturbed_;
  Files files_;
  CampaignProgress recalled_;  // Before the second start made a run.
};

TEST_P(KilledCampaign, GoesOnAfterEachWriteOfTheJournal) {
  ASSERT_GE(write_count_, 4u);
  for (uint64_t write = 1; write <= write_count_; ++write) {
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(is_killed_at(campaign_of(GetParam(), folder_), write, 0));
    expect_undisturbed(fmt::format("killed after write {}", write));
  }
}

TEST_P(KilledCampaign, GoesOnAfterEachFind) {
  for (uint64_t find = 1; find <= find_count_; find += is_slow_build() ? 8 : 2) {
    std::filesystem::remove_all(folder_);
    ASSERT_TRUE(is_killed_at(campaign_of(GetParam(), folder_), 0, find));
    expect_undisturbed(fmt::format("killed after find {}", find));
    // What was shown is known from the journal, whatever the next command is.
    EXPECT_GT(recalled_.find_count, 0u) << "killed after find " << find;
  }
}

// One write further each time.
TEST_P(KilledCampaign, ComesToItsEndThoughItIsKilledAgainAndAgain) {
  uint64_t kill_count = 0;
  while (is_killed_at(campaign_of(GetParam(), folder_), 1, 0)) ++kill_count;
  EXPECT_EQ(kill_count, write_count_);
  EXPECT_EQ(files_in(folder_), files_);
  expect_undisturbed("at its end");
}

// A record that was written in part, at any of its bytes, and files that were not written yet.
TEST_P(KilledCampaign, DropsATornRecord) {
  const std::string& journal = files_.at("campaign.journal");
  const size_t step = journal.size() / (is_slow_build() ? 2 : 7);
  for (size_t size = 0; size <= journal.size(); size += size < 40 ? 39 : step) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(write_file(journal_path(folder_), journal.substr(0, size)));
    expect_undisturbed(fmt::format("{} bytes", size));
  }
}

// What was put away because of the stop, before its time, is not there in the end.
TEST_P(KilledCampaign, GoesOnAfterAnInterruption) {
  Stop counted;
  counted.request_at_poll(UINT64_MAX);
  CampaignOptions options = campaign_of(GetParam(), folder_);
  options.job_count = 1;
  options.stop = &counted;
  reported(options);
  uint64_t provisional_count = 0;
  for (uint64_t at = 1; at < counted.poll_count(); at = at * (is_slow_build() ? 60 : 5) + 1) {
    std::filesystem::remove_all(folder_);
    Stop stop;
    stop.request_at_poll(at);
    options.stop = &stop;
    EXPECT_TRUE(reported(options).was_stopped);
    provisional_count += files_in(folder_).size() - 1;
    expect_undisturbed(fmt::format("stopped at poll {}", at));
  }
  EXPECT_GT(provisional_count, 0u);
}

// At any time: at most once in the campaign, most often in the middle of it.
TEST_P(KilledCampaign, GoesOnWheneverItIsKilled) {
  const int count = proof_count(100, 2, 2);
  const auto start = std::chrono::steady_clock::now();
  expect_undisturbed("undisturbed");
  const auto length = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - start);
  for (int i = 0; i < count; ++i) {
    std::filesystem::remove_all(folder_);
    const pid_t child = fork();
    if (child == 0) {
      reported(campaign_of(GetParam(), folder_));
      _exit(0);
    }
    std::this_thread::sleep_for(length *
                                static_cast<int>(splitmix64(static_cast<uint64_t>(i)) % 100) / 100);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    expect_undisturbed(fmt::format("kill {}", i));
  }
  if (count < 100 || GetParam().name != "Causes") return;
  print_proof(
      count,
      "killed at any time and started again, a campaign ends with the files of one that was not");
}

INSTANTIATE_TEST_SUITE_P(Of, KilledCampaign,
                         testing::Values(Sample{"Causes", "none", false, 0, 2},
                                         Sample{"AllSignatures", "mlx-2024", true, 0, 1},
                                         Sample{"ALimit", "mlx-2024", true, 3, 2}),
                         [](const auto& sample) { return sample.param.name; });

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
  expect_same(reported(campaign_of("mlx-2024", 300, folder)), first);
  expect_same(reported(campaign_of("none", 300, folder)), second);
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
