// The basic idea is that no token is made: each part of the line is read where it is expected, and
// whatever else stands there ends the attempt. Nothing is said of errors here, so nothing has to be
// remembered for them.
//
// What ends a line is part of no word, so words end without a look at where the line does.
#include "encoder/text/plain_dispatch.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "encoder/program/names.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

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

constexpr std::array<uint8_t, 256> kBitsOfBytes = bits_of_bytes();

// Its position in kClauseWords; -1 if it is none of them.
int clause_of_word(std::string_view word) {
  const auto position = [](AccessMode mode) { return static_cast<int>(mode); };
  if (is_literally(word, "reads")) return position(AccessMode::kRead);
  if (is_literally(word, "writes")) return position(AccessMode::kWrite);
  if (is_literally(word, "updates")) return position(AccessMode::kUpdate);
  if (is_literally(word, "uniform")) return position(AccessMode::kUniform);
  if (is_literally(word, "atomics")) return position(AccessMode::kAtomic);
  return -1;
}

class PlainReader {
 public:
  PlainReader(std::string_view line, DispatchWords& words)
      : at_(line.data()), end_(at_ + line.size()), words_(words) {}

  bool read() {
    words_.label = {};
    words_.order.reset();
    words_.operands.clear();
    words_.attributes.clear();
    words_.is_partial = false;
    if (!take_dispatch() && !(take_label() && take_dispatch())) return false;
    skip_spaces();
    words_.kernel = run_of(kInName);
    return !words_.kernel.empty() && is_letter(words_.kernel[0]) && *at_ != '=' && read_rest();
  }

 private:
  // Returns whether there was one.
  bool skip_spaces() {
    const char* const start = at_;
    while (*at_ == ' ') ++at_;
    return at_ != start;
  }

  bool take_dispatch() {
    constexpr std::string_view kStart = "dispatch ";
    if (static_cast<size_t>(end_ - at_) < kStart.size()) return false;
    if (std::memcmp(at_, kStart.data(), kStart.size()) != 0) return false;
    at_ += kStart.size();
    return true;
  }

  bool take_label() {
    words_.label = run_of(kInName);
    if (words_.label.empty() || !is_letter(words_.label[0]) || !take(':')) return false;
    skip_spaces();
    return true;
  }

  std::string_view run_of(ByteBits bits) {
    const char* const start = at_;
    while ((kBitsOfBytes[static_cast<unsigned char>(*at_)] & bits) != 0) ++at_;
    return {start, static_cast<size_t>(at_ - start)};
  }

  bool take(char c) {
    if (*at_ != c) return false;
    ++at_;
    return true;
  }

  // False for numbers that might not fit, which are rare.
  bool read_number(uint64_t& number) {
    constexpr std::ptrdiff_t kSafeDigits = 19;
    const char* const start = at_;
    uint64_t value = 0;
    for (;; ++at_) {
      const auto digit = static_cast<unsigned>(static_cast<unsigned char>(*at_)) - '0';
      if (digit > 9) break;
      value = 10 * value + digit;
    }
    number = value;
    return at_ != start && at_ - start <= kSafeDigits;
  }

  bool read_range(ByteRange& range) {
    return read_number(range.begin) && take(':') && read_number(range.end) && take(']');
  }

  bool read_rest() {
    for (;;) {
      const bool is_spaced = skip_spaces();
      if (at_ == end_ || *at_ == '#') break;
      if (!is_spaced) return false;
      const char* const start = at_;
      const std::string_view word = run_of(kInName);
      if (word.empty() || !is_letter(*start)) return false;
      if (*at_ == '=') {
        if (!read_key(word)) return false;
      } else if (is_reserved(word)) {
        if (!read_clause(word)) return false;
      } else if (!read_operand(word)) {
        return false;
      }
    }
    if (clause_is_empty_ || (is_actual_ && clause_ < 0)) return false;
    return at_ == end_ || !has_control_byte({at_, static_cast<size_t>(end_ - at_)});
  }

  bool read_operand(std::string_view name) {
    if (clause_ < 0 || !has_operands_only_) return false;
    clause_is_empty_ = false;
    OperandWords& operand = words_.operands.emplace_back();
    operand.name = name;
    operand.mode = static_cast<AccessMode>(clause_);
    operand.is_undeclared = is_actual_;
    operand.is_sliced = take('[');
    return !operand.is_sliced || read_range(operand.slice);
  }

  bool read_key(std::string_view key) {
    ++at_;
    if (key == "order") {
      const bool is_first = clause_ < 0 && !is_actual_ && has_operands_only_ && !words_.order;
      uint64_t order = 0;
      if (!is_first || !read_number(order)) return false;
      words_.order = order;
      return true;
    }
    const bool ends_a_clause = !clause_is_empty_ && (!is_actual_ || clause_ >= 0);
    if (!ends_a_clause || is_reserved(key)) return false;
    has_operands_only_ = false;
    const std::string_view value = run_of(kInValue);
    words_.attributes.emplace_back(key, value);
    return !value.empty();
  }

  bool read_clause(std::string_view word) {
    if (clause_is_empty_ || !has_operands_only_) return false;
    if (const int next = clause_of_word(word); next >= 0) {
      clause_is_empty_ = true;
      return std::exchange(clause_, next) < next;
    }
    if (is_actual_ && clause_ < 0) return false;
    if (word == "actual" && !is_actual_) {
      is_actual_ = true;
      clause_ = -1;
      return true;
    }
    has_operands_only_ = false;
    words_.is_partial = word == "partial";
    return words_.is_partial;
  }

  const char* at_;
  const char* const end_;
  DispatchWords& words_;
  int clause_ = -1;  // Of kClauseWords; after `actual` they begin anew.
  bool clause_is_empty_ = false;
  bool is_actual_ = false;
  bool has_operands_only_ = true;  // Neither `partial` nor an attribute stands before.
};

}  // namespace

bool read_plain_dispatch(std::string_view line, DispatchWords& words) {
  return PlainReader(line, words).read();
}

// Without a branch per byte: lines have none.
bool has_control_byte(std::string_view text) {
  bool has_one = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    has_one |= (byte < 0x20 && c != '\t') || byte == 0x7f;
  }
  return has_one;
}

}  // namespace interlock
