// Strategy "directed": the sinks of each hazard (sinks.h), which show it and nothing else.
#pragma once

#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/sinks.h"
#include "simulator/schedules/strategy.h"

namespace interlock {

class DirectedStrategy : public Strategy {
 public:
  // As StrategyFactory. Cost: that of find_all_hazards().
  DirectedStrategy(const Program& program, const HappensBefore& order,
                   const StrategyOptions& options);

  bool next(Schedule& schedule) override;
  std::string schedule_name() const override;

 private:
  bool has_sinks_of_previous(size_t hazard) const;

  const Program& program_;
  const HappensBefore& order_;
  std::vector<Hazard> hazards_;
  size_t next_hazard_ = 0;
  std::vector<Sink> sinks_;  // Of the hazard before that one.
  size_t next_sink_ = 0;
};

StrategyFactory directed_strategy;

}  // namespace interlock
