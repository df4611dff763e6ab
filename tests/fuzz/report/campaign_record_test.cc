// What a folder tells, against what the campaign that wrote it says of itself.
#include "fuzz/report/campaign_record.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "fuzz/report/hazard_matrix.h"
#include "tests/fuzz/campaign/campaign_folders.h"

namespace interlock::campaign_record_test {
namespace {

using campaign_folders::campaign_of;
using campaign_folders::fresh_folder;
using campaign_folders::journal_of;
using campaign_folders::reported;
using testing::ElementsAre;
using testing::HasSubstr;

using Counts = std::map<std::string, uint64_t>;

Counts counts_of_causes(const SubjectRecord& subject) {
  Counts counts;
  for (const CauseRecord& cause : subject.causes) {
    EXPECT_TRUE(counts.emplace(cause.name, cause.finding_count).second) << cause.name;
  }
  return counts;
}

// The keeper of finds counts while it runs, by experiments that the folder does not have.
TEST(CampaignRecord, CountsFindingsByCauseAsTheCampaignDid) {
  for (const char* encoder : {"none", "mlx-2024", "ggml-metal", "interlock"}) {
    const std::string folder = fresh_folder("record");
    CampaignOptions options = campaign_of(encoder, 700, folder);
    CampaignProgress last;
    options.on_progress = [&](const CampaignProgress& progress) { last = progress; };
    const CampaignReport report = reported(options);
    const CampaignRecord record = read_campaign_record(folder).value();
    ASSERT_EQ(record.subjects.size(), 1u);
    const SubjectRecord& subject = record.subjects[0];
    EXPECT_EQ(subject.run_count, report.run_count);
    EXPECT_EQ(subject.failing_run_count, report.failing_run_count);
    EXPECT_EQ(subject.cpu_run_count, report.cpu_run_count);
    EXPECT_EQ(subject.signatures.size(), last.cell_count);
    EXPECT_TRUE(subject.is_ended());
    Counts counts;
    for (const SignatureCount& cause : last.findings) counts[cause.signature] = cause.run_count;
    EXPECT_EQ(counts_of_causes(subject), counts) << encoder;
    ASSERT_EQ(record.kept.files.size(), report.finds.size());
    for (const CauseRecord& cause : subject.causes) {
      ASSERT_NE(cause.file, nullptr) << cause.name;
      EXPECT_EQ(cause.file->error, "");
      const auto find =
          std::ranges::find(report.finds, cause.file->signature, &CampaignFind::signature);
      ASSERT_NE(find, report.finds.end());
      EXPECT_EQ(cause.file->text, find->text);
    }
    EXPECT_EQ(record.foreign_file_count, 0u);
    std::filesystem::remove_all(folder);
  }
}

// Whoever reads while it is written sees any part of it.
TEST(CampaignRecord, TellsOfEachPartOfAJournal) {
  const std::string folder = fresh_folder("parts");
  reported(campaign_of("none", 600, folder));
  const std::string journal = read_file(folder + "/campaign.journal").value();
  uint64_t run_count = 0;
  for (size_t bytes = 0; bytes < journal.size(); bytes += journal.size() / 31) {
    const auto record = campaign_record_of(journal.substr(0, bytes), "j", {});
    ASSERT_TRUE(record) << bytes << record.error().message;
    const uint64_t count = record->subjects.empty() ? 0 : record->subjects[0].run_count;
    EXPECT_GE(count, run_count);
    run_count = count;
    EXPECT_TRUE(record->subjects.empty() || !record->subjects[0].is_ended());
  }
  EXPECT_GE(run_count, 256u);
  const CampaignRecord whole = campaign_record_of(journal, "j", {}).value();
  EXPECT_EQ(whole.subjects[0].run_count, 600u);
  EXPECT_TRUE(whole.subjects[0].is_ended());
  std::filesystem::remove_all(folder);
}

TEST(CampaignRecord, PutsCampaignsOfOneSubjectTogetherAndOthersApart) {
  JournalBlock block{0, std::vector<RunOutcome>(3), 0};
  block.outcomes[1].signatures = {"RAW-view-copy-fill"};
  const JournalCampaign none{1, 0, 256, 0, 0, "interlock fuzz --encoder=none"};
  JournalCampaign again = none;
  again.seed = 2;
  JournalCampaign on_device = none;
  on_device.subject = "interlock fuzz --backend=vulkan --encoder=none";
  JournalCampaign other = none;
  other.subject = "interlock fuzz --encoder=serial";
  const std::string journal =
      journal_of({JournalHeader{"b"}, none, block, again, block, JournalEnd{}, on_device, block,
                  other, block, none, JournalEnd{}});
  const CampaignRecord record = campaign_record_of(journal, "j", {}).value();
  ASSERT_EQ(record.subjects.size(), 2u);
  const SubjectRecord& subject = record.subjects[0];
  EXPECT_EQ(subject.subject, "interlock fuzz --encoder=none");
  EXPECT_EQ(subject.run_count, 9u);
  EXPECT_EQ(subject.failing_run_count, 3u);
  ASSERT_EQ(subject.campaigns.size(), 3u);
  EXPECT_TRUE(subject.campaigns[0].is_ended);
  EXPECT_FALSE(subject.is_ended());
  ASSERT_EQ(subject.causes.size(), 1u);
  EXPECT_EQ(subject.causes[0].finding_count, 3u);
  EXPECT_EQ(subject.causes[0].file, nullptr);
  EXPECT_EQ(record.subjects[1].run_count, 3u);
}

// The file of a cause has a number where another subject's has its name.
TEST(CampaignRecord, PutsKindsOfHazardToFilesWithANumber) {
  JournalBlock block{0, std::vector<RunOutcome>(2), 0};
  block.outcomes[0].signatures = {"RAW-view-copy-fill"};
  block.outcomes[1].signatures = {"RAW-view-fill-copy", "WAR-view-fill-copy"};
  const JournalCampaign none{1, 0, 256, 0, 0, "interlock fuzz --encoder=none"};
  const auto kept_as = [](const std::string& name) {
    KeptFile file;
    file.name = name;
    file.signature = "RAW-view-copy-fill";
    file.signatures = {file.signature};
    file.subject = "interlock fuzz --encoder=none";
    return file;
  };
  for (const std::string name : {"RAW.ilk", "RAW.2.ilk", "RAW.13.ilk"}) {
    const CampaignRecord record =
        campaign_record_of(journal_of({JournalHeader{"b"}, none, block}), "j", {{kept_as(name)}, 0})
            .value();
    const std::vector<CauseRecord>& causes = record.subjects[0].causes;
    ASSERT_EQ(causes.size(), 2u) << name;
    EXPECT_EQ(causes[0].signatures.size(), 2u) << name;
    EXPECT_EQ(causes[1].name, "WAR-view-fill-copy") << name;
  }
}

TEST(CampaignRecord, HasLimits) {
  std::vector<JournalRecord> records = {JournalHeader{"b"}};
  for (uint64_t i = 0; i <= kSubjectsMax; ++i) {
    records.emplace_back(JournalCampaign{1, 0, 1, 0, 0, fmt::format("interlock fuzz --x={}", i)});
  }
  EXPECT_THAT(campaign_record_of(journal_of(records), "j", {}).error().message,
              HasSubstr("'j' tells of more subjects than the limit of 100."));
  records.resize(1);
  for (uint64_t i = 0; i <= kCampaignsMax; ++i) {
    records.emplace_back(JournalCampaign{i, 0, 1, 0, 0, "interlock fuzz"});
  }
  EXPECT_THAT(campaign_record_of(journal_of(records), "j", {}).error().message,
              HasSubstr("'j' tells of more campaigns than the limit of 10000."));
  std::string barriers;
  for (int i = 0; i < (1 << 16) + 1; ++i) barriers += "barrier\n";
  EXPECT_FALSE(
      kept_file_of("a.ilk", "interlock 1\n# One.\n# Found with: interlock fuzz\n" + barriers)
          .program);
  EXPECT_FALSE(campaign_record_of("anything", "j", {}));
  EXPECT_FALSE(read_campaign_record("/nowhere"));
}

TEST(CampaignRecord, ReadsFilesThatAreNot) {
  for (const char* text : {"", "#", "interlock 1", "interlock 1\n# ", "\n# Found with: \n"}) {
    EXPECT_EQ(kept_file_of("a.ilk", text).command, "") << text;
  }
  const KeptFile file = kept_file_of(
      "WAR.2.ilk",
      "interlock 1\n# WAR-view-a-b by x, minimized from 9 to 2 dispatches.\n"
      "# Found with: interlock fuzz --encoder=x --seed=1 --first-run=3 --runs=1\n"
      "# The cause is WAR: x goes wrong on this already:\n#   interlock 1\n"
      "# Findings with this cause, by signature:\n#   WAR-donation-a-b: in 3 programs\n"
      "#   and 4 more\n# Something else.\nnonsense\n");
  EXPECT_EQ(file.stem(), "WAR.2");
  EXPECT_EQ(file.signature, "WAR-view-a-b");
  EXPECT_EQ(file.subject, "interlock fuzz --encoder=x");
  EXPECT_THAT(file.signatures, ElementsAre("WAR-donation-a-b", "WAR-view-a-b"));
  EXPECT_EQ(file.notes, "Something else.");
  EXPECT_FALSE(file.program);
  EXPECT_THAT(file.error, HasSubstr("WAR.2.ilk:10:1: error: "));
}

// Whoever reads a report runs the commands in it.
TEST(CampaignRecord, TakesNoCommandThatIsMoreThanOne) {
  const auto file_of = [](const std::string& command) {
    return kept_file_of("a.ilk", "interlock 1\n# One.\n# Found with: " + command +
                                     "\n# Again with: " + command + "\n");
  };
  for (const char* command :
       {"interlock fuzz --encoder=x --seed=1", "interlock fuzz --encoder='exec:a b; c'",
        "interlock fuzz --encoder='exec:it'\\''s'"}) {
    EXPECT_EQ(file_of(command).command, command);
    EXPECT_EQ(file_of(command).again, command);
  }
  for (const char* command :
       {"rm -r x", "interlock fuzz; rm x", "interlock fuzz --encoder=$(rm)", "interlock fuzz | sh",
        "interlock fuzz --encoder='x", "interlock fuzz --encoder='x'; rm x; ''",
        "interlock fuzz \\", "interlock fuzz > x", "interlock fuzz 'a\x1b[2J'", "interlocked x"}) {
    const KeptFile file = file_of(command);
    EXPECT_EQ(file.command, "") << command;
    EXPECT_EQ(file.again, "") << command;
    EXPECT_NE(file.subject, "") << command;
  }
}

// An encoder that orders nothing has exactly those conflicts as findings.
TEST(PosedConflicts, AreWhatAnEncoderWithoutSyncMisses) {
  const std::string folder = fresh_folder("posed");
  const CampaignOptions options = campaign_of("none", 300, folder);
  reported(options);
  const CampaignRecord record = read_campaign_record(folder).value();
  const PosedConflicts posed = posed_conflicts(options, 300);
  EXPECT_EQ(posed.run_count, 300u);
  const HazardMatrix found(record.subjects[0].signatures, std::nullopt);
  const HazardMatrix there({}, posed);
  ASSERT_EQ(found.rows().size(), there.rows().size());
  uint64_t reached_count = 0;
  for (const auto& [kernel, row] : found.rows()) {
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(row[i].finding_count, there.rows().at(kernel)[i].posed_count) << kernel << i;
      reached_count += row[i].is_reached();
    }
  }
  EXPECT_GT(reached_count, 100u);
  EXPECT_LT(reached_count, found.rows().size() * 15);
  EXPECT_EQ(posed_conflicts(options, 1u << 30).run_count <= kPosedRunsMax, true);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace interlock::campaign_record_test
