// Files of earlier releases: each later one reads them, prints them as they are, and says of them
// what it said. docs/versions.md has the policy that this holds.
//
// INTERLOCK_RECORD_RELEASE=FOLDER makes it write what is said of the files of a new folder first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "encoder/program/release.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/signature.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"

namespace interlock::versions_test {
namespace {

using nlohmann::json;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

// Sentences for a person; their wording may change.
bool is_sentence(const std::string& key) {
  for (const char* name : {"headline", "details", "fix", "reason", "description", "truncated_by",
                           "failures", "unjudged", "file"}) {
    if (key == name) return true;
  }
  return false;
}

json without_sentences(const json& value) {
  if (value.is_array()) {
    json list = json::array();
    for (const json& item : value) list.push_back(without_sentences(item));
    return list;
  }
  if (!value.is_object()) return value;
  json object = json::object();
  for (const auto& [key, item] : value.items()) {
    if (!is_sentence(key)) object[key] = without_sentences(item);
  }
  return object;
}

// Where `now` lacks something of `then`, or says something else; empty if it says all of it. Keys
// that are new are no difference, nor is a repair where none was known.
std::string difference(const json& then, const json& now, const std::string& place) {
  if (then.is_object() && now.is_object()) {
    for (const auto& [key, item] : then.items()) {
      if (!now.contains(key)) return place + "/" + key + " is gone";
      if (key == "repair" && item.empty()) continue;
      std::string found = difference(item, now[key], place + "/" + key);
      if (!found.empty()) return found;
    }
    return {};
  }
  if (then.is_array() && now.is_array() && then.size() == now.size()) {
    for (size_t i = 0; i < then.size(); ++i) {
      std::string found = difference(then[i], now[i], place + "/" + std::to_string(i));
      if (!found.empty()) return found;
    }
    return {};
  }
  return then == now ? "" : place + " was " + then.dump() + " and is " + now.dump();
}

struct ReadProgram {
  std::string text;
  Program program;
};

ReadProgram read_program(const fs::path& path) {
  ParseOptions options;
  read_every_queue(options);
  Result<std::string> text = read_file(path.string());
  EXPECT_TRUE(text) << path;
  Result<Program> program = parse(*text, path.filename().string(), options);
  EXPECT_TRUE(program) << program.error().message;
  return {std::move(*text), std::move(*program)};
}

json said_of(const Program& program) {
  const CheckReport report = check(program);
  const ExpectationOutcome outcome = judge_expectations(program, report);
  std::vector<std::string> signatures;
  const Program reference = reference_run(program);
  for (const Fact& fact : findings_of(reference, false)) {
    signatures.push_back(signature_of(reference, fact));
  }
  return {{"report", without_sentences(json::parse(json_report(program, report, outcome, "")))},
          {"signatures", signatures}};
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".ilk") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void record(const fs::path& folder) {
  for (const fs::path& path : files_of(folder)) {
    std::ofstream(fs::path(path).replace_extension(".json"))
        << said_of(read_program(path).program).dump() << "\n";
  }
}

void expect_same(const fs::path& folder) {
  const std::vector<fs::path> files = files_of(folder);
  EXPECT_THAT(files, Not(IsEmpty())) << folder;
  for (const fs::path& path : files) {
    SCOPED_TRACE(path);
    const ReadProgram read = read_program(path);
    EXPECT_EQ(print(read.program), read.text);
    std::ifstream said(fs::path(path).replace_extension(".json"));
    const json then = json::parse(said);
    // A difference is one of what was said then: of nothing there would be none.
    EXPECT_TRUE(then.contains("report") && then.contains("signatures"));
    EXPECT_EQ(difference(then, said_of(read.program), ""), "");
  }
}

TEST(Versions, FilesOfEarlierReleasesReadAndMeanWhatTheyDid) {
  const fs::path root = fs::path(INTERLOCK_SOURCE_DIR) / "corpus" / "versions";
  if (const char* const folder = std::getenv("INTERLOCK_RECORD_RELEASE")) record(folder);
  bool has_one = false;
  for (const auto& entry : fs::directory_iterator(root)) {
    expect_same(entry.path());
    const auto is_of_the_past = is_at_least(release_text(), entry.path().filename().string());
    EXPECT_TRUE(is_of_the_past.value_or(false)) << entry.path();
    has_one = true;
  }
  EXPECT_TRUE(has_one);
}

// Each word of the format that a statement begins with, and each clause.
TEST(Versions, TheFilesOfTheFirstReleaseHaveEveryStatement) {
  const fs::path folder = fs::path(INTERLOCK_SOURCE_DIR) / "corpus" / "versions" / "0.1.0";
  std::string all;
  for (const fs::path& path : files_of(folder)) all += read_program(path).text;
  for (const char* word : {"memory",      "scratch",       "unified",      "noncoherent=",
                           "tensor",      " view ",        " donates ",    "random(",
                           "zeros",       "ones",          "iota",         "values(",
                           "output",      "dispatch",      " order=",      " indirect ",
                           " uniform ",   " reads ",       " writes ",     " updates ",
                           " atomics ",   " actual ",      " partial",     " approximate",
                           " after ",     " programmatic", "barrier",      "barrier execution",
                           " on ",        "queue",         "semaphore",    "signal ",
                           "wait ",       "set ",          "await ",       "split",
                           "submit",      "host waits",    "host signals", "host reads",
                           "host writes", "host idle",     "host flushes", "host invalidates",
                           "free ",       "destroy ",      "pin ",         "unpin ",
                           "reset ",      "adopt ",        "capture ",     "end\n",
                           "replay ",     "backward ",     "witness ",     "expect ",
                           "transitions", "discards"}) {
    EXPECT_NE(all.find(word), std::string::npos) << word;
  }
}

TEST(Versions, ADifferenceIsFoundAndANewKeyIsNone) {
  const json then = {{"a", {1, 2}}, {"b", {{"c", "RAW"}}}};
  EXPECT_EQ(difference(then, then, ""), "");
  EXPECT_EQ(difference(then, {{"a", {1, 2}}, {"b", {{"c", "RAW"}, {"d", 1}}}, {"e", 1}}, ""), "");
  EXPECT_EQ(difference(then, {{"a", {1, 2}}, {"b", {{"c", "WAR"}}}}, ""),
            "/b/c was \"RAW\" and is \"WAR\"");
  EXPECT_EQ(difference(then, {{"a", {1, 2}}, {"b", json::object()}}, ""), "/b/c is gone");
  EXPECT_NE(difference(then, {{"a", {1}}, {"b", {{"c", "RAW"}}}}, ""), "");
}

}  // namespace
}  // namespace interlock::versions_test
