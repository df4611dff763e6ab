// The backends of our shared libraries: the CPU alone. Finds are shown there and small programs
// executed; a library that looked for drivers would change the process that it is loaded into.
// Declared by backends/registry.h.
#include <array>
#include <span>

#include "backends/cpu/cpu_backend.h"
#include "backends/interface/backend.h"
#include "backends/registry.h"

namespace interlock {

std::span<Backend* const> backend_registry() {
  static CpuBackend cpu;
  static const std::array<Backend*, 1> backends = {&cpu};
  return backends;
}

}  // namespace interlock
