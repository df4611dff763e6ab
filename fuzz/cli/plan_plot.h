// The trade of memory for barriers, as numbers and as a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/plan/liveness_planner.h"

namespace interlock {

struct TradeCurve {
  std::string name;
  uint64_t lower_bound_bytes = 0;
  uint64_t fresh_bytes = 0;
  uint64_t fresh_barrier_count = 0;
  std::vector<TradePoint> points;
};

// A line for each point, under a line of column names.
std::string csv_of(const std::vector<TradeCurve>& curves);

// Pool over lower bound against barriers over those without reuse.
std::string svg_of(const std::vector<TradeCurve>& curves);

}  // namespace interlock
