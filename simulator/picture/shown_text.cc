#include "simulator/picture/shown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "encoder/program/utf8.h"

namespace interlock {
namespace {

constexpr char32_t kReplacement = 0xfffd;

bool is_hidden(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff0 && c <= 0xfffb) ||
         (c & 0xfffe) == 0xfffe || (c >= 0xe0000 && c <= 0xe0fff) || (c >= 0xfdd0 && c <= 0xfdef);
}

bool is_wide(char32_t c) {
  return c >= 0x1100 && (c <= 0x115f || (c >= 0x2e80 && c != kReplacement));
}

// What ends `columns` columns from the front, in bytes.
size_t bytes_of_columns(std::string_view text, size_t columns) {
  size_t at = 0;
  for (size_t used = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    used += is_wide(point.value) ? 2 : 1;
    if (used > columns) break;
    at += point.size_bytes;
  }
  return at;
}

}  // namespace

std::string visible_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    if (!point.is_valid) {
      result += "\xef\xbf\xbd";
    } else if (is_hidden(point.value)) {
      result += fmt::format("\\u{{{:x}}}", static_cast<uint32_t>(point.value));
    } else {
      result += text.substr(0, point.size_bytes);
    }
    text.remove_prefix(point.size_bytes);
  }
  return result;
}

size_t text_columns(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    columns += is_wide(point.value) ? 2 : 1;
    text.remove_prefix(point.size_bytes);
  }
  return columns;
}

std::string shortened(std::string_view text, size_t columns) {
  if (text_columns(text) <= columns) return std::string(text);
  const size_t tail_columns = (columns - 1) / 3;
  const std::string head(text.substr(0, bytes_of_columns(text, columns - 1 - tail_columns)));
  size_t tail = text.size();
  while (tail > 0) {
    size_t start = tail - 1;
    while (start > 0 && (static_cast<uint8_t>(text[start]) & 0xc0) == 0x80) --start;
    if (text_columns(text.substr(start)) > tail_columns) break;
    tail = start;
  }
  return head + "…" + std::string(text.substr(tail));
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines;
  while (text_columns(text) > columns) {
    const size_t fitting =
        std::max(bytes_of_columns(text, columns), first_code_point(text).size_bytes);
    const size_t blank = text.rfind(' ', fitting);
    const bool has_blank = blank != std::string_view::npos && blank > 0;
    const size_t end = has_blank ? blank : fitting;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (has_blank ? 1 : 0));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string markup_text(std::string_view text) {
  std::string result;
  for (const char c : visible_text(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string markup_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    result += markup_text(text.substr(0, end));
    if (end == std::string_view::npos) break;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

}  // namespace interlock
