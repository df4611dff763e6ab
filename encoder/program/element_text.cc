// Decimal text of an f32 is read as f32: by way of a 64-bit number it would be rounded twice.
#include "encoder/program/element_text.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "encoder/program/names.h"

namespace interlock {
namespace {

template <typename Integer>
bool is_integer(double number) {
  return number >= static_cast<double>(std::numeric_limits<Integer>::min()) &&
         number <= static_cast<double>(std::numeric_limits<Integer>::max()) &&
         std::trunc(number) == number;
}

}  // namespace

std::optional<double> element_of(DType dtype, std::string_view text) {
  if (dtype == DType::kF32) {
    const auto value = parsed_number<float>(text);
    return value && std::isfinite(*value) ? std::optional<double>(*value) : std::nullopt;
  }
  const auto value = number_of(text);
  return value && is_element(dtype, *value) ? value : std::nullopt;
}

bool is_element(DType dtype, double number) {
  switch (dtype) {
    case DType::kF32:
      // Beyond the range of f32 the conversion would be undefined.
      return std::abs(number) <= std::numeric_limits<float>::max() &&
             static_cast<double>(static_cast<float>(number)) == number;
    case DType::kI32:
      return is_integer<int32_t>(number);
    case DType::kU8:
      return is_integer<uint8_t>(number);
  }
  return false;
}

std::string text_of_element(DType dtype, double number) {
  return dtype == DType::kF32 && is_element(dtype, number)
             ? fmt::format("{}", static_cast<float>(number))
             : canonical_number(number);
}

}  // namespace interlock
