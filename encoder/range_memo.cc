#include "encoder/range_memo.h"

#include <utility>

namespace interlock {
namespace {

constexpr size_t kInitialSlots = 256;

// Multiply and fold: ranges are multiples of large powers of two, so the high bits must reach the
// low ones.
uint64_t hash_of(MemoryId memory, ByteRange range) {
  uint64_t h = (range.begin + memory.index * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
  h ^= h >> 32;
  h = (h + range.end) * 0x94d049bb133111ebull;
  return h ^ (h >> 32);
}

}  // namespace

RangeMemo::RangeMemo() : slots_(kInitialSlots) {}

size_t RangeMemo::slot_of(MemoryId memory, ByteRange range) const {
  const size_t mask = slots_.size() - 1;
  size_t i = static_cast<size_t>(hash_of(memory, range)) & mask;
  while (slots_[i].segment != kNone &&
         !(slots_[i].memory == memory.index && slots_[i].range == range)) {
    i = (i + 1) & mask;
  }
  return i;
}

uint32_t RangeMemo::find(MemoryId memory, ByteRange range) const {
  return slots_[slot_of(memory, range)].segment;
}

void RangeMemo::store(MemoryId memory, ByteRange range, uint32_t segment) {
  size_t i = slot_of(memory, range);
  if (slots_[i].segment == kNone) {
    if (entry_count_ >= kMaxEntries) clear();
    if (2 * (entry_count_ + 1) > slots_.size()) grow();
    i = slot_of(memory, range);
    ++entry_count_;
  }
  slots_[i] = {range, memory.index, segment};
}

void RangeMemo::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.segment != kNone) slots_[slot_of(MemoryId(slot.memory), slot.range)] = slot;
  }
}

void RangeMemo::clear() {
  slots_.assign(kInitialSlots, Slot());
  entry_count_ = 0;
}

}  // namespace interlock
