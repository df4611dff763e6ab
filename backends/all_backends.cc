// The list of all backends, apart from what asks for it: a library that is to need no driver links
// another one (cpu_alone.cc).
#include <array>
#include <span>

#include "backends/cpu/cpu_backend.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/emulated/emulated_cuda_backend.h"
#include "backends/interface/backend.h"
#include "backends/registry.h"
#include "backends/vulkan/vulkan_backend.h"

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

}  // namespace interlock
