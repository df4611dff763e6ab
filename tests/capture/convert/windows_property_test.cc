// A program in windows: judged part by part it has the findings that it has as a whole.
#include <gtest/gtest.h>
#include <vulkan/vulkan_core.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/convert/windows.h"
#include "simulator/schedules/choice.h"
#include "tests/capture/convert/synthetic_log.h"
#include "tests/program_count.h"

namespace interlock::windows_property_test {
namespace {

constexpr uint64_t kQueues[] = {100, 101};
constexpr uint64_t kCompute = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
constexpr uint64_t kCopy = VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT;
constexpr uint64_t kAll = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
constexpr uint64_t kHost = VK_PIPELINE_STAGE_2_HOST_BIT;
constexpr uint64_t kHostRead = VK_ACCESS_2_HOST_READ_BIT;

// Two queues, timelines of each and of the host, binary semaphores, fences and events; what waits
// for anything waits for what was submitted before.
class RandomLog {
 public:
  explicit RandomLog(uint64_t seed) : choice_(seed) {
    for (const uint64_t queue : kQueues) log_.append(QueueRecord{1, queue, 0, 0});
    for (const uint64_t buffer : {1, 2, 3, 4}) log_.add_buffer(buffer);
    log_.add_pipeline(1);
    for (const uint64_t set : {1, 2, 3}) log_.add_set(set, set, set + 1);
    for (const uint64_t timeline : kTimelines) {
      log_.append(CreateSemaphoreRecord{timeline, 1, 0});
    }
    for (int i = 0; i < 30; ++i) {
      if (choice_.chance(1, 2)) submit();
      if (choice_.chance(1, 2)) wait();
      if (choice_.chance(1, 4)) touch();
    }
  }

  const std::string& bytes() const { return log_.bytes(); }

 private:
  // Of each queue, and of the host.
  static constexpr uint64_t kTimelines[] = {60, 61, 62};

  uint64_t stages() {
    return choice_.chance(2, 3) ? kAll : choice_.chance(1, 2) ? kCompute : kCopy;
  }

  DependencyFields dependency() {
    DependencyFields fields;
    fields.source_stages = stages();
    fields.destination_stages = choice_.chance(1, 3) ? kHost : stages();
    fields.source_accesses = choice_.chance(1, 4) ? 0 : VK_ACCESS_2_MEMORY_WRITE_BIT;
    fields.destination_accesses = fields.destination_stages == kHost
                                      ? kHostRead
                                      : VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
    if (choice_.chance(1, 3)) {
      fields.object = DependencyObject::kBuffer;
      fields.handle = 1 + choice_.below(4);
      fields.offset_bytes = 256 * choice_.below(3);
      fields.size_bytes = 512;
    }
    return fields;
  }

  void record(uint64_t commands) {
    log_.append(BeginCommandsRecord{commands, 0});
    for (uint64_t i = choice_.below(4); i > 0; --i) {
      switch (choice_.below(6)) {
        case 0:
          log_.add_dispatch(commands, 1, 1 + choice_.below(3));
          break;
        case 1:
          log_.append(SetEventRecord{commands, 70 + choice_.below(2), 1, {dependency()}});
          break;
        case 2:
          log_.append(WaitEventsRecord{commands, {70 + choice_.below(2)}, {}});
          break;
        case 3:
          log_.append(BarrierRecord{commands, {dependency()}});
          break;
        default:
          log_.add_fill(commands, 1 + choice_.below(4), 256 * choice_.below(3), 512);
      }
    }
  }

  void submit() {
    const uint64_t queue = choice_.below(2);
    BatchFields batch;
    if (!signalled_.empty() && choice_.chance(1, 2)) {
      batch.waits.push_back({signalled_.back(), 0, stages()});
      signalled_.pop_back();
    }
    const uint64_t other = choice_.below(3);
    if (values_[other] > 0 && choice_.chance(1, 3)) {
      batch.waits.push_back({kTimelines[other], 1 + choice_.below(values_[other]), stages()});
    }
    batch.commands.push_back(++commands_);
    record(commands_);
    if (choice_.chance(1, 4)) {
      log_.append(CreateSemaphoreRecord{++semaphore_, 0, 0});
      batch.signals.push_back({semaphore_, 0, stages()});
      signalled_.push_back(semaphore_);
    }
    if (choice_.chance(1, 3)) {
      values_[queue] += 1 + choice_.below(2);
      batch.signals.push_back({kTimelines[queue], values_[queue], stages()});
    }
    const uint64_t fence = choice_.chance(1, 2) ? ++fence_ : 0;
    if (fence != 0) fences_.push_back(fence);
    log_.append(SubmitRecord{kQueues[queue], fence, {batch}});
  }

  void wait() {
    const uint64_t timeline = choice_.below(2);
    switch (choice_.below(5)) {
      case 0:
        log_.append(WaitIdleRecord{1, 0});
        break;
      case 1:
        log_.append(WaitIdleRecord{0, kQueues[choice_.below(2)]});
        break;
      case 2:
        if (values_[timeline] > 0) {
          log_.append(
              SemaphoreReachedRecord{kTimelines[timeline], 1 + choice_.below(values_[timeline])});
        }
        break;
      case 3:
        log_.append(HostSignalRecord{kTimelines[2], ++values_[2]});
        break;
      default:
        if (!fences_.empty()) log_.append(FenceReachedRecord{{fences_.back()}});
    }
  }

  void touch() {
    const HostRangeUse use =
        choice_.chance(2, 3) ? HostRangeUse::kInvalidate : HostRangeUse::kFlush;
    log_.append(HostRangeRecord{use, 1 + choice_.below(4), 256 * choice_.below(3), 512});
  }

  SeededChoice choice_;
  SyntheticLog log_;
  uint64_t commands_ = 1000;
  uint64_t semaphore_ = 2000;
  uint64_t fence_ = 3000;
  std::vector<uint64_t> fences_;
  std::vector<uint64_t> signalled_;
  uint64_t values_[3] = {};
};

// Without "(dispatch 3)", as a window counts from its own beginning; and, of what the host touches,
// without the bytes: of those that an earlier window wrote, a window has what was not overwritten.
std::vector<std::string> comparable_findings(const std::string& text) {
  std::vector<std::string> findings = findings_of(text);
  for (std::string& finding : findings) {
    for (size_t begin = 0; (begin = finding.find(" (")) != std::string::npos;) {
      finding.erase(begin, finding.find(')', begin) + 1 - begin);
    }
    const size_t bytes = finding.find('[');
    if (finding.find("hazard: h") < bytes) finding.erase(bytes, finding.find(']') + 1 - bytes);
  }
  std::ranges::sort(findings);
  return findings;
}

TEST(Windows, HaveTheFindingsOfTheWholeProgram) {
  const int log_count = proof_count(4000, 30, 10);
  int window_count = 0;
  int finding_count = 0;
  int carried_count = 0;
  int doubt_count = 0;
  for (int seed = 0; seed < log_count; ++seed) {
    const RandomLog log(static_cast<uint64_t>(seed));
    const ConvertedLog whole = converted(log.bytes());
    ASSERT_EQ(whole.error, "") << "seed " << seed;
    const std::vector<std::string> expected = comparable_findings(whole.text);
    CaptureSummary summary;
    std::vector<std::string> found;
    for (const CapturedWindow& window : windows_of(log.bytes(), 0, &summary)) {
      ++window_count;
      carried_count += window.text.find("dispatch Fill in copy writes") != std::string::npos;
      const std::vector<std::string> findings = comparable_findings(window.text);
      found.insert(found.end(), findings.begin(), findings.end());
    }
    std::ranges::sort(found);
    finding_count += static_cast<int>(expected.size());
    if (summary.not_understood.contains("what the host sees of an earlier window")) {
      ++doubt_count;
      ASSERT_TRUE(std::ranges::includes(expected, found)) << "seed " << seed;
    } else {
      ASSERT_EQ(found, expected) << "seed " << seed << "\n" << whole.text;
    }
  }
  EXPECT_GT(window_count, 3 * log_count);
  EXPECT_GT(finding_count, 3 * log_count);
  EXPECT_GT(carried_count, log_count / 10);
  EXPECT_LE(2 * doubt_count, log_count);
  if (!HasFailure()) {
    print_proof(log_count - doubt_count, "windows have the findings of the whole program");
  }
}

}  // namespace
}  // namespace interlock::windows_property_test
