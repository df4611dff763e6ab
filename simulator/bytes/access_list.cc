// The basic idea is that a list needs no upkeep. What a later write hides is still in it, and no
// harm: whoever conflicts with that conflicts with the write, which has the greater stamp and no
// lower level. Reads conflict with none, and are in a list of their own.
#include "simulator/bytes/access_list.h"

#include <algorithm>

namespace interlock {

AccessList::AccessList(const Program& program, std::span<const uint64_t> memory_begins)
    : program_(program), memory_begins_(memory_begins) {
  writes_.reserve(program.accesses.size());
  reads_.reserve(program.accesses.size());
}

ByteRange AccessList::in_all_bytes(const Access& access) const {
  const uint64_t begin = memory_begins_[access.memory.index];
  return {begin + access.range.begin, begin + access.range.end};
}

void AccessList::raise(const std::vector<Recorded>& recorded, ByteRange bytes, uint32_t commuting,
                       Stamp& stamp, Stamp& level) {
  // Two ranges meet iff the last byte of one is from the first of the other on, by less than the
  // bytes of both: below it, the difference is a large number.
  const uint64_t last_size_bytes = bytes.size_bytes() - 1;
  const uint64_t begin_and_one = bytes.begin + 1;
  for (const Recorded& earlier : recorded) {
    if (earlier.end - begin_and_one >= last_size_bytes + earlier.size_bytes) continue;
    if (earlier.sort == commuting) continue;
    stamp = std::max(stamp, earlier.stamp);
    level = std::max(level, earlier.level);
  }
}

ScannedConflicts AccessList::find(const Dispatch& dispatch) {
  ScannedConflicts found;
  for (const Access& access : program_.accesses_of(dispatch)) {
    knows_levels_ = knows_levels_ && !access.is_atomic();
    if (access.range.is_empty()) continue;
    const ByteRange bytes = in_all_bytes(access);
    // Atomics of one operation commute; those of no operation, with none.
    const bool can_commute = access.is_atomic() && dispatch.atomic_op != AtomicOp::kNone;
    const uint32_t commuting = can_commute ? sort_of(dispatch, access) : kNoAtomic - 1;
    raise(writes_, bytes, commuting, found.write, found.level);
    if (access.has_write_side()) raise(reads_, bytes, commuting, found.any, found.level);
  }
  found.any = std::max(found.any, found.write);
  found.level = knows_levels_ ? found.level + 1 : 0;
  return found;
}

void AccessList::record(const Dispatch& dispatch, Stamp stamp, Stamp level) {
  for (const Access& access : program_.accesses_of(dispatch)) {
    if (access.range.is_empty()) continue;
    const uint64_t end = in_all_bytes(access).end;
    (access.has_write_side() ? writes_ : reads_)
        .push_back({end, access.range.size_bytes(), stamp, level, sort_of(dispatch, access)});
  }
}

}  // namespace interlock
