// Folders of campaigns, for tests of what they leave there.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/sync/encoder.h"
#include "encoder/text/files.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/campaign/journal.h"

namespace interlock::campaign_folders {

using Files = std::map<std::string, std::string>;

// By path within the folder.
inline Files files_in(const std::string& folder) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    files[entry.path().lexically_relative(folder).string()] =
        read_file(entry.path().string()).value();
  }
  return files;
}

inline std::string fresh_folder(const std::string& name) {
  const std::string path =
      testing::TempDir() + fmt::format("interlock_resume_{}_{}", getpid(), name);
  std::filesystem::remove_all(path);
  return path;
}

inline CampaignOptions campaign_of(std::string_view encoder, uint64_t run_count,
                                   const std::string& folder) {
  CampaignOptions options;
  options.encoder = find_encoder(encoder);
  options.seed = 3;
  options.run_count = run_count;
  options.out_dir = folder;
  return options;
}

inline CampaignReport reported(const CampaignOptions& options) {
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << report.error().message;
  return report ? std::move(*report) : CampaignReport();
}

// What it counts is that of the undisturbed one, too.
inline void expect_same_report(const CampaignReport& report, const CampaignReport& undisturbed) {
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
inline std::string journal_of(const std::vector<JournalRecord>& records) {
  JournalContext context;
  std::string text;
  for (const JournalRecord& record : records) text += journal_line(record, context);
  return text;
}

}  // namespace interlock::campaign_folders
