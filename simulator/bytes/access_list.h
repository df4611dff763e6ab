// AccessList: what the accesses of a short program did so far, one by one. It answers what a new
// dispatch conflicts with, as AccessHistory does, and of which level that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/conflict_observer.h"

namespace interlock {

class AccessList {
 public:
  // Above, a tree costs less than to look at each.
  static constexpr size_t kAccessesMax = 128;

  // Requires: `memory_begins` says where each memory of `program` begins in the bytes of all; both
  // outlive this.
  AccessList(const Program& program, std::span<const uint64_t> memory_begins);

  // What `dispatch` conflicts with. The level is known until a dispatch with atomics is asked for.
  // Cost: that dispatch's accesses times those recorded.
  ScannedConflicts find(const Dispatch& dispatch);

  // Requires: `stamp` is greater than all before, and `level` no lower than find() says.
  void record(const Dispatch& dispatch, Stamp stamp, Stamp level);

 private:
  struct Recorded {
    uint64_t end;  // In the bytes of all memories in one row.
    uint64_t size_bytes;
    Stamp stamp;
    Stamp level;
    uint32_t sort;  // Of its atomics, or kNoAtomic.
  };

  static constexpr uint32_t kNoAtomic = UINT32_MAX;

  // The greatest of those in `recorded` that meet `bytes` and are not of the sort `commuting`.
  static void raise(const std::vector<Recorded>& recorded, ByteRange bytes, uint32_t commuting,
                    Stamp& stamp, Stamp& level);

  ByteRange in_all_bytes(const Access& access) const;
  static uint32_t sort_of(const Dispatch& dispatch, const Access& access) {
    return access.is_atomic() ? static_cast<uint32_t>(atomic_sort(dispatch.atomic_op)) : kNoAtomic;
  }

  const Program& program_;
  std::span<const uint64_t> memory_begins_;
  std::vector<Recorded> writes_;  // Stamps rise.
  std::vector<Recorded> reads_;   // The same, of those that do not write.
  bool knows_levels_ = true;
};

}  // namespace interlock
