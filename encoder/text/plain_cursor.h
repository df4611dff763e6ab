// PlainCursor: what the fast readers of lines have in common. It makes no tokens and remembers
// nothing for errors: what it cannot take ends the attempt, and the grammar (line_reader.h) says
// what is wrong.
//
// Requires: the byte after the line is there, and is the newline or the '\r' that ends it. It is
// part of no word, so that words end without a look at where the line does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "encoder/program/names.h"

namespace interlock {

// True iff the text has a byte that no line may have: any control byte but the tab.
bool has_control_byte(std::string_view text);

namespace plain_cursor_detail {

enum ByteBits : uint8_t { kInName = 1, kInValue = 2 };

constexpr std::array<uint8_t, 256> bits_of_bytes() {
  std::array<uint8_t, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    const char c = static_cast<char>(byte);
    const bool is_in_name = byte < 0x80 && (is_name_char(c) || c == '@');
    if (is_in_name) table[byte] = kInName | kInValue;
    if (c == '-' || c == '+') table[byte] = kInValue;
  }
  return table;
}

inline constexpr std::array<uint8_t, 256> kBitsOfBytes = bits_of_bytes();

}  // namespace plain_cursor_detail

class PlainCursor {
 public:
  explicit PlainCursor(std::string_view line) : at_(line.data()), end_(at_ + line.size()) {}

  bool is_at(char c) const { return *at_ == c; }
  // At the end of the line, or before a comment.
  bool is_at_end() const { return at_ == end_ || *at_ == '#'; }
  // Whether a comment, if there is one, has only bytes that a line may have. Requires: is_at_end().
  bool has_plain_comment() const {
    return at_ == end_ || !has_control_byte({at_, static_cast<size_t>(end_ - at_)});
  }

  // Returns whether there was one.
  bool skip_spaces() {
    const char* const start = at_;
    while (*at_ == ' ') ++at_;
    return at_ != start;
  }

  bool take(char c) {
    if (*at_ != c) return false;
    ++at_;
    return true;
  }

  template <size_t kSize>
  bool take(const char (&text)[kSize]) {
    constexpr size_t kLength = kSize - 1;
    if (static_cast<size_t>(end_ - at_) < kLength) return false;
    if (std::memcmp(at_, text, kLength) != 0) return false;
    at_ += kLength;
    return true;
  }

  // Letters, digits and what else stands in names; empty if there is none.
  std::string_view take_run() { return run_of(plain_cursor_detail::kInName); }
  // Signs and dashes too.
  std::string_view take_value() { return run_of(plain_cursor_detail::kInValue); }

  // A run that does not begin as a number does.
  bool take_name(std::string_view& name) {
    name = take_run();
    return !name.empty() && is_letter(name[0]);
  }

  // False for numbers that might not fit, which are rare.
  bool take_number(uint64_t& number) {
    constexpr std::ptrdiff_t kSafeDigits = 19;
    const char* const start = at_;
    uint64_t value = 0;
    for (;; ++at_) {
      const unsigned digit = static_cast<unsigned char>(*at_) - unsigned{'0'};
      if (digit > 9) break;
      value = 10 * value + digit;
    }
    number = value;
    return at_ != start && at_ - start <= kSafeDigits;
  }

 private:
  std::string_view run_of(uint8_t bits) {
    const char* const start = at_;
    while ((plain_cursor_detail::kBitsOfBytes[static_cast<unsigned char>(*at_)] & bits) != 0) ++at_;
    return {start, static_cast<size_t>(at_ - start)};
  }

  const char* at_;
  const char* const end_;
};

}  // namespace interlock
