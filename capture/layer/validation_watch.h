// Messages of the layer below that checks synchronization: into the log, beside the command that
// they are about.
#pragma once

#include <volk.h>

#include "capture/layer/devices.h"

namespace interlock {

// Asks to be told of hazards, where the run asks for that. Nothing happens where no layer below
// knows of messages.
void watch_validation(VkInstance instance, PFN_vkGetInstanceProcAddr next_function);

// Of an instance, what append_validation() asks the next layer for.
inline constexpr const char* kToolsCall = "vkGetPhysicalDeviceToolPropertiesEXT";

// Appends who checks below, where somebody does. Requires: a device of `physical` is created.
void append_validation(const Instance& instance, VkPhysicalDevice physical);

}  // namespace interlock
