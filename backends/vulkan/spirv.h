// SPIR-V, as far as we read it: which bindings a module declares, how it may access them, and how
// it does.
// Source: SPIR-V specification 1.6, sections 2.3 (binary form), 3.20 (decorations) and 3.42
// (instructions).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace interlock {

struct SpirvBinding {
  uint32_t set = 0;
  uint32_t binding = 0;
  uint32_t variable_id = 0;
  bool is_uniform = false;       // A uniform buffer; else a storage buffer.
  bool is_non_writable = false;  // `readonly`
  bool is_non_readable = false;  // `writeonly`
  // What its instructions do, whatever it says. An atomic does both.
  bool is_loaded = false;
  bool is_stored = false;
};

// The buffers of the module, by binding. Requires: `module` is valid SPIR-V, and passes no pointer
// to a buffer to a function: glslc does not.
std::vector<SpirvBinding> bindings_of(std::span<const uint32_t> module);

// `module` with each of its storage buffers decorated as Aliased: without that a compiler may
// assume that two of them never share bytes, and sharing is our subject. glslc has no word for it.
// Requires: `module` is valid SPIR-V.
std::vector<uint32_t> with_aliased_buffers(std::span<const uint32_t> module);

}  // namespace interlock
