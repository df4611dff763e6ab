// PlacementProblem: which values live when, so that a planner can choose bytes for them. It knows
// nothing of programs; plan_values.h makes one of a program.
//
// Time is counted in steps: step 0 is before the first dispatch, dispatch k is step k + 1, and one
// step after the last dispatch is the end of the program. A value owns its bytes from its first
// step to its last, both included.
#pragma once

#include <cstdint>
#include <vector>

namespace interlock {

struct ValueLife {
  uint64_t size_bytes = 0;  // A multiple of the alignment.
  uint32_t first_step = 1;
  uint32_t last_step = 0;  // Before first_step: no step uses it, and any bytes will do.

  bool is_used() const { return first_step <= last_step; }
};

// `output` may take exactly the bytes of `input`: the dispatch that makes the one reads the other
// for the last time, both have the same size, and the kernel tolerates it.
struct InPlaceChoice {
  uint32_t output = 0;
  uint32_t input = 0;
  uint32_t other_step = 0;  // The last step that uses the input, but for this one. 0: none does.
};

// Says which reuse of bytes is allowed besides what lives demand.
class ReuseRule {
 public:
  virtual ~ReuseRule() = default;

  // Requires: the last step of `earlier` is before the first step of `later`.
  virtual bool allows(uint32_t earlier, uint32_t later) const = 0;
};

struct PlacementProblem {
  uint32_t step_count = 0;  // Steps are smaller.
  std::vector<ValueLife> values;
  std::vector<InPlaceChoice> in_place;  // By first step of the output, then as the planner prefers.
  // By step: the latest earlier step that the dispatch must follow in any case, for its data. 0:
  // none.
  std::vector<uint32_t> latest_conflicts;
  const ReuseRule* rule = nullptr;  // None: lives say it all.
};

// By value: where it begins. Values that no step uses begin at 0.
struct ValuePlacement {
  std::vector<uint64_t> offsets_bytes;
  uint64_t size_bytes = 0;  // Of the pool.
};

// A bound that no placement can beat: the bytes of the largest live set, where an output that may
// be in place counts once. Cost: linear.
uint64_t lower_bound_bytes(const PlacementProblem& problem);

// The bytes that a placement with these offsets needs.
uint64_t size_bytes_of(const PlacementProblem& problem, const std::vector<uint64_t>& offsets);

}  // namespace interlock
