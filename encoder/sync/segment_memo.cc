#include "encoder/sync/segment_memo.h"

namespace interlock {

void SegmentMemo::store(uint32_t tag, uint32_t id) {
  Slot* const slots = slots_.data() + (tag >> shift_);
  size_t place = 0;
  while (place < kWindow && slots[place].id != kNone && slots[place].tag != tag) ++place;
  if (place == kWindow) place = 0;
  if (slots[place].id == kNone) ++stored_count_;
  slots[place] = {tag, id};
}

void SegmentMemo::resize(size_t id_count) {
  constexpr size_t kMinSlots = 256;
  constexpr size_t kMaxSlots = size_t{1} << 31;
  const size_t count = std::clamp(std::bit_ceil(4 * id_count), kMinSlots, kMaxSlots);
  slots_.assign(count + kWindow - 1, Slot());
  shift_ = 32 - std::countr_zero(count);
  stored_count_ = 0;
}

}  // namespace interlock
