// Untrusted input: a clear error with its position and exit status 2, in bounded memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::bad_input_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr uint64_t kGigabyte = 1ull << 30;

CommandResult check_text(const std::string& text) {
  return run_interlock({"check", "-"}, text, {kGigabyte, 10});
}

void expect_refused(const std::string& text, const std::string& message) {
  const CommandResult result = check_text(text);
  EXPECT_EQ(result.status, 2) << text.substr(0, 200);
  EXPECT_THAT(result.err, HasSubstr("error: "));
  EXPECT_THAT(result.err, HasSubstr(message));
}

// Before work that may take hours: nothing else is said, and no folder of a campaign is made.
TEST(BadInput, AnOutputThatCannotBeWrittenIsRefusedAtOnce) {
  const std::string none = temporary_path("none/x");
  const std::string file = std::string(INTERLOCK_SOURCE_DIR) + "/corpus/bugs/mlx-3630.ilk";
  const std::string out = temporary_path("unmade");
  const std::vector<std::vector<std::string>> commands = {
      {"minimize", file, "-o", none + ".ilk"},
      {"fix", file, "-o", none + ".ilk"},
      {"show", file, "-o", none + ".html"},
      {"encode", file, "-o", none + ".ilk"},
      {"plan", file, "--curve", none + ".svg"},
      {"fuzz", "--encoder=none", "--runs=1e9", "--out", out, "--report", none + ".html"},
      {"fuzz", "--encoder=none", "--runs=1e9", "--out", out, "--report", out + "/none/x.html"}};
  for (const std::vector<std::string>& command : commands) {
    const CommandResult result = run_interlock(command, "", {kGigabyte, 10});
    EXPECT_EQ(result.status, 2) << command.front();
    EXPECT_EQ(result.out, "") << command.front();
    EXPECT_THAT(result.err, AllOf(StartsWith("error: "), HasSubstr("cannot write "),
                                  HasSubstr("No such file or directory")))
        << command.front();
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(BadInput, AWordThatStandsElsewhereIsSaidToBeOne) {
  const std::string text =
      "interlock 1\nmemory a 64\ng: queue graph\nn: dispatch N writes a on g\n";
  expect_refused(text + "dispatch K reads a programmatic on g\n",
                 "<stdin>:5:20: error: no tensor or memory 'programmatic' is declared before this "
                 "line. 'programmatic' stands after 'after OPERATION…', at the end of a dispatch "
                 "on a graph queue.");
  expect_refused(
      text + "wait s=1 after copy\n",
      "<stdin>:5:10: error: found 'after'; expected the end of the line. 'after' stands ");
}

TEST(BadInput, AnEmptyFileIsRefused) { expect_refused("", "interlock 1"); }

TEST(BadInput, ATruncatedLineNamesItsPosition) {
  expect_refused("interlock 1\nmemory a 4096\ntensor x f32[16,", "<stdin>:3:");
}

TEST(BadInput, ABinaryFileIsRefused) {
  std::string bytes;
  for (int i = 0; i < 4096; ++i) {
    bytes += static_cast<char>(i * 37);
  }
  expect_refused(bytes, ":1:");
}

TEST(BadInput, NumbersThatOverflowAreRefused) {
  expect_refused("interlock 1\nmemory a 99999999999999999999999\n", ":2:10:");
  expect_refused("interlock 1\nmemory a 18446744073709551615\n", ":2:");
  expect_refused("interlock 1\nmemory a 64\ndispatch D reads a[18446744073709551615:1]\n", ":3:");
  expect_refused("interlock 1\nmemory a 64\ntensor x f32[4294967296,4294967296,4] at a+0\n", ":3:");
}

TEST(BadInput, AnEndlessLineIsRefused) {
  expect_refused("interlock 1\nmemory a 64\ndispatch D reads" + std::string(40 << 20, ' ') + "a\n",
                 "line");
}

TEST(BadInput, AFileOverTheLimitIsRefusedBeforeItIsRead) {
  const std::string sparse = temporary_file("sparse.ilk", "interlock 1\n");
  std::filesystem::resize_file(sparse, 2 * kGigabyte);
  const CommandResult result = run_interlock({"check", sparse}, "", {kGigabyte, 10});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("limit of 1073741824"));
  std::filesystem::remove(sparse);
}

// A device tells no size.
TEST(BadInput, AFileThatDoesNotEndIsRefusedAtTheLimit) {
  const CommandResult result =
      run_interlock({"check", "--max-input-mib=64", "/dev/zero"}, "", {kGigabyte, 10});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("limit of 67108864"));
}

// Two bytes of text are an operand of 32 bytes.
TEST(BadInput, AProgramThatTakesMoreMemoryThanItsTextIsRefusedAtTheLimit) {
  std::string line = "dispatch D reads";
  for (int i = 0; i < 250; ++i) line += " a";
  std::string text = "interlock 1\nmemory a 64\n";
  while (text.size() < 1 << 20) text += line + '\n';
  const std::string file = temporary_file("dense.ilk", text);
  const CommandResult result =
      run_interlock({"check", "--max-input-mib=8", file}, "", {kGigabyte, 10});
  EXPECT_EQ(result.status, 2);

  EXPECT_THAT(result.err, HasSubstr("more than the limit of 8388608"));
}

TEST(BadInput, AHundredThousandStatementsOnTheSameBytesStayWithinBounds) {
  std::string text = "interlock 1\nmemory a 64\n";
  for (int i = 0; i < program_count(100'000, 100); ++i) {
    text += "l" + std::to_string(i) + ": dispatch D updates a\n";
  }
  EXPECT_EQ(check_text(text).status, 1);
}

TEST(BadInput, AMissingFileAFolderAndAnUnwritableOutputAreNamed) {
  const CommandResult missing = run_interlock({"check", "/nonexistent.ilk"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("/nonexistent.ilk"));
  EXPECT_EQ(run_interlock({"check", "/"}).status, 2);
  const std::string file = temporary_file("empty.ilk", "interlock 1\n");
  EXPECT_EQ(run_interlock({"encode", file, "-o", "/nonexistent/out.ilk"}).status, 2);
}

TEST(BadInput, HugeMemoriesAreCheckedButNotExecuted) {
  const std::string text =
      "interlock 1\n"
      "memory a 1099511627776\n"
      "dispatch A reads a[0:64]\n"
      "dispatch B writes a[32:96]\n";
  EXPECT_EQ(check_text(text).status, 1);
  const CommandResult result = run_interlock({"run", "-"}, text, {kGigabyte, 10});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("1099511627776"));
}

TEST(BadInput, BadUsageIsStatusTwoAndHelpIsNot) {
  EXPECT_EQ(run_interlock({}).status, 2);
  EXPECT_EQ(run_interlock({"frobnicate"}).status, 2);
  EXPECT_EQ(run_interlock({"check"}).status, 2);
  EXPECT_EQ(run_interlock({"check", "--format=xml", "-"}).status, 2);
  EXPECT_EQ(run_interlock({"fuzz", "--encoder=nobody", "--runs=1"}).status, 2);
  EXPECT_EQ(run_interlock({"encode", "--encoder=nobody", "-"}, "interlock 1\n").status, 2);
  EXPECT_EQ(run_interlock({"--help"}).status, 0);
  EXPECT_EQ(run_interlock({"check", "--help"}).status, 0);
  EXPECT_EQ(run_interlock({"--version"}).status, 0);
}

TEST(BadInput, AMisspeltSubcommandIsNamedWithTheNearestOne) {
  const CommandResult misspelt = run_interlock({"chekc", "x.ilk"});
  EXPECT_EQ(misspelt.status, 2);
  EXPECT_EQ(misspelt.err,
            "error: 'interlock' has no subcommand 'chekc'. Did you mean 'check'? "
            "`interlock --help` lists them.\n");
  const CommandResult workload = run_interlock({"generate", "tranformer", "--layers=2"});
  EXPECT_EQ(workload.status, 2);
  EXPECT_EQ(workload.err,
            "error: 'generate' has no subcommand 'tranformer'. "
            "Did you mean 'transformer'? `interlock generate --help` lists them.\n");
  EXPECT_EQ(run_interlock({"help", "fxi"}).err,
            "error: 'interlock' has no subcommand 'fxi'. Did you mean 'fix'? "
            "`interlock --help` lists them.\n");
  EXPECT_EQ(run_interlock({"generate"}).err,
            "error: A subcommand is required. `interlock generate --help` says more.\n");
}

TEST(BadInput, AMisspeltOptionIsNamedWithTheNearestOne) {
  const CommandResult result = run_interlock({"fuzz", "--encodr=interlock"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            "error: 'interlock fuzz' has no option '--encodr'. Did you mean '--encoder'? "
            "`interlock fuzz --help` lists them.\n");
  EXPECT_THAT(run_interlock({"--verion"}).err,
              HasSubstr("'interlock' has no option '--verion'. Did you mean '--version'?"));
  EXPECT_EQ(run_interlock({"check", "--nothing-like-it", "-"}, "interlock 1\n").err,
            "error: 'interlock check' has no option '--nothing-like-it'. "
            "`interlock check --help` lists them.\n");
  EXPECT_EQ(run_interlock({"generate", "mlp", "--layer=3"}).err,
            "error: 'interlock generate mlp' has no option '--layer'. Did you mean '--layers'? "
            "`interlock generate mlp --help` lists them.\n");
}

TEST(BadInput, HelpAndVersionAreWordsToo) {
  EXPECT_EQ(run_interlock({"help"}).out, run_interlock({"--help"}).out);
  EXPECT_EQ(run_interlock({"help", "check"}).out, run_interlock({"check", "--help"}).out);
  EXPECT_EQ(run_interlock({"version"}).out, run_interlock({"--version"}).out);
  EXPECT_EQ(run_interlock({"help", "chek"}).status, 2);
  EXPECT_EQ(run_interlock({"--color=never", "help", "check"}).out,
            run_interlock({"check", "--help"}).out);
  EXPECT_EQ(run_interlock({"--color=always", "version"}).out, run_interlock({"--version"}).out);
}

TEST(BadInput, HelpTakesNoOptionThatTheCommandHasNot) {
  const CommandResult result = run_interlock({"help", "check", "--advise"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "error: 'interlock check' has no option '--advise'. Did you mean '--advice'? "
            "`interlock check --help` lists them.\n");
  EXPECT_EQ(run_interlock({"help", "--foo"}).status, 2);
  EXPECT_EQ(run_interlock({"help", "version", "--foo"}).status, 2);
  const CommandResult letter = run_interlock({"help", "generate", "mlp", "-z"});
  EXPECT_EQ(letter.status, 2);
  EXPECT_EQ(letter.err, "error: `interlock help` takes a command, and '-z' is no part of one.\n");
  const CommandResult more = run_interlock({"help", "check", "extra"});
  EXPECT_EQ(more.status, 2);
  EXPECT_EQ(more.err, "error: `interlock help` takes a command, and 'extra' is no part of one.\n");
  const CommandResult version = run_interlock({"version", "--foo"});
  EXPECT_EQ(version.status, 2);
  EXPECT_EQ(version.err, "error: `interlock version` takes no argument, and '--foo' is one.\n");
  // As with most programs, `--help` is all that counts.
  EXPECT_EQ(run_interlock({"check", "--foo", "--help"}).out, run_interlock({"help", "check"}).out);
}

// Short output fails when it is flushed at the end, long output on the way.
TEST(BadInput, OutputThatCannotBeWrittenIsStatusTwo) {
  const std::string bug = INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.ilk";
  const std::vector<std::vector<std::string>> commands = {
      {"generate", "mlp"},
      {"generate", "transformer", "--layers=30"},
      {"check", bug},
      {"encode", bug},
      {"list"}};
  for (const std::vector<std::string>& command : commands) {
    const CommandResult result = run_interlock(command, "", {.is_output_full = true});
    EXPECT_EQ(result.status, 2) << command[0];
    EXPECT_EQ(result.err, "error: standard output cannot be written.\n") << command[0];
  }
}

TEST(BadInput, TimeThatIsNoNumberIsBadUsage) {
  for (const char* seconds :
       {"--seconds=nan", "--seconds=inf", "--seconds=-1", "--seconds=0", "--seconds=0m",
        "--seconds=2x", "--seconds=2 m", "--seconds=m", "--seconds=1e300h", "--seconds=+1"}) {
    const CommandResult result = run_interlock({"fuzz", seconds});
    EXPECT_EQ(result.status, 2) << seconds;
    EXPECT_EQ(result.err, std::string("error: ") + seconds +
                              " is no time: a number above 0, and s, m or h after it, as in 90, 2m "
                              "or 1.5h.\n");
  }
}

TEST(BadInput, AWitnessThatIsNoneIsNamedAsItWasGiven) {
  const CommandResult result = run_interlock({"replay", "-", "--witness=foo before bar"},
                                             "interlock 1\nmemory a 4\ndispatch D writes a\n");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("--witness=foo before bar: error: "));
}

TEST(BadInput, AMisspeltEntryIsNamedWithTheNearestOne) {
  const auto expect_advice = [](const std::vector<std::string>& arguments,
                                const std::string& error) {
    const CommandResult result = run_interlock(arguments, "interlock 1\n");
    EXPECT_EQ(result.status, 2) << error;
    EXPECT_EQ(result.err, "error: " + error + '\n');
  };
  expect_advice({"fuzz", "--encoder=interlok"},
                "there is no encoder 'interlok'. Did you mean 'interlock'? "
                "`interlock list encoders` names them.");
  expect_advice({"encode", "-", "--encoder=semaphors", "--queues=2"},
                "there is no encoder 'semaphors'. Did you mean 'semaphores'? "
                "`interlock list encoders` names them.");
  expect_advice({"fuzz", "--planner=strem-pool"},
                "there is no planner 'strem-pool'. Did you mean 'stream-pool'? "
                "`interlock list planners` names them.");
  expect_advice({"fuzz", "--backward=splt"},
                "there is no backward pass 'splt'. Did you mean 'split'? "
                "`interlock list backwards` names them.");
  expect_advice({"run", "--backend=cuda-emulatd", "-"},
                "there is no backend 'cuda-emulatd'. Did you mean 'cuda-emulated'? "
                "`interlock list backends` names them.");
  expect_advice({"serve", "--backend=abacus"},
                "there is no backend 'abacus'. `interlock list backends` names them.");
}

TEST(BadInput, AModeThatTheBackendLacksIsStatusThree) {
  EXPECT_EQ(run_interlock({"run", "--mode=overlap", "-"}, "interlock 1\n").status, 3);
}

}  // namespace
}  // namespace interlock::bad_input_test
