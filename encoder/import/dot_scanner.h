// The tokens of a dot file. Strings go over several lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace interlock {

enum class DotTokenKind : uint8_t {
  kEnd,
  kWord,         // Letters, digits, '_', '.', or '-' before a digit.
  kString,       // Without its quotes; escapes as they are written, but \" is a quote.
  kPunctuation,  // One byte.
  kArrow,        // "->"
  kBroken,       // A string or a comment without an end. Its text says which.
};

struct DotToken {
  DotTokenKind kind = DotTokenKind::kEnd;
  uint64_t line = 1;
  uint64_t column = 1;
  std::string text;

  bool is(char punctuation) const {
    return kind == DotTokenKind::kPunctuation && text[0] == punctuation;
  }
  bool is_id() const { return kind == DotTokenKind::kWord || kind == DotTokenKind::kString; }
};

// "'x'", or "the end of the file".
std::string description_of(const DotToken& token);

// Requires: the text outlives the scanner.
class DotScanner {
 public:
  explicit DotScanner(std::string_view text) : text_(text) { read_ahead(); }

  const DotToken& peek() const { return ahead_; }
  DotToken next();

 private:
  void read_ahead();
  bool skip_space();  // Returns false in a comment that does not end.
  void read_string();
  void advance(size_t count);

  std::string_view text_;
  size_t position_ = 0;
  uint64_t line_ = 1;
  uint64_t column_ = 1;
  DotToken ahead_;
};

}  // namespace interlock
