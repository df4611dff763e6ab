// The idea: a strategy is a list of named schedules; everything else is the same for all of them.
#include "simulator/schedules/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/sinks.h"
#include "simulator/schedules/strategy_exhaustive.h"
#include "simulator/schedules/strategy_pct.h"
#include "simulator/schedules/strategy_random.h"
#include "simulator/schedules/strategy_text.h"
#include "simulator/schedules/strategy_three.h"
#include "simulator/schedules/witness.h"

namespace interlock {
namespace {

constexpr std::string_view kWords[] = {"three", "directed", "exhaustive", "random",
                                       "pct"};  // By Strategy.

// Hazards looked at by kExhaustive: a kind of a pair of dispatches each. Groups take a bit for each
// pair of the dispatches that these name: 50 MB at worst.
constexpr uint64_t kExhaustiveHazardsMax = 10'000;

class Explorer {
 public:
  explicit Explorer(const Program& program)
      : program_(program),
        order_(program),
        machine_(program),
        strict_reference_(machine_.run(issue_order_schedule(program), ShadowMode::kStrict)),
        observable_reference_(
            machine_.run(issue_order_schedule(program), ShadowMode::kObservable)) {}

  // The strategy that can be tried in place of `wanted`: the others are about epochs.
  Strategy available_strategy(Strategy wanted);
  void try_three(uint64_t schedule_count);
  void try_directed(uint64_t schedule_count);
  void try_exhaustive(const ExploreOptions& options);
  void try_random(uint64_t schedule_count, uint64_t seed);
  void try_pct(const ExploreOptions& options);
  Exploration finish();

 private:
  void try_schedule(std::string name, Schedule schedule);
  bool differs(const Schedule& schedule, ShadowMode mode) {
    machine_.run(schedule, mode, result_);
    return result_ != (mode == ShadowMode::kStrict ? strict_reference_ : observable_reference_);
  }

  const Program& program_;
  HappensBefore order_;
  ShadowMachine machine_;
  ShadowResult strict_reference_;
  ShadowResult observable_reference_;
  ShadowResult result_;
  Exploration exploration_;
  Schedule first_schedule_;  // Of exploration_.first_different.
};

void Explorer::try_schedule(std::string name, Schedule schedule) {
  if (is_stopped()) return;
  TriedSchedule tried;
  tried.name = std::move(name);
  tried.differs_strictly = differs(schedule, ShadowMode::kStrict);
  // What differs observably differs strictly, too.
  tried.differs_observably = tried.differs_strictly && differs(schedule, ShadowMode::kObservable);
  if (is_stopped()) return;  // What was cut short differs for that reason.
  const bool is_first = tried.differs_observably ? exploration_.observable_count == 0
                                                 : exploration_.strict_count == 0;
  if (tried.differs_strictly && is_first) {
    exploration_.first_different = exploration_.tried.size();
    first_schedule_ = std::move(schedule);
  }
  exploration_.strict_count += tried.differs_strictly ? 1 : 0;
  exploration_.observable_count += tried.differs_observably ? 1 : 0;
  exploration_.tried.push_back(std::move(tried));
}

Strategy Explorer::available_strategy(Strategy wanted) {
  if (!order_.has_scopes() || wanted != Strategy::kThree) return wanted;
  exploration_.claim =
      "Strategy 'three' decides for global barriers only; this program has scoped ones, so one "
      "sink per hazard was tried instead.\n";
  return Strategy::kDirected;
}

void Explorer::try_three(uint64_t schedule_count) {
  if (schedule_count > 0) {
    try_schedule("epoch-reversed", epoch_reversed_schedule(program_, order_));
  }
  if (schedule_count > 1) try_schedule("lazy", lazy_schedule(program_, order_));
}

void Explorer::try_directed(uint64_t schedule_count) {
  DispatchId last_first;
  DispatchId last_second;
  // Every pair, not only the latest: a live reader may hide behind a dead one. A pair has at most
  // three kinds.
  const uint64_t limit = std::min<uint64_t>(schedule_count, UINT64_MAX / 3) * 3;
  for (const Hazard& hazard : find_all_hazards(program_, order_, limit)) {
    if (exploration_.tried.size() >= schedule_count || is_stopped()) return;
    const DispatchId first = hazard.first.dispatch;
    const DispatchId second = hazard.second.dispatch;
    // The kinds of a pair share their sink, unless scoped barriers order it.
    const bool is_same_pair = first == last_first && second == last_second;
    if (is_same_pair && !(order_.has_scopes() && hazard.is_ordered)) continue;
    last_first = first;
    last_second = second;
    for (const Sink& sink : sinks_of(program_, order_, hazard)) {
      if (exploration_.tried.size() >= schedule_count) return;
      Result<Schedule> schedule = schedule_of(program_, order_, sink.displacements);
      if (is_stopped()) return;
      INTERLOCK_CHECK(schedule.has_value());
      try_schedule("sink: " + text_of(program_, head_of(sink.displacements)),
                   std::move(schedule).value());
    }
  }
}

void Explorer::try_random(uint64_t schedule_count, uint64_t seed) {
  SeededChoice choice(seed);
  for (uint64_t i = 0; i < schedule_count && !is_stopped(); ++i) {
    try_schedule(fmt::format("random {}", i), random_schedule(program_, order_, choice));
  }
}

void Explorer::try_exhaustive(const ExploreOptions& options) {
  bool is_truncated = false;
  const std::vector<Hazard> hazards = find_all_hazards(program_, order_, ByteSegments(program_),
                                                       kExhaustiveHazardsMax, is_truncated);
  const bool has_late_commits =
      !order_.has_scopes() && std::any_of(hazards.begin(), hazards.end(),
                                          [](const Hazard& hazard) { return hazard.is_ordered; });
  ExhaustiveOptions exhaustive;
  exhaustive.combines_groups = options.combines_groups;
  exhaustive.schedule_limit = options.schedule_count - (has_late_commits ? 1 : 0);
  ExhaustiveSchedules traces(program_, order_, hazards, is_truncated, exhaustive);
  if (options.announce) {
    options.announce(announcement_of(traces.plan(), exhaustive, has_late_commits));
  }
  if (has_late_commits) try_schedule("lazy", lazy_schedule(program_, order_));
  Schedule schedule;
  bool has_next = traces.next(schedule);
  for (; has_next && !is_stopped() && exploration_.tried.size() < options.schedule_count;
       has_next = traces.next(schedule)) {
    try_schedule(traces.name(), schedule);
  }
  exploration_.claim = claim_of(traces.plan(), exhaustive, !has_next);
}

void Explorer::try_pct(const ExploreOptions& options) {
  const PctSchedules pct(program_, order_, {options.depth});
  if (options.announce) options.announce(announcement_of(pct, options.depth));
  SeededChoice choice(options.seed);
  for (uint64_t i = 0; i < options.schedule_count && !is_stopped(); ++i) {
    try_schedule(fmt::format("pct {}", i), pct.schedule(choice));
  }
}

Exploration Explorer::finish() {
  if (!exploration_.first_different) return std::move(exploration_);
  const ShadowMode mode =
      exploration_.observable_count > 0 ? ShadowMode::kObservable : ShadowMode::kStrict;
  exploration_.witness =
      shrink_witness(program_, order_, displacements_of(program_, first_schedule_),
                     [this, mode](const Schedule& schedule) { return differs(schedule, mode); });
  return std::move(exploration_);
}

}  // namespace

std::string_view word_of(Strategy strategy) { return kWords[static_cast<size_t>(strategy)]; }

std::optional<Strategy> strategy_of(std::string_view word) {
  for (size_t i = 0; i < std::size(kWords); ++i) {
    if (kWords[i] == word) return static_cast<Strategy>(i);
  }
  return std::nullopt;
}

Exploration explore(const Program& program, const ExploreOptions& options) {
  Explorer explorer(program);
  switch (explorer.available_strategy(options.strategy)) {
    case Strategy::kThree:
      explorer.try_three(options.schedule_count);
      break;
    case Strategy::kDirected:
      explorer.try_directed(options.schedule_count);
      break;
    case Strategy::kExhaustive:
      explorer.try_exhaustive(options);
      break;
    case Strategy::kRandom:
      explorer.try_random(options.schedule_count, options.seed);
      break;
    case Strategy::kPct:
      explorer.try_pct(options);
      break;
  }
  return explorer.finish();
}

}  // namespace interlock
