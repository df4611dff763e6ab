// The bodies of all kernels as the CPU calls them: one function per kernel, one call per slice.
#pragma once

#include <cstdint>
#include <span>

#include "backends/cpu/cpu_memory.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

using CpuBody = void (*)(CpuMemory& memory, const KernelParams& params, uint64_t slice);

// By KernelId.
std::span<const CpuBody> cpu_bodies();

}  // namespace interlock
