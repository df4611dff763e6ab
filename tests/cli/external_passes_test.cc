// --planner=exec:COMMAND and --replay=exec:COMMAND on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"

namespace interlock::external_passes_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kStep = R"(interlock 1
tensor x f32[4] = random(1)
tensor h f32[4]
tensor u f32[4]
tensor y f32[4]
output y
dispatch K reads x writes h
dispatch K reads h writes u
dispatch K reads u writes y
)";

// What fits on the bytes of x is placed there, and the sync is placed after that.
TEST(ExternalPlanner, OfTheExamplePlacesValuesOnBytesOfOthers) {
  if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "There is no python3.";
  const std::string planner =
      "--planner=exec:python3 " INTERLOCK_SOURCE_DIR "/docs/examples/exec_planner.py";
  const CommandResult result =
      run_interlock({"encode", planner, "--align=16", "--encoder=interlock", "-"}, kStep);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("memory pool 32\n"), HasSubstr("barrier\n")));
  EXPECT_EQ(run_interlock({"check", "-q", "-"}, result.out).status, 0) << result.out;
  const CommandResult fuzzed = run_interlock({"fuzz", planner, "--runs=60", "--jobs=2"});
  EXPECT_EQ(fuzzed.status, 0) << fuzzed.out << fuzzed.err;
  EXPECT_THAT(fuzzed.out, HasSubstr("60 programs"));
}

TEST(ExternalPlanner, StandsBelowThoseOfThisBuildInTheTable) {
  const std::string path = temporary_file("table.ilk", kStep);
  const CommandResult result =
      run_interlock({"plan", "--planner=exec:" FAULTY_PLANNER " none", path});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("\n  liveness "), HasSubstr("/faulty_planner none ")));
  EXPECT_EQ(run_interlock({"plan", "--planner=exec:" FAULTY_PLANNER " rename", path}).status, 1);
  EXPECT_EQ(run_interlock({"plan", "--planner=liveness", path}).status, 2);
}

TEST(ExternalPlanner, WritesAFileOfTheFailureThatFailsAgain) {
  const std::string folder = fresh_path("planner-finds");
  const std::string planner = "--planner=exec:" FAULTY_PLANNER " crash";
  const CommandResult result = run_interlock({"fuzz", planner, "--runs=20", "--out=" + folder});
  EXPECT_EQ(result.status, 1) << result.err;
  const std::string file = folder + "/crash.ilk";
  const std::string again = "  Again: interlock encode --planner='exec:" FAULTY_PLANNER
                            " crash' --align=4 " +
                            file + "\n";
  EXPECT_THAT(result.out, HasSubstr(again));
  const CommandResult repeated = run_shell(again.substr(9));
  EXPECT_EQ(repeated.status, 1) << repeated.err;
  EXPECT_THAT(repeated.err, HasSubstr("The planner was ended by signal 11"));
  EXPECT_EQ(run_interlock({"encode", "--planner=exec:" FAULTY_PLANNER " none", file}).status, 0);
  std::filesystem::remove_all(folder);
}

// An encoder of others may follow a planner of others, and each failure is that of who fails.
TEST(ExternalPlanner, IsTriedWithAnEncoderOfOthers) {
  const std::string planner = "--planner=exec:" FAULTY_PLANNER " reuse";
  const CommandResult right =
      run_interlock({"fuzz", planner, "--encoder=exec:" FAULTY_ENCODER " none", "--runs=30"});
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  const CommandResult wrong =
      run_interlock({"fuzz", planner, "--encoder=exec:" FAULTY_ENCODER " dies", "--runs=10"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("The encoder was ended by signal 11"));
}

// A journal names nothing that is executed: whoever merges says which it is, as it was.
TEST(ExternalPlanner, IsMergedByWhoNamesIt) {
  const std::string script = temporary_file("plan.sh", "exec " FAULTY_PLANNER " short\n");
  const std::string planner = "--planner=exec:sh " + script;
  const auto run_into = [&](const std::string& folder, const std::string& part) {
    return run_interlock({"fuzz", planner, "--runs=512", part, "--jobs=2", "--out=" + folder});
  };
  const std::string one = fresh_path("planner_one");
  const std::string all = fresh_path("planner_all");
  const std::string a = fresh_path("planner_a");
  const std::string b = fresh_path("planner_b");
  EXPECT_EQ(run_into(one, "--seed=1").status, 1);
  EXPECT_EQ(run_into(a, "--shard=1/2").status, 1);
  EXPECT_EQ(run_into(b, "--shard=2/2").status, 1);
  const CommandResult unnamed = run_interlock({"merge", a, b, "--out=" + all});
  EXPECT_EQ(unnamed.status, 2);
  EXPECT_THAT(unnamed.err,
              HasSubstr("Give merge the same --encoder, --planner, --backward, --replay."));
  for (const std::string other : {"--planner=exec:" FAULTY_PLANNER " short", "--planner=fresh"}) {
    const CommandResult wrong = run_interlock({"merge", a, b, "--out=" + all, other});
    EXPECT_EQ(wrong.status, 2) << other;
    EXPECT_THAT(wrong.err, HasSubstr("the shards are not of --planner=")) << other;
  }
  const CommandResult merged = run_interlock({"merge", a, b, "--out=" + all, planner});
  EXPECT_EQ(merged.status, 1) << merged.err;
  size_t file_count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(one)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = "/" + entry.path().filename().string();
    EXPECT_EQ(read_file(all + name).value(), read_file(one + name).value()) << name;
    ++file_count;
  }
  EXPECT_GE(file_count, 2u);
  temporary_file("plan.sh", "exec " FAULTY_PLANNER " none\n");
  const CommandResult changed = run_interlock({"merge", a, b, "--out=" + all + "2", planner});
  EXPECT_EQ(changed.status, 2);
  EXPECT_THAT(changed.err, HasSubstr("its files have changed since"));
}

constexpr const char* kForward = R"(interlock 1
tensor x f32[2,2] = random(1)
tensor w f32[2,2] = random(2)
tensor y f32[2,2]
dispatch matmul_nn reads x w writes y
)";

// What is spelled out is a program like any other: placed, encoded and clean.
TEST(ExternalBackward, OfTheExampleIsEncodedAndClean) {
  if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "There is no python3.";
  const std::string backward =
      "--backward=exec:python3 " INTERLOCK_SOURCE_DIR "/docs/examples/exec_backward.py";
  const CommandResult result = run_interlock({"encode", backward, "--loss=y", "--wrt=x,w",
                                              "--planner=liveness", "--encoder=interlock", "-"},
                                             kForward);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("tensor d_w f32[2,2] at "),
                                HasSubstr("dispatch matmul_tn reads x b.d.y writes ")));
  EXPECT_EQ(run_interlock({"check", "-q", "-"}, result.out).status, 0) << result.out;
}

TEST(ExternalBackward, ThatIsWrongIsFoundAndFoundAgain) {
  if (std::system("python3 -c '' >/dev/null 2>&1") != 0) GTEST_SKIP() << "There is no python3.";
  const std::string folder = fresh_path("backward-finds");
  std::string script = read_file(INTERLOCK_SOURCE_DIR "/docs/examples/exec_backward.py").value();
  const std::string right = "row_sum_vjp g > d0";
  script.replace(script.find(right), right.size(), "col_sum_vjp g > d0");
  const std::string path = temporary_file("summed.py", script);
  const std::string backward = "--backward=exec:python3 " + path;
  const CommandResult result =
      run_interlock({"fuzz", backward, "--runs=200", "--out=" + folder, "--jobs=2"});
  EXPECT_EQ(result.status, 1) << result.err;
  const std::string file = folder + "/wrong-gradient.ilk";
  ASSERT_TRUE(std::filesystem::exists(file)) << result.out;
  const std::string text = read_file(file).value();
  const size_t again = text.find("# Again with: interlock encode --backward=");
  ASSERT_NE(again, std::string::npos) << text;
  const std::string command = text.substr(again + 14, text.find('\n', again) - again - 14);
  const CommandResult repeated = run_shell("cd " + folder + " && " + command);
  EXPECT_EQ(repeated.status, 1) << command;
  EXPECT_THAT(repeated.err, AllOf(HasSubstr("gradient: "), HasSubstr("one-shot in float64"),
                                  HasSubstr("The program is written all the same.")));
  std::filesystem::remove_all(folder);
}

TEST(ExternalPass, BadUseEndsWithStatus2) {
  for (const auto& [option, message] : std::vector<std::pair<std::string, std::string>>{
           {"--planner=exec:./there-is-no-such-planner", "of the planner cannot be started"},
           {"--planner=lib:./mine.so", "of libraries there are encoders alone"},
           {"--backward=lib:./mine.so", "of libraries there are encoders alone"},
           {"--replay=exec:", "the replay policy 'exec:' names no command"},
       }) {
    std::vector<std::string> arguments = {"encode", option, "-"};
    if (option.starts_with("--backward")) {
      arguments.insert(arguments.end(), {"--loss=y", "--wrt=x"});
    }
    const CommandResult result = run_interlock(arguments, kStep);
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.err, HasSubstr(message)) << option;
  }
  const std::string planner = "--planner=exec:" FAULTY_PLANNER " none";
  EXPECT_THAT(run_interlock({"encode", planner, "--region=3", "-"}, kStep).err,
              HasSubstr("--region means nothing to the planner 'exec:"));
  EXPECT_EQ(run_interlock({"encode", planner, "--slack=3", "-"}, kStep).status, 0);
  EXPECT_EQ(run_interlock({"fuzz", planner, "--exec-timeout=0"}).status, 2);
  EXPECT_EQ(run_interlock({"fuzz", planner, "--queues"}).status, 2);
}

}  // namespace
}  // namespace interlock::external_passes_test
