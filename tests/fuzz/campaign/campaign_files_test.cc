// Where a campaign writes, and what stands in its files: a program that parses, and how to get it
// again.
#include "fuzz/campaign/campaign_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::campaign_files_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Program small_program() { return parse("interlock 1\nmemory a 4\ndispatch A writes a\n").value(); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Every option that a run depends on, as the command line spells it.
TEST(CommandOfRun, NamesEveryOptionThatTheRunDependsOn) {
  CampaignOptions options;
  EXPECT_EQ(command_of_run(options, 7, false), "interlock fuzz --seed=1 --first-run=7 --runs=1");
  options.seed = 12;
  options.encoder = find_encoder("serial");
  options.generator.max_dispatches = 5;
  options.oracles.judges_excess = true;
  EXPECT_EQ(
      command_of_run(options, 0, false),
      "interlock fuzz --encoder=serial --max-dispatches=5 --deny-excess --seed=12 --first-run=0 --runs=1");
  CampaignOptions of_passes;
  of_passes.backward = find_backward("split");
  of_passes.planner = find_planner("ggml");
  EXPECT_EQ(command_of_run(of_passes, 3, false),
            "interlock fuzz --backward=split --planner=ggml --seed=1 --first-run=3 --runs=1");
  CampaignOptions of_replays;
  of_replays.replay = find_replay("pytorch");
  EXPECT_EQ(command_of_run(of_replays, 3, false),
            "interlock fuzz --replay=pytorch --seed=1 --first-run=3 --runs=1");
}

TEST(CommandOfRun, NamesTheDeviceWhereItWasThere) {
  CampaignOptions options;
  options.oracles.device.backend = find_backend("cpu");
  EXPECT_EQ(command_of_run(options, 2, true),
            "interlock fuzz --backend=cpu --seed=1 --first-run=2 --runs=1");
  options.oracles.device.overlap_trial_count = 9;
  EXPECT_EQ(command_of_run(options, 2, true),
            "interlock fuzz --backend=cpu --overlap-trials=9 --seed=1 --first-run=2 --runs=1");
  EXPECT_EQ(command_of_run(options, 2, false), "interlock fuzz --seed=1 --first-run=2 --runs=1");
}

// A message may have several lines, also empty ones and such as would be statements.
TEST(FileText, MakesACommentOfEveryLineOfAMessage) {
  const std::string text = file_text_of({}, small_program(), 4, "One.\n\ndispatch Two\n  - Three.");
  EXPECT_THAT(lines_of(text),
              ElementsAre("interlock 1", "# One.", "# ", "# dispatch Two", "#   - Three.",
                          "# Found with: interlock fuzz --seed=1 --first-run=4 --runs=1",
                          "memory a 4", "dispatch A writes a"));
  const auto program = parse(text);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(print(*program), print(small_program()));
}

TEST(FileText, MakesACommentOfEveryLineOfANote) {
  CampaignFind find;
  find.signature = "RAW-view";
  find.original_dispatch_count = 9;
  find.dispatch_count = 1;
  find.program = small_program();
  find.notes = {"One.\nTwo.", "Three."};
  const std::string text = file_text_of({}, find);
  EXPECT_THAT(lines_of(text),
              ElementsAre("interlock 1", "# RAW-view, minimized from 9 to 1 dispatches.",
                          "# Found with: interlock fuzz --seed=1 --first-run=0 --runs=1", "# One.",
                          "# Two.", "# Three.", "memory a 4", "dispatch A writes a"));
}

class PathOfFile : public testing::Test {
 protected:
  PathOfFile() {
    // Two builds may run this test at once.
    folder_ =
        std::filesystem::path(testing::TempDir()) / ("interlock_paths_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    options_.out_dir = folder_.string();
    options_.encoder = find_encoder("none");
  }
  ~PathOfFile() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::string name_of_next() {
    return std::filesystem::path(path_of_file(options_, "find")).filename().string();
  }

  std::filesystem::path folder_;
  CampaignOptions options_;
};

TEST_F(PathOfFile, IsThatOfTheNameWhereNothingLies) { EXPECT_EQ(name_of_next(), "find.ilk"); }

TEST_F(PathOfFile, IsThatOfWhatTheSameCampaignLeftWithAnySeed) {
  CampaignOptions earlier = options_;
  earlier.seed = 99;
  write("find.ilk", file_text_of(earlier, small_program(), 12, "Why.\nAnd why more."));
  EXPECT_EQ(name_of_next(), "find.ilk");
}

TEST_F(PathOfFile, IsAnotherWhereAnotherCampaignOrAPersonWrote) {
  CampaignOptions other = options_;
  other.encoder = find_encoder("mlx-2024");
  write("find.ilk", file_text_of(other, small_program(), 12, "Why."));
  EXPECT_EQ(name_of_next(), "find.2.ilk");
  other = options_;
  other.generator.max_dispatches = 3;
  write("find.2.ilk", file_text_of(other, small_program(), 12, "Why."));
  EXPECT_EQ(name_of_next(), "find.3.ilk");
  write("find.3.ilk",
        print(small_program()) + "# Found with: interlock fuzz --encoder=none --seed=1");
  EXPECT_EQ(name_of_next(), "find.4.ilk");
  write("find.4.ilk", file_text_of(options_, small_program(), 0, "Why."));
  EXPECT_EQ(name_of_next(), "find.4.ilk");
}

// What it left with the device is its own, too.
TEST_F(PathOfFile, IsThatOfWhatTheSameCampaignLeftWithItsDevice) {
  options_.oracles.device.backend = find_backend("cpu");
  write("find.ilk", file_text_of(options_, small_program(), 12, "Why."));
  EXPECT_THAT(lines_of(file_text_of(options_, small_program(), 12, "Why."))[2],
              StartsWith("# Found with: interlock fuzz --backend=cpu --encoder=none --seed="));
  EXPECT_EQ(name_of_next(), "find.ilk");
  options_.oracles.device.backend = nullptr;
  EXPECT_EQ(name_of_next(), "find.2.ilk");
}

}  // namespace
}  // namespace interlock::campaign_files_test
