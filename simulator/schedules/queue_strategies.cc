#include "simulator/schedules/queue_strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/natural.h"
#include "simulator/schedules/queue_schedule.h"
#include "simulator/schedules/queue_traces.h"
#include "simulator/schedules/queue_walk.h"
#include "simulator/schedules/queue_witness.h"
#include "simulator/schedules/strategy_directed.h"
#include "simulator/schedules/strategy_pct.h"

namespace interlock {
namespace {

// The sinks of each hazard, as the machine carries them out.
class DirectedOnQueues final : public Strategy {
 public:
  DirectedOnQueues(const Program& program, const HappensBefore& order, uint64_t hazard_count_max,
                   std::string claim)
      : program_(program),
        list_(find_queue_hazards(program, order, hazard_count_max)),
        is_too_wide_(order.queues().is_too_wide()),
        may_lose_(std::ranges::count(program.syncs, SyncKind::kHostInvalidates, &SyncStep::kind) >
                  0),
        claim_(std::move(claim)) {}

  bool next(Schedule& schedule) override {
    while (next_sink_ == sinks_.size()) {
      if (next_hazard_ == list_.hazards.size() || is_stopped()) return false;
      find_sinks();
    }
    schedule = sinks_[next_sink_++];
    return !is_stopped();
  }

  std::string schedule_name() const override {
    const Hazard& hazard = list_.hazards[next_hazard_ - 1];
    return fmt::format("sink: {} {} {}{}", word_of(hazard.kind),
                       program_.reference_of(hazard.first.dispatch),
                       program_.reference_of(hazard.second.dispatch),
                       sinks_.size() > 1 ? fmt::format(", way {}", next_sink_) : "");
  }

  std::string claim() override;

 private:
  // Kinds of one pair may share a sink.
  void find_sinks() {
    const Hazard& hazard = list_.hazards[next_hazard_++];
    const bool is_same_pair =
        next_hazard_ > 1 && is_pair_of(list_.hazards[next_hazard_ - 2], hazard);
    if (!is_same_pair) made_.clear();
    uint64_t steps_left = UINT64_MAX;
    sinks_.clear();
    next_sink_ = 0;
    for (Schedule& sink : queue_sinks_of(program_, hazard, steps_left)) add(std::move(sink));
    if (may_lose_) add_lines(hazard);
    if (sinks_.empty() && !is_same_pair) ++without_sink_count_;
  }

  // A line defers all of an operation, so that the host may lose more than by one part.
  void add_lines(const Hazard& hazard) {
    for (const std::vector<Displacement>& lines : queue_witnesses_of(hazard)) {
      Result<Schedule> said = queue_schedule_of(program_, lines);
      if (said) add(std::move(*said));
    }
  }

  void add(Schedule sink) {
    if (std::ranges::find(made_, sink) != made_.end()) return;
    made_.push_back(sink);
    sinks_.push_back(std::move(sink));
  }

  static bool is_pair_of(const Hazard& a, const Hazard& b) {
    return a.first.dispatch == b.first.dispatch && a.second.dispatch == b.second.dispatch;
  }

  const Program& program_;
  const HazardList list_;
  const bool is_too_wide_;
  const bool may_lose_;
  const std::string claim_;
  size_t next_hazard_ = 0;
  std::vector<Schedule> sinks_;  // Of the hazard before that one.
  size_t next_sink_ = 0;
  std::vector<Schedule> made_;  // Of this pair.
  uint64_t without_sink_count_ = 0;
};

std::string DirectedOnQueues::claim() {
  std::string text = claim_;
  if (is_too_wide_) {
    text +=
        "The graph has too many paths for its hazards to be listed; random and pct ask for none.\n";
  } else if (without_sink_count_ > 0) {
    text += fmt::format(
        "{} no sink: the machine of counters cannot carry the two out the other way round.\n",
        without_sink_count_ == 1 ? "1 hazard has"
                                 : fmt::format("{} hazards have", without_sink_count_));
  }
  return text;
}

std::unique_ptr<Strategy> directed(const Program& program, const HappensBefore& order,
                                   const StrategyOptions& options, std::string claim) {
  const uint64_t pair_count = std::min(options.schedule_count, UINT64_MAX / kKindsOfPairMax);
  return std::make_unique<DirectedOnQueues>(program, order, pair_count * kKindsOfPairMax,
                                            std::move(claim));
}

class ExhaustiveOnQueues final : public Strategy {
 public:
  ExhaustiveOnQueues(const Program& program, const StrategyOptions& options)
      : traces_(program, options), options_(options) {}

  std::string announcement() const override;
  bool next(Schedule& schedule) override { return traces_.next(schedule); }
  std::string schedule_name() const override { return traces_.name(); }
  std::string claim() override;

 private:
  QueueTraces traces_;
  StrategyOptions options_;
};

std::string ExhaustiveOnQueues::announcement() const {
  const QueueUnits& units = traces_.units();
  if (units.pairs.empty()) {
    return units.is_truncated ? "" : "All that conflicts is ordered and visible: 1 trace.\n";
  }
  const TurnCounts& counts = traces_.counts();
  const std::string_view bound = counts.is_exact ? "" : "at most ";
  const bool is_cut = !counts.is_exact || counts.schedule_count > Natural(options_.schedule_count);
  return fmt::format(
      "{} without an order between {}, in {} of independent order: {}{}.\n{}: {}{} beside the reference order{}.\n",
      counted(Natural(units.pairs.size()), "conflict", "conflicts"),
      counted(Natural(units.parts.size()), "part of an operation", "parts of operations"),
      counted(Natural(traces_.group_count()), "group", "groups"), bound,
      counted(counts.trace_count, "trace", "traces"),
      options_.combines_groups ? "All groups combined" : "One group at a time", bound,
      counted(counts.schedule_count, "schedule", "schedules"),
      is_cut ? fmt::format(", of which at most {} will run", options_.schedule_count) : "");
}

std::string ExhaustiveOnQueues::claim() {
  Schedule another;
  if (traces_.units().is_truncated || is_stopped() || traces_.next(another)) {
    return "Not complete: some traces were not tried.\n";
  }
  if (traces_.refused_count() > 0) {
    return fmt::format("Not complete: the machine of counters could not carry out {}.\n",
                       counted(Natural(traces_.refused_count()), "trace", "traces"));
  }
  return fmt::format("Complete: every trace of {} was tried.\n",
                     options_.combines_groups ? "the program" : "each group");
}

class RandomOnQueues final : public Strategy {
 public:
  RandomOnQueues(const Program& program, uint64_t seed) : program_(program), next_seed_(seed) {}

  bool next(Schedule& schedule) override {
    SeededChoice choice(next_seed_++);
    schedule = random_queue_schedule(program_, choice);
    return true;
  }

  std::string schedule_name() const override {
    return fmt::format("random, seed {}", next_seed_ - 1);
  }

 private:
  const Program& program_;
  uint64_t next_seed_;
};

class PctOnQueues final : public Strategy {
 public:
  PctOnQueues(const Program& program, const StrategyOptions& options)
      : schedules_(program, options.depth), depth_(options.depth), choice_(options.seed) {}

  std::string announcement() const override {
    return pct_odds_text(
        counted(Natural(schedules_.part_count()), "part of an operation", "parts of operations"),
        schedules_.part_count(), schedules_.part_count(), depth_);
  }

  bool next(Schedule& schedule) override {
    schedule = schedules_.schedule(choice_);
    return true;
  }

 private:
  QueuePctSchedules schedules_;
  uint64_t depth_;
  SeededChoice choice_;
};

}  // namespace

std::unique_ptr<Strategy> three_of_queues(const Program& program, const HappensBefore& order,
                                          const StrategyOptions& options) {
  return directed(
      program, order, options,
      "Strategy 'three' decides for one queue; this program has several or the host, so one sink per hazard was tried instead.\n");
}

std::unique_ptr<Strategy> directed_of_queues(const Program& program, const HappensBefore& order,
                                             const StrategyOptions& options) {
  return directed(program, order, options, "");
}

std::unique_ptr<Strategy> exhaustive_of_queues(const Program& program,
                                               const HappensBefore& /*order*/,
                                               const StrategyOptions& options) {
  return std::make_unique<ExhaustiveOnQueues>(program, options);
}

std::unique_ptr<Strategy> random_of_queues(const Program& program, const HappensBefore& /*order*/,
                                           const StrategyOptions& options) {
  return std::make_unique<RandomOnQueues>(program, options.seed);
}

std::unique_ptr<Strategy> pct_of_queues(const Program& program, const HappensBefore& /*order*/,
                                        const StrategyOptions& options) {
  return std::make_unique<PctOnQueues>(program, options);
}

}  // namespace interlock
