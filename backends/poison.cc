#include "backends/poison.h"

#include <algorithm>

namespace interlock {
namespace {

void fill(const EndedBytes& ended, uint8_t* memory) {
  std::fill(memory + ended.bytes.begin, memory + ended.bytes.end, kPoisonByte);
}

}  // namespace

Poison::Poison(const Program& program)
    : ended_(find_ended_bytes(program)), is_filled_(ended_.size(), false) {}

std::vector<EndedBytes> Poison::take_before(DispatchId dispatch) {
  std::vector<EndedBytes> taken;
  const auto first = std::lower_bound(
      ended_.begin(), ended_.end(), dispatch,
      [](const EndedBytes& ended, DispatchId wanted) { return ended.reader < wanted; });
  for (auto next = first; next != ended_.end() && next->reader == dispatch; ++next) {
    const auto position = static_cast<size_t>(next - ended_.begin());
    if (is_filled_[position]) continue;
    is_filled_[position] = true;
    taken.push_back(*next);
  }
  return taken;
}

void Poison::fill_before(DispatchId dispatch, std::span<uint8_t* const> starts) {
  for (const EndedBytes& ended : take_before(dispatch)) fill(ended, starts[ended.memory.index]);
}

void Poison::fill_at_end(MemoryImage& image) const {
  for (const EndedBytes& ended : ended_) {
    if (!ended.reader.is_some()) fill(ended, image.memories[ended.memory.index].data());
  }
}

}  // namespace interlock
