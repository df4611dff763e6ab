// What the device oracle holds against a device: each of its runs, on a device that does one of
// them wrong.
#include "fuzz/judge/device_oracle.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::device_oracle_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct DeviceRun {
  std::vector<uint32_t> order;  // Of the dispatches, by their indices.
  ExecutionMode mode;
  uint32_t overlap_number;  // From 1, of the runs in overlap mode.
  uint32_t number;          // From 1, of all runs.
};

enum class Fault : uint8_t { kNone, kWrongBytes, kRefused, kFault, kOther };

// The CPU, under another name, with faults in some runs.
class FaultyDevice final : public Backend {
 public:
  explicit FaultyDevice(std::function<Fault(const DeviceRun&)> fault_of)
      : fault_of_(std::move(fault_of)) {}

  std::string_view name() const override { return "faulty"; }
  Availability availability() const override { return cpu_.availability(); }
  bool supports(ExecutionMode mode) const override {
    return has_overlap || mode == ExecutionMode::kWitness;
  }
  Capabilities capabilities() const override {
    Capabilities capabilities = cpu_.capabilities();
    capabilities.rounds_correctly = rounds_correctly;
    return capabilities;
  }

  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override {
    const bool is_overlap = mode == ExecutionMode::kOverlap;
    overlap_count_ += is_overlap;
    DeviceRun run{{}, mode, overlap_count_, static_cast<uint32_t>(runs.size() + 1)};
    for (const Step& step : schedule.steps) run.order.push_back(step.dispatch.index);
    runs.push_back(run);
    const Fault fault = fault_of_(run);
    if (fault == Fault::kRefused) return Error{"It has no such thing.", ErrorKind::kRefused};
    if (fault == Fault::kFault) return Error{"A guard complains.", ErrorKind::kFault};
    if (fault == Fault::kOther) return Error{"The device is lost."};
    const bool is_issued = is_overlap || executes_issue_order_only;
    auto image = cpu_.run(program, is_issued ? reference_order_schedule(program) : schedule,
                          ExecutionMode::kWitness);
    if (image && fault == Fault::kWrongBytes) {
      for (std::vector<uint8_t>& memory : image->memories) {
        for (uint8_t& byte : memory) byte ^= 1;
      }
    }
    return image;
  }

  bool has_overlap = true;
  bool rounds_correctly = true;
  bool executes_issue_order_only = false;
  std::vector<DeviceRun> runs;  // Those that there have been.

 private:
  std::function<Fault(const DeviceRun&)> fault_of_;
  CpuBackend cpu_;
  uint32_t overlap_count_ = 0;
};

Fault nothing_wrong(const DeviceRun&) { return Fault::kNone; }

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

// As the text above, with sync; and with a hazard that an output shows.
constexpr const char* kClean = R"(interlock 1
memory m 64
tensor x f32[2] at m+0 = random(1)
tensor a f32[2] at m+8
tensor b f32[2] at m+16
tensor c f32[2] at m+24
output b c
dispatch scale reads x writes a factor=2
barrier
dispatch scale reads a writes b factor=3
dispatch silu reads x writes c
)";
constexpr const char* kHazard = R"(interlock 1
memory m 64
tensor x f32[2] at m+0 = random(1)
tensor a f32[2] at m+8 = random(2)
tensor b f32[2] at m+16
tensor c f32[2] at m+24
output b c
dispatch scale reads a writes b factor=2
dispatch scale reads x writes a factor=3
barrier
dispatch silu reads x writes c
)";

DeviceReport judged(const std::string& text, Backend& device, DeviceOracleOptions options = {},
                    uint64_t number = 1) {
  const Program program = parse(text).value();
  options.backend = &device;
  return judge_on_device(program, HappensBefore(program), find_exactly(program), options, number);
}

DeviceReport report_on(const std::string& text, std::function<Fault(const DeviceRun&)> fault_of) {
  FaultyDevice device(std::move(fault_of));
  return judged(text, device);
}

TEST(DeviceOracle, HasNothingAgainstASoundDevice) {
  for (const char* text : {kReordered, kClean, kHazard}) {
    const DeviceReport report = report_on(text, nothing_wrong);
    EXPECT_TRUE(report.ran);
    EXPECT_THAT(report.disagreements, IsEmpty());
    EXPECT_THAT(report.failure, IsEmpty());
    EXPECT_FALSE(report.is_refused);
    EXPECT_EQ(report.overlap_trial_count, 4u);
    EXPECT_EQ(report.overlap_divergence_count, 0u);
  }
}

// Hazards, late partial writes, scopes and orders of all kinds.
TEST(DeviceOracle, HasNothingAgainstASoundDeviceWhateverTheProgram) {
  for (int seed = 0; seed < program_count(150, 10); ++seed) {
    SeededChoice choice(seed);
    GeneratorOptions options;
    options.has_barriers = true;
    const Program program = build(generate(choice, options)).value();
    FaultyDevice device(nothing_wrong);
    EXPECT_THAT(judged(print(program), device, {}, seed).disagreements, IsEmpty())
        << "seed " << seed << "\n"
        << print(program);
  }
}

// What a late partial write keeps is what it found as it ran, or what stands there when it commits:
// here that of the other write. Both are right, and the shadow machine knows one of them. Some
// random schedules have the other write in between.
TEST(DeviceOracle, HasNothingAgainstWhatALatePartialWriteKeeps) {
  for (uint64_t number = 1; number <= 100; ++number) {
    FaultyDevice device(nothing_wrong);
    const DeviceReport report = judged(
        "interlock 1\nmemory m 16\ntensor t u8[16] at m+0\noutput t\n"
        "dispatch Whole writes t\ndispatch Partly writes t partial\n",
        device, {}, number);
    EXPECT_THAT(report.disagreements, IsEmpty()) << number;
  }
}

TEST(DeviceOracle, HoldsProgramOrderAgainstIssueOrder) {
  const DeviceReport report = report_on(kReordered, [](const DeviceRun& run) {
    return run.order == std::vector<uint32_t>{1, 2, 0} ? Fault::kWrongBytes : Fault::kNone;
  });
  EXPECT_THAT(
      report.disagreements,
      ElementsAre(HasSubstr("Issue order leaves other bytes on faulty than program order")));
}

TEST(DeviceOracle, HoldsEachTrialOfOverlapModeAgainstIssueOrder) {
  for (uint32_t trial = 1; trial <= 4; ++trial) {
    const DeviceReport report = report_on(kReordered, [trial](const DeviceRun& run) {
      const bool is_it = run.mode == ExecutionMode::kOverlap && run.overlap_number == trial;
      return is_it ? Fault::kWrongBytes : Fault::kNone;
    });
    EXPECT_THAT(report.disagreements,
                ElementsAre(HasSubstr("(trial " + std::to_string(trial) + " of 4)")));
    EXPECT_EQ(report.overlap_trial_count, trial);
  }
}

// Five and one for each sink; a program order is one more. Of dispatches by themselves one more
// than there are.
TEST(DeviceOracle, RunsEverySchedule) {
  const auto runs_of = [](const char* text, DeviceOracleOptions options, uint64_t number) {
    options.overlap_trial_count = 0;
    FaultyDevice device(nothing_wrong);
    const DeviceReport report = judged(text, device, options, number);
    EXPECT_EQ(report.schedule_count + 1, report.judged_dispatch_count > 0
                                             ? device.runs.size() - report.judged_dispatch_count - 1
                                             : device.runs.size())
        << text;
    return device.runs.size();
  };
  DeviceOracleOptions options;
  EXPECT_EQ(runs_of(kClean, options, 1), 5u);
  EXPECT_EQ(runs_of(kClean, options, 16), 5u + 4);
  options.numbers_period = 0;
  EXPECT_EQ(runs_of(kClean, options, 16), 5u);
  for (uint32_t sink_count_max = 0; sink_count_max < 3; ++sink_count_max) {
    options.sink_count_max = sink_count_max;
    EXPECT_EQ(runs_of(kHazard, options, 1), 5u + std::min(sink_count_max, 1u));
  }
}

// Whichever run it is, of all those that are judged: in a program with a hazard that is not overlap
// mode, whose differences are counted.
TEST(DeviceOracle, NoticesWrongBytesInAnyRun) {
  DeviceOracleOptions options;
  options.numbers_period = 1;
  for (const char* text : {kReordered, kClean, kHazard}) {
    FaultyDevice sound(nothing_wrong);
    ASSERT_THAT(judged(text, sound, options).disagreements, IsEmpty());
    for (const DeviceRun& wrong : sound.runs) {
      FaultyDevice device([&](const DeviceRun& run) {
        return run.number == wrong.number ? Fault::kWrongBytes : Fault::kNone;
      });
      const DeviceReport report = judged(text, device, options);
      const bool is_counted = text == kHazard && wrong.mode == ExecutionMode::kOverlap;
      EXPECT_EQ(report.disagreements.empty(), is_counted) << text << wrong.number;
      EXPECT_EQ(report.overlap_divergence_count > 0, wrong.mode == ExecutionMode::kOverlap);
    }
  }
}

// An answer that is none ends it: what is refused is no failure, and a fault is no failure either.
TEST(DeviceOracle, TellsFaultsFailuresAndRefusalsApartInAnyRun) {
  DeviceOracleOptions options;
  options.numbers_period = 1;
  FaultyDevice sound(nothing_wrong);
  judged(kClean, sound, options);
  for (const DeviceRun& last : sound.runs) {
    for (const Fault fault : {Fault::kRefused, Fault::kFault, Fault::kOther}) {
      FaultyDevice device(
          [&](const DeviceRun& run) { return run.number == last.number ? fault : Fault::kNone; });
      const DeviceReport report = judged(kClean, device, options);
      EXPECT_EQ(device.runs.size(), last.number);
      EXPECT_EQ(report.is_refused, fault == Fault::kRefused);
      EXPECT_EQ(report.failure, fault == Fault::kOther ? "The device is lost." : "");
      if (fault == Fault::kFault) {
        EXPECT_THAT(report.disagreements, ElementsAre("On faulty: A guard complains."));
      } else {
        EXPECT_THAT(report.disagreements, IsEmpty());
        EXPECT_FALSE(report.ran);
      }
    }
  }
}

TEST(DeviceOracle, HasItsTurnInOneOfSoManyPrograms) {
  const Program program = parse(kClean).value();
  FaultyDevice device(nothing_wrong);
  OracleOptions options;
  options.device.backend = &device;
  for (const uint64_t period : {0, 1, 3}) {
    options.device.period = period;
    for (uint64_t number = 0; number < 7; ++number) {
      const bool is_its_turn = period > 0 && number % period == 0;
      EXPECT_EQ(judge(program, options, number).device.ran, is_its_turn) << period << number;
    }
  }
}

TEST(DeviceOracle, AsksForOverlapModeAsOftenAsItIsTold) {
  DeviceOracleOptions options;
  options.overlap_trial_count = 7;
  FaultyDevice device(nothing_wrong);
  EXPECT_EQ(judged(kClean, device, options).overlap_trial_count, 7u);
  device.has_overlap = false;
  EXPECT_EQ(judged(kClean, device, options).overlap_trial_count, 0u);
}

// Some of them in a row, if there are many; and where, follows from the number of the program.
TEST(DeviceOracle, JudgesDispatchesOneByOneInItsTurn) {
  std::string text = "interlock 1\nmemory m 1024\ntensor t0 f32[2] at m+0 = random(1)\n";
  std::string dispatches;
  for (int i = 1; i <= 20; ++i) {
    text += fmt::format("tensor t{} f32[2] at m+{}\n", i, 8 * i);
    dispatches += fmt::format("dispatch scale reads t{} writes t{} factor=2\nbarrier\n", i - 1, i);
  }
  DeviceOracleOptions options;
  options.numbers_period = 3;
  for (uint64_t number = 0; number < 7; ++number) {
    FaultyDevice device(nothing_wrong);
    const bool is_its_turn = number % 3 == 0;
    EXPECT_EQ(judged(text + dispatches, device, options, number).judged_dispatch_count,
              is_its_turn ? 15u : 0u);
    EXPECT_EQ(judged(kClean, device, options, number).judged_dispatch_count, is_its_turn ? 3u : 0u);
  }
}

TEST(DeviceOracle, CountsTheOutputsThatCanDifferAndThoseThatDo) {
  FaultyDevice device(nothing_wrong);
  const DeviceReport report = judged(kHazard, device);
  // Reversed, and the schedule of the hazard; a random one may keep the order.
  EXPECT_GE(report.predicted_output_count, 2u);
  EXPECT_EQ(report.diverging_output_count, report.predicted_output_count);
  const DeviceReport clean = judged(kClean, device);
  EXPECT_EQ(clean.predicted_output_count, 0u);
  EXPECT_EQ(clean.diverging_output_count, 0u);
}

// What it leaves is legal, but not what the schedule asks for: that shows beside the CPU alone, and
// only where both round alike.
TEST(DeviceOracle, HoldsADeviceThatRoundsAlikeAgainstTheCpu) {
  FaultyDevice device(nothing_wrong);
  device.executes_issue_order_only = true;
  EXPECT_THAT(judged(kHazard, device).disagreements, ElementsAre(HasSubstr("than on the CPU")));
  device.rounds_correctly = false;
  EXPECT_THAT(judged(kHazard, device).disagreements, IsEmpty());
}

// Without hazards every schedule is legal: of three dispatches all six orders come.
TEST(DeviceOracle, DrawsARandomScheduleByTheNumberOfTheProgram) {
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t number = 1; number < 60; ++number) {
    FaultyDevice first(nothing_wrong);
    FaultyDevice again(nothing_wrong);
    judged(kReordered, first, {}, number);
    judged(kReordered, again, {}, number);
    ASSERT_GT(first.runs.size(), 4u);
    EXPECT_EQ(first.runs[4].order, again.runs[4].order);
    orders.insert(first.runs[4].order);
  }
  EXPECT_GE(orders.size(), 6u);
}

// Until a thread is through with its program, no run is of another one. The first run leaves the
// other thread time to come between.
TEST(DeviceOracle, LetsHostThreadsTakeTurns) {
  std::vector<std::thread::id> runs;
  FaultyDevice device([&runs](const DeviceRun&) {
    runs.push_back(std::this_thread::get_id());
    if (runs.size() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return Fault::kNone;
  });
  std::thread other([&device] { judged(kClean, device); });
  judged(kClean, device);
  other.join();
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  EXPECT_EQ(runs.size(), 2u);
}

}  // namespace
}  // namespace interlock::device_oracle_test
