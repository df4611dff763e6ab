// Backends as the command line has them: what is listed, what a missing one does to the exit
// status, and a real device where there is one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/environment.h"
#include "tests/program_count.h"

namespace interlock::backends_test {
namespace {

using testing::HasSubstr;

const std::string kBug = INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.ilk";
const std::string kRepaired = INTERLOCK_SOURCE_DIR "/corpus/bugs/mlx-3630.fixed.ilk";

class BackendsWithoutVulkan : public testing::Test {
 private:
  const EnvironmentVariable hidden_files_{"VK_DRIVER_FILES", "/nonexistent"};
  const EnvironmentVariable hidden_names_{"VK_ICD_FILENAMES", "/nonexistent"};
};

bool has_vulkan() {
  constexpr int kNoSuchDevice = 3;
  return run_interlock({"replay", "--backend=vulkan", kRepaired}).status != kNoSuchDevice;
}

TEST_F(BackendsWithoutVulkan, AreListedWithWhyOneIsMissing) {
  const CommandResult result = run_interlock({"list", "backends"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("cpu                 available: "));
  EXPECT_THAT(result.out, HasSubstr("vulkan              not available: th"));
}

TEST(Backends, AreListedWithWhatTheirDeviceCan) {
  if (!has_vulkan()) GTEST_SKIP() << "no Vulkan";
  const std::string out = run_interlock({"list", "backends"}).out;
  EXPECT_THAT(out, HasSubstr("overlap on "));
  EXPECT_THAT(out, HasSubstr("extents up to 65535, operands up to "));
}

TEST_F(BackendsWithoutVulkan, AMissingOneIsStatusThree) {
  for (const char* command : {"run", "replay"}) {
    const CommandResult result = run_interlock({command, "--backend=vulkan", kBug});
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.err, HasSubstr("backend 'vulkan' is not available: th"));
  }
  EXPECT_EQ(run_interlock({"fuzz", "--backend=vulkan", "--runs=1"}).status, 3);
}

TEST(Backends, ReplayABugOnADeviceAndNotItsRepair) {
  if (!has_vulkan()) GTEST_SKIP() << "no Vulkan";
  const CommandResult bug = run_interlock({"replay", "--backend=vulkan", kBug});
  EXPECT_EQ(bug.status, 1);
  EXPECT_THAT(bug.out, HasSubstr("It still fails on vulkan"));
  EXPECT_EQ(run_interlock({"replay", "--backend=vulkan", kRepaired}).status, 0);
  EXPECT_EQ(run_interlock({"run", "--backend=vulkan", "--mode=overlap", kRepaired}).status, 0);
}

// A trial diverged in 0.3 to 0.9 of the cases (docs/backends.md); with odds of 0.3, 100 trials
// without one have odds of 4e-16.
TEST(Backends, CountTheTrialsOfOverlapThatDiffer) {
  if (!has_vulkan()) GTEST_SKIP() << "no Vulkan";
  const CommandResult bug =
      run_interlock({"run", "--backend=vulkan", "--mode=overlap", "--trials=100", kBug});
  EXPECT_EQ(bug.status, 1);
  EXPECT_THAT(bug.out, HasSubstr("ran 100 times on vulkan in overlap mode: "));
  EXPECT_THAT(bug.out, HasSubstr("values of gb differ"));
  const CommandResult repaired =
      run_interlock({"run", "--backend=vulkan", "--mode=overlap", "--trials=100", kRepaired});
  EXPECT_EQ(repaired.status, 0);
  EXPECT_THAT(repaired.out, HasSubstr("0 of 100 differ from the reference (0.0 %), one result"));
}

// Each of the streams is first in some trial: with odds of 1/2 in each, 40 trials without one have
// odds of 1e-12, and the seeds are fixed.
TEST(Backends, OverlapModeTakesProgramsWithSeveralQueues) {
  const auto run = [](const char* backend, const char* name) {
    return run_interlock({"run", std::string("--backend=") + backend, "--mode=overlap",
                          "--trials=40",
                          INTERLOCK_SOURCE_DIR "/corpus/queues/" + std::string(name)});
  };
  for (const char* backend : {"vulkan", "cuda-emulated"}) {
    if (std::string(backend) == "vulkan" && !has_vulkan()) continue;
    const CommandResult broken = run(backend, "freed-for-another-stream.ilk");
    EXPECT_EQ(broken.status, 1) << broken.out << broken.err;
    EXPECT_THAT(broken.out, HasSubstr("divergence: the outputs differ from the reference."));
    const CommandResult repaired = run(backend, "freed-for-another-stream.fixed.ilk");
    EXPECT_EQ(repaired.status, 0) << repaired.out << repaired.err;
    EXPECT_THAT(repaired.out, HasSubstr("0 of 40 differ from the reference (0.0 %), one result"));
    const CommandResult deadlock = run(backend, "crossing-waits.ilk");
    EXPECT_EQ(deadlock.status, 1);
    EXPECT_THAT(deadlock.out, HasSubstr("deadlock: 2 statements wait for each other."));
  }
  const CommandResult cpu = run("cpu", "freed-for-another-stream.ilk");
  EXPECT_EQ(cpu.status, 3);
  EXPECT_THAT(cpu.err, HasSubstr("backend 'cpu' has no overlap mode."));
}

TEST(Backends, OptionsOfOneModeAreErrorsInTheOther) {
  EXPECT_EQ(run_interlock({"run", "--trials=2", kBug}).status, 2);
  EXPECT_EQ(run_interlock({"run", "--mode=overlap", "--schedule=lazy", kBug}).status, 2);
  EXPECT_EQ(run_interlock({"run", "--backend=cuda", "--lowering=graph", kBug}).status, 2);
}

TEST(Backends, LoweringsThatABackendLacksAreErrors) {
  const CommandResult other =
      run_interlock({"run", "--backend=cpu", "--mode=overlap", "--lowering=graph", kBug});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("backend 'cpu' issues programs in one way"));
  const CommandResult unknown =
      run_interlock({"run", "--backend=cuda", "--mode=overlap", "--lowering=tree", kBug});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("backend 'cuda' has no lowering 'tree'; it has streams, "));
}

TEST(Backends, FuzzedProgramsExecuteOnADeviceToo) {
  if (!has_vulkan()) GTEST_SKIP() << "no Vulkan";
  const std::string runs = std::to_string(program_count(300, 10));
  const CommandResult result = run_interlock(
      {"fuzz", "--backend=vulkan", "--encoder=interlock", "--runs=" + runs, "--seed=1"});
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("and " + runs + " on vulkan too"));
  EXPECT_THAT(result.out, HasSubstr("vulkan against float64: "));
}

// A campaign whose device is a worker process with a fault; no Vulkan is needed.
CommandResult fuzz_with(const std::string& fault, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"fuzz", "--backend=vulkan",
                                        "--worker=" FAULTY_WORKER " " + fault};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_interlock(arguments);
}

TEST(DeviceWatchdog, ReportsTheProgramThatADeviceDiedOnAndGoesOn) {
  const CommandResult result = fuzz_with("crash 300", {"--encoder=interlock", "--runs=100"});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(
      result.err,
      HasSubstr(
          "failed on the device: The worker process of backend 'vulkan' was ended by signal 11 (Segmentation fault)"));
  EXPECT_THAT(result.err,
              HasSubstr("Again: interlock fuzz --backend=vulkan --encoder=interlock --seed=1"));
  EXPECT_THAT(result.out, HasSubstr("100 programs"));
  EXPECT_THAT(result.out, HasSubstr("programs failed on vulkan.\n"));
}

TEST(DeviceWatchdog, EndsADeviceThatHangsAndKeepsItsProgram) {
  const std::string folder = temporary_file("kept", "");
  unlink(folder.c_str());
  const CommandResult result = fuzz_with(
      "hang 300", {"--encoder=interlock", "--runs=50", "--device-timeout=1", "--out=" + folder});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("did not answer within 1 seconds and was stopped. Kept: " +
                                    folder + "/device-failure-"));
  EXPECT_THAT(result.out, HasSubstr("50 programs"));
}

TEST(Backends, OptionsOfADeviceAreErrorsWithoutOne) {
  for (const char* option :
       {"--worker=false", "--device-period=2", "--overlap-trials=1", "--device-timeout=3"}) {
    const CommandResult result = run_interlock({"fuzz", "--backend=cpu", "--runs=1", option});
    EXPECT_EQ(result.status, 2) << option;
    EXPECT_THAT(result.err, HasSubstr("is about the device of --backend"));
    EXPECT_EQ(run_interlock({"fuzz", "--runs=1", option}).status, 2) << option;
  }
}

TEST(DeviceWatchdog, WaitsForADayAtMost) {
  for (const char* seconds : {"1e17", "86401", "0", "-1", "nan", "inf"}) {
    const CommandResult result =
        fuzz_with("none 1", {"--runs=1", std::string("--device-timeout=") + seconds});
    EXPECT_EQ(result.status, 2) << seconds;
    EXPECT_THAT(result.err, HasSubstr("up to 86400 seconds, a day.")) << seconds;
  }
  EXPECT_EQ(
      fuzz_with("none 1", {"--encoder=interlock", "--runs=1", "--device-timeout=86400"}).status, 0);
}

TEST(DeviceWatchdog, AStrayWriteIsADisagreementAndStatusOne) {
  const CommandResult result = fuzz_with("stray 1", {"--encoder=interlock", "--runs=1"});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.out, HasSubstr("stage device: On vulkan: A kernel wrote bytes around"));
}

TEST(DeviceWatchdog, ARefusalIsNoFailure) {
  const CommandResult result = fuzz_with("refuse 1", {"--encoder=interlock", "--runs=20"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("20 programs need what vulkan does not have."));
}

TEST(DeviceWatchdog, GivesADeviceUpThatDoesNotComeBack) {
  const CommandResult result = fuzz_with("lose 1", {"--encoder=interlock", "--runs=100"});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.out, HasSubstr("the last five in a row: it is given up"));
}

TEST(DeviceWatchdog, FindsOfAFailingDeviceAreStatusOne) {
  EXPECT_EQ(fuzz_with("crash 300", {"--encoder=mlx-2024", "--runs=100"}).status, 1);
}

TEST(DeviceWatchdog, AnInterruptEndsAHangSoonAndSavesWhatWasFound) {
  const std::string folder = temporary_file("interrupted", "");
  unlink(folder.c_str());
  const CommandResult result =
      fuzz_with("interrupt 2500", {"--encoder=mlx-2024", "--runs=100000", "--out=" + folder});
  EXPECT_EQ(result.status, 130);
  EXPECT_THAT(result.err, HasSubstr(": " + folder + "/WAR.ilk"));
  EXPECT_THAT(result.err, testing::Not(HasSubstr("failed on the device")));
  EXPECT_EQ(run_interlock({"check", folder + "/WAR.ilk"}).status, 0) << result.err;
}

TEST(DeviceWatchdog, AWorkerThatDoesNotStartIsAMissingBackend) {
  const CommandResult result =
      run_interlock({"fuzz", "--backend=vulkan", "--worker=/nonexistent/worker", "--runs=1"});
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.err, HasSubstr("backend 'vulkan' is not available: The worker process"));
}

TEST(Backends, TheKernelsOfCudaRunWithoutAGpuAndAreCalledEmulated) {
  EXPECT_THAT(run_interlock({"list", "backends"}).out,
              HasSubstr("cuda-emulated       available: "));
  const CommandResult bug = run_interlock({"replay", "--backend=cuda-emulated", kBug});
  EXPECT_EQ(bug.status, 1);
  EXPECT_THAT(bug.out, HasSubstr("It still fails on cuda-emulated"));
  EXPECT_EQ(run_interlock({"replay", "--backend=cuda-emulated", kRepaired}).status, 0);
}

}  // namespace
}  // namespace interlock::backends_test
