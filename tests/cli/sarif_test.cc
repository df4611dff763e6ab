// The logs of `check --format=sarif` and of campaigns keep the schema of what we use of SARIF 2.1.0
// (tests/fuzz/report/sarif.schema.json), which another program says; and each result has a rule
// that the log describes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::sarif_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kCorpus = INTERLOCK_SOURCE_DIR "/corpus/";
constexpr const char* kReport = INTERLOCK_SOURCE_DIR "/tests/fuzz/report/";

// Of each log; empty: it keeps the schema. One process reads all of them, since its start takes
// most of the time.
std::vector<std::string> complaints_of(const std::vector<std::string>& logs) {
  std::string command =
      std::string("python3 ") + kReport + "validate.py " + kReport + "sarif.schema.json";
  for (size_t i = 0; i < logs.size(); ++i) {
    command += ' ' + temporary_file(std::to_string(i) + ".sarif", logs[i]);
  }
  const CommandResult result = run_shell(command);
  if (result.status != 0) return std::vector<std::string>(logs.size(), result.err);
  std::vector<std::string> complaints = {""};
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line == ".") {
      complaints.emplace_back();
    } else {
      complaints.back() += line + '\n';
    }
  }
  complaints.pop_back();
  return complaints;
}

// Also what a schema cannot say: rules are described once, and results name one of them.
void expect_sarif(const std::string& log) {
  EXPECT_THAT(complaints_of({log}), ElementsAre(""));
  const json parsed = json::parse(log);
  for (const json& run : parsed["runs"]) {
    std::set<std::string> rules;
    for (const json& rule : run["tool"]["driver"]["rules"]) {
      EXPECT_TRUE(rules.insert(rule["id"]).second) << rule["id"];
    }
    for (const json& result : run["results"]) {
      EXPECT_TRUE(rules.contains(result["ruleId"])) << result["ruleId"];
    }
  }
}

std::string checked(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"check", "--format=sarif"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_interlock(all).out;
}

class Sarif : public testing::Test {
 protected:
  Sarif() : folder_(temporary_path("sarif")) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~Sarif() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::string path = folder_ + "/" + name;
    EXPECT_TRUE(write_file(path, text));
    return path;
  }

  const std::string folder_;
};

const std::string kHazard =
    "interlock 1\nmemory a 64\ndispatch Make writes a\ndispatch Use reads a\n";

TEST_F(Sarif, KeepsItsSchemaForAllOfTheCorpus) {
  std::vector<std::string> folders = {kCorpus + "queues", kCorpus + "graphs"};
  if (!is_slow_build()) folders.push_back(kCorpus + "bugs");
  const std::string expected = checked(folders);
  EXPECT_THAT(expected, HasSubstr("\"suppressions\""));
  expect_sarif(expected);
  folders.insert(folders.end(), {"--ignore-expect", "--advice"});
  const std::string found = checked(folders);
  EXPECT_THAT(found, HasSubstr("\"ruleId\":\"redundant\""));
  EXPECT_THAT(found, HasSubstr("\"ruleId\":\"deadlock\""));
  expect_sarif(found);
}

TEST_F(Sarif, KeepsItsSchemaForFilesThatCannotBeReadAndAnyNames) {
  const std::string log = checked({write("a b%\xc3\xa9.ilk", kHazard),
                                   write("no.ilk", "interlock 1\nx"), folder_ + "/none.ilk"});
  EXPECT_THAT(log, HasSubstr("a%20b%25%C3%A9.ilk"));
  EXPECT_THAT(log, HasSubstr("\"executionSuccessful\":false"));
  expect_sarif(log);
  fs::current_path(folder_);
  expect_sarif(checked({"a b%\xc3\xa9.ilk"}));
  fs::current_path(INTERLOCK_SOURCE_DIR);
}

TEST_F(Sarif, KeepsItsSchemaForBaselinesBudgetsAndLinesThatDoNotHold) {
  const std::string path = write("one.ilk", kHazard);
  const std::vector<std::string> known = {"--baseline=" + folder_ + "/sync.json",
                                          "--barrier-budget=" + folder_ + "/barriers.json"};
  EXPECT_EQ(run_interlock(
                {"check", path, known[0], known[1], "--update-baseline", "--update-barrier-budget"})
                .status,
            0);
  write("one.ilk",
        "interlock 1\nmemory a 64\nmemory b 64\ndispatch Make writes b\nbarrier\nbarrier\n"
        "dispatch Use reads b\ndispatch Late writes b\nexpect WAW 0 1\n");
  const std::string log = checked({path, known[0], known[1], "--deny=redundant"});
  for (const char* const part : {"\"baselineState\":\"absent\"", "\"baselineState\":\"new\"",
                                 "\"barrier-budget\"", "\"expectation\"", "\"redundant\""}) {
    EXPECT_THAT(log, HasSubstr(part));
  }
  expect_sarif(log);
}

TEST_F(Sarif, KeepsItsSchemaForCampaigns) {
  const std::string folder = folder_ + "/found";
  EXPECT_EQ(run_interlock({"fuzz", "--encoder=none", "--runs=60", "--out=" + folder}).status, 1);
  const std::string kept = read_file(folder + "/WAR.ilk").value();
  EXPECT_TRUE(write_file(folder + "/WAR.ilk", kept + "no statement\n"));
  EXPECT_EQ(run_interlock({"report", folder, "-o", folder + "/all.sarif"}).status, 0);
  const std::string log = read_file(folder + "/all.sarif").value();
  EXPECT_THAT(log, HasSubstr("\"ruleId\":\"RAW\""));
  EXPECT_THAT(log, HasSubstr("\"executionSuccessful\":false"));
  expect_sarif(log);
}

// The schema sees what is wrong.
TEST_F(Sarif, SchemaRefusesWhatTheStandardDoesNotHave) {
  const std::string log = checked({write("one.ilk", kHazard)});
  std::vector<std::string> logs = {log};
  const std::pair<const char*, const char*> faults[] = {
      {"\"level\":\"error\"", "\"level\":\"fatal\""},
      {"\"startLine\":4", "\"startLine\":0"},
      {"\"message\":", "\"massage\":"},
      {"one.ilk", "on e.ilk"},
      {"\"version\":\"2.1.0\"", "\"version\":\"2.2.0\""},
      {"expectation/v1", "expectation"},
      {"\"executionSuccessful\":true", "\"executionSuccessful\":\"yes\""},
      {"\"ruleId\":", "\"rule\":"}};
  for (const auto& [from, to] : faults) {
    std::string wrong = log;
    const size_t at = wrong.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    wrong.replace(at, std::string_view(from).size(), to);
    logs.push_back(wrong);
  }
  const std::vector<std::string> complaints = complaints_of(logs);
  ASSERT_EQ(complaints.size(), logs.size());
  EXPECT_EQ(complaints[0], "");
  for (size_t i = 1; i < logs.size(); ++i) EXPECT_NE(complaints[i], "") << faults[i - 1].second;
}

}  // namespace
}  // namespace interlock::sarif_test
