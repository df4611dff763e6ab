#include "fuzz/campaign/journal_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "encoder/program/names.h"

namespace interlock {

std::string journal_escaped(std::string_view text, bool keeps_spaces) {
  std::string result;
  for (const char c : text) {
    const bool is_plain =
        (c > ' ' || (c == ' ' && keeps_spaces)) && c < '\x7f' && c != '%' && c != ';';
    result += is_plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return result;
}

std::optional<std::string> journal_unescaped(std::string_view text, bool keeps_spaces) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      unsigned char byte = 0;
      const std::string_view digits = text.substr(at + 1, 2);
      const char* const end = digits.data() + digits.size();
      const auto [stop, code] = std::from_chars(digits.data(), end, byte, 16);
      if (code != std::errc() || stop != end || digits.size() != 2) return std::nullopt;
      c = static_cast<char>(byte);
      at += 2;
    }
    result += c;
  }
  if (journal_escaped(result, keeps_spaces) != text) return std::nullopt;
  return result;
}

std::string_view take_journal_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<uint64_t> journal_number_in(std::string_view text) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return decimal_of(text);
}

}  // namespace interlock
