// A range of bytes, cut where others begin or end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "encoder/program/range.h"

namespace interlock {

// Calls `visit` for the parts of `bytes` between `ends`, from the first byte on. `ends` is sorted,
// and the end of the bytes joins it. Requires: each end is within the bytes, and not at their
// first. Cost: O(n log n) for n ends, and of the visits.
template <typename Visit>
void visit_parts(ByteRange bytes, std::vector<uint64_t>& ends, Visit visit) {
  ends.push_back(bytes.end);
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  for (const uint64_t end : ends) {
    visit(ByteRange{bytes.begin, end});
    bytes.begin = end;
  }
}

}  // namespace interlock
