// interlock capture, and the processes that a command leaves behind when it ends. Without a Vulkan
// driver the tests say so and skip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tests/cli/command.h"

namespace interlock::capture_processes_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(20);

class CaptureProcesses : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system(SAMPLE_APPLICATION " barrier >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "there is no Vulkan driver.";
    }
  }

  static CommandResult capture_script(const std::string& script) {
    return run_interlock({"capture", "--", "bash", "-c", script});
  }
};

std::string text_of_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A capture of `script` that gets ^C once its standard error has `sign`.
struct Interrupted {
  int status = -1;
  std::string out;
  std::string err;
  Clock::duration after_signal = {};
};

Interrupted interrupt_capture(const std::string& script, const std::string& sign) {
  const std::string out = temporary_path("interrupted.out");
  const std::string err = temporary_path("interrupted.err");
  std::filesystem::remove(err);  // What another test left there.
  const int capture = start_interlock({"capture", "--", "bash", "-c", script}, out, err);
  const Clock::time_point begin = Clock::now();
  const auto is_told = [&] { return text_of_file(err).find(sign) != std::string::npos; };
  while (!is_told() && Clock::now() - begin < kPatience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  Interrupted result;
  const Clock::time_point signalled = Clock::now();
  kill(capture, SIGINT);
  int status = 0;
  waitpid(capture, &status, 0);
  result.after_signal = Clock::now() - signalled;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = text_of_file(out);
  result.err = text_of_file(err);
  return result;
}

// Ends the one process that a capture tells of as still running.
void end_what_still_runs(const std::string& err) {
  const std::string words = "Still running, and no longer waited for: ";
  const size_t begin = err.find(words);
  ASSERT_NE(begin, std::string::npos) << err;
  kill(std::stoi(err.substr(begin + words.size())), SIGKILL);
}

TEST_F(CaptureProcesses, JudgeWhatRunsInTheBackground) {
  const std::string app = SAMPLE_APPLICATION;
  const CommandResult later =
      capture_script(app + " barrier; (sleep 0.3; " + app + " missing) & exit 0");
  EXPECT_EQ(later.status, 1) << later.out << later.err;
  EXPECT_THAT(later.out, HasSubstr("RAW hazard: s1.b0.c1 (dispatch 1) reads"));
  // A process of a process that has ended, too; and the first one had nothing to do with Vulkan.
  const CommandResult orphan = capture_script("( (sleep 0.3; " + app + " missing) & ) ; exit 3");
  EXPECT_EQ(orphan.status, 1) << orphan.out << orphan.err;
  EXPECT_THAT(orphan.err, HasSubstr("'bash' ended with status 3."));
  EXPECT_THAT(orphan.err, Not(HasSubstr("Still running")));
}

TEST_F(CaptureProcesses, EndSoonAfterASignal) {
  const Interrupted result =
      interrupt_capture("sleep 30 & exit 0", "waited for is what it left behind: ");
  EXPECT_LT(result.after_signal, std::chrono::seconds(5));
  EXPECT_THAT(result.err, HasSubstr("(sleep). ^C judges what there is."));
  EXPECT_THAT(result.err, HasSubstr("created no Vulkan instance"));
  EXPECT_EQ(result.status, 2);
  end_what_still_runs(result.err);
}

// What it had submitted is clean, and what it would have nobody knows.
TEST_F(CaptureProcesses, AreNoVerdictWhileTheyAppendToTheirLogs) {
  const Interrupted result = interrupt_capture(SAMPLE_APPLICATION " barrier-and-stays & exit 0",
                                               "waited for is what it left behind: ");
  EXPECT_EQ(result.status, 2) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("no findings.\n"));
  EXPECT_THAT(result.out, HasSubstr("No verdict on the rest: a process still runs"));
  end_what_still_runs(result.err);
}

// `exec` keeps the children of the shell, which are no part of what is captured.
TEST_F(CaptureProcesses, AreNotThoseThatWereThereBefore) {
  const Clock::time_point begin = Clock::now();
  const CommandResult result =
      run_shell("sleep 8 >/dev/null 2>&1 & echo $!; exec interlock capture -- " SAMPLE_APPLICATION
                " barrier");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(6));
  kill(std::stoi(result.out), SIGKILL);
}

}  // namespace
}  // namespace interlock::capture_processes_test
