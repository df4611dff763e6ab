// interlock check: verdicts, formats and exit statuses, as a user sees them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::check_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

const std::string kCorpus = INTERLOCK_SOURCE_DIR "/corpus/";

constexpr const char* kHazard = R"(interlock 1
memory a 256
memory b 256
reduce: dispatch Reduce reads a writes b[0:64]
vjp: dispatch Vjp reads b[64:128] writes a[0:64]
)";

constexpr const char* kRepaired = R"(interlock 1
memory a 256
memory b 256
reduce: dispatch Reduce reads a writes b[0:64]
barrier execution
vjp: dispatch Vjp reads b[64:128] writes a[0:64]
)";

std::string document_at(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CheckCommand, ReportsAHazardWithStatusOne) {
  const CommandResult result = run_interlock({"check", "-"}, kHazard);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("WAR hazard: vjp (dispatch 1) writes a[0:64]"));
  EXPECT_THAT(result.out, HasSubstr("Fix:"));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST(CheckCommand, FindsNothingInTheRepairedTwin) {
  const CommandResult result = run_interlock({"check", "-"}, kRepaired);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, Not(HasSubstr("hazard:")));
}

TEST(CheckCommand, PrintsNoColourIntoAPipe) {
  EXPECT_THAT(run_interlock({"check", "-"}, kHazard).out, Not(HasSubstr("\x1b")));
}

TEST(CheckCommand, GivesTheSameBytesTwice) {
  const std::vector<std::string> arguments = {"check", "--all",
                                              kCorpus + "streams/ggml-llama24-metal.ilk"};
  EXPECT_EQ(run_interlock(arguments).out, run_interlock(arguments).out);
}

TEST(CheckCommand, GivesJsonOnALineOfItsOwn) {
  const CommandResult result = run_interlock({"check", "--format=json", "-"}, kHazard);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out.front(), '{');
  EXPECT_EQ(result.out.find('\n'), result.out.size() - 1);
  EXPECT_THAT(result.out, HasSubstr("\"WAR\""));
}

TEST(CheckCommand, HoldsTheExpectationsOfABugAndOfItsTwin) {
  EXPECT_EQ(run_interlock({"check", kCorpus + "bugs/mlx-3630.ilk"}).status, 0);
  EXPECT_EQ(run_interlock({"check", kCorpus + "bugs/mlx-3630.fixed.ilk"}).status, 0);
}

TEST(CheckCommand, FailsWhenAnExpectationDoesNotHold) {
  const CommandResult clean =
      run_interlock({"check", "-"}, std::string(kHazard) + "expect clean\n");
  EXPECT_EQ(clean.status, 1);
  EXPECT_THAT(clean.out, HasSubstr("FAILS: Not expected: WAR hazard"));
  const CommandResult missing =
      run_interlock({"check", "-"}, std::string(kRepaired) + "expect WAR reduce vjp\n");
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.out, HasSubstr("'expect WAR reduce vjp' does not hold"));
}

TEST(CheckCommand, FailsWhenAnEncoderDoesNotMeetItsExpectation) {
  const std::string expectation = "expect encoder=interlock WAR reduce vjp\n";
  const CommandResult result = run_interlock({"check", "-"}, std::string(kRepaired) + expectation);
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("FAILS (encoder interlock)"));
}

// A line about an encoder that is not there is a mistake in the file, and no finding.
TEST(CheckCommand, RejectsAnExpectationOfAnUnknownEncoder) {
  const CommandResult result =
      run_interlock({"check", "-"}, std::string(kRepaired) + "expect encoder=interlok clean\n");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr(":7:16: error: there is no encoder 'interlok'. "
                                    "Did you mean 'interlock'?"));
}

// More adopters than are followed.
std::string program_with_adopters(const std::string& before, const std::string& behind) {
  std::string text = "interlock 1\nmemory m 16\ntensor x f32[4] at m+0\n";
  for (int i = 0; i < 1500; ++i) text += "tensor a" + std::to_string(i) + " f32[4]\n";
  text += before;
  for (int i = 0; i < 1500; ++i) text += "adopt a" + std::to_string(i) + " = x\n";
  return text + behind;
}

// What is found until the limit is expected.
std::string program_with_hidden_clobber(const std::string& lines) {
  return program_with_adopters(
      "w: dispatch W writes x\nr: dispatch R reads x\n",
      "barrier\nv: dispatch V writes x\nbarrier\ndispatch R reads a0\n" + lines);
}

TEST(CheckCommand, HasNoVerdictWhereALimitEndsTheCheck) {
  if (is_slow_build()) GTEST_SKIP() << "Each of nine checks up to the limit takes seconds there.";
  const std::string open =
      temporary_file("open.ilk", program_with_hidden_clobber("expect RAW w r\n"));
  const CommandResult result = run_interlock({"check", open});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(
      result.out,
      HasSubstr(
          "  holds: expect RAW w r\n"
          "  NO VERDICT: There may be findings that no line expects: the tensors that hold values"));
  EXPECT_THAT(result.out, HasSubstr("1 finding so far, and no verdict on the rest: the tensors"));
  EXPECT_EQ(run_interlock({"check", "-"}, program_with_hidden_clobber("")).status, 1);
  EXPECT_EQ(run_interlock({"check", "-"}, program_with_hidden_clobber("expect clean\n")).status, 1);
  const std::string repaired = temporary_file("repaired.ilk", kRepaired);
  EXPECT_EQ(run_interlock({"check", repaired, open, repaired}).status, 2);
  const CommandResult json = run_interlock({"check", "--format=json", open});
  EXPECT_EQ(json.status, 2);
  EXPECT_THAT(json.out, HasSubstr("\"is_truncated\":true,\"truncated_by\":[\"the tensors that"));
  EXPECT_THAT(json.out, HasSubstr("\"failures\":[],\"unjudged\":[\"There may be findings"));
  const CommandResult replayed = run_interlock({"replay", open});
  EXPECT_THAT(replayed.err, HasSubstr("nothing differs so far, and no verdict: the tensors that"));
  EXPECT_EQ(replayed.status, 2);
  const CommandResult minimized =
      run_interlock({"minimize", "-"}, program_with_adopters("dispatch W writes x\n", ""));
  EXPECT_THAT(minimized.err, HasSubstr("no finding so far, and no verdict: the tensors that hold"));
  EXPECT_EQ(minimized.status, 2);
}

TEST(CheckCommand, JudgesEveryFileAndReturnsTheWorst) {
  const std::string hazard = temporary_file("hazard.ilk", kHazard);
  const std::string repaired = temporary_file("repaired.ilk", kRepaired);
  const std::string broken = temporary_file("broken.ilk", "interlock 1\nmemory\n");
  EXPECT_EQ(run_interlock({"check", repaired, hazard}).status, 1);
  const CommandResult result = run_interlock({"check", broken, hazard});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.out, HasSubstr("WAR hazard"));
  EXPECT_THAT(result.err, HasSubstr("broken.ilk:2:"));
}

constexpr const char* kIdleBarrier = R"(interlock 1
memory a 256
memory b 256
dispatch Left writes a
idle: barrier
dispatch Right writes b
)";

TEST(CheckCommand, AdvisesToRemoveARedundantBarrier) {
  const CommandResult result = run_interlock({"check", "--advice", "-"}, kIdleBarrier);
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("redundant: idle (barrier 0, before dispatch 1) can go.\n"));
}

TEST(CheckCommand, SaysHowManyBarriersDoWhereAskedForAdvice) {
  // Either of the last two orders the write before the read.
  const std::string program =
      std::string(kIdleBarrier) + "barrier\nbarrier\ndispatch Use reads a b\n";
  constexpr const char* kLine =
      "barriers: 1 of 3 do: the other 2 can go together, and fewer do not.\n";
  EXPECT_THAT(run_interlock({"check", "--advice", "-"}, program).out, HasSubstr(kLine));
  EXPECT_THAT(run_interlock({"check", "-"}, program).out, Not(HasSubstr("barriers: ")));
  EXPECT_THAT(run_interlock({"check", "--format=json", "--advice", "-"}, program).out,
              HasSubstr("\"joint_barriers\":{\"barriers\":3,\"removed\":[0,1],\"untried\":0,"
                        "\"kept\":1,\"kept_min\":1}"));
  EXPECT_THAT(run_interlock({"check", "--format=json", "-"}, program).out,
              HasSubstr("\"joint_barriers\":null"));
  // Beside a finding, what they do is to add none.
  const CommandResult found =
      run_interlock({"check", "--advice", "-"}, program + "dispatch Late writes a\n");
  EXPECT_EQ(found.status, 1);
  EXPECT_THAT(found.out, HasSubstr("barriers: 1 of 3 do: the other 2 can go together, and fewer do "
                                   "not; the findings above stay.\n"));
}

TEST(CheckCommand, FoldsAdviceToALineBeforeTheFindings) {
  const CommandResult idle = run_interlock({"check", "-"}, kIdleBarrier);
  EXPECT_EQ(idle.status, 0);
  EXPECT_THAT(idle.out, StartsWith("advice: 1 of 1 barrier can go; --advice says which and why.\n"
                                   "2 dispatches,"));
  // The same program with a hazard after what is advised.
  const std::string both = std::string(kIdleBarrier) + "dispatch Again writes b\n";
  EXPECT_THAT(run_interlock({"check", "-"}, both).out,
              AllOf(StartsWith("advice: 1 of 1 barrier can go;"), HasSubstr("\nWAW hazard: ")));
  EXPECT_THAT(run_interlock({"check", "-"}, kRepaired).out, Not(HasSubstr("advice:")));
}

TEST(CheckCommand, NamesEachOfSeveralFiles) {
  const std::string hazard = temporary_file("named_hazard.ilk", kHazard);
  const std::string repaired = temporary_file("named_repaired.ilk", kRepaired);
  const CommandResult result = run_interlock({"check", repaired, hazard});
  EXPECT_THAT(result.out, AllOf(StartsWith(repaired + ":\n2 dispatches,"),
                                HasSubstr("\n" + hazard + ":\nWAR")));
  EXPECT_THAT(run_interlock({"check", hazard}).out, StartsWith("WAR hazard: "));
}

TEST(CheckCommand, PrintsALineForEachFileIfQuiet) {
  const std::string hazard = temporary_file("quiet_hazard.ilk", kHazard);
  const std::string wrong =
      temporary_file("quiet_wrong.ilk", std::string(kRepaired) + "expect WAR reduce vjp\n");
  const CommandResult result = run_interlock({"check", "-q", hazard, wrong});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(
      result.out,
      MatchesRegex(hazard + ": 2 dispatches.*; 1 finding.\n" + wrong +
                   ": 2 dispatches.*no findings.*\n  FAILS: 'expect WAR reduce vjp' [^\n]*\n"));
}

TEST(CheckCommand, TakesFoldersInTheOrderOfTheirNames) {
  const std::string folder = testing::TempDir() + "/programs";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/a/deep");
  const auto put = [](const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
  };
  put(folder + "/z.ilk", kRepaired);
  put(folder + "/a/deep/m.ilk", kHazard);
  put(folder + "/a/notes.txt", "no program");
  const CommandResult result = run_interlock({"check", "-q", folder});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, MatchesRegex(folder + "/a/deep/m.ilk: .*1 finding.\n" + folder +
                                       "/z.ilk: .*no findings.*"));
  std::filesystem::create_directories(folder + "/empty");
  const CommandResult empty = run_interlock({"check", folder + "/empty"});
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, HasSubstr("there is no program (.ilk, .ilk.gz) in the folder"));
}

TEST(CheckCommand, WritesOneSarifLogOfAllFiles) {
  const std::string hazard = temporary_file("sarif_hazard.ilk", kHazard);
  const std::string broken = temporary_file("sarif_broken.ilk", "interlock 1\nmemory\n");
  const CommandResult result = run_interlock({"check", "--format=sarif", hazard, broken});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("sarif_broken.ilk:2:"));
  EXPECT_EQ(std::ranges::count(result.out, '\n'), 1);
  EXPECT_THAT(result.out,
              AllOf(StartsWith("{\"$schema\":"), HasSubstr("\"ruleId\":\"WAR\""),
                    HasSubstr("\"startLine\":5"), HasSubstr("\"executionSuccessful\":false")));
  EXPECT_EQ(run_interlock({"check", "--format=sarif", "-"}, kRepaired).status, 0);
}

TEST(CheckCommand, IgnoresExpectationsIfAsked) {
  const std::string bug = kCorpus + "bugs/mlx-3630.ilk";
  const CommandResult result = run_interlock({"check", "--ignore-expect", bug});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, Not(HasSubstr("holds:")));
  EXPECT_EQ(run_interlock({"check", "--ignore-expect", kCorpus + "bugs/mlx-3630.fixed.ilk"}).status,
            0);
  EXPECT_EQ(run_interlock({"check", "--ignore-expect", "--update-expect", bug}).status, 2);
}

TEST(CheckCommand, UpdatesWhatIsExpectedAndNothingElse) {
  const std::string lines = std::string(kRepaired) +
                            "expect WAR reduce vjp\n"
                            "# Encoders:\n"
                            "expect encoder=interlock clean  # as it should be\n"
                            "expect encoder=none clean\n";
  const std::string path = temporary_file("update.ilk", lines);
  const CommandResult before = run_interlock({"check", path});
  EXPECT_EQ(before.status, 1);
  EXPECT_THAT(before.out, HasSubstr("if it was repaired, write it down: interlock check "
                                    "--update-expect " +
                                    path + "\n"));
  const CommandResult updated = run_interlock({"check", "--update-expect", path});
  EXPECT_EQ(updated.status, 0);
  EXPECT_EQ(updated.out, path + " is updated.\n");
  EXPECT_EQ(document_at(path), std::string(kRepaired) +
                                   "expect clean\n"
                                   "# Encoders:\n"
                                   "expect encoder=interlock clean  # as it should be\n"
                                   "expect encoder=none WAR reduce vjp\n");
  EXPECT_EQ(run_interlock({"check", path}).status, 0);
  // What holds stays as it is, and is not written again.
  EXPECT_EQ(run_interlock({"check", "--update-expect", path}).out, "");
  EXPECT_EQ(run_interlock({"check", "--update-expect", "-"}, kHazard).out,
            std::string(kHazard) + "expect WAR reduce vjp\n");
}

// Every sort of finding of the corpus: without its lines a file gets lines that hold.
TEST(CheckCommand, WritesLinesThatHoldForEveryProgramOfTheCorpus) {
  const std::string folder = testing::TempDir() + "/stripped";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  int count = 0;
  for (const char* const room : {"bugs", "queues", "seeds", "graphs"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kCorpus + room)) {
      if (entry.path().extension() != ".ilk") continue;
      std::ifstream file(entry.path());
      std::ofstream stripped(folder + "/" + room + "-" + entry.path().filename().string());
      for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("expect")) stripped << line << '\n';
      }
      ++count;
    }
  }
  EXPECT_GT(count, 200);
  EXPECT_EQ(run_interlock({"check", "--update-expect", folder}).status, 0);
  const CommandResult again = run_interlock({"check", "-q", folder});
  EXPECT_EQ(again.status, 0) << again.out;
}

// By its number among the statements.
TEST(CheckCommand, NamesWhatHasNoLabelWhereverItIsFound) {
  const std::string deadlock =
      "interlock 1\nq1: queue serial\nwait a=1\nsignal b=1\nwait b=1 on q1\nsignal a=1 on q1\n";
  EXPECT_EQ(run_interlock({"check", "--update-expect", "-"}, deadlock).out,
            deadlock + "expect deadlock @0 @2\n");
  EXPECT_THAT(run_interlock({"check", "--format=sarif", "-"}, deadlock).out,
              HasSubstr("expect deadlock @0 @2"));
  const CommandResult run = run_interlock({"run", "-"}, deadlock);
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "deadlock: 2 statements wait for each other.\n");
  const std::string hazard = "interlock 1\nmemory x 64\ndispatch Make writes x\nhost reads x\n";
  const std::string path = temporary_file("unlabelled.ilk", hazard);
  const CommandResult found = run_interlock({"check", path});
  EXPECT_THAT(found.out, HasSubstr("with host reads (statement 1) before dispatch 0, what"));
  EXPECT_THAT(found.out, HasSubstr("--witness=\"@1 before 0\""));
  EXPECT_EQ(run_interlock({"replay", path, "--witness=@1 before 0"}).status, 1);
}

TEST(CheckCommand, DeniesARedundantBarrierThatNobodyExpects) {
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, kIdleBarrier).status, 1);
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, kRepaired).status, 0);
  const std::string expected = std::string(kIdleBarrier) + "expect redundant idle\n";
  EXPECT_EQ(run_interlock({"check", "--deny=redundant", "-"}, expected).status, 0);
  EXPECT_EQ(run_interlock({"check", "--deny=excuses", "-"}, kRepaired).status, 2);
}

TEST(CheckCommand, PrintsTheCertificateIfAsked) {
  EXPECT_THAT(
      run_interlock({"check", "--certificate", "-"}, kRepaired).out,
      HasSubstr(
          "Certificate: 1 conflict in disjoint slots, each in need of a barrier of its own; verified.\n"
          "  reduce (dispatch 0) and vjp (dispatch 1)\n"));
  EXPECT_THAT(run_interlock({"check", "-"}, kRepaired).out, Not(HasSubstr("Certificate")));
}

TEST(CheckCommand, ShowsTwentyRedundantBarriersUnlessAskedForAll) {
  const std::string stream = kCorpus + "streams/ggml-llama24-metal.ilk";
  const std::string some = run_interlock({"check", "--advice", stream}).out;
  EXPECT_THAT(some, HasSubstr("… and 28 more redundant barriers.\n48 redundant barriers of 455:"));
  EXPECT_THAT(some, HasSubstr("--all prints"));
  const std::string all = run_interlock({"check", "--all", stream}).out;
  EXPECT_THAT(all, Not(HasSubstr("more redundant barriers")));
  EXPECT_THAT(all, Not(HasSubstr("--all prints")));
}

TEST(CheckCommand, SaysHowManyFindingsItLeftOut) {
  const CommandResult result =
      run_interlock({"check", "--max-findings=3", kCorpus + "streams/ggml-llama24-nobarrier.ilk"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("--max-findings=0"));
}

TEST(CheckCommand, FollowsManyTensorsThatAdoptAValueAndSaysWhereItEnds) {
  if (is_slow_build()) GTEST_SKIP() << "Checks up to a limit take seconds there.";
  const auto program_of = [](int count) {
    std::string text = "interlock 1\ntensor x f32[4]\n";
    for (int i = 0; i < count; ++i) text += "tensor t" + std::to_string(i) + " f32[4]\n";
    text += "tensor y f32[4]\noutput y\nw: dispatch K writes x\n";
    for (int i = 0; i < count; ++i) text += "adopt t" + std::to_string(i) + " = x\n";
    return text + "barrier\ndispatch K reads x writes y\n";
  };
  EXPECT_EQ(run_interlock({"check", "-"}, program_of(1400)).status, 0);
  const CommandResult result = run_interlock({"check", "-"}, program_of(1500));
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(
      result.out,
      HasSubstr(
          "no findings so far, and no verdict: the tensors that hold values by adoption make lists of more than 1000000 entries"));
}

}  // namespace
}  // namespace interlock::check_test
