// How `run` and `replay` end on a signal: with the status that docs/backends.md says, and with no
// verdict. The programs would take minutes, so the signal comes first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"

namespace interlock::interrupted_runs_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string long_program() {
  std::string text =
      "interlock 1\ntensor factor f32[1536,1536] = random(1)\n"
      "tensor even f32[1536,1536] = random(2)\ntensor odd f32[1536,1536]\noutput even\n";
  for (int i = 0; i < 40; ++i) {
    text +=
        "dispatch matmul_nn reads even factor writes odd\nbarrier\n"
        "dispatch matmul_nn reads odd factor writes even\nbarrier\n";
  }
  return text;
}

// A field of /proc/PID/FILE, by the word that stands before it or by its number; empty once the
// process is over.
std::string text_of_process(int process, const char* file) {
  std::ifstream in("/proc/" + std::to_string(process) + "/" + file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

bool catches_interrupt(int process) {
  const std::string status = text_of_process(process, "status");
  const size_t at = status.find("SigCgt:");
  if (at == std::string::npos) return false;
  const uint64_t mask = std::stoull(status.substr(at + 7), nullptr, 16);
  return (mask >> (SIGINT - 1) & 1) != 0;
}

// In clock ticks, user and system; of all its threads.
uint64_t cpu_ticks_of(int process) {
  const std::string stat = text_of_process(process, "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  fields >> user >> system;
  return user + system;
}

struct Ended {
  int status = -1;  // -1: a signal ended it.
  std::string out;
  std::string err;
};

// Sends the signal once the command catches it and has worked for a third of a second.
Ended interrupted(const std::vector<std::string>& arguments, int signal) {
  const std::string out = temporary_path("interrupted-out");
  const std::string err = temporary_path("interrupted-err");
  const int child = start_interlock(arguments, out, err);
  const auto ticks = static_cast<uint64_t>(sysconf(_SC_CLK_TCK)) / 3;
  const auto has_begun = [&] { return catches_interrupt(child) && cpu_ticks_of(child) >= ticks; };
  int status = 0;
  while (!has_begun()) {
    if (waitpid(child, &status, WNOHANG) != 0) {
      ADD_FAILURE() << "It was over before the signal: " << read_file(err).value();
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, signal);
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out).value(),
          read_file(err).value()};
}

class RunsOnSignal : public testing::TestWithParam<int> {};

TEST_P(RunsOnSignal, EndWithoutAVerdict) {
  const std::string path = temporary_file("long.ilk", long_program());
  const std::vector<std::vector<std::string>> commands = {
      {"run", path}, {"run", path, "--schedule=reversed"}, {"replay", path}};
  for (const std::vector<std::string>& command : commands) {
    const Ended ended = interrupted(command, GetParam());
    EXPECT_EQ(ended.status, 130) << command[0] << ": " << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("interrupted")) << command[0];
    for (const char* const verdict : {"differ", "digest", "still fails", "no longer", "Nothing"}) {
      EXPECT_THAT(ended.out + ended.err, Not(HasSubstr(verdict))) << command[0];
    }
  }
}

// The trials that ran whole are told, and not taken for all of them.
TEST_P(RunsOnSignal, TellsTheTrialsThatRanWhole) {
  const std::string path = temporary_file(
      "trials.ilk",
      "interlock 1\ntensor a f32[64] = random(1)\ntensor b f32[64]\ndispatch copy reads a writes b\n"
      "output b\n");
  const Ended ended = interrupted(
      {"run", path, "--backend=cuda-emulated", "--mode=overlap", "--trials=1000000"}, GetParam());
  EXPECT_EQ(ended.status, 130) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("1 dispatch ran [0-9]+ times on cuda-emulated in "
                                                "overlap mode: 0 of [0-9]+ differ"));
}

INSTANTIATE_TEST_SUITE_P(Of, RunsOnSignal, testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace interlock::interrupted_runs_test
