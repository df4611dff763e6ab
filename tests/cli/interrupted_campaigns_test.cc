// How a campaign goes on that was interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "encoder/text/files.h"
#include "tests/cli/command.h"

namespace interlock::interrupted_campaigns_test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

struct Interrupted {
  int status = -1;
  std::string out;
  std::string err;
};

// Sends the signal once the journal tells of some runs.
Interrupted interrupted_fuzz(const std::vector<std::string>& arguments, const std::string& folder,
                             int signal) {
  const std::string out = temporary_path("interrupted-out");
  const std::string err = temporary_path("interrupted-err");
  const auto bytes_of_journal = [&] {
    std::error_code none;
    const auto size = std::filesystem::file_size(folder + "/campaign.journal", none);
    return none ? 0 : size;
  };
  const auto before = bytes_of_journal();
  const int child = start_interlock(arguments, out, err);
  while (bytes_of_journal() < before + 600 && waitpid(child, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child, signal);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out).value(),
          read_file(err).value()};
}

class Signal : public testing::TestWithParam<int> {};

// The runs would take minutes, so the signal comes first.
TEST_P(Signal, EndsWithTheSummaryAndTheCommandThatGoesOn) {
  const std::string folder = fresh_path("signal");
  const std::vector<std::string> arguments = {"fuzz", "--encoder=interlock", "--runs=1e8",
                                              "--seed=5", "--out=" + folder};
  const Interrupted first = interrupted_fuzz(arguments, folder, GetParam());
  EXPECT_EQ(first.status, 130);
  EXPECT_THAT(first.out, ContainsRegex("^[0-9]+ programs, .* 0 distinct"));
  EXPECT_THAT(first.err, HasSubstr("interrupted: "));
  const std::vector<std::string> command = command_after(first.out, "Interrupted. Go on: ");
  EXPECT_EQ(command, (std::vector<std::string>{"fuzz", "--encoder=interlock", "--seed=5",
                                               "--runs=100000000", "--out=" + folder}));
  const Interrupted second = interrupted_fuzz(command, folder, GetParam());
  EXPECT_EQ(second.status, 130);
  EXPECT_THAT(second.err, ContainsRegex("^going on after [1-9][0-9]* programs, "));
  std::filesystem::remove_all(folder);
}

// A shard stays one: as other runs its folder could not be merged. Reports are written, too.
TEST(InterruptedCampaigns, GoOnAsTheShardThatTheyWere) {
  const std::string folder = fresh_path("interrupted_shard");
  const std::vector<std::string> given = {
      "fuzz",        "--encoder=interlock", "--first-run=7",  "--runs=1e8",
      "--shard=2/3", "--out=" + folder,     "--progress=30s", "--report=" + folder + "/all.json"};
  const Interrupted first = interrupted_fuzz(given, folder, SIGTERM);
  EXPECT_EQ(first.status, 130);
  const std::vector<std::string> command = command_after(first.out, "Interrupted. Go on: ");
  EXPECT_EQ(command,
            (std::vector<std::string>{"fuzz", "--encoder=interlock", "--seed=1", "--first-run=7",
                                      "--runs=100000000", "--shard=2/3", "--out=" + folder,
                                      "--report=" + folder + "/all.json", "--progress=30s"}));
  const Interrupted second = interrupted_fuzz(command, folder, SIGTERM);
  EXPECT_THAT(second.err, ContainsRegex("^going on after [1-9][0-9]* programs, "));
  EXPECT_TRUE(std::filesystem::exists(folder + "/all.json"));
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Of, Signal, testing::Values(SIGINT, SIGTERM, SIGHUP));

}  // namespace
}  // namespace interlock::interrupted_campaigns_test
