// What a SPIR-V module says of its accesses to each binding, and what its instructions do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace interlock {

struct SpirvAccess {
  bool is_non_writable = false;  // `readonly`
  bool is_non_readable = false;  // `writeonly`
  // What its instructions do, whatever it says. An atomic does both.
  bool is_loaded = false;
  bool is_stored = false;
};

// The buffers of the module, by binding, as bindings_of() has them. Requires: `module` is valid
// SPIR-V, and passes no pointer to a buffer to a function: glslc does not.
std::vector<SpirvAccess> buffer_accesses_of(std::span<const uint32_t> module);

}  // namespace interlock
