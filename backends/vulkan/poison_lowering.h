// Lowers poison (poison.h) to fills.
#pragma once

#include <span>

#include "backends/interface/poison.h"
#include "backends/vulkan/dispatch_lowering.h"

namespace interlock {

// Appends what fills the bytes of ended values before a dispatch that reads them, with a full
// barrier on both sides; nothing if nothing is ended.
void lower_poison(const VulkanLowering& lowering, std::span<const EndedBytes> ended);

}  // namespace interlock
