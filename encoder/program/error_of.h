// Errors with arguments. Apart from result.h, which device code includes: nvcc refuses fmt's
// headers.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "encoder/program/result.h"

namespace interlock {

// The error that says `text` with `arguments` in place of its braces, as fmt::format does.
template <typename... Arguments>
Error error_of(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return {fmt::format(text, std::forward<Arguments>(arguments)...)};
}

}  // namespace interlock
