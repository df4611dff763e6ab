#include "encoder/plan/liveness_planner.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "encoder/plan/best_fit.h"
#include "encoder/plan/data_dependencies.h"
#include "encoder/plan/ordered_fit.h"
#include "encoder/plan/plan_layout.h"
#include "encoder/plan/plan_values.h"
#include "encoder/plan/sync_order.h"
#include "encoder/program/stop.h"
#include "encoder/sync/tracker.h"

namespace interlock {
namespace {

// Ordered fit is quadratic: 8192 chains are some 50 ms.
constexpr size_t kOrderedChainCountMax = 8192;

// Budgets that are tried for fewer barriers, in percent above the smallest pool. The list does not
// depend on the slack, so that more slack never has more barriers.
constexpr std::array<uint32_t, 24> kBudgetPercents = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 400, 800, 1600};

// And barriers are avoided in the front or the back part only, cut at so many places.
constexpr uint32_t kWindowParts = 8;

uint64_t percent_of(uint64_t bytes, uint64_t percent) {
  return bytes / 100 * percent + bytes % 100 * percent / 100;
}

struct PlacementCandidate {
  ValuePlacement placement;
  uint64_t barrier_count = 0;
};

uint64_t smallest_bytes_of(const std::vector<PlacementCandidate>& candidates) {
  const auto size_bytes_of = [](const PlacementCandidate& c) { return c.placement.size_bytes; };
  return size_bytes_of(*std::ranges::min_element(candidates, {}, size_bytes_of));
}

// Barriers that the encoder `interlock` would place. Counted without building the program.
uint64_t count_barriers(const Program& program, const PlanValues& values,
                        const ValuePlacement& placement) {
  HazardTracker tracker;
  const MemoryId pool(program.memories.size());
  std::vector<Access> accesses;
  uint64_t count = 0;
  for (const Dispatch& dispatch : program.dispatches) {
    if (is_stopped()) return count;
    const auto declared = program.declared_accesses_of(dispatch);
    accesses.assign(declared.begin(), declared.end());
    for (Access& access : accesses) {
      const uint32_t value = values.value_of(access);
      if (value == PlanValues::kNoValue) continue;
      const uint64_t offset = placement.offsets_bytes[value];
      access.memory = pool;
      access.range = {access.range.begin + offset, access.range.end + offset};
    }
    if (tracker.add(accesses, dispatch.atomic_op)) ++count;
  }
  return count;
}

class LivenessPlanner {
 public:
  LivenessPlanner(const Program& program, const PlanOptions& options)
      : program_(program), options_(options) {}

  // Trades memory for barriers with budgets of at most so many percent.
  Result<std::vector<PlacementCandidate>> candidates(uint32_t percent_max);
  const PlanValues& values() const { return values_; }

 private:
  Result<Success> set_rule();
  void add_smallest();
  void add_trades(uint32_t percent_max);
  void add(ValuePlacement placement);

  const Program& program_;
  const PlanOptions& options_;
  PlanValues values_;
  std::optional<AntichainRule> antichain_rule_;
  std::optional<SyncRule> sync_rule_;
  std::vector<PlacementCandidate> candidates_;
};

Result<std::vector<PlacementCandidate>> LivenessPlanner::candidates(uint32_t percent_max) {
  auto values = values_of(program_, options_);
  if (!values) return values.error();
  values_ = std::move(*values);
  if (auto ruled = set_rule(); !ruled) return ruled.error();
  add_smallest();
  add_trades(percent_max);
  if (is_stopped()) return Error{"The plan was stopped."};
  return std::move(candidates_);
}

// The sync of several queues stays as it is, so that bytes are free only where it says so.
Result<Success> LivenessPlanner::set_rule() {
  if (has_sync_of_queues(program_)) {
    auto checked = check_order_count(program_, SyncOrder::kDispatchCountMax);
    if (checked) values_.problem.rule = &sync_rule_.emplace(SyncOrder(program_), values_);
    return checked;
  }
  if (!options_.is_antichain) return Success{};
  auto checked = check_order_count(program_, DispatchOrder::kDispatchCountMax);
  if (!checked) return checked;
  DispatchOrder order(program_, DataDependencies(program_));
  values_.problem.rule = &antichain_rule_.emplace(std::move(order), values_);
  return Success{};
}

void LivenessPlanner::add(ValuePlacement placement) {
  const uint64_t barrier_count = count_barriers(program_, values_, placement);
  candidates_.push_back({std::move(placement), barrier_count});
}

void LivenessPlanner::add_smallest() {
  const PlacementProblem& problem = values_.problem;
  const uint64_t bound_bytes = lower_bound_bytes(problem);
  const auto is_done = [&] {
    return candidates_.back().placement.size_bytes == bound_bytes || is_stopped();
  };
  for (const bool takes_largest_first : {true, false}) {
    for (const bool spares_the_end : {false, true}) {
      add(place_best_fit(
          problem, {.takes_largest_first = takes_largest_first, .spares_the_end = spares_the_end}));
      if (is_done()) return;
    }
  }
  if (problem.values.size() <= kExactValueCountMax) return add(place_exactly(problem));
  const std::vector<ValueChain> chains = chains_of(problem, problem.in_place);
  if (chains.size() > kOrderedChainCountMax) return;
  for (size_t i = 0; i < kFitOrderCount; ++i) {
    add(place_ordered(problem, chains, static_cast<FitOrder>(i)));
    if (is_done()) return;
  }
}

// Requires: at least one candidate.
void LivenessPlanner::add_trades(uint32_t percent_max) {
  PlacementProblem& problem = values_.problem;
  const DataDependencies dependencies(program_);
  problem.latest_conflicts.assign(problem.step_count, 0);
  for (size_t i = 0; i < dependencies.dispatch_count(); ++i) {
    const auto predecessors = dependencies.predecessors(i);
    if (!predecessors.empty()) {
      problem.latest_conflicts[step_of_dispatch(i)] = step_of_dispatch(predecessors.back());
    }
  }
  const uint64_t smallest_bytes = smallest_bytes_of(candidates_);
  for (const uint32_t percent : kBudgetPercents) {
    if (percent > percent_max) break;
    const uint64_t budget_bytes = smallest_bytes + percent_of(smallest_bytes, percent);
    ValuePlacement placement =
        place_best_fit(problem, {.avoids_barriers = true, .budget_bytes = budget_bytes});
    const bool is_within_budget = placement.size_bytes < budget_bytes;
    add(std::move(placement));
    if (is_stopped()) return;
    if (is_within_budget) break;  // A larger budget changes nothing.
  }
  if (percent_max == 0) return;
  for (uint32_t part = 1; part < kWindowParts; ++part) {
    const uint32_t cut = static_cast<uint32_t>(uint64_t{problem.step_count} * part / kWindowParts);
    for (const bool is_front : {true, false}) {
      if (is_stopped()) return;
      add(place_best_fit(problem, {.avoids_barriers = true,
                                   .first_avoiding_step = is_front ? 0 : cut,
                                   .last_avoiding_step = is_front ? cut : problem.step_count,
                                   .budget_bytes = UINT64_MAX}));
    }
  }
}

}  // namespace

Result<Program> plan_fresh(const Program& program, const PlanOptions& options) {
  auto read = values_of(program, options);
  if (!read) return read.error();
  const PlanValues& values = *read;
  ValuePlacement placement;
  for (const ValueLife& value : values.problem.values) {
    placement.offsets_bytes.push_back(placement.size_bytes);
    placement.size_bytes += value.size_bytes;
  }
  return place_values(program, values, layout_of(values.problem, placement));
}

Result<Program> plan_liveness(const Program& program, const PlanOptions& options) {
  LivenessPlanner planner(program, options);
  const auto candidates = planner.candidates(options.slack_percent == 0 ? 0 : UINT32_MAX);
  if (!candidates) return candidates.error();
  const uint64_t smallest_bytes = smallest_bytes_of(*candidates);
  const uint64_t limit_bytes = smallest_bytes + percent_of(smallest_bytes, options.slack_percent);
  const auto rank_of = [&](const PlacementCandidate& candidate) {
    const uint64_t size_bytes = candidate.placement.size_bytes;
    return std::tuple(size_bytes > limit_bytes, candidate.barrier_count, size_bytes);
  };
  const auto best = std::ranges::min_element(*candidates, {}, rank_of);
  return place_values(program, planner.values(),
                      layout_of(planner.values().problem, best->placement));
}

Result<std::vector<TradePoint>> trade_curve(const Program& program, const PlanOptions& options) {
  auto candidates = LivenessPlanner(program, options).candidates(UINT32_MAX);
  if (!candidates) return candidates.error();
  std::ranges::sort(*candidates, {}, [](const PlacementCandidate& candidate) {
    return std::pair(candidate.placement.size_bytes, candidate.barrier_count);
  });
  std::vector<TradePoint> curve;
  for (const PlacementCandidate& candidate : *candidates) {
    if (!curve.empty() && candidate.barrier_count >= curve.back().barrier_count) continue;
    curve.push_back({candidate.placement.size_bytes, candidate.barrier_count});
  }
  return curve;
}

}  // namespace interlock
