#include "tests/encoder/sync/byte_tracker.h"

namespace interlock {

ByteTracker::Byte& ByteTracker::byte_at(MemoryId memory, uint64_t offset) {
  Byte& byte = bytes_[memory.index * memory_bytes_ + offset];
  if (byte.epoch != epoch_) byte = Byte{epoch_};
  return byte;
}

bool ByteTracker::add(std::span<const Access> accesses, AtomicOp atomic_op) {
  bool is_conflict = false;
  for (const Access& access : accesses) {
    for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
      const Byte& byte = byte_at(access.memory, b);
      const bool has_atomic = byte.atomic_op != AtomicOp::kNone;
      if (access.only_reads()) {
        is_conflict |= byte.is_written || has_atomic;
      } else if (access.is_atomic()) {
        is_conflict |=
            byte.is_written || byte.is_read || (has_atomic && byte.atomic_op != atomic_op);
      } else {
        is_conflict |= byte.is_written || byte.is_read || has_atomic;
      }
    }
  }
  if (is_conflict) begin_epoch();
  for (const Access& access : accesses) {
    for (uint64_t b = access.range.begin; b < access.range.end; ++b) {
      Byte& byte = byte_at(access.memory, b);
      byte.is_read |= access.only_reads();
      byte.is_written |= access.writes_plainly();
      if (access.is_atomic()) byte.atomic_op = atomic_op;
    }
  }
  return is_conflict;
}

}  // namespace interlock
