// What `interlock capture` says where looking at a log takes too long: that it was cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "capture/log/object_records.h"
#include "capture/log/run_records.h"
#include "tests/capture/convert/synthetic_log.h"
#include "tests/cli/command.h"
#include "tests/program_count.h"

namespace interlock::capture_limits_test {
namespace {

constexpr uint64_t kQueue = 100;
constexpr uint64_t kCommands = 200;

// What stands between two commands is looked at up to a limit.
TEST(CaptureLimits, SayWhereAReasonMayHaveBeenMissed) {
  if (is_slow_build()) GTEST_SKIP() << "Thousands of findings take seconds there.";
  for (const uint64_t count : {10, 5000}) {
    SyntheticLog log;
    RunOptionsRecord options;
    options.is_validated = 1;
    log.append(options);
    log.append(QueueRecord{1, kQueue, 0, 0});
    log.append(ValidationRecord{"Khronos Validation Layer", "239"});
    log.append(AllocateMemoryRecord{9, 8 * count, 0});
    log.append(CreateBufferRecord{9, 8 * count, 0, 0});
    log.append(BindBufferRecord{9, 9, 0});
    log.append(BeginCommandsRecord{kCommands, 0});
    log.add_fill(kCommands, 9);
    for (uint64_t i = 0; i < count; ++i) log.add_fill(kCommands, 9, 8 * i, 4);
    log.add_fill(kCommands, 9);
    log.submit(kQueue, kCommands);
    const std::string out =
        run_interlock({"capture", "--log", temporary_file("limits.ilog", log.bytes())}).out;
    EXPECT_EQ(out.find("a reason may have been missed") != std::string::npos, count > 10);
  }
}

}  // namespace
}  // namespace interlock::capture_limits_test
