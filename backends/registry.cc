#include "backends/registry.h"

#include <array>

#include "backends/cpu/cpu_backend.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/emulated/emulated_cuda_backend.h"
#include "backends/vulkan/vulkan_backend.h"
#include "encoder/program/registry.h"

namespace interlock {

std::span<Backend* const> backend_registry() {
  static CpuBackend cpu;
  static EmulatedCudaBackend emulated_cuda;
  // Never destroyed: the drivers they load may be gone before statics of this program are.
  static auto* const vulkan = new VulkanBackend;
  static auto* const cuda = new CudaBackend;
  static const std::array<Backend*, 4> backends = {&cpu, vulkan, cuda, &emulated_cuda};
  return backends;
}

Backend* find_backend(std::string_view name) {
  Backend* const* const found = find_entry(backend_registry(), name, &Backend::name);
  return found == nullptr ? nullptr : *found;
}

}  // namespace interlock
