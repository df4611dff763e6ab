// Names and words of the text format: what is one, how errors quote it, and which one was meant.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace interlock {

constexpr bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

// [A-Za-z_][A-Za-z0-9_.]*: names of memories, tensors, labels, kernels and attribute keys.
bool is_name(std::string_view text);

// As a name, with '@' as one more letter after the first: replays label what they execute
// "attend@1", "attend@2".
bool is_label(std::string_view text);

// [A-Za-z_][A-Za-z0-9_.-]*: names of encoders, and attribute values that are no numbers.
bool is_word(std::string_view text);

// True iff a kernel of this name is opaque: the name, or a part of it after a '.', starts with an
// upper-case letter ("Scatter", "s00.GET_ROWS.0"). Any other name must be in the kernel table.
bool is_opaque_kernel(std::string_view name);

// Words that begin or join clauses, so that no memory, tensor, label or attribute may have their
// name.
bool is_reserved(std::string_view name);

// `text` in single quotes, bytes outside printable ASCII as \xNN, shortened when long.
std::string in_quotes(std::string_view text);

// The number that all of `text` says, as std::from_chars() has it. None if there is none or it is
// out of range.
template <typename Number>
std::optional<Number> parsed_number(std::string_view text) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, number);
  return code == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

// Decimal digits only. None if `text` is something else or exceeds 64 bits.
std::optional<uint64_t> decimal_of(std::string_view text);

// A finite decimal number. None if `text` is something else or out of range.
std::optional<double> number_of(std::string_view text);

// The shortest text that reads back as `number`; integers up to 2^53 without an exponent.
std::string canonical_number(double number);

// Picks the candidate nearest to a name that was not found.
class NearestName {
 public:
  explicit NearestName(std::string_view wanted);

  // Cost: the product of both lengths; long names are ignored.
  void offer(std::string_view candidate);

  // " Did you mean 'gx'?", or nothing if no candidate is close. The first that begins with what was
  // wanted is, too, where no other one is.
  std::string advice() const;

 private:
  std::string_view wanted_;
  std::string_view best_;
  size_t best_distance_;
  std::string_view longer_;  // Begins with what is wanted.
};

}  // namespace interlock
