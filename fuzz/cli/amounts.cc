#include "fuzz/cli/amounts.h"

#include "encoder/program/names.h"

namespace interlock {
namespace {

constexpr double kSecondsMax = 100.0 * 365 * 86'400;

double seconds_of_unit(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    default:
      return 0;
  }
}

}  // namespace

std::optional<double> seconds_in(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double unit = seconds_of_unit(text.back());
  if (unit > 0) text.remove_suffix(1);
  if (unit == 0) unit = 1;
  if (text.empty() || !(is_digit(text.front()) || text.front() == '.')) return std::nullopt;
  const std::optional<double> number = number_of(text);
  if (!number || !(*number * unit > 0 && *number * unit <= kSecondsMax)) return std::nullopt;
  return *number * unit;
}

std::optional<uint64_t> whole_number_in(std::string_view text) {
  const size_t mark = text.find_first_of("eE");
  if (mark == std::string_view::npos) return decimal_of(text);
  const std::optional<uint64_t> digits = decimal_of(text.substr(0, mark));
  const std::string_view exponent_text = text.substr(mark + 1);
  const std::optional<uint64_t> exponent = decimal_of(exponent_text);
  if (!digits || !exponent || exponent_text.size() > 2) return std::nullopt;
  uint64_t number = *digits;
  for (uint64_t i = 0; i < *exponent && number > 0; ++i) {
    if (number > UINT64_MAX / 10) return std::nullopt;
    number *= 10;
  }
  return number;
}

}  // namespace interlock
