#include "simulator/schedules/strategy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/text/printer.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/explore.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/sinks.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::strategy_test {
namespace {

using ::testing::ElementsAre;

// A sixth strategy, of this file and the line below it: issue order with each dispatch in turn made
// the last one, which is legal where there are no barriers.
class LastStrategy final : public Strategy {
 public:
  explicit LastStrategy(const Program& program) : program_(program) {}

  std::string announcement() const override { return "Each dispatch comes last once.\n"; }

  bool next(Schedule& schedule) override {
    if (last_ == program_.dispatches.size()) return false;
    schedule = reference_order_schedule(program_);
    std::rotate(schedule.steps.begin() + std::ptrdiff_t(last_),
                schedule.steps.begin() + std::ptrdiff_t(last_) + 1, schedule.steps.end());
    ++last_;
    return true;
  }

  std::string schedule_name() const override {
    return "last: " + program_.reference_of(DispatchId(last_ - 1));
  }

  std::string claim() override {
    return last_ == program_.dispatches.size() ? "Each has been last.\n" : "";
  }

 private:
  const Program& program_;
  size_t last_ = 0;
};

std::unique_ptr<Strategy> last_strategy(const Program& program, const HappensBefore& /*order*/,
                                        const StrategyOptions& /*options*/) {
  return std::make_unique<LastStrategy>(program);
}

constexpr StrategyEntry kLast = {"last", "each dispatch comes last once", &last_strategy};

constexpr std::string_view kThreeDispatches = R"(
    memory m 4
    a: dispatch A writes m
    b: dispatch B reads m
    c: dispatch C reads m)";

std::vector<std::string> names_of(const Exploration& exploration) {
  std::vector<std::string> names;
  for (const TriedSchedule& tried : exploration.tried) names.push_back(tried.name);
  return names;
}

TEST(Explore, RunsAStrategyOfWhichItKnowsTheInterfaceOnly) {
  const Program program = program_of(kThreeDispatches);
  std::string announced;
  const Exploration exploration =
      explore(program, kLast, {}, [&](std::string_view lines) { announced += lines; });
  EXPECT_EQ(announced, "Each dispatch comes last once.\n");
  EXPECT_THAT(names_of(exploration), ElementsAre("last: a", "last: b", "last: c"));
  EXPECT_EQ(exploration.claim, "Each has been last.\n");
  EXPECT_EQ(exploration.first_different, 0u);
  ASSERT_EQ(exploration.witness.size(), 1u);
}

TEST(Explore, AsksAStrategyForNoMoreSchedulesThanItMayTry) {
  const Exploration exploration =
      explore(program_of(kThreeDispatches), kLast, {.schedule_count = 2});
  EXPECT_THAT(names_of(exploration), ElementsAre("last: a", "last: b"));
  EXPECT_EQ(exploration.claim, "");
}

TEST(Explore, NamesAScheduleWithoutANameByItsStrategyAndItsNumber) {
  EXPECT_THAT(names_of(explore(program_of(kThreeDispatches), *find_strategy("random"), {2})),
              ElementsAre("random 0", "random 1"));
}

// Is asked to end while it makes its second schedule of three.
class StoppedStrategy final : public Strategy {
 public:
  explicit StoppedStrategy(const Program& program) : program_(program) {}

  bool next(Schedule& schedule) override {
    EXPECT_LT(made_count_, 2) << "Is asked for a schedule after the stop.";
    if (made_count_ == 3) return false;
    schedule = reference_order_schedule(program_);
    if (++made_count_ == 2) installed_stop()->request();
    return true;
  }

  std::string schedule_name() const override { return std::to_string(made_count_); }

 private:
  const Program& program_;
  int made_count_ = 0;
};

TEST(Explore, BelievesNoScheduleThatAStopCutShort) {
  Stop stop;
  const StopScope scope(&stop);
  const StrategyEntry entry = {
      "stopped", "", [](const Program& program, const HappensBefore&, const StrategyOptions&) {
        return std::unique_ptr<Strategy>(std::make_unique<StoppedStrategy>(program));
      }};
  EXPECT_THAT(names_of(explore(program_of(kThreeDispatches), entry)), ElementsAre("1"));
}

TEST(Strategy, HasAWordThatNamesIt) {
  std::set<std::string_view> names;
  for (const StrategyEntry& entry : strategy_registry()) {
    EXPECT_EQ(find_strategy(entry.name), &entry);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
  }
  EXPECT_EQ(find_strategy("best"), nullptr);
}

std::vector<Schedule> schedules_of(const StrategyEntry& entry, const Program& program,
                                   const StrategyOptions& options) {
  const HappensBefore order(program);
  const std::unique_ptr<Strategy> strategy = entry.make(program, order, options);
  std::vector<Schedule> schedules;
  Schedule schedule;
  while (schedules.size() < options.schedule_count && strategy->next(schedule)) {
    EXPECT_TRUE(check_legal(program, order, schedule)) << print(program);
    schedules.push_back(schedule);
  }
  return schedules;
}

TEST(Strategy, MakesLegalSchedulesAndTheSameAgain) {
  SeededChoice choice(48);
  for (int i = 0; i < 300; ++i) {
    const Program program = i % 3 == 0 ? random_scoped_program(choice) : random_program(choice, {});
    for (const StrategyEntry& entry : strategy_registry()) {
      SCOPED_TRACE(entry.name);
      StrategyOptions options;
      options.schedule_count = 8;
      options.seed = choice.below(100);
      options.combines_groups = choice.chance(1, 2);
      const std::vector<Schedule> schedules = schedules_of(entry, program, options);
      ASSERT_FALSE(HasFailure());
      ASSERT_EQ(schedules_of(entry, program, options), schedules);
    }
  }
}

// Wherever the stop comes.
TEST(Strategy, ClaimsNoCompletenessOnceItWasStopped) {
  const Program program = program_of(kThreeDispatches);
  Stop counted;
  counted.request_at_poll(UINT64_MAX);
  {
    const StopScope scope(&counted);
    EXPECT_THAT(explore(program, *find_strategy("exhaustive")).claim,
                testing::StartsWith("Complete: "));
  }
  const uint64_t poll_count = counted.poll_count();
  ASSERT_GT(poll_count, 5u);
  int stopped_count = 0;
  for (uint64_t at = 1; at <= poll_count; ++at) {
    Stop stop;
    stop.request_at_poll(at);
    const StopScope scope(&stop);
    const Exploration exploration = explore(program, *find_strategy("exhaustive"));
    if (exploration.tried.size() == 3) continue;
    ++stopped_count;
    EXPECT_THAT(exploration.claim, testing::StartsWith("Not complete: ")) << at;
  }
  EXPECT_GT(stopped_count, 5);
}

// Each run of bytes costs a walk over all barriers.
TEST(Strategy, AsksForTheEndAtEachRunOfBytesOfASink) {
  constexpr int kRunCount = 64;
  std::string text = "memory m 256\ndispatch A writes m\nbarrier compute.write -> copy.read";
  for (int run = 0; run < kRunCount; ++run) text += fmt::format(" m[{}:{}]", 4 * run, 4 * run + 1);
  text += "\nbarrier compute -> compute\ndispatch B reads m\n";
  const Program program = program_of(text);
  const HappensBefore order(program);
  const std::vector<Hazard> hazards = find_all_hazards(program, order).hazards;
  ASSERT_EQ(hazards.size(), 1u);
  Stop stop;
  stop.request_at_poll(kRunCount);
  const StopScope scope(&stop);
  sinks_of(program, order, hazards.front());
  EXPECT_EQ(stop.poll_count(), kRunCount);
}

}  // namespace
}  // namespace interlock::strategy_test
