#include "fuzz/cli/plan_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuzz/cli/line_plot.h"

namespace interlock {
namespace {

double ratio(uint64_t value, uint64_t unit) {
  return static_cast<double>(value) / static_cast<double>(std::max<uint64_t>(unit, 1));
}

}  // namespace

std::string csv_of(const std::vector<TradeCurve>& curves) {
  std::string csv = "graph,lower_bound_bytes,fresh_bytes,fresh_barriers,pool_bytes,barriers\n";
  for (const TradeCurve& curve : curves) {
    for (const TradePoint& point : curve.points) {
      csv +=
          fmt::format("{},{},{},{},{},{}\n", curve.name, curve.lower_bound_bytes, curve.fresh_bytes,
                      curve.fresh_barrier_count, point.pool_bytes, point.barrier_count);
    }
  }
  return csv;
}

std::string svg_of(const std::vector<TradeCurve>& curves) {
  LinePlot plot;
  plot.title = "Memory buys barriers: planner liveness with slack, encoder interlock";
  plot.x_label = "pool, in lower bounds (largest live set)";
  plot.y_label = "barriers, in those without reuse";
  plot.is_stepped = true;
  plot.x_range = {1, 1.1};
  plot.y_range = {1, 1.02};
  for (const TradeCurve& curve : curves) {
    LineSeries& series = plot.series.emplace_back(LineSeries{curve.name, {}});
    for (const TradePoint& point : curve.points) {
      series.points.emplace_back(ratio(point.pool_bytes, curve.lower_bound_bytes),
                                 ratio(point.barrier_count, curve.fresh_barrier_count));
    }
  }
  return svg_of(plot);
}

}  // namespace interlock
