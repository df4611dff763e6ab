// What calls of Vulkan return, by name.
#pragma once

#include <cstdint>
#include <string>

namespace interlock {

// "VK_ERROR_DEVICE_LOST"; the number of one that has no name here.
std::string name_of_result(int64_t result);

}  // namespace interlock
