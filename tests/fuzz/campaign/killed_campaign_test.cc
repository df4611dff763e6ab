// A campaign that was killed, wherever that was, or interrupted, goes on when it is started again:
// what it leaves in its folder is what it leaves undisturbed, byte for byte.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "encoder/program/hash.h"
#include "encoder/program/stop.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal.h"
#include "tests/fuzz/campaign/campaign_folders.h"
#include "tests/program_count.h"

namespace interlock::killed_campaign_test {
namespace {

using campaign_folders::campaign_of;
using campaign_folders::expect_same_report;
using campaign_folders::Files;
using campaign_folders::files_in;
using campaign_folders::fresh_folder;
using campaign_folders::reported;

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

struct Sample {
  std::string name;
  std::string_view encoder;
  bool keeps_all_signatures;
  uint64_t find_limit;
  uint32_t job_count;
  bool is_guided = false;
};

CampaignOptions campaign_of(const Sample& sample, const std::string& folder) {
  // Two blocks of the journal, of which the second is not whole.
  const uint64_t run_count = sample.is_guided ? is_slow_build() ? 128 : 192 : 260;
  CampaignOptions options = campaign_of(sample.encoder, run_count, folder);
  options.keeps_all_signatures = sample.keeps_all_signatures;
  options.find_limit = sample.find_limit;
  options.job_count = sample.job_count;
  options.is_guided = sample.is_guided;
  options.unguided_run_count = 64;
  options.finds_per_shape = is_slow_build() ? 1 : 2;
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
    expect_same_report(reported(options), undisturbed_);
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
  for (uint64_t find = 1; find <= find_count_; find += is_slow_build() ? 8 : 4) {
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
  const size_t step = journal.size() / (is_slow_build() ? 2 : 4);
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
  for (uint64_t at = 1; at < counted.poll_count(); at = at * (is_slow_build() ? 60 : 12) + 1) {
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
                                         Sample{"ALimit", "mlx-2024", true, 3, 2},
                                         Sample{"Guided", "mlx-2024", false, 0, 2, true}),
                         [](const auto& sample) { return sample.param.name; });

}  // namespace
}  // namespace interlock::killed_campaign_test
