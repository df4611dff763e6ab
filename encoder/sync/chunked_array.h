// ChunkedArray: an array that grows at its end without moving what it has, once that fills a chunk:
// to copy millions of elements at each doubling, into pages that the system clears first, takes
// longer than to make them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "encoder/sync/zeroed_array.h"

namespace interlock {

// Requires of T: as ZeroedArray.
template <typename T>
class ChunkedArray {
 public:
  // A huge page.
  static constexpr size_t kChunk = std::bit_floor((size_t{2} << 20) / sizeof(T));

  ChunkedArray() = default;
  ChunkedArray(const ChunkedArray& other) : chunks_(other.chunks_), size_(other.size_) {
    find_starts();
  }
  ChunkedArray(ChunkedArray&&) noexcept = default;
  ChunkedArray& operator=(ChunkedArray other) noexcept {
    chunks_ = std::move(other.chunks_);
    starts_ = std::move(other.starts_);
    size_ = other.size_;
    capacity_ = other.capacity_;
    return *this;
  }
  ~ChunkedArray() = default;

  T& operator[](size_t i) { return starts_[i / kChunk][i % kChunk]; }
  const T& operator[](size_t i) const { return starts_[i / kChunk][i % kChunk]; }
  size_t size() const { return size_; }

  // The first kChunk elements. Requires: there are some.
  T* first_chunk() { return starts_[0]; }

  // Cost: amortized constant. Elements move while there are fewer than a chunk takes, unless there
  // is room.
  void push_back(const T& value) {
    if (size_ == capacity_) add_room();
    (*this)[size_++] = value;
  }

  // Makes room for `count` elements, or for as many as a chunk takes: until they are so many, none
  // moves, and none does later.
  void reserve(size_t count) {
    count = std::min(count, kChunk);
    if (capacity_ >= count) return;
    ZeroedArray<T> larger(count);
    if (chunks_.empty()) {
      chunks_.push_back(std::move(larger));
    } else {
      std::copy_n(chunks_[0].data(), size_, larger.data());
      chunks_[0] = std::move(larger);
    }
    find_starts();
  }

  // Removes all elements; keeps memory for so many, if it had it.
  void clear(size_t kept_capacity) {
    size_ = 0;
    while (chunks_.size() > 1 && chunks_.size() * kChunk > kept_capacity) chunks_.pop_back();
    find_starts();
  }

  size_t size_bytes() const { return capacity_ * sizeof(T) + starts_.capacity() * sizeof(T*); }

 private:
  static constexpr size_t kFirst = 64;

  void add_room() {
    if (capacity_ >= kChunk) {
      chunks_.emplace_back(kChunk);
      find_starts();
    } else {
      reserve(std::max(kFirst, 2 * capacity_));
    }
  }

  void find_starts() {
    starts_.clear();
    for (ZeroedArray<T>& chunk : chunks_) starts_.push_back(chunk.data());
    // All chunks but one that is alone are full.
    capacity_ = chunks_.size() == 1 ? chunks_[0].size() : chunks_.size() * kChunk;
  }

  std::vector<ZeroedArray<T>> chunks_;
  std::vector<T*> starts_;  // Of the chunks.
  size_t size_ = 0;
  size_t capacity_ = 0;  // Of all chunks.
};

}  // namespace interlock
