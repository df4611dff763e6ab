#include "simulator/late_writes.h"

#include <algorithm>

#include "encoder/check.h"
#include "encoder/kernel_table.h"

namespace interlock {

void LateWrites::add(DispatchId dispatch) {
  const auto at = std::lower_bound(waiting_.begin(), waiting_.end(), dispatch);
  if (at != waiting_.end() && *at == dispatch) return;
  INTERLOCK_CHECK(!is_full());
  waiting_.insert(at, dispatch);
}

void LateWrites::remove(DispatchId dispatch) {
  const auto at = std::lower_bound(waiting_.begin(), waiting_.end(), dispatch);
  if (at != waiting_.end() && *at == dispatch) waiting_.erase(at);
}

std::optional<DispatchId> LateWrites::find_forced(DispatchId next) const {
  for (const DispatchId waiting : waiting_) {
    // What is visible has been ordered too.
    if (!(waiting < next)) break;
    if (order_.executes_before(waiting, next) && is_seen(waiting, next)) return waiting;
  }
  return std::nullopt;
}

bool LateWrites::is_seen(DispatchId waiting, DispatchId next) const {
  const Stage stage = stage_of(program_.dispatch(next));
  for (const Access& write : program_.accesses_of(waiting)) {
    if (write.only_reads()) continue;
    for (const Access& access : program_.accesses_of(next)) {
      const ByteRange shared = intersection(write.range, access.range);
      if (write.memory != access.memory || shared.is_empty()) continue;
      for (const auto& sort : {read_sort_of(stage, access), write_sort_of(stage, access)}) {
        if (!sort.has_value()) continue;
        if (order_.find_invisible(waiting, next, *sort, write.memory, shared) != shared) {
          return true;
        }
      }
    }
  }
  return false;
}

}  // namespace interlock
