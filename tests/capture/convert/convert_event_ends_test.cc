// Where events end: who may still wait for one, and what is held in memory until then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <istream>
#include <ostream>
#include <sstream>
#include <string>

#include "capture/convert/convert.h"
#include "capture/log/command_records.h"
#include "capture/log/object_records.h"
#include "capture/log/queue_records.h"
#include "tests/capture/convert/synthetic_log.h"

namespace interlock::convert_event_ends_test {
namespace {

using testing::SizeIs;

constexpr uint64_t kQueue = 90;
constexpr uint64_t kCommands = 80;
constexpr uint64_t kOtherCommands = 81;
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kEvent = 7;

SyntheticLog log_with_objects() {
  SyntheticLog log;
  log.append(QueueRecord{1, kQueue, 0, 0});
  log.add_chain();
  log.append(BeginCommandsRecord{kCommands, 0});
  log.append(BeginCommandsRecord{kOtherCommands, 0});
  return log;
}

// The older calls.
void set(SyntheticLog& log, uint64_t commands) {
  DependencyFields fields;
  fields.source_stages = kCompute;
  log.append(SetEventRecord{commands, kEvent, 0, {fields}});
}

void wait(SyntheticLog& log, uint64_t commands) {
  DependencyFields fields;
  fields.source_stages = fields.destination_stages = kCompute;
  fields.source_accesses = VK_ACCESS_2_SHADER_WRITE_BIT;
  fields.destination_accesses = VK_ACCESS_2_SHADER_READ_BIT;
  log.append(WaitEventsRecord{commands, {kEvent}, {fields}});
}

// What the host did before it set one, and submitted then, is before the submission.
TEST(ConvertEventEnds, OfTheHostOrderNoMoreThanTheirSubmission) {
  enum class When { kBefore, kAfter, kNever, kReset, kDestroyed };
  for (const When when :
       {When::kBefore, When::kAfter, When::kNever, When::kReset, When::kDestroyed}) {
    SyntheticLog log = log_with_objects();
    if (when != When::kNever && when != When::kAfter) log.append(HostEventRecord{kEvent, 1});
    if (when == When::kReset) log.append(HostEventRecord{kEvent, 0});
    if (when == When::kDestroyed) log.append(DestroyRecord{VK_OBJECT_TYPE_EVENT, kEvent});
    log.add_dispatch(kCommands, 1, 1);
    wait(log, kCommands);
    log.add_dispatch(kCommands, 1, 2);
    log.submit(kQueue, kCommands);
    if (when == When::kAfter) log.append(HostEventRecord{kEvent, 1});
    const ConvertedLog result = converted(log.bytes());
    EXPECT_EQ(result.error, "");
    // That the device waits orders none of its own commands.
    const bool is_known = when == When::kBefore;
    EXPECT_THAT(findings_of(result.text), SizeIs(is_known ? 1 : 0));
    EXPECT_THAT(result.summary.not_understood, SizeIs(is_known ? 0 : 1));
  }
}

// What is reset is not set, whoever did: the wait is for nothing that is known.
TEST(ConvertEventEnds, EndWhereTheHostResetsThem) {
  for (const bool is_reset : {false, true}) {
    SyntheticLog log = log_with_objects();
    log.add_dispatch(kCommands, 1, 1);
    set(log, kCommands);
    log.submit(kQueue, kCommands);
    if (is_reset) log.append(HostEventRecord{kEvent, 0});
    wait(log, kOtherCommands);
    log.submit(kQueue, kOtherCommands);
    EXPECT_THAT(converted(log.bytes()).summary.not_understood, SizeIs(is_reset ? 1 : 0));
  }
}

// How much of a text was written when half of its log was read.
class EarlyBytes : public std::stringbuf {
 public:
  EarlyBytes(std::istream& log, size_t half) : log_(log), half_(half) {}
  size_t count() const { return count_; }

 protected:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    const bool is_early = log_.tellg() >= 0 && static_cast<size_t>(log_.tellg()) < half_;
    if (is_early) count_ += static_cast<size_t>(size);
    return std::stringbuf::xsputn(text, size);
  }

 private:
  std::istream& log_;
  size_t half_;
  size_t count_ = 0;
};

// A wait may come in any later submission, until the event is reset, set again or gone: only so
// long what follows its set is held in memory.
TEST(ConvertEventEnds, HoldTextUntilNoWaitCanCome) {
  enum class End { kReset, kHostReset, kSetAgain, kDestroyed, kNone };
  for (const End end :
       {End::kReset, End::kHostReset, End::kSetAgain, End::kDestroyed, End::kNone}) {
    SyntheticLog log = log_with_objects();
    log.add_dispatch(kCommands, 1, 1);
    if (end == End::kReset) log.append(ResetEventRecord{kCommands, kEvent});
    set(log, kCommands);
    wait(log, kOtherCommands);
    for (int i = 0; i < 300; ++i) {
      if (end == End::kHostReset) log.append(HostEventRecord{kEvent, 0});
      if (end == End::kDestroyed) log.append(DestroyRecord{VK_OBJECT_TYPE_EVENT, kEvent});
      // The first one stays set.
      if (i == 0 || end != End::kNone) log.submit(kQueue, kCommands);
      log.submit(kQueue, kOtherCommands);
      log.append(WaitIdleRecord{1, 0});
    }
    std::istringstream input(log.bytes());
    EarlyBytes early(input, log.bytes().size() / 2);
    std::ostream output(&early);
    ASSERT_TRUE(convert_log(input, "test.ilog", output).has_value());
    const size_t whole = early.str().size();
    EXPECT_EQ(early.count() > whole / 3, end != End::kNone) << early.count() << " of " << whole;
    EXPECT_EQ(converted(log.bytes()).error, "");
  }
}

}  // namespace
}  // namespace interlock::convert_event_ends_test
