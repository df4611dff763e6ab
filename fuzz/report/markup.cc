#include "fuzz/report/markup.h"

#include "encoder/program/utf8.h"

namespace interlock {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// XML 1.0, production 2, without the controls that it only discourages.
bool is_character_of_xml(char32_t character) {
  if (character == '\t' || character == '\n' || character == '\r') return true;
  if (character < 0x20 || (character >= 0x7f && character < 0xa0)) return false;
  // Marks that turn the direction of a line would show another text than is there.
  const bool turns_lines =
      (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
  return !turns_lines && character != 0xfffe && character != 0xffff;
}

}  // namespace

std::string in_markup(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    switch (point.value) {
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
        const bool is_shown = point.is_valid && is_character_of_xml(point.value);
        result += is_shown ? text.substr(0, point.size_bytes) : kReplacement;
    }
    text.remove_prefix(point.size_bytes);
  }
  return result;
}

}  // namespace interlock
