// --encoder=exec:COMMAND --queue-kind=KIND on the command line, with the example of docs/examples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::external_queue_encoders_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kExample = INTERLOCK_SOURCE_DIR "/docs/examples/exec_queue_encoder.py";

constexpr const char* kProgram = R"(interlock 1
memory a 64
memory b 64
make: dispatch K writes a
dispatch K reads a[0:8] writes b
dispatch K reads a[8:16] atomics b[0:4] atomic=add
)";

class ExternalQueueEncoderOption : public testing::Test {
 protected:
  void SetUp() override {
    if (run_shell("python3 -c ''").status != 0) GTEST_SKIP() << "There is no python3 here.";
  }

  const std::string right_ = "--encoder=exec:python3 " + kExample;

  // One that forgets what dispatches read.
  static std::string wrong() {
    std::string script = read_file(kExample).value();
    const std::string kept = "issued[here].append(accesses)";
    const size_t at = script.find(kept);
    EXPECT_NE(at, std::string::npos);
    script.replace(at, kept.size(), "issued[here].append([a for a in accesses if a[0] != 'read'])");
    return "--encoder=exec:python3 " + temporary_file("forgets_reads.py", script);
  }
};

TEST_F(ExternalQueueEncoderOption, EncodesOnAsManyQueuesAsAreAskedFor) {
  const CommandResult two = run_interlock({"encode", right_, "--queue-kind=serial", "-"}, kProgram);
  EXPECT_EQ(two.status, 0) << two.err;
  EXPECT_EQ(two.out,
            "interlock 1\nmemory a 64\nmemory b 64\nq1: queue serial\nq2: queue serial\n"
            "make: dispatch K writes a on q1\nsignal s1=1 on q1\nwait s1=1 on q2\n"
            "dispatch K reads a[0:8] writes b on q2\nsignal s2=1 on q2\nwait s2=1 on q1\n"
            "dispatch K reads a[8:16] atomics b[0:4] atomic=add on q1\nsignal s1=2 on q1\n");
  EXPECT_EQ(run_interlock({"check", "-"}, two.out).status, 0);
  const CommandResult one =
      run_interlock({"encode", right_, "--queue-kind=serial", "--queues=1", "-"}, kProgram);
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_THAT(one.out, Not(HasSubstr("q2")));
  // What its sync orders is what the encoder is to keep; its queues are the encoder's own.
  const CommandResult again =
      run_interlock({"encode", right_, "--queue-kind=serial", "-"}, two.out);
  EXPECT_EQ(again.out, two.out);
}

TEST_F(ExternalQueueEncoderOption, IsCleanWhereTheEncoderIsRight) {
  const std::string runs = is_slow_build() ? "60" : "600";
  const CommandResult result = run_interlock(
      {"fuzz", right_, "--queue-kind=serial", "--seed=7", "--jobs=2", "--runs=" + runs});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr(runs + " programs"), HasSubstr("0 with findings")));
}

// The file replays, and its command finds it again, alone.
TEST_F(ExternalQueueEncoderOption, FindsWhatIsForgottenAndSaysHowToFindItAgain) {
  const std::string folder = fresh_path("queue_finds");
  const CommandResult result =
      run_interlock({"fuzz", wrong(), "--queue-kind=serial", "--runs=200", "--max-finds=1",
                     "--exec-timeout=20", "--out=" + folder});
  EXPECT_EQ(result.status, 1) << result.err;
  const std::vector<std::string> replay = command_after(result.out, "  Replay: ");
  ASSERT_FALSE(replay.empty()) << result.out;
  EXPECT_EQ(run_interlock(replay).status, 1);
  const std::string file = replay.back();
  const std::string text = read_file(file).value();
  EXPECT_THAT(text, AllOf(HasSubstr(" to 2 dispatches."), HasSubstr("\nexpect WAR "),
                          HasSubstr("# Found with: interlock fuzz --exec-timeout=20 "
                                    "--queue-kind=serial --encoder='exec:python3 ")));
  const std::string mark = "# Found with: ";
  const size_t begin = text.find(mark) + mark.size();
  const std::string again = text.substr(begin, text.find('\n', begin) - begin);
  const std::string other = fresh_path("queue_find_again");
  EXPECT_EQ(run_shell(again + " --out=" + other).status, 1) << again;
  const std::string name = "/" + std::filesystem::path(file).filename().string();
  ASSERT_TRUE(std::filesystem::exists(other + name));
  EXPECT_EQ(run_interlock({"replay", other + name}).status, 1);
}

// Shards of it are one campaign again, for who names the command.
TEST_F(ExternalQueueEncoderOption, IsMergedByWhoNamesIt) {
  const std::string encoder = wrong();
  const std::string folders[] = {fresh_path("queue_one"), fresh_path("queue_a"),
                                 fresh_path("queue_b"), fresh_path("queue_all")};
  const auto run_into = [&](const std::string& folder, const std::string& shard) {
    std::vector<std::string> arguments = {
        "fuzz",           encoder, "--queue-kind=serial", "--runs=512", "--max-dispatches=6",
        "--out=" + folder};
    if (!shard.empty()) arguments.push_back(shard);
    return run_interlock(arguments).status;
  };
  EXPECT_EQ(run_into(folders[0], ""), 1);
  EXPECT_EQ(run_into(folders[1], "--shard=1/2"), 1);
  EXPECT_EQ(run_into(folders[2], "--shard=2/2"), 1);
  std::vector<std::string> merge = {"merge", folders[1], folders[2], "--out=" + folders[3]};
  EXPECT_EQ(run_interlock(merge).status, 2);
  merge.push_back(encoder);
  const CommandResult merged = run_interlock(merge);
  EXPECT_EQ(merged.status, 1) << merged.err;
  size_t file_count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folders[0])) {
    if (!entry.is_regular_file()) continue;
    const std::string name = "/" + entry.path().filename().string();
    EXPECT_EQ(read_file(folders[3] + name).value(), read_file(folders[0] + name).value()) << name;
    ++file_count;
  }
  EXPECT_GE(file_count, 2u);
}

// What it looks at is a ring of eight dispatches of the other queue.
TEST_F(ExternalQueueEncoderOption, IsSaidToLackWhatARingLacks) {
  std::string script = read_file(kExample).value();
  const std::string all = "enumerate(issued[there], 1)";
  const size_t at = script.find(all);
  ASSERT_NE(at, std::string::npos);
  script.replace(at, all.size(), "list(enumerate(issued[there], 1))[-8:]");
  const std::string folder = fresh_path("queue_lacks");
  const auto conform_with = [&](const std::string& encoder) {
    return run_interlock({"conform", encoder, "--queue-kind=serial", "--runs=10",
                          "--max-distance=18", "--max-operands=2", "--stream=30",
                          "--out=" + folder});
  };
  const CommandResult ring =
      conform_with("--encoder=exec:python3 " + temporary_file("ring_of_queues.py", script));
  EXPECT_EQ(ring.status, 1) << ring.err;
  EXPECT_THAT(ring.out, AllOf(HasSubstr("distances          FAILS       "),
                              HasSubstr(" at distance 17, "), HasSubstr("operands           holds"),
                              HasSubstr("fewest             not judged  of encoders for one")));
  EXPECT_EQ(run_interlock({"replay", folder + "/distances.ilk"}).status, 1);
  const CommandResult right = conform_with(right_);
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  EXPECT_THAT(right.out, AllOf(HasSubstr("7 of 11 properties hold, 0 fail, 3 not judged"),
                               HasSubstr("nothing-redundant  advice      sync that can go")));
}

TEST_F(ExternalQueueEncoderOption, FindsTheSameByOneJobAndByTwo) {
  const std::string encoder = wrong();
  const auto files_by = [&](const std::string& jobs) {
    const std::string folder = fresh_path("queue_jobs" + jobs);
    run_interlock({"fuzz", encoder, "--queue-kind=serial", "--jobs=" + jobs,
                   is_slow_build() ? "--runs=20" : "--runs=100", "--out=" + folder});
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".ilk") continue;
      files[entry.path().filename().string()] = read_file(entry.path().string()).value();
    }
    return files;
  };
  const auto by_one = files_by("1");
  EXPECT_GE(by_one.size(), 2u);
  EXPECT_EQ(files_by("2"), by_one);
}

TEST_F(ExternalQueueEncoderOption, TellsBadUseFromABadAnswer) {
  const auto encoded = [&](std::vector<std::string> arguments, const std::string& text = kProgram) {
    arguments.insert(arguments.begin(), "encode");
    arguments.push_back("-");
    return run_interlock(arguments, text);
  };
  const auto refused = [&](const CommandResult& result, int status, const std::string& message) {
    EXPECT_EQ(result.status, status) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  refused(encoded({right_, "--queue-kind=parallel"}), 2, "none of serial, concurrent and graph");
  refused(encoded({"--encoder=semaphores", "--queue-kind=serial"}), 2, "that is a command");
  refused(encoded({"--queue-kind=serial"}), 2, "that is a command");
  refused(encoded({right_, "--queue-kind=graph", "--queues=2"}), 2, "--queues=2 means nothing");
  refused(encoded({"--encoder=lib:./x.so", "--queue-kind=serial"}), 2, "of one queue");
  refused(encoded({right_, "--queue-kind=serial"}, std::string(kProgram) + "host reads a\n"), 2,
          "the host reads or writes");
  refused(run_interlock({"fuzz", right_, "--queue-kind=serial", "--planner=fresh"}), 2,
          "is tried alone");
  refused(encoded({"--encoder=exec:false", "--queue-kind=serial"}), 1,
          "ended with status 1 before it had answered");
  // It answers with the queues that it has, whatever was asked.
  refused(encoded({right_, "--queue-kind=concurrent"}), 1,
          "is on 'q1', a serial queue, and the queues are to be concurrent");
  refused(encoded({"--encoder=exec:" FAULTY_ENCODER " none", "--queue-kind=serial"}), 1,
          "is on the default queue");
}

}  // namespace
}  // namespace interlock::external_queue_encoders_test
