// What the calls that --exact sees have in common.
#pragma once

#include <volk.h>

#include <mutex>
#include <string_view>

#include "capture/layer/devices.h"
#include "capture/layer/exact_device.h"

namespace interlock {

// The call of this name as it is without --exact; null if the layer does not see it.
PFN_vkVoidFunction call_that_logs(std::string_view name);

template <typename Function>
Function logging(std::string_view name) {
  return reinterpret_cast<Function>(call_that_logs(name));
}

// Does something with the device's measuring, if it has any, under its lock.
template <typename Do>
void with_exact(const void* dispatchable, const Do& work) {
  ExactDevice* const exact = device_of(dispatchable).exact.get();
  if (exact == nullptr) return;
  const std::lock_guard lock(exact->mutex);
  work(*exact);
}

}  // namespace interlock
