// The idea: every pair, not only the latest conflict of a dispatch, since a live reader may come
// before a dead one.
#include "simulator/schedules/strategy_directed.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/result.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/queue_strategies.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/sinks.h"

namespace interlock {
namespace {

class DirectedStrategy final : public Strategy {
 public:
  DirectedStrategy(const Program& program, const HappensBefore& order, std::vector<Hazard> hazards,
                   std::string claim)
      : program_(program), order_(order), hazards_(std::move(hazards)), claim_(std::move(claim)) {}

  bool next(Schedule& schedule) override;

  std::string schedule_name() const override {
    return "sink: " + text_of(program_, head_of(sinks_[next_sink_ - 1].displacements));
  }

  std::string claim() override { return claim_; }

 private:
  bool has_sinks_of_previous(size_t hazard) const;

  const Program& program_;
  const HappensBefore& order_;
  std::vector<Hazard> hazards_;
  std::string claim_;
  size_t next_hazard_ = 0;
  std::vector<Sink> sinks_;  // Of the hazard before that one.
  size_t next_sink_ = 0;
};

// The kinds of a pair share their sink, unless scoped barriers order it.
bool DirectedStrategy::has_sinks_of_previous(size_t hazard) const {
  if (hazard == 0) return false;
  const Hazard& previous = hazards_[hazard - 1];
  const Hazard& current = hazards_[hazard];
  return current.first.dispatch == previous.first.dispatch &&
         current.second.dispatch == previous.second.dispatch &&
         !(order_.has_scopes() && current.is_ordered);
}

bool DirectedStrategy::next(Schedule& schedule) {
  while (next_sink_ == sinks_.size()) {
    if (next_hazard_ == hazards_.size() || is_stopped()) return false;
    const size_t hazard = next_hazard_++;
    if (has_sinks_of_previous(hazard)) continue;
    sinks_ = sinks_of(program_, order_, hazards_[hazard]);
    next_sink_ = 0;
  }
  Result<Schedule> made = schedule_of(program_, order_, sinks_[next_sink_++].displacements);
  if (is_stopped()) return false;
  INTERLOCK_CHECK(made.has_value());
  schedule = std::move(made).value();
  return true;
}

class AfterSinks final : public Strategy {
 public:
  AfterSinks(std::unique_ptr<Strategy> sinks, std::unique_ptr<Strategy> rest)
      : sinks_(std::move(sinks)), rest_(std::move(rest)) {}

  std::string announcement() const override {
    return rest_->announcement() +
           "Some hazards are ordered, but not visible. "
           "No order of runs shows them: their sinks do, which come first.\n";
  }

  bool next(Schedule& schedule) override {
    is_sink_ = !has_tried_sinks_ && sinks_->next(schedule);
    has_tried_sinks_ = !is_sink_;
    return is_sink_ || rest_->next(schedule);
  }

  std::string schedule_name() const override {
    return is_sink_ ? sinks_->schedule_name() : rest_->schedule_name();
  }

  std::string claim() override {
    Schedule another;
    if (!has_tried_sinks_ && (is_stopped() || sinks_->next(another))) {
      return "Not complete: some sinks, and what comes after them, were not tried.\n";
    }
    return rest_->claim();
  }

 private:
  std::unique_ptr<Strategy> sinks_;
  std::unique_ptr<Strategy> rest_;
  bool is_sink_ = false;  // The schedule at hand.
  bool has_tried_sinks_ = false;
};

}  // namespace

std::unique_ptr<Strategy> directed_strategy(const Program& program, const HappensBefore& order,
                                            const StrategyOptions& options, std::string claim) {
  const uint64_t pair_count = std::min(options.schedule_count, UINT64_MAX / kKindsOfPairMax);
  return std::make_unique<DirectedStrategy>(
      program, order, find_all_hazards(program, order, pair_count * kKindsOfPairMax).hazards,
      std::move(claim));
}

std::unique_ptr<Strategy> after_sinks_of_visibility(const Program& program,
                                                    const HappensBefore& order,
                                                    std::vector<Hazard> hazards,
                                                    std::unique_ptr<Strategy> strategy) {
  if (!order.has_scopes()) return strategy;
  std::erase_if(hazards, [](const Hazard& hazard) { return !hazard.is_ordered; });
  if (hazards.empty()) return strategy;
  return std::make_unique<AfterSinks>(
      std::make_unique<DirectedStrategy>(program, order, std::move(hazards), ""),
      std::move(strategy));
}

std::unique_ptr<Strategy> directed_strategy(const Program& program, const HappensBefore& order,
                                            const StrategyOptions& options) {
  if (order.has_queues()) return directed_of_queues(program, order, options);
  return directed_strategy(program, order, options, "");
}

}  // namespace interlock
