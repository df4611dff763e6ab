#include "simulator/barriers/way_table.h"

#include <cstddef>
#include <map>
#include <tuple>

#include "simulator/barriers/queue_marks.h"

namespace interlock {
namespace {

auto tuple_of(const QueueWay& way) {
  return std::tie(way.from_places, way.from_signals, way.to_places, way.to_signals,
                  way.first.stages, way.first.accesses, way.first_queue, way.second_queue,
                  way.second, way.rises_to_reads, way.rises_from_writes, way.rises_in_unified,
                  way.dependency);
}

struct WayLess {
  bool operator()(const QueueWay& a, const QueueWay& b) const { return tuple_of(a) < tuple_of(b); }
};

// What the operands of a dependency narrow is the only one of its sort.
class WayNumbers {
 public:
  explicit WayNumbers(std::vector<QueueWay>& ways) : ways_(ways) {}

  uint32_t of(const QueueWay& way) {
    const auto next = static_cast<uint32_t>(ways_.size());
    if (way.dependency == QueueWay::kNone) {
      const auto [entry, is_new] = numbers_.try_emplace(way, next);
      if (!is_new) return entry->second;
    }
    ways_.push_back(way);
    return next;
  }

 private:
  std::vector<QueueWay>& ways_;
  std::map<QueueWay, uint32_t, WayLess> numbers_;
};

}  // namespace

WayTable::WayTable(const Program& program, const QueueSteps& steps, const SignalMarks& marks) {
  WayNumbers numbers(ways_);
  std::vector<QueueWay> ways;
  row_from_.reserve(size_t{steps.count()} + 1);
  for (uint32_t step = 0; step < steps.count(); ++step) {
    row_from_.push_back(static_cast<uint32_t>(rows_.size()));
    if (steps[step].kind == QueueStepKind::kMove) continue;
    const bool follows_implied = step > 0 && !steps[step].is_implied() &&
                                 steps[step - 1].is_implied() &&
                                 steps[step - 1].statement == steps[step].statement;
    rows_.push_back({step, static_cast<uint32_t>(ways_of_row_.size()), follows_implied});
    ways.clear();
    append_ways(program, steps[step], marks, nullptr, ways);
    for (const QueueWay& way : ways) ways_of_row_.push_back(numbers.of(way));
  }
  row_from_.push_back(static_cast<uint32_t>(rows_.size()));
  rows_.push_back({steps.count(), static_cast<uint32_t>(ways_of_row_.size()), false});
}

}  // namespace interlock
