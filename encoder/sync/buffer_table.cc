#include "encoder/sync/buffer_table.h"

namespace interlock {
namespace {

constexpr uint32_t kPlacedMemories = uint32_t{1} << 23;

}  // namespace

BufferId BufferTable::add(MemoryId memory, ByteRange range) {
  if (free_.empty()) {
    INTERLOCK_CHECK(states_.size() < BufferId().index);
    free_.push_back(static_cast<uint32_t>(states_.size()));
    states_.emplace_back();
    if (states_.size() > entries_.size()) {
      entries_.resize(std::bit_ceil(states_.size()));
      entry_mask_ = static_cast<uint32_t>(entries_.size() - 1);
    }
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  states_[index] = {0, generation_ | kIsShared};
  const bool has_place =
      range.is_empty() || (range.end < uint64_t{1} << kPlaceBits && memory.index < kPlacedMemories);
  entries_[index] = {{range.begin, range.end}, {index, generation_}, memory, has_place};
  Place& place = entries_[index].place;
  if (range.is_empty()) {
    place = {UINT64_MAX, UINT64_MAX};
  } else if (has_place) {
    const uint64_t first = uint64_t{memory.index} << kPlaceBits;
    place = {first + range.begin, first + range.end};
  }
  placeless_count_ += !has_place;
  ++shared_count_;
  return {index, generation_};
}

void BufferTable::remove(BufferId id) {
  if (!is_exclusive(id.index)) --shared_count_;
  states_[id.index].generation = UINT32_MAX;  // No handle has it.
  placeless_count_ -= !entries_[id.index].has_place;
  entries_[id.index].id = {id.index, UINT32_MAX};
  free_.push_back(id.index);
  generation_ = (generation_ + 1) % (kIsShared - 1);
}

void BufferTable::check_one(BufferId id) const {
  INTERLOCK_CHECK(id.index < states_.size());
  INTERLOCK_CHECK((states_[id.index].generation & ~kIsShared) == id.generation);
}

void BufferTable::make_exclusive(uint32_t index, uint32_t stamp) {
  states_[index].stamp = stamp;
  states_[index].generation &= ~kIsShared;
  --shared_count_;
}

void BufferTable::make_shared(uint32_t index) {
  states_[index].generation |= kIsShared;
  ++shared_count_;
}

void BufferTable::forget_stamps() {
  used_count_ = 0;
  for (State& state : states_) state.stamp = 0;
}

size_t BufferTable::size_bytes() const {
  return states_.capacity() * sizeof(State) + entries_.capacity() * sizeof(Entry) +
         free_.capacity() * sizeof(uint32_t);
}

}  // namespace interlock
