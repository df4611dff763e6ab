// Launches of the CUDA backend, executed on the host.
#pragma once

#include "backends/cuda/cuda_runtime.h"
#include "backends/cuda/emulation/device.h"
#include "simulator/schedules/choice.h"

namespace interlock {

// Runs the whole launch, blocks and threads in an order of `choice`. Delays take no time.
void launch_on_host(EmulatedDevice& device, Choice& choice, const DeviceLaunch& launch);

}  // namespace interlock
