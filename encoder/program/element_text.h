// Elements as text: the numbers of `values(1.5,-2)`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "encoder/program/program.h"

namespace interlock {

// Returns the number that an element of this type holds for the decimal text: of f32 the nearest
// one. None if the text is no number, or out of range, or a fraction for a type of integers.
std::optional<double> element_of(DType dtype, std::string_view text);

// True iff an element of this type holds exactly this finite number.
bool is_element(DType dtype, double number);

// The shortest text that element_of() reads back as `number`.
std::string text_of_element(DType dtype, double number);

}  // namespace interlock
