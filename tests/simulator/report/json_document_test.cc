// docs/json.md names every key that a report has, and none that no report has: of all programs of
// the corpus. And the keys about queues and places say what the program says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "encoder/program/statement_number.h"
#include "simulator/report/expectations.h"
#include "simulator/report/report.h"
#include "tests/corpus_files.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::json_document_test {
namespace {

using nlohmann::json;
using testing::IsEmpty;

// Keys by the title of their table.
using Keys = std::map<std::string, std::set<std::string>>;

const std::string kReport = "One object per file, on one line. Keys stay; new ones may be added.";
const std::string kFinding = "A finding:";
const std::string kAccess = "An access:";
const std::string kLifetime = "What ended a value:";
const std::string kStatement = "A statement, as in `waiting`:";
const std::string kStep = "A step of a `cycle`:";
const std::string kBarrier = "A redundant barrier:";
const std::string kSync = "A redundant piece of sync:";
const std::string kNarrower = "A statement in `narrower`:";
const std::string kSubject = "What became of the `expect` lines of a subject:";

// The keys in the first column of each table whose head is "| key | meaning |".
Keys documented_keys() {
  std::ifstream document(INTERLOCK_SOURCE_DIR "/docs/json.md");
  Keys keys;
  std::string title, line;
  bool is_inside = false;
  while (std::getline(document, line)) {
    is_inside = line == "| key | meaning |" || (is_inside && line.starts_with("|"));
    if (!is_inside && !line.empty()) title = line;
    if (!is_inside || !line.starts_with("| `")) continue;
    std::istringstream cell(line.substr(1, line.find(" |", 1)));
    for (std::string word; std::getline(cell, word, '`');) {
      if (!std::getline(cell, word, '`')) break;
      EXPECT_TRUE(keys[title].insert(word).second) << word << " stands twice under " << title;
    }
  }
  return keys;
}

void add_keys(const json& object, const std::string& title, Keys& keys) {
  if (object.is_null()) return;
  for (const auto& [key, value] : object.items()) keys[title].insert(key);
}

void add_statements(const json& object, Keys& keys) { add_keys(object, kStatement, keys); }

void add_keys_of_report(const json& report, Keys& keys) {
  add_keys(report, kReport, keys);
  for (const json& finding : report["findings"]) {
    add_keys(finding, kFinding, keys);
    add_keys(finding["first"], kAccess, keys);
    add_keys(finding["second"], kAccess, keys);
    add_keys(finding["lifetime"], kLifetime, keys);
    for (const json& statement : finding["waiting"]) add_statements(statement, keys);
    for (const json& step : finding["cycle"]) {
      add_keys(step, kStep, keys);
      add_statements(step["statement"], keys);
      add_statements(step["waits_for"], keys);
    }
  }
  for (const json& barrier : report["redundant"]) add_keys(barrier, kBarrier, keys);
  for (const json& piece : report["redundant_sync"]) {
    add_keys(piece, kSync, keys);
    add_statements(piece["statement"], keys);
    add_statements(piece["partner"], keys);
  }
  for (const json& narrower : report["scopes"]["narrower"]) {
    add_keys(narrower, kNarrower, keys);
    add_statements(narrower["statement"], keys);
  }
  for (const json& subject : report["expectations"]) add_keys(subject, kSubject, keys);
}

json report_on(const Program& program) {
  const CheckReport report = check(program);
  const ScopeAdvice scopes = find_scope_advice(program, report);
  return json::parse(json_report(program, report, judge_expectations(program, report), "x.ilk",
                                 {.scopes = &scopes}));
}

// A statement of the text is of this queue, or of the host.
void expect_queue(const Program& program, const json& object) {
  if (object.is_null()) return;
  const auto number = object["statement"].get<uint32_t>();
  StatementId at(size_t{0});
  while (text_number_of(program, at) != number) ++at.index;
  const Statement& statement = program.statements.at(at.index);
  if (statement.queue == kNoQueue) {
    EXPECT_TRUE(object["queue"].is_null());
  } else {
    EXPECT_EQ(object["queue"], program.name_of(program.launching_queue_of(statement.queue)));
  }
}

void expect_places(const Program& program, const json& report) {
  for (const json& finding : report["findings"]) {
    for (const char* const end : {"first", "second"}) {
      const json& access = finding[end];
      expect_queue(program, access);
      if (access.is_null()) continue;
      EXPECT_EQ(access["stage"] == "host", access["queue"].is_null());
    }
    expect_queue(program, finding["lifetime"]);
    const bool is_war = finding["kind"] == "WAR";
    EXPECT_FALSE(is_war && finding["is_ordered"].get<bool>());
    EXPECT_EQ(finding["kind"] == "deadlock", !finding["cycle"].empty());
    json waiting = json::array();
    for (size_t i = 0; i < finding["cycle"].size(); ++i) {
      const json& step = finding["cycle"][i];
      expect_queue(program, step["statement"]);
      expect_queue(program, step["waits_for"]);
      const json& next = finding["cycle"][(i + 1) % finding["cycle"].size()];
      EXPECT_EQ(step["waits_for"]["queue"], next["statement"]["queue"]);
      if (step["is_a_wait"]) waiting.push_back(step["statement"]);
    }
    EXPECT_EQ(waiting, finding["waiting"]);
  }
  for (const json& barrier : report["redundant"]) expect_queue(program, barrier);
  for (const json& piece : report["redundant_sync"]) expect_queue(program, piece["statement"]);
  for (const json& narrower : report["scopes"]["narrower"]) {
    expect_queue(program, narrower["statement"]);
  }
}

// No text of a user has the graph queue that executes what a serial one launches.
TEST(JsonDocument, HasWhatIsLaunchedOnTheQueueThatLaunchesIt) {
  const json report = report_on(corpus_program(std::string(INTERLOCK_SOURCE_DIR) +
                                               "/corpus/queues/launched-on-another-stream.ilk"));
  ASSERT_EQ(report["findings"].size(), 2u);
  for (const json& finding : report["findings"]) {
    EXPECT_EQ(finding["first"]["queue"], "work");
    EXPECT_EQ(finding["first"]["is_launched"], true);
    EXPECT_EQ(finding["second"]["queue"], "copies");
    EXPECT_EQ(finding["second"]["is_launched"], false);
  }
  EXPECT_EQ(report.dump().find(".launches"), std::string::npos);
}

TEST(JsonDocument, NamesTheKeysThatReportsOfTheCorpusHave) {
  const Keys documented = documented_keys();
  Keys found;
  for (const auto& path : corpus_files({"queues", "bugs", "seeds"})) {
    SCOPED_TRACE(path);
    const Program program = corpus_program(path);
    const json report = report_on(program);
    add_keys_of_report(report, found);
    expect_places(program, report);
  }
  EXPECT_EQ(found, documented);
}

TEST(JsonDocument, NamesTheKindsOfFindings) {
  const std::string document = [] {
    std::ostringstream text;
    text << std::ifstream(INTERLOCK_SOURCE_DIR "/docs/json.md").rdbuf();
    return text.str();
  }();
  for (const auto& path : corpus_files({"queues", "bugs", "seeds"})) {
    const json report = report_on(corpus_program(path));
    for (const json& finding : report["findings"]) {
      for (const char* const key : {"kind", "observability"}) {
        const std::string word = '`' + finding[key].get<std::string>() + '`';
        EXPECT_NE(document.find(word), std::string::npos) << word;
      }
    }
  }
}

TEST(JsonReport, TellsOrderFromVisibility) {
  const auto finding = [](const std::string& body) {
    return report_on(program_with_queues("interlock 1\nmemory x 64\n" + body))["findings"].at(0);
  };
  EXPECT_FALSE(finding("dispatch A writes x\ndispatch B reads x\n")["is_ordered"]);
  EXPECT_TRUE(
      finding("dispatch A writes x\nbarrier execution\ndispatch B reads x\n")["is_ordered"]);
  EXPECT_TRUE(
      finding("g: queue graph\na: dispatch A writes x on g\n"
              "dispatch B reads x after a programmatic on g\n")["is_ordered"]);
}

TEST(JsonReport, SpellsADeadlockOut) {
  const json finding =
      report_on(program_with_queues("interlock 1\nq1: queue serial\nfirst: wait b=1\nsignal a=1\n"
                                    "second: wait a=1 on q1\nsignal b=1 on q1\n"))["findings"]
          .at(0);
  ASSERT_EQ(finding["cycle"].size(), 2u);
  const json& step = finding["cycle"][0];
  EXPECT_EQ(step["statement"]["label"], "first");
  EXPECT_EQ(step["statement"]["queue"], "q0");
  EXPECT_EQ(step["waits_for"]["text"], "signal b=1 on q1");
  EXPECT_EQ(step["waits_for"]["statement"], 3);
  EXPECT_EQ(step["waits_for"]["queue"], "q1");
  EXPECT_EQ(step["is_a_wait"], true);
}

}  // namespace
}  // namespace interlock::json_document_test
