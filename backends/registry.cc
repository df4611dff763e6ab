// The backends of this build.
#include <array>

#include "backends/backend.h"
#include "backends/cpu/cpu_backend.h"

namespace interlock {

std::span<Backend* const> backend_registry() {
  static CpuBackend cpu;
  static const std::array<Backend*, 1> backends = {&cpu};
  return backends;
}

Backend* find_backend(std::string_view name) {
  for (Backend* backend : backend_registry()) {
    if (backend->name() == name) return backend;
  }
  return nullptr;
}

}  // namespace interlock
