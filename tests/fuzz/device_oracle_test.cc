// What the device oracle holds against a device: each of its runs, on a device that does one of
// them wrong.
#include "fuzz/device_oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "encoder/text.h"
#include "simulator/happens_before.h"

namespace interlock::device_oracle_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct DeviceRun {
  std::vector<uint32_t> order;  // Of the dispatches, by their indices.
  ExecutionMode mode;
  uint32_t overlap_number;  // From 1, of the runs in overlap mode.
};

// The CPU, under another name, with the bytes of some runs wrong.
class FaultyDevice final : public Backend {
 public:
  explicit FaultyDevice(std::function<bool(const DeviceRun&)> is_wrong)
      : is_wrong_(std::move(is_wrong)) {}

  std::string_view name() const override { return "faulty"; }
  Availability availability() const override { return cpu_.availability(); }
  bool supports(ExecutionMode) const override { return true; }
  Capabilities capabilities() const override { return cpu_.capabilities(); }

  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override {
    const bool is_overlap = mode == ExecutionMode::kOverlap;
    overlap_count_ += is_overlap;
    DeviceRun run{{}, mode, overlap_count_};
    for (const Step& step : schedule.steps) run.order.push_back(step.dispatch.index);
    auto image = cpu_.run(program, is_overlap ? issue_order_schedule(program) : schedule,
                          ExecutionMode::kWitness);
    if (image && is_wrong_(run)) {
      for (std::vector<uint8_t>& memory : image->memories) {
        for (uint8_t& byte : memory) byte ^= 1;
      }
    }
    return image;
  }

 private:
  std::function<bool(const DeviceRun&)> is_wrong_;
  CpuBackend cpu_;
  uint32_t overlap_count_ = 0;
};

// Issued in another order than that of the program, which nothing asks for.
constexpr const char* kReordered = R"(interlock 1
memory m 64
tensor x f32[2] at m+0 = random(1)
tensor a f32[2] at m+8
tensor b f32[2] at m+16
tensor c f32[2] at m+24
output a b c
dispatch scale order=2 reads x writes a factor=2
dispatch scale order=0 reads x writes b factor=3
dispatch scale order=1 reads x writes c factor=4
)";

DeviceReport report_on(const std::string& text, std::function<bool(const DeviceRun&)> is_wrong) {
  FaultyDevice device(std::move(is_wrong));
  const Program program = parse(text).value();
  DeviceOracleOptions options;
  options.backend = &device;
  return judge_on_device(program, HappensBefore(program), {}, options, 1);
}

TEST(DeviceOracle, HasNothingAgainstASoundDevice) {
  const DeviceReport report = report_on(kReordered, [](const DeviceRun&) { return false; });
  EXPECT_TRUE(report.ran);
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_EQ(report.overlap_trial_count, 4u);
}

TEST(DeviceOracle, HoldsProgramOrderAgainstIssueOrder) {
  const DeviceReport report = report_on(kReordered, [](const DeviceRun& run) {
    return run.order == std::vector<uint32_t>{1, 2, 0};
  });
  EXPECT_THAT(
      report.disagreements,
      ElementsAre(HasSubstr("Issue order leaves other bytes on faulty than program order")));
}

TEST(DeviceOracle, HoldsEachTrialOfOverlapModeAgainstIssueOrder) {
  for (uint32_t trial = 1; trial <= 4; ++trial) {
    const DeviceReport report = report_on(kReordered, [trial](const DeviceRun& run) {
      return run.mode == ExecutionMode::kOverlap && run.overlap_number == trial;
    });
    EXPECT_THAT(report.disagreements,
                ElementsAre(HasSubstr("(trial " + std::to_string(trial) + " of 4)")));
    EXPECT_EQ(report.overlap_trial_count, trial);
  }
}

}  // namespace
}  // namespace interlock::device_oracle_test
