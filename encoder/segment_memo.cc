#include "encoder/segment_memo.h"

#include <algorithm>
#include <bit>

#include "encoder/check.h"

namespace interlock {

void SegmentMemo::store(uint64_t hash, uint32_t id) {
  INTERLOCK_CHECK(!is_full());
  size_t i = first_slot(hash);
  while (slots_[i].id != kNone) i = (i + 1) & mask_;
  slots_[i] = {static_cast<uint32_t>(hash), id};
  ++stored_count_;
}

void SegmentMemo::reset(size_t id_count) {
  constexpr size_t kMinSlots = 256;
  slots_.assign(std::bit_ceil(std::max(kMinSlots, 4 * id_count)), Slot());
  mask_ = slots_.size() - 1;
  stored_count_ = 0;
}

}  // namespace interlock
