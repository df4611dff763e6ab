#include "encoder/import/dot_scanner.h"

#include <utility>

#include "encoder/program/names.h"

namespace interlock {
namespace {

bool is_dot_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

std::string description_of(const DotToken& token) {
  if (token.kind == DotTokenKind::kEnd) return "the end of the file";
  return token.kind == DotTokenKind::kBroken ? token.text : in_quotes(token.text);
}

DotToken DotScanner::next() {
  DotToken token = std::move(ahead_);
  read_ahead();
  return token;
}

void DotScanner::advance(size_t count) {
  for (; count > 0 && position_ < text_.size(); --count) {
    const bool is_newline = text_[position_++] == '\n';
    line_ += is_newline ? 1 : 0;
    column_ = is_newline ? 1 : column_ + 1;
  }
}

bool DotScanner::skip_space() {
  while (position_ < text_.size()) {
    const std::string_view rest = text_.substr(position_);
    if (is_dot_space(rest[0])) {
      advance(1);
    } else if (rest.starts_with("//") || (rest[0] == '#' && column_ == 1)) {
      advance(rest.find('\n'));  // At the end of the text all that is left.
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos) return false;
      advance(end + 2);
    } else {
      break;
    }
  }
  return true;
}

void DotScanner::read_string() {
  size_t at = position_ + 1;
  size_t copied = at;
  for (; at < text_.size() && text_[at] != '"'; ++at) {
    if (text_[at] != '\\' || at + 1 == text_.size()) continue;
    ++at;  // Whatever it is, it does not end the string.
    if (text_[at] != '"') continue;
    ahead_.text += text_.substr(copied, at - 1 - copied);
    copied = at;
  }
  if (at == text_.size()) {
    ahead_.kind = DotTokenKind::kBroken;
    ahead_.text = "a string without an end";
    position_ = text_.size();
    return;
  }
  ahead_.text += text_.substr(copied, at - copied);
  ahead_.kind = DotTokenKind::kString;
  advance(at + 1 - position_);
}

void DotScanner::read_ahead() {
  ahead_ = {};
  const bool is_whole = skip_space();
  ahead_.line = line_;
  ahead_.column = column_;
  if (!is_whole) {
    ahead_.kind = DotTokenKind::kBroken;
    ahead_.text = "a comment without an end";
    position_ = text_.size();
    return;
  }
  if (position_ == text_.size()) return;
  const std::string_view rest = text_.substr(position_);
  if (rest[0] == '"') return read_string();
  if (rest.starts_with("->")) {
    ahead_.kind = DotTokenKind::kArrow;
    ahead_.text = "->";
    return advance(2);
  }
  size_t size = rest[0] == '-' && rest.size() > 1 && is_digit(rest[1]) ? 1 : 0;
  while (size < rest.size() && is_name_char(rest[size])) ++size;
  ahead_.kind = size > 0 ? DotTokenKind::kWord : DotTokenKind::kPunctuation;
  ahead_.text = rest.substr(0, size > 0 ? size : 1);
  advance(ahead_.text.size());
}

}  // namespace interlock
