#include "backends/interface/partial_steps.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

bool finds_fetched(const Program& program, DispatchId dispatch, const Access& access,
                   const StepBytes& place) {
  const Stage stage = stage_of(program.dispatch(dispatch));
  const bool leaves_bytes = program.dispatch(dispatch).is_partial && access.writes();
  return access.memory == place.memory && share_a_byte(access.range, place.range) &&
         ((access.reads() && read_sort_of(stage, access) == place.sort) ||
          (leaves_bytes && write_sort_of(stage, access) == place.sort));
}

std::vector<ByteRange> parts_outside(std::span<const StepBytes> excluded, MemoryId memory,
                                     ByteRange run) {
  std::vector<ByteRange> parts = {run};
  for (const StepBytes& cut : excluded) {
    if (cut.memory != memory) continue;
    std::vector<ByteRange> rest;
    for (const ByteRange& part : parts) {
      const ByteRange left{part.begin, std::min(part.end, cut.range.begin)};
      const ByteRange right{std::max(part.begin, cut.range.end), part.end};
      if (!left.is_empty()) rest.push_back(left);
      if (!right.is_empty()) rest.push_back(right);
    }
    parts = std::move(rest);
  }
  return parts;
}

}  // namespace interlock
