// TextBuffer: text that grows by short pieces. Campaigns print millions of programs, each of some
// hundred words and numbers: a piece is copied in place, without a call.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace interlock {

class TextBuffer {
 public:
  explicit TextBuffer(size_t capacity_bytes)
      : capacity_(capacity_bytes), bytes_(new char[capacity_bytes]) {}

  void append(char c) {
    make_room(1);
    bytes_[size_++] = c;
  }

  void append(std::string_view text) {
    make_room(text.size());
    copy(bytes_.get() + size_, text.data(), text.size());
    size_ += text.size();
  }

  // In decimal.
  void append(uint64_t number) {
    if (number < 10) return append(static_cast<char>('0' + number));
    const fmt::format_int digits(number);
    append(std::string_view(digits.data(), digits.size()));
  }

  std::string_view text() const { return {bytes_.get(), size_}; }

 private:
  void make_room(size_t added_bytes) {
    if (capacity_ - size_ < added_bytes) grow(added_bytes);
  }

  void grow(size_t added_bytes) {
    capacity_ = 2 * (capacity_ + added_bytes);
    std::unique_ptr<char[]> larger(new char[capacity_]);
    std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
  }

  // Two copies of fixed size that may overlap, where the piece is short.
  static void copy(char* to, const char* from, size_t size) {
    if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size >= 8) {
      copy_ends<8>(to, from, size);
    } else if (size >= 4) {
      copy_ends<4>(to, from, size);
    } else if (size >= 2) {
      copy_ends<2>(to, from, size);
    } else if (size == 1) {
      *to = *from;
    }
  }

  template <size_t kEndBytes>
  static void copy_ends(char* to, const char* from, size_t size) {
    std::memcpy(to, from, kEndBytes);
    std::memcpy(to + size - kEndBytes, from + size - kEndBytes, kEndBytes);
  }

  size_t size_ = 0;
  size_t capacity_;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace interlock
