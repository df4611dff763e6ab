// The basic idea is that every byte has a class, looked up in one table, and that a token ends
// where the class changes.
#include "encoder/text/lexer.h"

#include <array>

#include "encoder/program/names.h"

namespace interlock {
namespace {

// kDot continues a name and starts none: '.', and the '@' of labels.
enum class ByteClass : uint8_t { kPunctuation, kSpace, kLetter, kDigit, kDot, kOutsideAscii };

constexpr std::array<ByteClass, 256> classify_bytes() {
  std::array<ByteClass, 256> classes{};
  for (size_t byte = 0; byte < classes.size(); ++byte) {
    const char c = static_cast<char>(byte);
    classes[byte] = byte >= 0x80            ? ByteClass::kOutsideAscii
                    : is_letter(c)          ? ByteClass::kLetter
                    : is_digit(c)           ? ByteClass::kDigit
                    : c == '.' || c == '@'  ? ByteClass::kDot
                    : c == ' ' || c == '\t' ? ByteClass::kSpace
                                            : ByteClass::kPunctuation;
  }
  return classes;
}

constexpr std::array<ByteClass, 256> kByteClasses = classify_bytes();

ByteClass class_of(char c) { return kByteClasses[static_cast<unsigned char>(c)]; }

bool continues_name(ByteClass byte) {
  return byte >= ByteClass::kLetter && byte <= ByteClass::kDot;
}

}  // namespace

std::string description_of(const Token& token) {
  return token.kind == TokenKind::kEnd ? "the end of the line" : in_quotes(token.text);
}

void Lexer::read_ahead() {
  const char* const begin = line_.data();
  const size_t size = line_.size();
  size_t start = position_;
  while (start < size && class_of(begin[start]) == ByteClass::kSpace) ++start;
  ahead_.is_spaced = start == 0 || start > position_;
  ahead_.column = static_cast<uint32_t>(start + 1);
  size_t end = start;
  if (start == size || begin[start] == '#') {
    ahead_.kind = TokenKind::kEnd;
  } else {
    const ByteClass first = class_of(begin[start]);
    ++end;
    if (first == ByteClass::kLetter || first == ByteClass::kDigit) {
      ahead_.kind = first == ByteClass::kLetter ? TokenKind::kName : TokenKind::kNumber;
      while (end < size && continues_name(class_of(begin[end]))) ++end;
    } else {
      ahead_.kind = TokenKind::kPunctuation;
      // Bytes outside ASCII are punctuation that no rule takes; an error shows the run of them.
      if (first == ByteClass::kOutsideAscii) {
        while (end < size && class_of(begin[end]) == ByteClass::kOutsideAscii) ++end;
      }
    }
  }
  ahead_.text = {begin + start, end - start};
  position_ = end;
}

Token Lexer::next_word() {
  const auto continues_word = [this](size_t i) {
    return i < line_.size() &&
           (continues_name(class_of(line_[i])) || line_[i] == '-' || line_[i] == '+');
  };
  const size_t start = ahead_.column - 1;
  size_t end = start;
  while (continues_word(end)) ++end;
  if (end == start) return next();
  Token token = ahead_;
  token.kind = is_letter(line_[start]) ? TokenKind::kName : TokenKind::kNumber;
  token.text = line_.substr(start, end - start);
  position_ = end;
  read_ahead();
  return token;
}

}  // namespace interlock
