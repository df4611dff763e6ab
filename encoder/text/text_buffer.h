// TextBuffer: text that grows by short pieces. Campaigns print millions of programs, each of some
// hundred words and numbers: a piece is copied in place, without a call.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace interlock {

class TextBuffer {
 public:
  // Appends to `text`, which has all of it after flush(). Requires: `text` outlives this.
  explicit TextBuffer(std::string& text) : text_(text) {}

  // Inline: of a piece that the caller spells out, the size is known there.
  [[gnu::always_inline]] void append(char c) {
    make_room(1);
    bytes_[size_++] = c;
  }

  [[gnu::always_inline]] void append(std::string_view piece) {
    if (piece.size() > bytes_.size()) {
      flush();
      text_ += piece;
      return;
    }
    make_room(piece.size());
    copy(bytes_.data() + size_, piece.data(), piece.size());
    size_ += piece.size();
  }

  // In decimal.
  void append(uint64_t number) {
    constexpr size_t kDigitsMax = 20;
    make_room(kDigitsMax);
    char* const begin = bytes_.data() + size_;
    size_ += static_cast<size_t>(std::to_chars(begin, begin + kDigitsMax, number).ptr - begin);
  }

  void flush() {
    text_.append(bytes_.data(), size_);
    size_ = 0;
  }

 private:
  void make_room(size_t added_bytes) {
    if (bytes_.size() - size_ < added_bytes) flush();
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

  std::string& text_;
  size_t size_ = 0;
  std::array<char, 4096> bytes_;
};

}  // namespace interlock
