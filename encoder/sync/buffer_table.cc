#include "encoder/sync/buffer_table.h"

namespace interlock {

BufferId BufferTable::add(MemoryId memory, ByteRange range) {
  if (free_.empty()) {
    INTERLOCK_CHECK(states_.size() < BufferId().index);
    free_.push_back(static_cast<uint32_t>(states_.size()));
    states_.emplace_back();
    bytes_.emplace_back();
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  states_[index] = {0, generation_ | kIsShared};
  bytes_[index] = {range, memory, generation_};
  ++shared_count_;
  return {index, generation_};
}

void BufferTable::remove(BufferId id) {
  if (!is_exclusive(id.index)) --shared_count_;
  states_[id.index].generation = UINT32_MAX;  // No handle has it.
  bytes_[id.index].generation = UINT32_MAX;
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
  return states_.capacity() * sizeof(State) + bytes_.capacity() * sizeof(Bytes) +
         free_.capacity() * sizeof(uint32_t);
}

}  // namespace interlock
