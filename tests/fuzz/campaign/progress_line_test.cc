#include "fuzz/campaign/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encoder/sync/encoder.h"
#include "fuzz/campaign/run_ranges.h"

namespace interlock::progress_line_test {
namespace {

TEST(DurationText, HasTwoUnitsAtMost) {
  EXPECT_EQ(duration_text(0), "0s");
  EXPECT_EQ(duration_text(0.2), "1s");
  EXPECT_EQ(duration_text(59), "59s");
  EXPECT_EQ(duration_text(60), "1m00s");
  EXPECT_EQ(duration_text(3599), "59m59s");
  EXPECT_EQ(duration_text(3600), "1h00m");
  EXPECT_EQ(duration_text(86'399), "23h59m");
  EXPECT_EQ(duration_text(100'000), "1d03h");
}

TEST(ProgressLine, SaysHowFarACampaignOfRunsIs) {
  CampaignProgress progress;
  progress.run_count = 2560;
  progress.planned_run_count = 20'000;
  progress.failing_run_count = 500;
  progress.findings = {{"WAR", 471}, {"RAW", 20}, {"WAW", 3}, {"overlap", 1}};
  progress.cell_count = 212;
  progress.seconds = 2;
  progress.judged_run_count = 512;
  progress.seconds_since_new = 11.5;
  EXPECT_EQ(progress_line(progress),
            "2560 of 20000 programs (12%), 256/s, 1m09s left; findings: WAR 471, RAW 20, WAW 3, "
            "1 more cause; 212 cells, none new for 12s");
}

TEST(ProgressLine, SaysHowMuchTimeIsLeft) {
  CampaignProgress progress;
  progress.run_count = 9;
  progress.seconds = 3;
  progress.judged_run_count = 9;
  progress.seconds_left = 61;
  EXPECT_EQ(progress_line(progress), "9 programs, 3.0/s, 1m01s left; no findings");
  progress.seconds = 0.1;
  EXPECT_EQ(progress_line(progress), "9 programs; no findings");
}

// Of a campaign itself: what is counted is what the report counts.
TEST(ProgressLine, IsToldWhatTheReportTells) {
  CampaignOptions options;
  options.encoder = find_encoder("mlx-2024");
  options.run_count = 200;
  CampaignProgress last;
  options.on_progress = [&](const CampaignProgress& progress) { last = progress; };
  const auto report = run_campaign(options);
  ASSERT_TRUE(report);
  EXPECT_EQ(last.run_count, 200u);
  EXPECT_EQ(last.planned_run_count, 200u);
  EXPECT_EQ(last.judged_run_count, 200u);
  EXPECT_EQ(last.failing_run_count, report->failing_run_count);
  ASSERT_EQ(last.findings.size(), 1u);
  EXPECT_EQ(last.findings[0].signature, "WAR");
  EXPECT_GE(last.findings[0].run_count, report->failing_run_count);
  EXPECT_EQ(last.cell_count, report->finds[0].signatures.size());
}

TEST(RunRanges, KnowWhatIsFree) {
  RunRanges ranges;
  ranges.add(10, 5);
  ranges.add(15, 5);
  ranges.add(30, 0);
  ranges.add(40, 10);
  ranges.add(45, 2);
  EXPECT_EQ(ranges.next_free(9), 9u);
  EXPECT_EQ(ranges.next_free(10), 20u);
  EXPECT_EQ(ranges.next_free(19), 20u);
  EXPECT_EQ(ranges.end_of_free(0), 10u);
  EXPECT_EQ(ranges.end_of_free(20), 40u);
  EXPECT_EQ(ranges.next_free(46), 50u);
  EXPECT_EQ(ranges.end_of_free(50), UINT64_MAX);
  EXPECT_EQ(ranges.free_count(0, 100), 80u);
  EXPECT_EQ(ranges.free_count(12, 18), 0u);
  EXPECT_EQ(ranges.free_count(18, 45), 20u);
}

}  // namespace
}  // namespace interlock::progress_line_test
