// The basic idea is that most ranges of a program are equal or share no byte: sorted by where they
// begin they fall into groups that touch no other, and a group of one is one piece.
#include "encoder/plan/byte_pieces.h"

#include <algorithm>

#include "encoder/program/stop.h"

namespace interlock {
namespace {

// Ends early at a stop.
template <typename Item>
void sort_in_steps(std::vector<Item>& items) {
  constexpr size_t kStep = size_t{1} << 18;
  const auto at = [&](size_t index) {
    return items.begin() + static_cast<std::ptrdiff_t>(std::min(index, items.size()));
  };
  for (size_t i = 0; i < items.size() && !is_stopped(); i += kStep) {
    std::sort(at(i), at(i + kStep));
  }
  for (size_t width = kStep; width < items.size(); width *= 2) {
    for (size_t i = 0; i < items.size() && !is_stopped(); i += 2 * width) {
      std::inplace_merge(at(i), at(i + width), at(i + 2 * width));
    }
  }
}

}  // namespace

void BytePieces::grow() {
  slots_.assign(std::max<size_t>(64, 2 * slots_.size()), kFree);
  for (uint32_t i = 0; i < ranges_.size(); ++i) {
    slots_[slot_of(ranges_[i].memory, ranges_[i].bytes)] = i;
  }
}

void BytePieces::settle() {
  places_.reserve(ranges_.size());
  for (uint32_t i = 0; i < ranges_.size(); ++i) {
    if (ranges_[i].bytes.is_empty()) continue;
    places_.push_back({ranges_[i].memory, i, ranges_[i].bytes.begin});
  }
  sort_in_steps(places_);
  spans_.resize(ranges_.size());
  bool is_whole = !is_stopped();
  for (size_t first = 0; first < places_.size() && is_whole;) {
    const size_t end = end_of_group(first);
    is_whole = cut(first, end);
    first = end;
  }
  if (!is_whole) {
    spans_.assign(ranges_.size(), Span());
    piece_count_ = 0;
  }
  places_ = {};
  cuts_ = {};
}

// Where the next range shares no byte with all from `first` on.
size_t BytePieces::end_of_group(size_t first) const {
  uint64_t end_bytes = ranges_[places_[first].range].bytes.end;
  size_t next = first + 1;
  for (; next < places_.size(); ++next) {
    const Place& place = places_[next];
    if (place.memory != places_[first].memory || place.begin >= end_bytes) break;
    end_bytes = std::max(end_bytes, ranges_[place.range].bytes.end);
  }
  return next;
}

// The pieces of a group. Returns whether no stop came between.
bool BytePieces::cut(size_t first, size_t end) {
  if (end == first + 1) {
    spans_[places_[first].range] = {piece_count_, piece_count_ + 1};
    ++piece_count_;
    return true;
  }
  cuts_.clear();
  for (size_t i = first; i < end; ++i) {
    const ByteRange& bytes = ranges_[places_[i].range].bytes;
    cuts_.push_back(bytes.begin);
    cuts_.push_back(bytes.end);
  }
  sort_in_steps(cuts_);
  if (is_stopped()) return false;
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  const auto piece_at = [&](uint64_t at) {
    return piece_count_ +
           static_cast<uint32_t>(std::ranges::lower_bound(cuts_, at) - cuts_.begin());
  };
  for (size_t i = first; i < end; ++i) {
    const Range& range = ranges_[places_[i].range];
    spans_[places_[i].range] = {piece_at(range.bytes.begin), piece_at(range.bytes.end)};
  }
  piece_count_ += static_cast<uint32_t>(cuts_.size() - 1);
  return true;
}

}  // namespace interlock
