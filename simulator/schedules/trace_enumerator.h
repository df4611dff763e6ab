// TraceEnumerator: the traces of one group, each exactly once.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/schedules/trace_groups.h"

namespace interlock {

class TraceEnumerator {
 public:
  // Starts at issue order. Requires: `group` outlives this.
  explicit TraceEnumerator(const TraceGroup& group);

  // Moves on to the next trace. Returns false, and is back at issue order, when all have been.
  // Cost: O(u^2 / 64) for u units and each hazard decided anew; as many as there are at worst.
  bool advance();

  // The units that come before `unit` in this trace, as a bit set of before_word_count() words.
  const uint64_t* units_before(uint32_t unit) const { return before_.row(unit); }
  size_t before_word_count() const { return before_.word_count(); }

  // The hazards reversed by decision; what these imply is not listed. Empty in issue order.
  std::vector<UnitPair> reversed_hazards() const;

 private:
  struct Decision {
    size_t hazard;
    size_t change_count;  // Of changes_ before it.
    bool is_reversed;
  };
  struct Change {
    uint32_t row;  // Of before_.
    uint32_t word;
    uint64_t old_value;
  };

  void settle(size_t hazard);
  void decide(size_t hazard, bool is_reversed);
  void add_edge(uint32_t from, uint32_t to);

  const TraceGroup& group_;
  BitMatrix before_;  // Happens-before and the decisions, transitive.
  std::vector<Decision> decisions_;
  std::vector<Change> changes_;
};

}  // namespace interlock
