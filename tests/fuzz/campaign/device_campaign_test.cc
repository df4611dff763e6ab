// Campaigns whose programs run on a device, too: what a fault of the device does to them. The
// device is the CPU backend in a worker process that has the fault.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "backends/remote/remote_backend.h"
#include "encoder/text/files.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "tests/program_count.h"

namespace interlock::device_campaign_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint64_t kRuns = 60;

std::string folder(const std::string& name) {
  return testing::TempDir() + "interlock_device_" + std::to_string(getpid()) + "_" + name;
}

CampaignReport campaign_with(const std::string& fault, int period, const std::string& encoder,
                             double timeout_seconds = 60) {
  RemoteBackend device(
      {"faulty", {FAULTY_WORKER, fault, std::to_string(period)}, timeout_seconds, nullptr});
  EXPECT_TRUE(device.availability().is_available);
  CampaignOptions options;
  options.encoder = find_encoder(encoder);
  options.run_count = kRuns;
  options.out_dir = folder(fault);
  std::filesystem::remove_all(options.out_dir);
  options.keeps_all_signatures = true;
  options.oracles.device.backend = &device;
  options.oracles.device.numbers_period = 1;
  auto report = run_campaign(options);
  EXPECT_TRUE(report.has_value());
  return std::move(report).value();
}

std::vector<std::string> texts_of(const CampaignReport& report) {
  std::vector<std::string> texts;
  for (const CampaignFind& find : report.finds) texts.push_back(find.text);
  return texts;
}

class FaultyDevice : public testing::TestWithParam<std::string> {};

TEST_P(FaultyDevice, IsReportedWithItsProgramAndTheCampaignGoesOn) {
  if (is_slow_build() && GetParam() != "crash") GTEST_SKIP() << "One fault takes the same way.";
  const CampaignReport sound = campaign_with("none", 1, "mlx-2024");
  EXPECT_THAT(sound.device.failures, IsEmpty());
  EXPECT_EQ(sound.device.program_count, kRuns);
  // A program takes from 10 to 50 runs, so that none of five in a row goes through.
  const CampaignReport report =
      campaign_with(GetParam(), 500, "mlx-2024", GetParam() == "hang" ? 1 : 60);
  ASSERT_GE(report.device.failures.size(), 2u);
  EXPECT_LE(report.device.failures.size(), 20u);
  EXPECT_EQ(report.device.failure_count, report.device.failures.size());
  EXPECT_EQ(report.device.program_count + report.device.failure_count, kRuns);
  EXPECT_FALSE(report.device.is_given_up);
  EXPECT_EQ(report.run_count, kRuns);
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_GT(sound.finds.size(), 4u);
  EXPECT_EQ(texts_of(report), texts_of(sound));
  for (const DeviceFailure& failure : report.device.failures) {
    EXPECT_THAT(failure.path,
                HasSubstr("device-failure-" + std::to_string(failure.run_index) + ".ilk"));
    EXPECT_TRUE(parse_file(failure.path).has_value());
  }
}

// What the device did is not done again, and not lost.
TEST(DeviceCampaign, IsToldByItsJournal) {
  RemoteBackend device({"faulty", {FAULTY_WORKER, "crash", "300"}, 60, nullptr});
  CampaignOptions options;
  options.encoder = find_encoder("mlx-2024");
  options.run_count = kRuns;
  options.out_dir = folder("journal");
  options.oracles.device.backend = &device;
  std::filesystem::remove_all(options.out_dir);
  auto first = run_campaign(options);
  ASSERT_TRUE(first);
  ASSERT_GE(first->device.failure_count, 1u);
  auto second = run_campaign(options);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->was_complete);
  EXPECT_EQ(second->run_count, kRuns);
  const DeviceSummary& a = first->device;
  const DeviceSummary& b = second->device;
  EXPECT_EQ(a.program_count, b.program_count);
  EXPECT_EQ(a.schedule_count, b.schedule_count);
  EXPECT_EQ(a.predicted_output_count, b.predicted_output_count);
  EXPECT_EQ(a.diverging_output_count, b.diverging_output_count);
  EXPECT_EQ(a.judged_dispatch_count, b.judged_dispatch_count);
  EXPECT_EQ(a.bound_ratio_max, b.bound_ratio_max);
  EXPECT_EQ(a.clean_trial_count, b.clean_trial_count);
  EXPECT_EQ(a.hazard_trial_count, b.hazard_trial_count);
  ASSERT_EQ(a.failures.size(), b.failures.size());
  for (size_t i = 0; i < a.failures.size(); ++i) {
    EXPECT_EQ(a.failures[i].run_index, b.failures[i].run_index);
    EXPECT_EQ(a.failures[i].message, b.failures[i].message);
    EXPECT_EQ(a.failures[i].path, b.failures[i].path);
    EXPECT_TRUE(std::filesystem::exists(b.failures[i].path));
  }
}

INSTANTIATE_TEST_SUITE_P(Campaign, FaultyDevice, testing::Values("crash", "hang", "lose"));

TEST(DeviceCampaign, EndsWithADeviceThatDoesNotComeBack) {
  const CampaignReport report = campaign_with("crash", 1, "mlx-2024");
  EXPECT_TRUE(report.device.is_given_up);
  EXPECT_THAT(report.device.failures, SizeIs(5));
  EXPECT_EQ(report.run_count, 5u);
  EXPECT_FALSE(report.was_stopped);
}

// Host threads of the campaign end with each block of programs, and the worker outlives them.
TEST(DeviceCampaign, LosesOneProgramToOneFailureWhateverTheNumberOfJobs) {
  CampaignOptions options;
  options.encoder = find_encoder("interlock");
  options.run_count = is_slow_build() ? 60 : 300;
  options.job_count = 2;
  options.oracles.device.overlap_trial_count = 1;
  options.oracles.device.numbers_period = 0;
  const auto report_with = [&](const std::string& fault, uint64_t period) {
    RemoteBackend device({"faulty", {FAULTY_WORKER, fault, std::to_string(period)}, 60, nullptr});
    options.oracles.device.backend = &device;
    return run_campaign(options).value();
  };
  const CampaignReport sound = report_with("none", 1);
  EXPECT_EQ(sound.device.failure_count, 0u);
  // A program has three runs at most that are not counted, and more that are: so after the first
  // crash too few are left for a second.
  const CampaignReport report = report_with("crash", sound.device.schedule_count);
  EXPECT_EQ(report.device.failure_count, 1u);
  EXPECT_EQ(report.device.program_count, options.run_count - 1);
  EXPECT_EQ(report.run_count, options.run_count);
}

TEST(DeviceCampaign, MinimizesAndKeepsAProgramThatAGuardComplainsOf) {
  const CampaignReport report = campaign_with("stray", 1, "interlock");
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(report.disagreements[0],
              HasSubstr("stage device: On faulty: A kernel wrote bytes around memory 'a'. "
                        "The program, minimized from "));
  EXPECT_THAT(report.device.failures, IsEmpty());
  EXPECT_EQ(report.device.refused_count, 0u);
}

TEST(DeviceCampaign, CountsWhatADeviceRefusesAndGoesOn) {
  const CampaignReport report = campaign_with("refuse", 1, "interlock");
  EXPECT_EQ(report.device.refused_count, kRuns);
  EXPECT_EQ(report.device.program_count, 0u);
  EXPECT_THAT(report.device.failures, IsEmpty());
  EXPECT_THAT(report.disagreements, IsEmpty());
}

TEST(DeviceCampaign, MinimizesAndKeepsAProgramWithWrongNumbers) {
  const CampaignReport report = campaign_with("scale", 1, "interlock");
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(report.disagreements[0], HasSubstr("stage device: Issue order, run again, leaves"));
  EXPECT_THAT(report.disagreements[0], HasSubstr(" to 1 dispatches: "));
  const size_t path_begin = report.disagreements[0].find(folder("scale"));
  ASSERT_NE(path_begin, std::string::npos);
  const std::string path =
      report.disagreements[0].substr(path_begin, report.disagreements[0].rfind('.') - path_begin);
  const auto program = parse_file(path);
  ASSERT_TRUE(program.has_value()) << path;
  EXPECT_THAT(print(*program), HasSubstr("dispatch scale"));
}

TEST(DeviceCampaign, JudgesADeviceThatRoundsOtherwiseByFloat64) {
  const CampaignReport report = campaign_with("sloppy", 1, "interlock");
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(report.disagreements[0], HasSubstr("stage device: On faulty: "));
  EXPECT_THAT(report.disagreements[0], HasSubstr(" to 1 dispatches: "));
}

TEST(DeviceCampaign, HoldsEveryScheduleOfACleanProgramAgainstIssueOrder) {
  const CampaignReport report = campaign_with("schedule", 1, "interlock");
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(report.disagreements[0],
              HasSubstr("leaves other bytes on faulty than issue order, although no check finds"));
}

TEST(DeviceCampaign, HoldsEveryScheduleOfAHazardAgainstTheShadowMachine) {
  const CampaignReport report = campaign_with("schedule", 1, "none");
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(
      report.disagreements[0],
      HasSubstr("changes an output on faulty, although the shadow machine says that it cannot"));
}

TEST(DeviceCampaign, HoldsEveryTrialOfACleanProgramAgainstIssueOrder) {
  const CampaignReport report = campaign_with("overlap", 7, "interlock");
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_THAT(report.disagreements[0], HasSubstr("Overlap mode leaves other bytes on faulty"));
}

TEST(DeviceCampaign, CountsWhatAHazardDoesInOverlapModeAndSaysNothingMore) {
  const CampaignReport report = campaign_with("overlap", 1, "none");
  ASSERT_THAT(report.disagreements, SizeIs(1));  // Of the first program without a hazard.
  EXPECT_GT(report.device.hazard_program_count, 0u);
  EXPECT_EQ(report.device.clean_trial_count, 1u);
}

}  // namespace
}  // namespace interlock::device_campaign_test
