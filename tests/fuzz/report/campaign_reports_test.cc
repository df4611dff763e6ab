// The forms of a report: as their readers take them, and whatever others have written into a
// folder.
#include "fuzz/report/campaign_reports.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fuzz/campaign/campaign_folders.h"
#include "tests/fuzz/report/xmllint.h"

namespace interlock::campaign_reports_test {
namespace {

using campaign_folders::journal_of;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

CampaignStory told(CampaignRecord record) {
  CampaignStory story;
  story.folder = "found";
  story.version = "1.2.3";
  story.record = std::move(record);
  story.posed.resize(story.record.subjects.size());
  judge_kept_files(story);
  return story;
}

KeptFile hazard_file(const std::string& name, const std::string& encoder,
                     const std::string& signature) {
  return kept_file_of(
      name,
      fmt::format("interlock 1\n# {} by {}, minimized from 9 to 2 dispatches.\n"
                  "# Found with: interlock fuzz --encoder={} --seed=1 --first-run=3 --runs=1\n"
                  "memory a 64\nmemory b 64\nreader: dispatch Reads reads a writes b\n"
                  "writer: dispatch Writes writes a\nexpect WAR reader writer\n",
                  signature, encoder, encoder));
}

std::string journal_of_encoder(const std::string& encoder) {
  JournalBlock block{0, std::vector<RunOutcome>(200), 0};
  for (size_t i = 0; i < 7; ++i) block.outcomes[i].signatures = {"WAR-same_range-Opaque"};
  block.outcomes[9].signatures = {"RAW-view-copy-fill"};
  return journal_of({JournalHeader{"b"},
                     JournalCampaign{1, 0, 1000, 0, 0, "interlock fuzz --encoder=" + encoder},
                     block});
}

CampaignStory story_of_encoder(const std::string& encoder, const std::string& file_name) {
  KeptFiles kept;
  kept.files.push_back(hazard_file(file_name, encoder, "WAR-same_range-Opaque"));
  return told(campaign_record_of(journal_of_encoder(encoder), "j", std::move(kept)).value());
}

TEST(CampaignReports, SayWhatWasFound) {
  CampaignStory story = story_of_encoder("mine", "WAR.ilk");
  const std::string page = html_of(story);
  for (const char* part :
       {"<h1>2 causes were found</h1>", "<code>interlock fuzz --encoder=mine</code>",
        "WAR hazard: writer (dispatch 1) writes a[0:64], which reader (dispatch 0) reads.",
        "<code>interlock check ./WAR.ilk</code>", "--seed=1 --first-run=3 --runs=1</code>",
        "200 of 1000 programs, not at its end", "No file stands for it."}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("interlock show")));
  EXPECT_THAT(page, Not(HasSubstr("Measured")));
  story.names_pictures = true;
  story.measured = {200, 2.0};
  EXPECT_THAT(html_of(story), HasSubstr("<code>interlock show ./WAR.ilk</code>"));
  EXPECT_THAT(html_of(story), HasSubstr("200 programs in 2.0 seconds, 100 a second."));
  EXPECT_THAT(terminal_text_of(story),
              HasSubstr("  WAR: 7 findings of 1 signature, found/WAR.ilk\n"));
}

// Nothing of the page is fetched or run.
TEST(CampaignReports, AreSelfContainedPages) {
  const std::string page = html_of(story_of_encoder("mine", "WAR.ilk"));
  for (const char* part :
       {"<script", "<link", "<img", "<iframe", " src=", " href=", "url(", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(part)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

// As `show` draws it, within limits: a folder may have a thousand files.
TEST(CampaignReports, ShowThePictureOfEachFinding) {
  CampaignStory story = story_of_encoder("mine", "WAR.ilk");
  const std::string page = html_of(story);
  EXPECT_THAT(page, HasSubstr("<div class=\"shown\">\n<svg "));
  EXPECT_THAT(page, HasSubstr(story.verdicts[0].picture));
  EXPECT_THAT(story.verdicts[0].picture,
              HasSubstr("WAR hazard: writer (dispatch 1) writes a[0:64]"));
  const size_t size = story.verdicts[0].picture.size();
  ASSERT_LT(size, kPictureBytesMax);
  const KeptFile file = story.record.kept.files[0];
  story.record.kept.files.assign(kPicturesBytesMax / size + 3, file);
  judge_kept_files(story);
  const auto has_none = [](const FileVerdict& verdict) { return verdict.picture.empty(); };
  EXPECT_GE(std::ranges::count_if(story.verdicts, has_none), 2);
  EXPECT_FALSE(has_none(story.verdicts[0]));
}

TEST(CampaignReports, AreXmlAndKeepTheSchemaOfJunit) {
  const CampaignStory story = story_of_encoder("mine", "WAR.ilk");
  EXPECT_EQ(xmllint::complaints(html_of(story)), "");
  const std::string junit = junit_of(story);
  EXPECT_EQ(xmllint::complaints(junit, "junit.xsd"), "");
  EXPECT_THAT(junit, HasSubstr("tests=\"3\" failures=\"2\" errors=\"0\""));
  // The schema sees what is wrong.
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"failures=\"2\"", "failures=\"two\""},
                                                        {"<testcase ", "<test "},
                                                        {" type=", " kind="}}) {
    std::string wrong = junit;
    wrong.replace(wrong.find(from), from.size(), to);
    EXPECT_NE(xmllint::complaints(wrong, "junit.xsd"), "") << to;
  }
}

TEST(CampaignReports, HaveTheSameInJsonAndSarif) {
  const CampaignStory story = story_of_encoder("mine", "WAR.ilk");
  const json report = json::parse(json_of(story));
  EXPECT_EQ(report["measured"], nullptr);
  const json subject = report["subjects"][0];
  EXPECT_EQ(subject["programs"], 200);
  EXPECT_EQ(subject["causes"][0]["name"], "WAR");
  EXPECT_EQ(subject["causes"][0]["findings"], 7);
  EXPECT_EQ(subject["causes"][1]["file"], nullptr);
  EXPECT_EQ(subject["growth"], json::parse("[[200,2]]"));
  uint64_t finding_count = 0;
  for (const json& cell : subject["matrix"]["cells"])
    finding_count += cell["findings"].get<uint64_t>();
  EXPECT_EQ(finding_count, 7u + 2u);  // The other one is of two kernels.
  const json log = json::parse(sarif_of(story));
  const json results = log["runs"][0]["results"];
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0]["ruleId"], "WAR");
  EXPECT_FALSE(results[0].contains("suppressions"));
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "found/WAR.ilk");
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
}

// Keys by the title of their table in docs/json.md.
using Keys = std::map<std::string, std::set<std::string>>;

Keys keys_of_document() {
  std::istringstream document(read_file(INTERLOCK_SOURCE_DIR "/docs/json.md").value());
  Keys keys;
  std::string title;
  bool is_inside = false;
  for (std::string line; std::getline(document, line);) {
    is_inside = line == "| key of a report | meaning |" || (is_inside && line.starts_with("|"));
    if (!is_inside && !line.empty()) title = line;
    if (!is_inside || !line.starts_with("| `")) continue;
    std::istringstream cell(line.substr(1, line.find(" |", 1)));
    for (std::string word; std::getline(cell, word, '`');) {
      if (std::getline(cell, word, '`')) keys[title].insert(word);
    }
  }
  return keys;
}

void add_keys(const json& object, const std::string& title, Keys& keys) {
  for (const auto& [key, value] : object.items()) keys[title].insert(key);
}

TEST(CampaignReports, HaveTheKeysOfTheDocument) {
  const json report = json::parse(json_of(story_of_encoder("mine", "WAR.ilk")));
  const json subject = report["subjects"][0];
  Keys keys;
  add_keys(report, "([campaigns.md](campaigns.md#a-report)).", keys);
  add_keys(subject, "A subject:", keys);
  add_keys(subject["campaigns"][0], "A campaign of a subject:", keys);
  add_keys(subject["causes"][0], "A cause:", keys);
  add_keys(subject["signatures"][0], "A signature:", keys);
  add_keys(subject["matrix"], "A matrix:", keys);
  add_keys(subject["matrix"]["cells"][0], "A cell:", keys);
  add_keys(subject["causes"][0]["file"], "A file:", keys);
  EXPECT_EQ(keys, keys_of_document());
}

// A folder may come from anybody.
TEST(CampaignReports, KeepNamesOfOthersAsText) {
  for (const std::string& name :
       {std::string("<script>alert(1)</script>"), std::string("'\"><img/onerror=x>"),
        std::string("\xff\xfe\x01&amp;]]>"), std::string("a\" class=\"b")}) {
    const CampaignStory story = story_of_encoder(name, "WAR" + name.substr(0, 3) + ".ilk");
    ASSERT_EQ(story.record.subjects[0].causes.size(), 2u);
    const std::string page = html_of(story);
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    EXPECT_EQ(xmllint::complaints(page), "") << name;
    EXPECT_EQ(xmllint::complaints(junit_of(story), "junit.xsd"), "") << name;
    EXPECT_FALSE(json::parse(json_of(story)).is_null());
    EXPECT_FALSE(json::parse(sarif_of(story)).is_null());
    EXPECT_EQ(terminal_text_of(story).find('\x01'), std::string::npos);
  }
}

// Of a name with a space or a dash in front, a shell must not make an option or two words.
TEST(CampaignReports, NameFilesAsShellsTakeThem) {
  const CampaignStory story = story_of_encoder("mine", "-o; rm x.ilk");
  ASSERT_EQ(commands_of(story, story.record.kept.files[0]).size(), 1u);
  EXPECT_EQ(commands_of(story, story.record.kept.files[0])[0].command,
            "interlock check './-o; rm x.ilk'");
}

// Each of them would be an article or a case of its own.
TEST(CampaignReports, CountCausesWithoutAFileBeyondALimit) {
  JournalBlock block{0, std::vector<RunOutcome>(4), 0};
  for (size_t i = 0; i < kBareCausesShown + 3; ++i) {
    block.outcomes[i % 4].signatures.push_back(fmt::format("RAW-view-copy-k{}", i));
  }
  const JournalCampaign campaign{1, 0, 1000, 0, 0, "interlock fuzz --encoder=x"};
  const CampaignStory story =
      told(campaign_record_of(journal_of({JournalHeader{"b"}, campaign, block}), "j", {}).value());
  ASSERT_EQ(story.record.subjects[0].causes.size(), kBareCausesShown + 3);
  EXPECT_THAT(html_of(story), HasSubstr("<p>and 3 more without a file</p>"));
  EXPECT_EQ(xmllint::complaints(html_of(story)), "");
  EXPECT_THAT(junit_of(story), HasSubstr("tests=\"502\" failures=\"501\""));
  EXPECT_EQ(xmllint::complaints(junit_of(story), "junit.xsd"), "");
  const std::string text = terminal_text_of(story);
  EXPECT_THAT(text, HasSubstr(fmt::format("  and {} more without a file, of {} findings\n",
                                          kBareCausesShown + 3 - 20, kBareCausesShown + 3 - 20)));
  EXPECT_LT(std::ranges::count(text, '\n'), 25);
}

TEST(CampaignReports, TellOfNothing) {
  const CampaignStory none = told(campaign_record_of("", "j", {}).value());
  JournalBlock block{0, std::vector<RunOutcome>(4), 0};
  const JournalCampaign campaign{1, 0, 4, 0, 0, "interlock fuzz --encoder=serial"};
  const CampaignStory clean = told(
      campaign_record_of(journal_of({JournalHeader{"b"}, campaign, block, JournalEnd{}}), "j", {})
          .value());
  for (const CampaignStory* story : {&none, &clean}) {
    EXPECT_THAT(html_of(*story), HasSubstr("<h1>Nothing was found</h1>"));
    EXPECT_EQ(xmllint::complaints(html_of(*story)), "");
    EXPECT_EQ(xmllint::complaints(junit_of(*story), "junit.xsd"), "");
  }
  EXPECT_THAT(html_of(clean), HasSubstr("Nothing was found in 4 programs."));
}

}  // namespace
}  // namespace interlock::campaign_reports_test
