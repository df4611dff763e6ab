// Errors of the Vulkan driver as sentences.
#pragma once

#include <volk.h>

#include <string>
#include <string_view>

#include "encoder/program/result.h"

namespace interlock {

// The name of the result, e.g. "VK_ERROR_DEVICE_LOST".
std::string text_of(VkResult result);

// "The Vulkan device was lost while waiting for it (VK_ERROR_DEVICE_LOST)." `action`: what failed,
// e.g. "creating a pipeline". Requires: `result` is no success.
Error driver_error(VkResult result, std::string_view action);

// Likewise, and notes the result where the caller asks for it. `noted` may be null.
Error driver_error(VkResult result, std::string_view action, VkResult* noted);

}  // namespace interlock
