// interlock fuzz --guided and --corpus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::guided_campaigns_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(GuidedCampaigns, SayWhatTheyReachedAndHowAFindIsHadAgain) {
  const std::string folder = fresh_path("guided");
  for (const std::string& out : {std::string(), "--out=" + folder}) {
    std::vector<std::string> arguments = {"fuzz", "--encoder=mlx-2024", "--guided", "--runs=1100"};
    if (!out.empty()) arguments.push_back(out);
    const CommandResult result = run_interlock(arguments);
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.out, ContainsRegex("  Guided: [0-9]+ cells were reached, and [0-9]+ "
                                          "programs are parents"));
    const std::vector<std::string> again = command_after(result.out, "  Again: ");
    ASSERT_FALSE(again.empty()) << result.out;
    EXPECT_EQ(again[2], "--guided");
    EXPECT_EQ(run_interlock(again).status, 1) << result.out;
  }
  EXPECT_TRUE(std::filesystem::is_directory(folder + "/parents"));
  const CommandResult merged = run_interlock({"merge", folder, "--out=" + fresh_path("merged")});
  EXPECT_EQ(merged.status, 2);
  EXPECT_THAT(merged.err, HasSubstr("guided campaigns are not merged"));
  EXPECT_EQ(run_interlock({"report", folder}).status, 0);
  // The parents of one campaign are programs for another.
  const CommandResult next = run_interlock({"fuzz", "--encoder=interlock", "--guided", "--runs=300",
                                            "--corpus=" + folder + "/parents", "--out=" + folder});
  EXPECT_EQ(next.status, 0) << next.err << next.out;
  std::filesystem::remove_all(folder);
}

// What it would count it never looks at.
TEST(GuidedCampaigns, SayThatTheyEndedBeforeTheyMutated) {
  const CommandResult result =
      run_interlock({"fuzz", "--encoder=mlx-2024", "--guided", "--runs=60", "--max-finds=1"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("  Guided: it ended within the first 1024 programs, whose "
                                    "cells are counted if more follow.\n"));
}

// Which no program of the generator does, and no other one without a branch that is new.
TEST(GuidedCampaigns, ReachABranchThatOnlyMutantsReach) {
  const std::vector<std::string> start = {"fuzz", "--encoder=lib:" ATOMIC_COUNTING_LIBRARY,
                                          "--seed=2", "--runs=8000", "--max-finds=1"};
  if (!is_slow_build()) {
    EXPECT_EQ(run_interlock(start).status, 0);
  }
  std::vector<std::string> arguments = start;
  arguments.push_back("--guided");
  arguments.push_back("--jobs=2");
  const CommandResult guided = run_interlock(arguments);
  EXPECT_EQ(guided.status, 1) << guided.out;
  EXPECT_THAT(guided.out, ContainsRegex(" cells were reached, [0-9]+ of them by branches of the "
                                        "encoder, and "));
  if (is_slow_build()) return;
  arguments.back() = "--jobs=1";
  EXPECT_EQ(run_interlock(arguments).out, guided.out);
}

// They are what an encoder was given, and no finding is meant.
TEST(GuidedCampaigns, HaveParentsThatACheckOfTheirFolderLeavesOut) {
  const std::string folder = fresh_path("campaigns");
  std::filesystem::create_directories(folder + "/found/parents");
  std::filesystem::create_directories(folder + "/parents");
  const auto put = [&](const std::string& path, std::string_view text) {
    ASSERT_TRUE(write_file(folder + "/" + path, text));
  };
  const std::string repaired = "interlock 1\nmemory a 4\ndispatch X reads a\n";
  put("found/campaign.journal", "");
  put("found/parents/1-7.ilk", repaired + "dispatch X writes a\n");
  put("parents/z.ilk", repaired);  // Of no campaign.
  for (const std::string& path : {folder, folder + "/"}) {
    const CommandResult result = run_interlock({"check", "-q", path});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.out, MatchesRegex("[^\n]*parents/z.ilk: [^\n]*no findings[^\n]*\n"));
    EXPECT_THAT(result.err,
                HasSubstr("1 parent of a guided campaign in '" + path + "' is left out"));
  }
  const CommandResult all_left_out = run_interlock({"check", folder + "/found"});
  EXPECT_EQ(all_left_out.status, 2);  // Nothing was judged.
  EXPECT_THAT(all_left_out.err, HasSubstr("error: there is nothing else in '"));
  for (const char* path : {"/found/parents", "/found/parents/", "/found/parents/1-7.ilk"}) {
    EXPECT_EQ(run_interlock({"check", "-q", folder + path}).status, 1) << path;
  }
}

TEST(GuidedCampaigns, OfSeveralQueuesBeginWithValuesThatEnd) {
  const std::string destroys = temporary_path("destroys.ilk");
  ASSERT_TRUE(write_file(destroys,
                         "interlock 1\nmemory a 4\ntensor x f32[1] at a+0\n"
                         "dispatch X writes x\nbarrier\ndestroy x\n"));
  const CommandResult result = run_interlock(
      {"fuzz", "--encoder=semaphores", "--guided", "--runs=40", "--corpus=" + destroys});
  EXPECT_EQ(result.status, 0) << result.err << result.out;
}

TEST(GuidedCampaigns, RefuseWhatTheyAreNotFor) {
  struct Refusal {
    std::vector<std::string> options;
    std::string reason;
  };
  const std::string broken = temporary_path("broken.ilk");
  ASSERT_TRUE(write_file(broken, "interlock 1\nmemory a 4\ndispatch X reads b\n"));
  for (const Refusal& refusal : std::vector<Refusal>{
           {{"--encoder=none", "--guided", "--runs=600", "--shard=1/2"}, "takes no --shard"},
           {{"--encoder=none", "--guided", "--first-run=7"}, "no --first-run"},
           {{"--planner=interlock", "--guided"}, "campaigns of an encoder, without other"},
           {{"--queues", "--guided"}, "campaigns of an encoder, without other"},
           {{"--runs=9", "--guided"}, "campaigns of an encoder, without other"},
           {{"--encoder=none", "--corpus=" + broken}, "Give --guided, too."},
           {{"--encoder=none", "--guided", "--corpus=" + broken}, broken + ":3:18: error: "},
           {{"--encoder=none", "--guided", "--corpus=/no/such/place"}, "/no/such/place"}}) {
    std::vector<std::string> arguments = {"fuzz"};
    arguments.insert(arguments.end(), refusal.options.begin(), refusal.options.end());
    const CommandResult result = run_interlock(arguments);
    EXPECT_EQ(result.status, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(refusal.reason));
  }
}

}  // namespace
}  // namespace interlock::guided_campaigns_test
