#include "fuzz/report/markup.h"

#include <cstddef>
#include <cstdint>

namespace interlock {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Decoded {
  size_t byte_count = 0;  // 0: there is no valid character.
  uint32_t character = 0;
};

// The character at the front, of the shortest form only (RFC 3629, section 3).
Decoded first_character(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const size_t count = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < count) return {};
  uint32_t character = lead & (0xffu >> (count + 1));
  for (size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    character = character << 6 | (byte(i) & 0x3fu);
  }
  if (character < kSmallest[count]) return {};
  return {count, character};
}

// XML 1.0, production 2, without the controls that it only discourages.
bool is_character_of_xml(uint32_t character) {
  if (character == '\t' || character == '\n' || character == '\r') return true;
  if (character < 0x20 || (character >= 0x7f && character < 0xa0)) return false;
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  // Marks that turn the direction of a line would show another text than is there.
  const bool turns_lines =
      (character >= 0x202a && character <= 0x202e) || (character >= 0x2066 && character <= 0x2069);
  return !is_surrogate && !turns_lines && character != 0xfffe && character != 0xffff &&
         character < 0x110000;
}

}  // namespace

std::string in_markup(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Decoded decoded = first_character(text);
    const size_t byte_count = decoded.byte_count == 0 ? 1 : decoded.byte_count;
    switch (decoded.character) {
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
        const bool is_valid = decoded.byte_count > 0 && is_character_of_xml(decoded.character);
        result += is_valid ? text.substr(0, byte_count) : kReplacement;
    }
    text.remove_prefix(byte_count);
  }
  return result;
}

}  // namespace interlock
