// The idea: one enumerator per group. One at a time, each group in turn gives its next trace while
// the others rest; combined, the enumerators are the digits of a counter.
#include "simulator/schedules/trace_turns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simulator/schedules/trace_count.h"

namespace interlock {
namespace {

constexpr uint64_t kCountWorkMax = 1u << 21;  // Of count_traces(), for all groups.

}  // namespace

TurnCounts count_turns(const std::vector<TraceGroup>& groups, bool combines_groups) {
  TurnCounts counts;
  uint64_t work_limit = kCountWorkMax;
  Natural sum;
  Natural product(1);
  for (const TraceGroup& group : groups) {
    TraceCount count = count_traces(group, work_limit);
    counts.is_exact = counts.is_exact && count.is_exact;
    product *= count.value;
    sum += count.value;
    sum -= Natural(1);  // The one to begin with.
  }
  counts.trace_count = product;
  product -= Natural(1);
  counts.schedule_count = combines_groups ? std::move(product) : std::move(sum);
  return counts;
}

TraceTurns::TraceTurns(const std::vector<TraceGroup>& groups, bool combines_groups)
    : groups_(groups),
      combines_groups_(combines_groups),
      resting_(groups.begin(), groups.end()),
      varying_(resting_) {
  for (size_t g = 0; g < groups_.size(); ++g) {
    open_.push_back(g);
    at_hand_.push_back(combines_groups_ ? &varying_[g] : &resting_[g]);
  }
}

// An enumerator that has given all would begin again.
bool TraceTurns::advance() {
  if (!is_done_) is_done_ = combines_groups_ ? !advance_all() : !advance_one();
  return !is_done_;
}

bool TraceTurns::advance_one() {
  if (!open_.empty()) at_hand_[varied_] = &resting_[varied_];
  while (!open_.empty()) {
    if (turn_ == open_.size()) turn_ = 0;
    varied_ = open_[turn_];
    if (varying_[varied_].advance()) {
      at_hand_[varied_] = &varying_[varied_];
      ++turn_;
      return true;
    }
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(turn_));
  }
  return false;
}

bool TraceTurns::advance_all() {
  return std::any_of(varying_.rbegin(), varying_.rend(),
                     [](TraceEnumerator& digit) { return digit.advance(); });
}

std::string TraceTurns::name(const std::function<std::string(uint32_t unit)>& text_of) const {
  std::string name;
  size_t count = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<uint32_t>& members = groups_[g].units;
    for (const UnitPair& pair : at_hand_[g]->reversed_hazards()) {
      if (count++ > 0) continue;
      name =
          fmt::format("{} before {}", text_of(members[pair.second]), text_of(members[pair.first]));
    }
  }
  return count > 1 ? fmt::format("{}, and {} more", name, count - 1) : name;
}

}  // namespace interlock
