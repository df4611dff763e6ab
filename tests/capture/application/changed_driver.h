// What the changed driver says of itself.
#pragma once

#include <cstdint>

namespace interlock {

inline constexpr uint32_t kFamilyChainNumber = 7;

}  // namespace interlock
