// ConflictLevels: how deep each dispatch lies in the conflict graph of a program.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"

namespace interlock {

// The level of a dispatch is 1 where it conflicts with nothing earlier, else one more than the
// highest level that it conflicts with. Dispatches of one level can run between two barriers, in
// any program order that keeps conflicts in order: levels minus 1 is the fewest barriers then.
class ConflictLevels {
 public:
  // Requires: `segments` was built from `program`; both outlive this.
  // Cost: O(a log a) for a accesses.
  ConflictLevels(const Program& program, const ByteSegments& segments);

  // Dispatches on the longest chain of conflicts, minus 1; 0 without dispatches.
  uint64_t longest_chain() const { return highest_ == 0 ? 0 : highest_ - 1; }

  // Such a chain, in issue order.
  // Cost: O(n) comparisons, and O(p log p) for p operands where two levels follow each other.
  std::vector<DispatchId> chain() const;

 private:
  const Program& program_;
  const ByteSegments& segments_;
  std::vector<uint32_t> level_;  // By dispatch.
  uint32_t highest_ = 0;
};

}  // namespace interlock
