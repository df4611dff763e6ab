// Features of a device that the application is told of, and that the driver need not have.
#pragma once

#include <volk.h>

#include <span>

#include "capture/layer/intercepted.h"

namespace interlock {

// A call about a device, of the next layer; null if it has none of this name.
template <typename Function>
Function next_of(VkPhysicalDevice physical, const char* name) {
  return instances().find(physical)->other<Function>(name);
}

// Empty unless features are pretended.
std::span<const Intercepted> pretending_feature_calls();

// Takes out of what a device is to be created with what the driver does not have, if features are
// pretended: in the application's own structures, which then say what it really got.
void keep_real_features(VkPhysicalDevice physical, const VkDeviceCreateInfo& info);

}  // namespace interlock
