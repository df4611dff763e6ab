#include "fuzz/judge/repair_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/reference/reference.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "fuzz/judge/replay.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/strategy.h"
#include "simulator/schedules/strategy_three.h"

namespace interlock {
namespace {

// What one run makes, reads and writes. Does not overflow: it is counted up to the limit only.
uint64_t bytes_of_run(const Program& run, uint64_t limit_bytes) {
  uint64_t sum = 0;
  const auto add = [&](uint64_t size_bytes) {
    sum = std::min(limit_bytes + 1, sum + std::min(size_bytes, limit_bytes + 1));
  };
  for (const Memory& memory : run.memories) add(memory.size_bytes);
  for (const Access& access : run.accesses) add(access.range.size_bytes());
  return sum;
}

class RepairRunner {
 public:
  // `count_max` schedules at most.
  RepairRunner(const Program& run, Backend& backend, const MemoryImage& reference,
               uint64_t count_max)
      : run_(run), order_(run), backend_(backend), reference_(reference), count_max_(count_max) {}

  void try_strategy(std::string_view name) {
    const StrategyEntry* const entry = find_strategy(name);
    INTERLOCK_CHECK(entry != nullptr);
    const std::unique_ptr<Strategy> strategy = entry->make(run_, order_, {});
    Schedule schedule;
    // Random ones may be the same again and again.
    for (uint64_t drawn = 0;
         drawn < 2 * kRepairRunsMax && runs_.refusal.empty() && runs_.schedule_count < count_max_ &&
         !is_stopped() && strategy->next(schedule);
         ++drawn) {
      try_schedule(schedule);
    }
  }

  bool can_decide() const { return decides_by_three(order_); }
  const RepairRuns& runs() const { return runs_; }

 private:
  // Nothing where it has run before.
  void try_schedule(const Schedule& schedule) {
    if (std::ranges::find(tried_, schedule) != tried_.end()) return;
    const Result<MemoryImage> image = backend_.run(run_, schedule, ExecutionMode::kWitness);
    if (is_stopped()) return;
    if (!image) {
      runs_ = {.refusal = image.error().message};
      return;
    }
    tried_.push_back(schedule);
    ++runs_.schedule_count;
    if (outputs_differ(run_, reference_, *image)) ++runs_.differing_count;
  }

  const Program& run_;
  const HappensBefore order_;
  Backend& backend_;
  const MemoryImage& reference_;
  const uint64_t count_max_;
  std::vector<Schedule> tried_;
  RepairRuns runs_;
};

}  // namespace

RepairRuns run_repaired(const Program& run, Backend& backend, uint64_t limit_bytes) {
  // The reference is a run, too.
  const uint64_t count_max = std::min(
      kRepairRunsMax + 1, limit_bytes / std::max<uint64_t>(1, bytes_of_run(run, limit_bytes)));
  if (count_max < 2) {
    return {.refusal = fmt::format("two runs have more than {} bytes to go through", limit_bytes)};
  }
  const Result<MemoryImage> reference = reference_image(run, backend);
  if (!reference) return {.refusal = reference.error().message};
  RepairRunner runner(run, backend, *reference, count_max - 1);
  if (runner.can_decide()) runner.try_strategy("three");
  runner.try_strategy("random");
  return runner.runs();
}

}  // namespace interlock
