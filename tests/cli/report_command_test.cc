// `interlock report` and `--report`: of campaigns at their end, while they run, and of shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"

namespace interlock::report_command_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kForms[] = {".html", ".json", ".xml", ".sarif"};

std::string report_folder(const std::string& name) {
  const std::string path = temporary_path("report_" + name);
  std::filesystem::remove_all(path);
  return path;
}

TEST(Reports, AreTheSameAtTheEndAndLater) {
  const std::string folder = report_folder("end");
  std::vector<std::string> fuzz = {"fuzz", "--encoder=mlx-2024", "--runs=300", "--out=" + folder};
  std::vector<std::string> report = {"report", folder};
  for (const std::string form : kForms) {
    fuzz.push_back("--report=" + folder + "/first" + form);
    report.push_back("-o");
    report.push_back(folder + "/second" + form);
  }
  EXPECT_EQ(run_interlock(fuzz).status, 1);
  const CommandResult result = run_interlock(report);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  for (const std::string form : {".xml", ".sarif"}) {
    EXPECT_EQ(read_file(folder + "/first" + form).value(),
              read_file(folder + "/second" + form).value());
  }
  json first = json::parse(read_file(folder + "/first.json").value());
  EXPECT_EQ(first["measured"]["programs"], 300);
  EXPECT_GT(first["measured"]["seconds"], 0);
  first["measured"] = nullptr;
  EXPECT_EQ(first, json::parse(read_file(folder + "/second.json").value()));
  EXPECT_EQ(run_interlock({"report", folder, "-o", folder + "/second.html.gz"}).status, 0);
  EXPECT_EQ(read_file(folder + "/second.html.gz").value(),
            read_file(folder + "/second.html").value());
  EXPECT_LT(std::filesystem::file_size(folder + "/second.html.gz"),
            std::filesystem::file_size(folder + "/second.html") / 2);
  const std::string page = read_file(folder + "/first.html").value();
  EXPECT_THAT(page, HasSubstr("<p class=\"measured\">"));
  EXPECT_THAT(page, HasSubstr("interlock replay ./WAR.ilk"));
  EXPECT_THAT(run_interlock({"report", folder}).out,
              HasSubstr("  seed 1: 300 of 300 programs, ended; "));
  std::filesystem::remove_all(folder);
}

TEST(Reports, OfMergedShardsAreThoseOfOneCampaign) {
  const std::string folder = report_folder("shards");
  const auto fuzz = [&](const std::string& name, const std::string& option) {
    std::vector<std::string> arguments = {"fuzz", "--encoder=none", "--runs=512",
                                          "--max-dispatches=8", "--out=" + folder + "/" + name};
    if (!option.empty()) arguments.push_back(option);
    return run_interlock(arguments).status;
  };
  std::filesystem::create_directories(folder);
  EXPECT_EQ(fuzz("a", "--shard=1/2"), 1);
  EXPECT_EQ(fuzz("b", "--shard=2/2"), 1);
  EXPECT_EQ(fuzz("one", ""), 1);
  EXPECT_EQ(
      run_interlock({"merge", folder + "/a", folder + "/b", "--out=" + folder + "/all",
                     "--report=" + folder + "/merged.html", "--report=" + folder + "/merged.json"})
          .status,
      1);
  EXPECT_EQ(run_interlock(
                {"report", folder + "/one", "-o", folder + "/one.html", "-o", folder + "/one.json"})
                .status,
            0);
  for (const std::string form : {".html", ".json"}) {
    EXPECT_EQ(read_file(folder + "/merged" + form).value(),
              read_file(folder + "/one" + form).value());
  }
  std::filesystem::remove_all(folder);
}

// The runs would take minutes.
TEST(Reports, AreMadeWhileACampaignRuns) {
  const std::string folder = report_folder("running");
  const int child = start_interlock({"fuzz", "--encoder=none", "--runs=1e8", "--out=" + folder},
                                    "/dev/null", "/dev/null");
  CommandResult result;
  for (int i = 0; i < 2000 && result.out.find("not at its end") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    result = run_interlock({"report", folder});
  }
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(" of 100000000 programs, not at its end; "));
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  std::filesystem::remove_all(folder);
}

TEST(Reports, RefuseWhatTheyCannotWriteBeforeAnythingRuns) {
  const std::string folder = report_folder("refused");
  const CommandResult form =
      run_interlock({"fuzz", "--encoder=none", "--runs=1e8", "--out=" + folder, "--report=a.pdf"});
  EXPECT_EQ(form.status, 2);
  EXPECT_EQ(
      form.err,
      "error: 'a.pdf' is no form of report: its name ends in .html, .json, .xml or .sarif, with or "
      "without .gz.\n");
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(run_interlock({"fuzz", "--encoder=none", "--runs=1e8", "--report=a.html"}).status, 2);
  EXPECT_EQ(run_interlock({"report", folder}).status, 2);
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/campaign.journal", "interlock-journal 2 x\n"));
  const CommandResult version = run_interlock({"report", folder, "-o", folder + "/a.html"});
  EXPECT_EQ(version.status, 2);
  EXPECT_THAT(version.err, HasSubstr("campaign.journal:1: error: the journal has version '2'"));
  std::filesystem::remove_all(folder);
}

// What a journal names is never executed: only the programs are made again.
TEST(Reports, OfEncodersOfOthersAskNobody) {
  const std::string folder = report_folder("asked");
  const std::string trace = report_folder("trace");
  const std::string encoder = "--encoder=exec:touch " + trace + "; cat";
  EXPECT_EQ(run_interlock({"fuzz", encoder, "--runs=2", "--out=" + folder}).status, 1);
  EXPECT_TRUE(std::filesystem::remove(trace));
  const CommandResult result = run_interlock({"report", folder, "-o", folder + "/a.html"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_FALSE(std::filesystem::exists(trace));
  EXPECT_THAT(read_file(folder + "/a.html").value(), HasSubstr("programs had to be ordered"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace interlock::report_command_test
