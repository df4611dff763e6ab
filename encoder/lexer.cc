#include "encoder/lexer.h"

#include "encoder/names.h"

namespace interlock {
namespace {

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

}  // namespace

std::string description_of(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the line" : in_quotes(token.text);
}

Token Lexer::start_token() {
  const size_t start = position_;
  while (position_ < line_.size() && (line_[position_] == ' ' || line_[position_] == '\t')) {
    ++position_;
  }
  Token token;
  token.is_spaced = position_ == 0 || position_ > start;
  token.column = static_cast<uint32_t>(position_ + 1);
  return token;
}

Token Lexer::finish_token(Token token, TokenKind kind, size_t end) {
  token.kind = kind;
  token.text = line_.substr(position_, end - position_);
  position_ = end;
  return token;
}

Token Lexer::next() {
  const Token token = start_token();
  if (position_ == line_.size() || line_[position_] == '#') {
    return finish_token(token, TokenKind::kEnd, position_);
  }
  const char first = line_[position_];
  if (!is_letter(first) && !is_digit(first)) {
    // Bytes outside ASCII count as punctuation that no rule takes; an error shows the run of them.
    size_t end = position_ + 1;
    while (!is_ascii(first) && end < line_.size() && !is_ascii(line_[end])) {
      ++end;
    }
    return finish_token(token, TokenKind::kPunctuation, end);
  }
  size_t end = position_ + 1;
  while (end < line_.size() && is_name_char(line_[end])) {
    ++end;
  }
  return finish_token(token, is_letter(first) ? TokenKind::kName : TokenKind::kNumber, end);
}

Token Lexer::peek() {
  const size_t position = position_;
  const Token token = next();
  position_ = position;
  return token;
}

Token Lexer::next_word() {
  const Token token = start_token();
  size_t end = position_;
  while (end < line_.size() &&
         (is_name_char(line_[end]) || line_[end] == '-' || line_[end] == '+')) {
    ++end;
  }
  if (end == position_) {
    return next();
  }
  return finish_token(token, is_letter(line_[position_]) ? TokenKind::kName : TokenKind::kNumber,
                      end);
}

}  // namespace interlock
