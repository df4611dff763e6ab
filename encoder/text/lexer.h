// Lexer: the tokens of one line of program text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace interlock {

enum class TokenKind : uint8_t {
  kEnd,          // The end of the line, or a comment.
  kName,         // Starts with a letter or '_'.
  kNumber,       // Starts with a digit; whether it is a number, decimal_of() says.
  kPunctuation,  // One byte, or a run of bytes outside ASCII.
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool is_spaced = true;  // White space or the start of the line stands before it.
  uint32_t column = 1;    // In bytes, the first is 1.
  std::string_view text;

  bool is(char punctuation) const {
    return kind == TokenKind::kPunctuation && text[0] == punctuation;
  }
  bool is(std::string_view name) const { return kind == TokenKind::kName && text == name; }
};

// "'x'", or "the end of the line".
std::string description_of(const Token& token);

// Requires: the line outlives the lexer and its tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view line = {}) : line_(line) { read_ahead(); }

  // The token that next() will return. It is read once: the grammar looks ahead all the time.
  const Token& peek() const { return ahead_; }

  Token next() {
    const Token token = ahead_;
    read_ahead();
    return token;
  }

  // As next(), where signs and dashes belong to the word: "1e-05", "mlx-2024", "use-after-free".
  Token next_word();

 private:
  void read_ahead();

  std::string_view line_;
  size_t position_ = 0;  // After the token ahead.
  Token ahead_;
};

}  // namespace interlock
