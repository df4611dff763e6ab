// Apart from oracles.h, which others install: their programs need no fmt.
#pragma once

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "fuzz/judge/oracles.h"

namespace interlock {

// Adds what fmt::format makes of `text` and `arguments`.
template <typename... Arguments>
void disagree(std::vector<InternalDisagreement>& disagreements, OracleStage stage,
              fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  disagreements.push_back({stage, fmt::format(text, std::forward<Arguments>(arguments)...)});
}

}  // namespace interlock
