// BitRows: a square of bits, for a relation of a few thousand things.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace interlock {

class BitRows {
 public:
  // None is set. Cost: squared, a bit each.
  explicit BitRows(size_t count) : words_((count + 63) / 64), bits_(count * words_, 0) {}

  bool has(size_t row, size_t bit) const {
    return (bits_[row * words_ + bit / 64] >> (bit % 64) & 1) != 0;
  }
  void set(size_t row, size_t bit) { bits_[row * words_ + bit / 64] |= uint64_t{1} << (bit % 64); }
  std::span<const uint64_t> words_of(size_t row) const {
    return std::span(bits_).subspan(row * words_, words_);
  }
  void join(size_t row, std::span<const uint64_t> words) {
    for (size_t k = 0; k < words.size(); ++k) bits_[row * words_ + k] |= words[k];
  }
  // Of the row only what is in these, too. Cost of both: the row.
  void keep(size_t row, std::span<const uint64_t> words) {
    for (size_t k = 0; k < words.size(); ++k) bits_[row * words_ + k] &= words[k];
  }

 private:
  size_t words_;
  std::vector<uint64_t> bits_;
};

}  // namespace interlock
