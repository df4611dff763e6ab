// The basic idea: rec(k, order) skips the hazards that the order decides already; if none is left,
// the order is a trace; else it recurses with hazard k in issue direction, and reversed. Every
// orientation without a cycle extends to a linear order, so there are no dead ends: the leaves are
// the traces, each once (docs/theory.md). The recursion is a stack, so that it can pause at a leaf.
#include "simulator/schedules/trace_enumerator.h"

namespace interlock {

TraceEnumerator::TraceEnumerator(const TraceGroup& group) : group_(group), before_(group.before) {
  settle(0);
}

bool TraceEnumerator::advance() {
  while (!decisions_.empty()) {
    const Decision last = decisions_.back();
    decisions_.pop_back();
    for (; changes_.size() > last.change_count; changes_.pop_back()) {
      const Change& change = changes_.back();
      before_.row(change.row)[change.word] = change.old_value;
    }
    if (last.is_reversed) continue;
    decide(last.hazard, true);
    settle(last.hazard + 1);
    return true;
  }
  settle(0);
  return false;
}

void TraceEnumerator::settle(size_t hazard) {
  for (; hazard < group_.hazards.size(); ++hazard) {
    const auto [first, second] = group_.hazards[hazard];
    if (before_.has(first, second) || before_.has(second, first)) continue;
    decide(hazard, false);
  }
}

void TraceEnumerator::decide(size_t hazard, bool is_reversed) {
  decisions_.push_back({hazard, changes_.size(), is_reversed});
  const auto [first, second] = group_.hazards[hazard];
  if (is_reversed) {
    add_edge(second, first);
  } else {
    add_edge(first, second);
  }
}

void TraceEnumerator::add_edge(uint32_t from, uint32_t to) {
  for (uint32_t unit = 0; unit < group_.units.size(); ++unit) {
    if (unit != to && !before_.has(unit, to)) continue;
    uint64_t* const row = before_.row(unit);
    for (uint32_t w = 0; w < before_.word_count(); ++w) {
      const uint64_t self = w == from / 64 ? uint64_t{1} << (from % 64) : 0;
      const uint64_t joined = row[w] | before_.row(from)[w] | self;
      if (joined == row[w]) continue;
      changes_.push_back({unit, w, row[w]});
      row[w] = joined;
    }
  }
}

std::vector<UnitPair> TraceEnumerator::reversed_hazards() const {
  std::vector<UnitPair> reversed;
  for (const Decision& decision : decisions_) {
    if (decision.is_reversed) reversed.push_back(group_.hazards[decision.hazard]);
  }
  return reversed;
}

}  // namespace interlock
