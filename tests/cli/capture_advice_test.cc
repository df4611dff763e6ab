// What `interlock capture` says of sync that would go without a finding, where the host may need
// it: it has coherent memory mapped, and what it does there is no call. Of logs that are written
// here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capture/log/queue_records.h"
#include "tests/capture/convert/synthetic_log.h"
#include "tests/cli/command.h"

namespace interlock::capture_advice_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kQueue = 100;
constexpr uint64_t kFirst = 200;  // Command buffers.
constexpr uint64_t kSecond = 201;
constexpr uint64_t kFence = 60;

enum class HostBarrier { kNone, kToTheHost };

// Two submissions that share no byte; between them the host waits for the first one.
SyntheticLog log_of_two(bool is_mapped, HostBarrier barrier) {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_chain();
  log.add_buffer(4);
  log.add_set(3, 3, 4);
  if (is_mapped) log.append(HostRangeRecord{HostRangeUse::kMap, 2, 0, VK_WHOLE_SIZE});
  log.append(BeginCommandsRecord{kFirst, 0});
  log.add_dispatch(kFirst, 1, 1);
  if (barrier == HostBarrier::kToTheHost) {
    log.add_barrier(kFirst, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_WRITE_BIT,
                    VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
  }
  log.append(BeginCommandsRecord{kSecond, 0});
  log.add_dispatch(kSecond, 1, 3);
  log.submit(kQueue, kFirst, kFence);
  log.append(FenceReachedRecord{{kFence}});
  log.submit(kQueue, kSecond);
  return log;
}

CommandResult judged(const SyntheticLog& log, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {"capture", "--log", temporary_file("host.ilog", log.bytes())};
  words.insert(words.end(), options.begin(), options.end());
  return run_interlock(words);
}

// The submission after it shows that the wait is not the last one of the log, which is for what
// comes after it.
TEST(CaptureAdvice, TakesAWaitOfTheHostForNoneWhereItReadsUnseen) {
  const CommandResult mapped = judged(log_of_two(true, HostBarrier::kNone));
  EXPECT_EQ(mapped.status, 0) << mapped.out << mapped.err;
  EXPECT_THAT(mapped.out,
              HasSubstr("1 wait of the host would go without a finding, and is no advice: what the "
                        "host does to mapped coherent memory is not seen, and may need it.\n"));
  EXPECT_THAT(mapped.out, Not(HasSubstr("redundant")));
  const CommandResult unmapped = judged(log_of_two(false, HostBarrier::kNone));
  EXPECT_THAT(unmapped.out, Not(HasSubstr("no advice: what the host does")));
  EXPECT_THAT(unmapped.out, HasSubstr("1 redundant piece of sync"));
}

TEST(CaptureAdvice, TakesABarrierThatNamesTheHostForNoneWhereItReadsUnseen) {
  const CommandResult mapped = judged(log_of_two(true, HostBarrier::kToTheHost));
  EXPECT_EQ(mapped.status, 0) << mapped.out << mapped.err;
  EXPECT_THAT(mapped.out,
              HasSubstr("1 wait of the host and 1 barrier or part of one that names it would go "
                        "without a finding, and are no advice: what the host does to mapped "
                        "coherent memory is not seen, and may need them.\n"));
  EXPECT_THAT(mapped.out, HasSubstr("\nbarriers: 1; none is known to go, and at least 0 must "
                                    "stay.\n"));
}

// Windows end where the host has waited for all, so that the wait is the last of its window.
TEST(CaptureAdvice, AddsUpWhatTheHostMayNeedOfAllWindows) {
  const CommandResult windows =
      judged(log_of_two(true, HostBarrier::kToTheHost), {"--window-kib=0"});
  EXPECT_EQ(windows.status, 0) << windows.out << windows.err;
  EXPECT_THAT(windows.out, HasSubstr("2 windows, each judged by itself"));
  EXPECT_THAT(windows.out, Not(HasSubstr("can go, each within its window")));
}

// Two submissions, each with a barrier for all stages and accesses, and a fill that nothing orders;
// the host waits between them. What a check of the file finds is possible, and not counted.
TEST(CaptureAdvice, SaysOfEachWindowWhatWouldDoInPlaceOfAll) {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_chain();
  for (const uint64_t commands : {kFirst, kSecond}) {
    log.append(BeginCommandsRecord{commands, 0});
    log.add_dispatch(commands, 1, 1);
    log.add_barrier(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
                    VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT);
    log.add_dispatch(commands, 1, 2);
    log.add_fill(commands, 3);
    log.submit(kQueue, commands, kFence);
    log.append(FenceReachedRecord{{kFence}});
  }
  const std::string file = temporary_path("wide.ilk");
  const auto advice_of = [](const std::string& path) {
    EXPECT_EQ(run_interlock({"check", "--advice", path}).status, 0) << path;
    const CommandResult json = run_interlock({"check", "--advice", "--format=json", path});
    EXPECT_EQ(json.status, 0) << path;
    return nlohmann::json::parse(json.out).at("scopes").at("narrower");
  };
  EXPECT_EQ(judged(log, {"-o", file}).status, 1);
  EXPECT_EQ(advice_of(file).size(), 2u);
  EXPECT_EQ(judged(log, {"-o", file, "--window-kib=0"}).status, 1);
  for (const std::string window : {"wide.w1.ilk", "wide.w2.ilk"}) {
    const nlohmann::json narrower = advice_of(temporary_path(window));
    ASSERT_EQ(narrower.size(), 1u) << window;
    EXPECT_EQ(narrower[0]["instead"], "barrier compute.write -> compute.read");
  }
}

}  // namespace
}  // namespace interlock::capture_advice_test
