// From an encoder to a minimized hazard that replays: the commands one after another, as a user
// runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::workflow_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

const std::string kCorpus = INTERLOCK_SOURCE_DIR "/corpus/";

std::string fresh_folder(const std::string& name) {
  const std::filesystem::path path = testing::TempDir() + "interlock-" + name;
  std::filesystem::remove_all(path);
  return path.string();
}

// The programs.
std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".ilk") continue;
    paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Workflow, FuzzingFindsMinimizesAndReplaysTheWriteAfterReadOfMlx2024) {
  const std::string folder = fresh_folder("workflow-fuzz");
  const CommandResult fuzz = run_interlock(
      {"fuzz", "--encoder=mlx-2024", "--seed=2", "--runs=500", "--max-finds=1", "--out=" + folder});
  ASSERT_EQ(fuzz.status, 1) << fuzz.err;
  const std::vector<std::string> files = files_in(folder);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_THAT(files[0], HasSubstr("/WAR.ilk"));
  EXPECT_EQ(
      count(text_of(files[0]), "\nd0: dispatch ") + count(text_of(files[0]), "\nd1: dispatch "), 2u)
      << text_of(files[0]);
  EXPECT_EQ(count(text_of(files[0]), "\nd2: "), 0u) << text_of(files[0]);
  const CommandResult check = run_interlock({"check", files[0]});
  EXPECT_THAT(check.out, HasSubstr("WAR hazard"));
  const CommandResult replay = run_interlock({"replay", files[0]});
  EXPECT_EQ(replay.status, 1);
  EXPECT_THAT(replay.out, HasSubstr("differ"));
  EXPECT_EQ(run_interlock({"replay", files[0]}).out, replay.out);
}

TEST(Workflow, ACampaignKeepsOneFileOfAFaultOrOneOfEachSignature) {
  const std::string one = fresh_folder("workflow-cause");
  const std::string all = fresh_folder("workflow-signatures");
  const CommandResult causes =
      run_interlock({"fuzz", "--encoder=mlx-2024", "--seed=2", "--runs=60", "--out=" + one});
  EXPECT_EQ(causes.status, 1);
  EXPECT_THAT(causes.out, HasSubstr(", 1 distinct (encoder mlx-2024, seed 2)."));
  EXPECT_THAT(causes.out, HasSubstr("  Replay: interlock replay " + one + "/WAR.ilk\n"));
  EXPECT_EQ(files_in(one).size(), 1u);
  const CommandResult signatures = run_interlock(
      {"fuzz", "--encoder=mlx-2024", "--seed=2", "--runs=60", "--all-signatures", "--out=" + all});
  EXPECT_EQ(signatures.status, 1);
  const std::vector<std::string> files = files_in(all);
  EXPECT_GT(files.size(), 3u);
  for (const std::string& file : files) {
    EXPECT_THAT(text_of(file), HasSubstr(" --all-signatures --seed=2 "));
  }
}

TEST(Workflow, ACampaignWritesTheSameFilesForAnyNumberOfJobs) {
  if (is_slow_build()) GTEST_SKIP() << "Seconds there; CampaignOfJobs takes the same way.";
  const std::string one = fresh_folder("workflow-one");
  const std::string two = fresh_folder("workflow-two");
  const std::vector<std::string> arguments = {"fuzz", "--encoder=none", "--seed=3", "--runs=60"};
  std::vector<std::string> with_one = arguments;
  with_one.insert(with_one.end(), {"--jobs=1", "--out=" + one});
  std::vector<std::string> with_two = arguments;
  with_two.insert(with_two.end(), {"--jobs=2", "--out=" + two});
  EXPECT_EQ(run_interlock(with_one).status, 1);
  EXPECT_EQ(run_interlock(with_two).status, 1);
  const std::vector<std::string> files_one = files_in(one);
  const std::vector<std::string> files_two = files_in(two);
  ASSERT_FALSE(files_one.empty());
  ASSERT_EQ(files_one.size(), files_two.size());
  for (size_t i = 0; i < files_one.size(); ++i) {
    EXPECT_EQ(text_of(files_one[i]), text_of(files_two[i]));
  }
}

TEST(Workflow, ACorrectEncoderGivesNothing) {
  for (const char* encoder : {"interlock", "serial", "mlx-2026", "ggml-metal"}) {
    const CommandResult result =
        run_interlock({"fuzz", std::string("--encoder=") + encoder, "--seed=1", "--runs=200"});
    EXPECT_EQ(result.status, 0) << encoder << "\n" << result.out;
  }
}

TEST(Workflow, ReplayOfTheBugDivergesInTheBiasGradientOnly) {
  const CommandResult result = run_interlock({"replay", kCorpus + "bugs/mlx-3630.ilk"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("of 64 values of gb differ"));
  EXPECT_THAT(result.out, Not(HasSubstr("values of gx differ")));
}

TEST(Workflow, ReplayOfTheRepairedTwinAgrees) {
  EXPECT_EQ(run_interlock({"replay", kCorpus + "bugs/mlx-3630.fixed.ilk"}).status, 0);
}

TEST(Workflow, AWitnessThatSyncForbidsNowNoLongerFails) {
  std::string text = text_of(kCorpus + "bugs/mlx-3630.ilk");
  text.insert(text.find("vjp: dispatch"), "barrier\n");
  const CommandResult result = run_interlock({"replay", "-"}, text);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("no longer legal"));
}

// No few schedules decide beside scoped barriers.
TEST(Workflow, ReplayWithoutAWitnessShowsTheHazardsOfScopedBarriers) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus + "seeds")) {
    const std::string path = entry.path().string();
    if (path.find("/trap-") == std::string::npos) continue;
    ++count;
    const bool is_fixed = path.find(".fixed.") != std::string::npos;
    EXPECT_EQ(run_interlock({"replay", path}).status, is_fixed ? 0 : 1) << path;
  }
  EXPECT_GE(count, 18);
  const CommandResult result = run_interlock({"replay", "-"}, R"(interlock 1
tensor x f32[4] = random(1)
tensor a f32[4]
tensor b f32[4]
output a b
p: dispatch silu reads x writes a
q: dispatch silu reads x writes b
barrier compute.write -> compute.read
witness q before p
)");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out,
              HasSubstr("The hazard may be elsewhere by now. "
                        "Trying a schedule for each observable hazard, until one differs.\n"
                        "  issue order: "
                        "equal"));
}

// Twenty hazards between equal values, and after them one that shows.
TEST(Workflow, ReplayOfScopedBarriersGoesOnUntilAHazardShows) {
  std::string text = "interlock 1\ntensor x f32[4] = random(1)\n";
  std::string dispatches;
  for (int i = 0; i < 20; ++i) {
    const std::string number = std::to_string(i);
    text += "tensor z" + number + " f32[4] = zeros\ntensor y" + number + " f32[4]\n";
    dispatches += "dispatch fill writes z" + number + " value=0\n";
    dispatches += "dispatch silu reads z" + number + " writes y" + number + "\n";
    dispatches += "barrier compute.read|compute.write -> compute.read|compute.write\n";
  }
  text += "tensor w f32[4]\ntensor o f32[4]\n" + dispatches +
          "p: dispatch silu reads x writes w\nq: dispatch add reads w x writes o\n";
  const CommandResult result = run_interlock({"replay", "-"}, text);
  EXPECT_EQ(result.status, 1) << result.out;
  // Twenty witnesses show nothing; the last one has the word.
  EXPECT_EQ(count(result.out, ": equal to the reference, bit for bit.\n"), 21u) << result.out;
  EXPECT_THAT(result.out, HasSubstr("(p after q)\n"));
}

// What is wrong in every run alike differs from none.
TEST(Workflow, ReplaySaysWhatNoScheduleShows) {
  const CommandResult wrong = run_interlock({"replay", "-"}, R"(interlock 1
tensor x f32[4]
tensor a f32[4]
output a
read: dispatch silu reads x writes a
)");
  EXPECT_EQ(wrong.status, 0) << wrong.out;
  EXPECT_THAT(wrong.out, HasSubstr("  late commits: equal to the reference, bit for bit.\n"
                                   "No schedule shows what `interlock check` finds: uninitialized: "
                                   "read (dispatch 0) reads x[0:16] as x, where nobody wrote.\n"));
  const CommandResult right = run_interlock({"replay", "-"}, R"(interlock 1
tensor x f32[4] = ones
tensor a f32[4]
output a
read: dispatch silu reads x writes a
)");
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.out, Not(HasSubstr("No schedule shows")));
}

// What is wrong in issue order needs no hazard: here program order is another one.
TEST(Workflow, ReplayOfScopedBarriersShowsAWrongIssueOrder) {
  const std::string text =
      "interlock 1\ntensor x f32[4] = random(1)\ntensor a f32[4] = ones\ntensor b f32[4]\n"
      "output b\nw: dispatch silu order=1 reads x writes a\n"
      "barrier compute.write|compute.read -> compute.read|compute.write\n"
      "r: dispatch silu order=0 reads a writes b\n";
  const CommandResult result = run_interlock({"replay", "-"}, text);
  EXPECT_EQ(result.status, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("from program order. (issue order)\n"));
}

// Without the list of signatures: it counts the programs of a whole campaign.
std::string without_signatures(const std::string& text) {
  std::istringstream lines(text);
  std::string rest;
  bool is_in_list = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# Findings with this cause")) {
      is_in_list = true;
    } else if (!is_in_list || !line.starts_with("#   ")) {
      is_in_list = false;
      rest += line + '\n';
    }
  }
  return rest;
}

// The command in each file, as it stands there, gives that file again.
TEST(Workflow, TheCommandInAFileGivesTheFileAgain) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--encoder=none", "--max-dispatches=5", "--seed=3", "--runs=40", "--max-finds=3"},
           {"--encoder=serial", "--deny-excess", "--seed=2", "--runs=40"},
           {"--planner=ztensor-167", "--max-dispatches=9", "--runs=40", "--max-finds=2"}}) {
    const std::string folder = fresh_folder("workflow-found-with");
    std::vector<std::string> arguments = {"fuzz", "--out=" + folder};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run_interlock(arguments).status, 1);
    ASSERT_FALSE(files_in(folder).empty());
    for (const std::string& path : files_in(folder)) {
      const std::string text = text_of(path);
      const std::string start = "# Found with: interlock ";
      const size_t begin = text.find(start) + start.size();
      std::istringstream words(text.substr(begin, text.find('\n', begin) - begin));
      const std::string again = fresh_folder("workflow-found-again");
      std::vector<std::string> command;
      for (std::string word; words >> word;) command.push_back(word);
      command.push_back("--out=" + again);
      EXPECT_EQ(run_interlock(command).status, 1) << text;
      EXPECT_EQ(without_signatures(text_of(again + path.substr(folder.size()))),
                without_signatures(text));
    }
  }
}

TEST(Workflow, MinimizeShrinksARecordedStreamToTwoDispatches) {
  if (is_slow_build()) GTEST_SKIP() << "Seconds there; smaller programs take the same way.";
  const std::string out = fresh_folder("minimized.ilk");
  const CommandResult result = run_interlock(
      {"minimize", kCorpus + "streams/ggml-llama24-nobarrier.ilk", "-o", out, "--any-kernels"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_EQ(count(text_of(out), "dispatch "), 2u) << text_of(out);
  EXPECT_EQ(run_interlock({"replay", out}).status, 1);
}

// Progress is for who looks on: of a command whose output is redirected only the last line is left.
TEST(Workflow, MinimizeSaysNothingOnTheWayUnlessOnATerminal) {
  const CommandResult result = run_interlock(
      {"minimize", "-"}, "interlock 1\nmemory m 64\ndispatch A writes m\ndispatch B writes m\n");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, MatchesRegex("2 of 2 dispatches are left after [0-9]+ evaluations\\.\n"));
  EXPECT_THAT(result.out, StartsWith("interlock 1\n"));
}

TEST(Workflow, EncodeDropsTheOldSyncAndTheResultIsClean) {
  const CommandResult encoded =
      run_interlock({"encode", "--encoder=interlock", kCorpus + "streams/ggml-llama24-metal.ilk"});
  ASSERT_EQ(encoded.status, 0);
  EXPECT_EQ(count(encoded.out, "\nbarrier"), 407u);
  EXPECT_EQ(run_interlock({"check", "-"}, encoded.out).status, 0);
}

TEST(Workflow, RunPrintsTheOutputsAndADigestThatDoesNotChange) {
  const std::vector<std::string> arguments = {"run", kCorpus + "bugs/mlx-3630.ilk"};
  const CommandResult result = run_interlock(arguments);
  EXPECT_EQ(result.status, 0);
  // The first four of 64.
  EXPECT_THAT(result.out,
              HasSubstr("  gb f32[64]: -0.041185737 6.295556 -2.060857 -2.0874567 …\n"));
  EXPECT_EQ(run_interlock(arguments).out, result.out);
  EXPECT_EQ(run_interlock({"run", "--schedule=witness", kCorpus + "bugs/mlx-3630.ilk"}).status, 1);
  EXPECT_EQ(run_interlock({"run", "--schedule=reversed", kCorpus + "bugs/mlx-3630.ilk"}).status, 1);
  EXPECT_EQ(
      run_interlock({"run", "--schedule=reversed", kCorpus + "bugs/mlx-3630.fixed.ilk"}).status, 0);
}

TEST(Workflow, TheInstrumentedRunFindsNothingUndeclaredInTheSeeds) {
  EXPECT_EQ(run_interlock({"run", "--check-declared", kCorpus + "seeds/mlp-step.ilk"}).status, 0);
}

TEST(Workflow, ExploreNamesTheScheduleThatDiffers) {
  for (const char* strategy : {"three", "directed", "exhaustive", "random", "pct"}) {
    const CommandResult result =
        run_interlock({"explore", kCorpus + "bugs/mlx-3630.ilk",
                       std::string("--strategy=") + strategy, "--schedules=64", "--seed=1"});
    EXPECT_EQ(result.status, 1) << strategy;
    EXPECT_THAT(result.out, HasSubstr("witness ")) << strategy;
  }
  EXPECT_EQ(run_interlock({"explore", kCorpus + "bugs/mlx-3630.fixed.ilk"}).status, 0);
  EXPECT_THAT(
      run_interlock({"explore", kCorpus + "bugs/mlx-3630.ilk", "--strategy=exhaustive"}).out,
      HasSubstr("1 hazard between 2 dispatches"));
  EXPECT_THAT(
      run_interlock({"explore", kCorpus + "bugs/mlx-3630.ilk", "--strategy=pct", "--depth=1"}).out,
      HasSubstr("1/3."));
}

TEST(Workflow, ExploreSaysThatCheckDoesNotCountWhatIsAfterOwnRead) {
  const std::string file = temporary_file(
      "own-read.ilk",
      "interlock 1\nmemory data 64\nq1: queue concurrent\ndispatch Fft.1 updates data\n"
      "barrier compute.write -> compute.read\ndispatch Fft.2 updates data\nsignal s=1\n"
      "wait s=1 on q1\ndispatch Fft.3 reads data on q1\n");
  EXPECT_EQ(run_interlock({"check", file}).status, 0);
  const CommandResult result = run_interlock({"explore", file, "--strategy=exhaustive"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out,
              HasSubstr("All hazards here are after own reads: `check` tells them and does not "
                        "count them, unless --deny=own-read asks for it.\n"));
  EXPECT_THAT(run_interlock({"explore", kCorpus + "bugs/mlx-3630.ilk"}).out,
              Not(HasSubstr("--deny=own-read")));
}

// What explore calls "random, seed N" is what run executes with that seed.
TEST(Workflow, RunsTheRandomScheduleOfSeveralQueuesThatExploreNames) {
  const std::string file = kCorpus + "queues/next-upload.ilk";
  const CommandResult found =
      run_interlock({"explore", file, "--strategy=random", "--schedules=6", "--seed=1"});
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr("  witness upload2 before forward1\n"));
  int differing_count = 0;
  for (int seed = 1; seed <= 6; ++seed) {
    const bool differs = found.out.find(fmt::format("random, seed {}: an output can differ",
                                                    seed)) != std::string::npos;
    differing_count += differs ? 1 : 0;
    const CommandResult run =
        run_interlock({"run", file, "--schedule=random", fmt::format("--seed={}", seed)});
    EXPECT_EQ(run.status, differs ? 1 : 0) << run.out;
  }
  EXPECT_GT(differing_count, 0);
  EXPECT_LT(differing_count, 6);
  const std::string repaired = kCorpus + "queues/next-upload.fixed.ilk";
  EXPECT_EQ(run_interlock({"explore", repaired, "--strategy=random"}).status, 0);
  EXPECT_EQ(run_interlock({"run", repaired, "--schedule=random"}).status, 0);
}

TEST(Workflow, ExploresAndRunsNoProgramThatNeverEnds) {
  const std::string file = kCorpus + "queues/crossing-waits.ilk";
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"explore", file}, {"run", file, "--schedule=random"}}) {
    const CommandResult result = run_interlock(arguments);
    EXPECT_EQ(result.status, 1);
    EXPECT_EQ(result.out, "deadlock: 2 statements wait for each other.\n");
  }
}

TEST(Workflow, SaysWhichSchedulesAreOfOneQueue) {
  EXPECT_THAT(run_interlock({"run", kCorpus + "queues/next-upload.ilk", "--schedule=reversed"}).err,
              HasSubstr("random and witness work for this one"));
}

TEST(Workflow, ListNamesWhatTheCommandsTake) {
  const CommandResult result = run_interlock({"list"});
  EXPECT_EQ(result.status, 0);
  for (const char* name : {"mlx-2024", "layer_norm_vjp", "cpu", "directed"}) {
    EXPECT_THAT(result.out, HasSubstr(name));
  }
  EXPECT_THAT(run_interlock({"list", "kernels"}).out, Not(HasSubstr("mlx-2024")));
}

}  // namespace
}  // namespace interlock::workflow_test
