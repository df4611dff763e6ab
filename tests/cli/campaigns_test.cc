// What `interlock fuzz` takes and says: amounts, seeds, and how a find is had again.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/text/files.h"
#include "tests/cli/command.h"
#include "tests/cli/shown_commands.h"
#include "tests/program_count.h"

namespace interlock::campaigns_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

TEST(Campaigns, EveryFindPrintsTheCommandThatGivesItAgain) {
  const std::string folder = fresh_path("again");
  for (const std::string& out : {std::string(), "--out=" + folder}) {
    std::vector<std::string> arguments = {"fuzz", "--encoder=mlx-2024", "--runs=60"};
    if (!out.empty()) arguments.push_back(out);
    const CommandResult result = run_interlock(arguments);
    EXPECT_EQ(result.status, 1);
    for (const std::string& text : {result.err, result.out}) {
      const std::vector<std::string> command = command_after(text, "  Again: ");
      ASSERT_FALSE(command.empty()) << text;
      EXPECT_EQ(run_interlock(command).status, 1) << text;
    }
  }
}

TEST(Campaigns, WhatTheSummarySaysOfAFindEndsWithStatusOneOrShowsIt) {
  for (const char* encoder : {"serial", "mlx-2024", "none"}) {
    const std::string folder = fresh_path("denied");
    const CommandResult result =
        run_interlock({"fuzz", std::string("--encoder=") + encoder, "--deny-excess", "--seed=2",
                       "--runs=80", "--max-finds=1", "--out=" + folder});
    if (result.status == 0) continue;
    ASSERT_EQ(result.status, 1) << encoder << result.err;
    const bool is_excess = std::filesystem::exists(folder + "/excess.ilk");
    if (is_excess) {
      EXPECT_THAT(result.out, HasSubstr("  Report: interlock check --advice --deny=redundant "));
      EXPECT_THAT(result.out, Not(HasSubstr("Replay:")));
      EXPECT_EQ(run_interlock(command_after(result.out, "  Report: ")).status, 1) << result.out;
    } else {
      EXPECT_EQ(run_interlock(command_after(result.out, "  Report: ")).status, 0) << result.out;
      EXPECT_EQ(run_interlock(command_after(result.out, "  Replay: ")).status, 1) << result.out;
    }
    EXPECT_EQ(run_interlock(command_after(result.out, "  Again: ")).status, 1) << result.out;
    EXPECT_TRUE(is_excess || std::string(encoder) != "serial");
  }
}

TEST(Campaigns, ASeedThatIsDrawnIsPrintedAndGivesTheSame) {
  const std::vector<std::string> start = {"fuzz", "--encoder=mlx-2024", "--runs=40"};
  std::vector<std::string> arguments = start;
  arguments.push_back("--seed=random");
  const CommandResult first = run_interlock(arguments);
  EXPECT_THAT(first.err, ContainsRegex("^seed [0-9]+\n"));
  std::string seed = first.err.substr(5);
  seed.resize(seed.find('\n'));
  EXPECT_THAT(first.out, HasSubstr(", seed " + seed + ").\n"));
  arguments = start;
  arguments.push_back("--seed=" + seed);
  EXPECT_EQ(run_interlock(arguments).out, first.out);
  // One in 2^40 is the same.
  arguments = start;
  arguments.push_back("--seed=random");
  EXPECT_THAT(run_interlock(arguments).err, Not(HasSubstr("seed " + seed + "\n")));
}

TEST(Campaigns, TakeWholeNumbersWithAnExponent) {
  for (const char* runs : {"--runs=40", "--runs=4e1", "--runs=4E01", "--runs=40e0"}) {
    EXPECT_THAT(run_interlock({"fuzz", "--encoder=interlock", runs}).out,
                HasSubstr("40 programs, "));
  }
  for (const char* runs : {"--runs=1e20", "--runs=1.5e3", "--runs=1e-1", "--runs=e3", "--runs=1e",
                           "--runs=0e5", "--runs=-1", "--runs=1e+2", "--runs=2e000000001"}) {
    const CommandResult result = run_interlock({"fuzz", "--encoder=interlock", runs});
    EXPECT_EQ(result.status, 2) << runs;
    EXPECT_THAT(result.err, HasSubstr("is not a whole number from 1 to "));
  }
  const std::string first_run = "--first-run=18446744073709551600";
  EXPECT_EQ(run_interlock({"fuzz", "--encoder=interlock", first_run, "--runs=15"}).status, 0);
  for (const char* option : {"--runs=16", "--shard=2/2", "--seed=random"}) {
    const CommandResult result = run_interlock({"fuzz", "--encoder=interlock", first_run, option});
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.err, HasSubstr("18446744073709551614 is the last.")) << option;
  }
  EXPECT_EQ(run_interlock({"fuzz", "--encoder=interlock", "--seed=x"}).err,
            "error: --seed=x is neither a whole number of 64 bits nor `random`.\n");
}

TEST(Campaigns, EndByTimesWithUnits) {
  for (const char* seconds :
       {"--seconds=0.1", "--seconds=0.1s", "--seconds=0.001m", "--seconds=0.00002h"}) {
    const CommandResult result = run_interlock({"fuzz", "--encoder=interlock", seconds});
    EXPECT_EQ(result.status, 0) << seconds << result.err;
    EXPECT_THAT(result.out, ContainsRegex("^[0-9]+ programs, "));
  }
}

TEST(Campaigns, SayLessOrMore) {
  const std::vector<std::string> start = {"fuzz", "--encoder=mlx-2024", "--runs=40"};
  std::vector<std::string> arguments = start;
  arguments.push_back("-q");
  const CommandResult quiet = run_interlock(arguments);
  EXPECT_EQ(quiet.status, 1);
  EXPECT_EQ(quiet.err, "");
  EXPECT_THAT(quiet.out, MatchesRegex("40 programs, [^\n]*\\.\n"));
  arguments = start;
  arguments.push_back("-v");
  const CommandResult verbose = run_interlock(arguments);
  EXPECT_THAT(verbose.err, HasSubstr("\n# Found with: interlock fuzz --encoder=mlx-2024 "));
  EXPECT_THAT(verbose.err, HasSubstr("\nd0: dispatch "));
}

TEST(Campaigns, AskWhatIsPutToTheTest) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"fuzz"}, {"fuzz", "--jobs=2"}, {"fuzz", "-v"}}) {
    const CommandResult result = run_interlock(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    for (const char* option :
         {"--encoder=", "--planner=", "--backward=", "--replay=", "--queues", "--runs="}) {
      EXPECT_THAT(result.err, HasSubstr(option));
    }
  }
}

TEST(Campaigns, TheSameCommandAgainMakesNoRun) {
  const std::string folder = fresh_path("twice");
  const std::vector<std::string> arguments = {"fuzz", "--encoder=mlx-2024", "--runs=40",
                                              "--out=" + folder};
  const CommandResult first = run_interlock(arguments);
  EXPECT_THAT(first.out, Not(HasSubstr("no run was made")));
  const CommandResult second = run_interlock(arguments);
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.out, HasSubstr("says that this campaign had ended: no run was made.\n"));
  EXPECT_THAT(second.err, HasSubstr("going on after 40 programs, with 1 distinct find: "));
}

TEST(Campaigns, RefuseADamagedJournal) {
  const std::string folder = fresh_path("damaged");
  const std::vector<std::string> arguments = {"fuzz", "--encoder=mlx-2024", "--runs=40",
                                              "--out=" + folder};
  run_interlock(arguments);
  const std::string path = folder + "/campaign.journal";
  std::string text = read_file(path).value();
  text[text.find("block")] = 'B';
  ASSERT_TRUE(write_file(path, text));
  const CommandResult result = run_interlock(arguments);
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err,
            path +
                ":3: error: the sum at the end is not that of the text: the journal was "
                "changed or damaged.\n");
}

TEST(Campaigns, AreMergedFromTheirShards) {
  const std::vector<std::string> start = {"fuzz", "--encoder=mlx-2024",
                                          is_slow_build() ? "--runs=300" : "--runs=600",
                                          "--max-dispatches=20"};
  const auto run_into = [&](const std::string& folder, const std::string& option) {
    std::vector<std::string> arguments = start;
    arguments.push_back("--out=" + folder);
    if (!option.empty()) arguments.push_back(option);
    return run_interlock(arguments);
  };
  const std::string one = fresh_path("one");
  const std::string all = fresh_path("all");
  const std::string a = fresh_path("a");
  const std::string b = fresh_path("b");
  const CommandResult whole = run_into(one, "");
  EXPECT_EQ(run_into(a, "--shard=1/2").status, 1);
  EXPECT_EQ(run_interlock({"merge", a, b, "--out=" + all}).status, 2);
  EXPECT_EQ(run_into(b, "--shard=2/2").status, 1);
  const std::string journal = read_file(a + "/campaign.journal").value();
  const CommandResult into_shard = run_interlock({"merge", a, b, "--out=" + a + "/."});
  EXPECT_EQ(into_shard.status, 2);
  EXPECT_THAT(into_shard.err, HasSubstr("is one of the shards"));
  EXPECT_EQ(read_file(a + "/campaign.journal").value(), journal);
  const CommandResult merged = run_interlock({"merge", a, b, "--out=" + all});
  EXPECT_EQ(merged.status, 1) << merged.err;
  EXPECT_EQ(merged.out.substr(0, merged.out.find('\n')), whole.out.substr(0, whole.out.find('\n')));
  for (const char* file : {"/WAR.ilk", "/campaign.journal"}) {
    EXPECT_EQ(read_file(all + file).value(), read_file(one + file).value());
  }
  for (const char* shard :
       {"--shard=3/2", "--shard=0/2", "--shard=1", "--shard=1/x", "--shard=1/99"}) {
    EXPECT_EQ(run_into(a, shard).status, 2) << shard;
  }
}

// Whoever sends a folder must not be able to say what is executed where it is merged.
TEST(Campaigns, ThatAreMergedExecuteNothingThatAJournalNames) {
  const std::string folder = fresh_path("sent");
  const std::string all = fresh_path("all_of_sent");
  const std::string trace = fresh_path("trace");
  ASSERT_EQ(run_interlock({"fuzz", "--encoder=none", "--runs=1", "--out=" + folder}).status, 1);
  const std::string journal = read_file(folder + "/campaign.journal").value();
  const std::string header = journal.substr(0, journal.find('\n') - 17);
  for (const std::string option :
       {"--encoder=exec:touch${IFS}", "--encoder exec:touch${IFS}", "%09--encoder=exec:touch${IFS}",
        "--encoder lib:", "--encoder='exec:touch ", "--planner=exec:touch${IFS}",
        "--replay exec:touch${IFS}", "--guided=true --encoder=none --corpus="}) {
    uint64_t sum = kFnv1aBasis;
    std::string made_up;
    for (const std::string& line :
         {header, "campaign seed=1 first=0 runs=1 ms=0 finds=0 of interlock fuzz " + option + trace,
          std::string("block 0 1"), std::string("end")}) {
      sum = fnv1a(sum, line);
      made_up += fmt::format("{} {:016x}\n", line, sum);
    }
    ASSERT_TRUE(write_file(folder + "/campaign.journal", made_up));
    const CommandResult merged = run_interlock({"merge", folder, "--out=" + all});
    EXPECT_EQ(merged.status, 2) << option;
    EXPECT_THAT(merged.err, ContainsRegex("are not merged|is no campaign of `interlock fuzz`"))
        << option;
    EXPECT_FALSE(std::filesystem::exists(trace)) << option;
  }
}

// On standard error alone: what is printed on standard output is that of a campaign without.
TEST(Campaigns, TellALogHowFarTheyAre) {
  const std::string runs = is_slow_build() ? "200" : "3000";
  const std::vector<std::string> start = {"fuzz", "--encoder=none", "--runs=" + runs};
  std::vector<std::string> arguments = start;
  arguments.push_back("--progress=0.01");
  const CommandResult told = run_interlock(arguments);
  EXPECT_THAT(told.err, ContainsRegex("\n[0-9]+ of " + runs +
                                      " programs \\([0-9]+%\\).*; findings: [A-Z]+ "
                                      "[0-9]+, .*; [0-9]+ cells, none new for [0-9]+s\n"));
  EXPECT_THAT(told.err, Not(HasSubstr("\r")));
  const CommandResult silent = run_interlock(start);
  EXPECT_THAT(silent.err, Not(HasSubstr(" programs (")));
  EXPECT_EQ(told.out, silent.out);
  EXPECT_EQ(run_interlock({"fuzz", "--encoder=none", "--progress=soon"}).err,
            "error: --progress=soon is no time, as 30s or 1m is.\n");
}

// What `interlock` writes to a terminal of 60 columns that is its standard error.
std::string shown_on_terminal(const std::vector<std::string>& arguments) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_GE(terminal, 0);
  EXPECT_EQ(grantpt(terminal), 0);
  EXPECT_EQ(unlockpt(terminal), 0);
  const std::string name = ptsname(terminal);
  const int other_end = open(name.c_str(), O_RDWR | O_NOCTTY);
  const winsize size = {24, 60, 0, 0};
  EXPECT_EQ(ioctl(terminal, TIOCSWINSZ, &size), 0);
  const int child = start_interlock(arguments, "/dev/null", name);
  close(other_end);
  std::string text;
  char buffer[4096];
  // The end is an error: nobody has the other end any more.
  for (ssize_t count = 0; (count = read(terminal, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(count));
  }
  close(terminal);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return text;
}

TEST(Campaigns, RewriteOneLineOnATerminal) {
  const std::string runs = is_slow_build() ? "2000" : "20000";
  const std::string text = shown_on_terminal({"fuzz", "--encoder=interlock", "--runs=" + runs});
  const std::string start = "\r\x1b[K";
  ASSERT_THAT(text, testing::StartsWith(start)) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  EXPECT_THAT(text, ContainsRegex(runs + " of " + runs + " programs .100%.[^\r\n]*\r\n$"));
  for (size_t at = 0; at != std::string::npos;) {
    const size_t next = text.find(start, at + 1);
    EXPECT_LE(text.substr(at, next - at).size(), start.size() + 59 + 2);
    at = next;
  }
}

// docs/campaigns.md is followed by copy and paste: in an empty folder, one command after another.
TEST(CampaignsDocument, ShowsWhatItsCommandsPrint) {
  const std::string page = document_text("docs/campaigns.md");
  const std::string folder = fresh_path("page");
  std::filesystem::create_directories(folder);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  const auto commands = shown_commands(page);
  EXPECT_GE(commands.size(), 3u);
  for (const ShownCommand& command : commands) {
    EXPECT_GE(command.lines.size(), 2u);
    const CommandResult result = run_interlock(command.arguments);
    EXPECT_LE(result.status, 1) << result.err;
    EXPECT_TRUE(prints(result.out, command.lines))
        << testing::PrintToString(command.arguments) << '\n'
        << result.out;
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace interlock::campaigns_test
