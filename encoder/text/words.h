// Words of tensor lines, which the reader and the printer share.
#pragma once

#include <string_view>

namespace interlock {

// By Placement; kUnplaced has none.
inline constexpr std::string_view kPlacementWords[] = {"at", "view", "donates"};

// By InitialKind; kNone has none.
inline constexpr std::string_view kInitialWords[] = {"",     "random", "zeros",
                                                     "ones", "iota",   "values"};

}  // namespace interlock
