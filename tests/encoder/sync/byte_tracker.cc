#include "tests/encoder/sync/byte_tracker.h"

#include <algorithm>

namespace interlock {

std::span<ByteTracker::Byte> ByteTracker::bytes_of(const Access& access) {
  return std::span(bytes_).subspan(access.memory.index * memory_bytes_ + access.range.begin,
                                   access.range.end - access.range.begin);
}

bool ByteTracker::has_conflict(const Access& access, AtomicOp atomic_op) {
  const bool only_reads = access.only_reads();
  const bool is_atomic = access.is_atomic();
  for (const Byte& byte : bytes_of(access)) {
    if (byte.epoch != epoch_) continue;
    const bool has_atomic = byte.atomic_op != AtomicOp::kNone;
    if (byte.is_written) return true;
    if (byte.is_read && !only_reads) return true;
    if (has_atomic && !(is_atomic && byte.atomic_op == atomic_op)) return true;
  }
  return false;
}

bool ByteTracker::add(std::span<const Access> accesses, AtomicOp atomic_op) {
  const bool is_conflict = std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
    return has_conflict(access, atomic_op);
  });
  if (is_conflict) begin_epoch();
  for (const Access& access : accesses) {
    const bool only_reads = access.only_reads();
    const bool writes = access.writes_plainly();
    const bool is_atomic = access.is_atomic();
    for (Byte& byte : bytes_of(access)) {
      if (byte.epoch != epoch_) byte = Byte{epoch_};
      byte.is_read |= only_reads;
      byte.is_written |= writes;
      if (is_atomic) byte.atomic_op = atomic_op;
    }
  }
  return is_conflict;
}

}  // namespace interlock
