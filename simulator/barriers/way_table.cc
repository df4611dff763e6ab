#include "simulator/barriers/way_table.h"

#include <cstddef>
#include <unordered_map>

#include "simulator/barriers/queue_marks.h"

namespace interlock {
namespace {

struct WayHash {
  size_t operator()(const QueueWay& way) const {
    uint64_t hash = 0;
    const auto mix = [&hash](uint64_t word) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    };
    mix(way.from_places);
    mix(way.from_signals);
    mix(way.to_places);
    mix(way.to_signals);
    mix(uint64_t{way.first.accesses} << 16 | way.second);
    return hash;
  }
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
  std::unordered_map<QueueWay, uint32_t, WayHash> numbers_;
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
