// Lowers poison: fills the bytes of ended values before a dispatch that reads them.
#pragma once

#include <span>

#include "backends/interface/poison.h"
#include "backends/vulkan/dispatch_lowering.h"

namespace interlock {

// Appends the fills, with a full barrier on both sides; nothing if nothing is ended.
void lower_poison(const VulkanLowering& lowering, std::span<const EndedBytes> ended);

}  // namespace interlock
