// --encoder=exec:COMMAND on the command line, with the examples of docs/examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::external_encoders_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kPython = "exec:python3 " INTERLOCK_SOURCE_DIR "/docs/examples/exec_encoder.py";
const std::string kC = "exec:" EXEC_ENCODER_EXAMPLE;

bool has_python() { return std::system("python3 -c '' >/dev/null 2>&1") == 0; }

constexpr const char* kProgram = R"(interlock 1
memory a 64
memory b 64
dispatch K writes a
first: dispatch K atomics b atomic=add
dispatch K reads a atomics b atomic=add
)";

class Examples : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && !has_python()) GTEST_SKIP() << "There is no python3 here.";
  }
  std::string encoder() const { return "--encoder=" + (GetParam() ? kPython : kC); }
};

TEST_P(Examples, PlaceTheFewestBarriers) {
  const CommandResult result = run_interlock({"encode", encoder(), "-"}, kProgram);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("atomic=add\nbarrier\ndispatch K reads a"));
  const CommandResult fuzzed =
      run_interlock({"fuzz", encoder(), "--runs=150", "--jobs=2", "--deny-excess"});
  EXPECT_EQ(fuzzed.status, 0) << fuzzed.out << fuzzed.err;
  EXPECT_THAT(fuzzed.out, HasSubstr("150 programs"));
}

INSTANTIATE_TEST_SUITE_P(ExternalEncoders, Examples, testing::Values(true, false));

TEST(ExternalEncoderOption, FailuresAreFindings) {
  const CommandResult result =
      run_interlock({"encode", "--encoder=exec:" FAULTY_ENCODER " exit", "-"}, kProgram);
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("ended with status 7 before it had answered"));
}

TEST(ExternalEncoderOption, WritesAFileOfTheFailureThatFailsAgain) {
  const std::string folder = temporary_path("exec-finds");
  std::filesystem::remove_all(folder);
  const CommandResult result = run_interlock({"fuzz", "--encoder=exec:" FAULTY_ENCODER " crash",
                                              "--runs=60", "--exec-timeout=20", "--out=" + folder});
  EXPECT_EQ(result.status, 1) << result.err;
  const std::string file = folder + "/crash.ilk";
  EXPECT_THAT(result.out, HasSubstr("  Again: interlock encode --encoder='exec:" FAULTY_ENCODER
                                    " crash' --exec-timeout=20 " +
                                    file));
  EXPECT_THAT(result.err, HasSubstr("was ended by signal 11"));
  EXPECT_EQ(run_interlock({"encode", "--encoder=exec:" FAULTY_ENCODER " crash", file}).status, 1);
  EXPECT_EQ(run_interlock({"encode", "--encoder=exec:" FAULTY_ENCODER " none", file}).status, 0);
  std::filesystem::remove_all(folder);
}

TEST(ConformCommand, PrintsATableAndWritesACounterexampleThatReplays) {
  const std::string folder = temporary_path("conform");
  std::filesystem::remove_all(folder);
  const std::vector<std::string> few = {"--runs=" + std::string(is_slow_build() ? "5" : "50"),
                                        "--max-distance=3", "--max-operands=17", "--stream=100",
                                        "--out=" + folder};
  const auto conform_with = [&](const std::string& encoder) {
    std::vector<std::string> arguments = {"conform", "--encoder=" + encoder};
    arguments.insert(arguments.end(), few.begin(), few.end());
    return run_interlock(arguments);
  };
  const CommandResult refuted = conform_with("exec:" FAULTY_ENCODER " ring 16");
  EXPECT_EQ(refuted.status, 1) << refuted.err;
  EXPECT_THAT(
      refuted.out,
      HasSubstr("operands           FAILS       RAW-same_range-Opaque-Opaque at 17 operands, "
                "2 dispatches: " +
                folder + "/operands.ilk\n"));
  EXPECT_EQ(run_interlock({"replay", folder + "/operands.ilk"}).status, 1);
  std::filesystem::remove_all(folder);
  const CommandResult right = conform_with(kC);
  EXPECT_EQ(right.status, 0) << right.out;
  EXPECT_THAT(right.out, AllOf(HasSubstr("11 of 11 properties hold"), Not(HasSubstr("FAILS"))));
  EXPECT_EQ(conform_with("serial").status, 0) << "Too many barriers are advice.";
  EXPECT_EQ(conform_with("semaphores").status, 0);
  std::filesystem::remove_all(folder);
}

// A fault of thirty lines in another language, and the few lines that show it.
TEST(ConformCommand, RefutesARingInPython) {
  if (!has_python()) GTEST_SKIP() << "There is no python3 here.";
  const std::string folder = temporary_path("ring");
  std::filesystem::remove_all(folder);
  const CommandResult refuted = run_interlock(
      {"conform",
       "--encoder=exec:python3 " INTERLOCK_SOURCE_DIR "/tests/fuzz/external/ring_encoder.py",
       "--runs=50", "--max-distance=40", "--max-operands=20", "--stream=1e2", "--out=" + folder});
  EXPECT_EQ(refuted.status, 1) << refuted.err;
  EXPECT_THAT(refuted.out, HasSubstr("  Replay: interlock replay " + folder + "/operands.ilk\n"));
  std::smatch count;
  ASSERT_TRUE(std::regex_search(refuted.out, count, std::regex("\n([0-9]+) programs; ")));
  EXPECT_LT(std::stoi(count[1]), 5000);
  const std::string text = read_file(folder + "/operands.ilk").value();
  const Program shown = parse(text).value();
  ASSERT_EQ(shown.dispatches.size(), 2u) << text;
  EXPECT_EQ(shown.accesses_of(shown.dispatches[0]).size(), 17u) << text;
  for (const Access& access : shown.accesses_of(shown.dispatches[0])) {
    EXPECT_TRUE(access.mode == AccessMode::kWrite) << text;
    EXPECT_GT(access.range.size_bytes(), 0u) << text;
  }
  EXPECT_EQ(run_interlock({"replay", folder + "/operands.ilk"}).status, 1);
  std::filesystem::remove_all(folder);
}

// One that never answers is told so at once.
TEST(ConformCommand, EndsWhereNothingIsAnswered) {
  const CommandResult result = run_interlock({"conform", "--encoder=exec:false"});
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("answers            FAILS       The encoder ended with status 1"),
                    HasSubstr("distances          not judged  none of the first 4 programs is "
                              "answered\n"),
                    HasSubstr("4 programs; 0 of 11 properties hold, 1 fail, 10 not judged")));
}

// Of a command without arguments the journal has no quotes.
TEST(ExternalEncoderOption, IsNamedAgainForAMergeThoughItIsOneWord) {
  const std::string a = fresh_path("one_word_a");
  const std::string b = fresh_path("one_word_b");
  for (const std::string& folder : {a, b}) {
    run_interlock({"fuzz", "--encoder=" + kC, "--runs=257", "--max-dispatches=3",
                   "--shard=" + std::string(folder == a ? "1/2" : "2/2"), "--out=" + folder});
  }
  const CommandResult merged =
      run_interlock({"merge", a, b, "--out=" + temporary_path("one_word")});
  EXPECT_EQ(merged.status, 2);
  EXPECT_THAT(merged.err,
              HasSubstr("Give merge the same --encoder, --planner, --backward, --replay."));
}

// It is asked again while finds are made small, and whoever merges says which it is.
TEST(ExternalEncoderOption, IsMergedByWhoNamesIt) {
  const std::string script = temporary_file("mine.sh", "exec " FAULTY_ENCODER " ring 2\n");
  const std::string encoder = "--encoder=exec:sh " + script;
  const std::vector<std::string> start = {"fuzz", encoder, "--runs=512", "--max-dispatches=6",
                                          "--exec-timeout=20"};
  const auto run_into = [&](const std::string& folder, const std::string& shard) {
    std::vector<std::string> arguments = start;
    arguments.push_back("--out=" + folder);
    if (!shard.empty()) arguments.push_back(shard);
    return run_interlock(arguments);
  };
  const std::string one = fresh_path("external_one");
  const std::string all = fresh_path("external_all");
  const std::string a = fresh_path("external_a");
  const std::string b = fresh_path("external_b");
  const CommandResult whole = run_into(one, "");
  EXPECT_EQ(run_into(a, "--shard=1/2").status, 1);
  EXPECT_EQ(run_into(b, "--shard=2/2").status, 1);
  const CommandResult unnamed = run_interlock({"merge", a, b, "--out=" + all});
  EXPECT_EQ(unnamed.status, 2);
  EXPECT_THAT(unnamed.err,
              HasSubstr("Give merge the same --encoder, --planner, --backward, --replay."));
  for (const std::string other :
       {"--encoder=exec:" FAULTY_ENCODER " ring 2", "--encoder=none", "--encoder=exec:sh"}) {
    const CommandResult wrong = run_interlock({"merge", a, b, "--out=" + all, other});
    EXPECT_EQ(wrong.status, 2) << other;
    EXPECT_THAT(wrong.err, HasSubstr("the shards are not of --encoder=")) << other;
  }
  const CommandResult merged = run_interlock({"merge", a, b, "--out=" + all, encoder});
  EXPECT_EQ(merged.status, 1) << merged.err;
  EXPECT_EQ(merged.out.substr(0, merged.out.find('\n')), whole.out.substr(0, whole.out.find('\n')));
  size_t file_count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(one)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = "/" + entry.path().filename().string();
    EXPECT_EQ(read_file(all + name).value(), read_file(one + name).value()) << name;
    ++file_count;
  }
  EXPECT_GE(file_count, 2u);
  temporary_file("mine.sh", "exec " FAULTY_ENCODER " ring 3\n");
  const CommandResult changed = run_interlock({"merge", a, b, "--out=" + all + "2", encoder});
  EXPECT_EQ(changed.status, 2);
  EXPECT_THAT(changed.err, HasSubstr("the shards are not of --encoder="));
}

TEST(ExternalEncoderOption, BadUseEndsWithStatus2) {
  for (const auto& [option, message] : std::vector<std::pair<std::string, std::string>>{
           {"--encoder=exec:./there-is-no-such-encoder", "cannot be started"},
           {"--encoder=exec:", "names no command"},
           {"--encoder=lib:./there-is-no-such.so", "cannot be loaded"},
       }) {
    const CommandResult result = run_interlock({"encode", option, "-"}, kProgram);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr(message));
  }
  const std::string encoder = "--encoder=" + kC;
  EXPECT_EQ(run_interlock({"fuzz", encoder, "--exec-timeout=0"}).status, 2);
  EXPECT_THAT(run_interlock({"fuzz", encoder, "--queues"}).err, HasSubstr("takes no other pass"));
}

TEST(ExternalEncoderOption, ShowsWhatTheEncoderSaysToStandardError) {
  const CommandResult result = run_interlock(
      {"encode", "--encoder=exec:sh -c 'echo a word >&2; exec " EXEC_ENCODER_EXAMPLE "'", "-"},
      kProgram);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a word\n"));
}

}  // namespace
}  // namespace interlock::external_encoders_test
