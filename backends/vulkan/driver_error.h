// Errors of the Vulkan driver as sentences.
#pragma once

#include <volk.h>

#include <string_view>

#include "encoder/program/result.h"

namespace interlock {

// "The Vulkan device was lost while waiting for it (VK_ERROR_DEVICE_LOST)." `action`: what failed,
// e.g. "creating a pipeline". Notes the result in `noted`, unless that is null.
// Requires: `result` is no success.
Error driver_error(VkResult result, std::string_view action, VkResult* noted = nullptr);

}  // namespace interlock
