#include "encoder/program/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "encoder/program/words.h"

namespace interlock {
namespace {

constexpr size_t kQuotedBytesMax = 48;
constexpr size_t kComparedBytesMax = 48;

// Damerau's distance: Levenshtein's, where two neighbours that changed places are one step as well.
// Requires: both texts have at most kComparedBytesMax bytes.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::array<size_t, kComparedBytesMax + 1> row;
  std::array<size_t, kComparedBytesMax + 1> above{};  // And the row above that.
  std::array<size_t, kComparedBytesMax + 1> top{};
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    top = above;
    above = row;
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = above[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({substituted, row[j] + 1, above[j + 1] + 1});
      const bool is_swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (is_swapped) row[j + 1] = std::min(row[j + 1], top[j - 1] + 1);
    }
  }
  return row[b.size()];
}

// By byte: what can stand in a name. A table, because each character of a label is looked at.
constexpr std::array<bool, 256> name_chars() {
  std::array<bool, 256> table{};
  for (size_t byte = 0; byte < table.size(); ++byte) {
    table[byte] = is_name_char(static_cast<char>(byte));
  }
  return table;
}

constexpr std::array<bool, 256> kIsNameChar = name_chars();

// A name in which `other` is one more letter after the first.
bool is_name_with(std::string_view text, char other) {
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text) {
    if (!kIsNameChar[static_cast<unsigned char>(c)] && c != other) return false;
  }
  return true;
}

}  // namespace

bool is_name(std::string_view text) { return is_name_with(text, '.'); }
bool is_label(std::string_view text) { return is_name_with(text, '@'); }
bool is_word(std::string_view text) { return is_name_with(text, '-'); }

bool is_opaque_kernel(std::string_view name) {
  for (;;) {
    if (!name.empty() && name[0] >= 'A' && name[0] <= 'Z') return true;
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot + 1);
  }
}

// Every word of every line is asked this, so nothing is searched.
bool is_reserved(std::string_view name) {
  switch (name.size()) {
    case 2:
      return is_literally(name, "on");
    case 5:
      return is_literally(name, "reads") || is_literally(name, "order");
    case 6:
      return is_literally(name, "writes") || is_literally(name, "actual");
    case 7:
      return is_literally(name, "updates") || is_literally(name, "atomics") ||
             is_literally(name, "partial") || is_literally(name, "uniform");
    case 8:
      return is_literally(name, "indirect") || is_literally(name, "discards");
    case 11:
      return is_literally(name, "approximate") || is_literally(name, "transitions");
    default:
      return false;
  }
}

std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, kQuotedBytesMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result + (text.size() > kQuotedBytesMax ? "…'" : "'");
}

std::optional<uint64_t> decimal_of(std::string_view text) { return parsed_number<uint64_t>(text); }

std::optional<double> number_of(std::string_view text) {
  const auto number = parsed_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string canonical_number(double number) {
  constexpr double kExactIntegerMax = 9007199254740992.0;  // 2^53
  if (number != 0 && std::abs(number) <= kExactIntegerMax && std::trunc(number) == number) {
    return fmt::format("{}", static_cast<int64_t>(number));
  }
  return fmt::format("{}", number);
}

NearestName::NearestName(std::string_view wanted)
    : wanted_(wanted),
      best_distance_(wanted.size() < 3   ? 1
                     : wanted.size() < 5 ? 2
                                         : 3) {}

void NearestName::offer(std::string_view candidate) {
  if (wanted_.size() > kComparedBytesMax || candidate.size() > kComparedBytesMax) return;
  const size_t distance = edit_distance(wanted_, candidate);
  if (distance < best_distance_) {
    best_distance_ = distance;
    best_ = candidate;
  }
  if (longer_.empty() && wanted_.size() >= 3 && candidate.starts_with(wanted_)) longer_ = candidate;
}

std::string NearestName::advice() const {
  const std::string_view meant = best_.empty() ? longer_ : best_;
  return meant.empty() ? "" : fmt::format(" Did you mean {}?", in_quotes(meant));
}

}  // namespace interlock
