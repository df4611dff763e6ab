// Applications under the layer, without a driver (stand_in_driver.h): each in a process of its own,
// whose log is read when it has ended.
#pragma once

#include <functional>
#include <string>

#include "tests/capture/convert/synthetic_log.h"
#include "tests/capture/layer/stand_in_driver.h"

namespace interlock {

// Runs `application` in a process of its own, which is to end as it wants, and converts its log.
// `name` is that of the test.
ConvertedLog log_of(const std::string& name, const std::function<void()>& application);

VkSemaphore create_semaphore(const StandInDriver& driver);
VkFence create_fence(const StandInDriver& driver);

}  // namespace interlock
