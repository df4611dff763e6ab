// SPIR-V, as far as we read it: which bindings a module declares.
// Source: SPIR-V specification 1.6, sections 2.3 (binary form), 3.20 (decorations) and 3.42
// (instructions).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/check.h"

namespace interlock {

struct SpirvBinding {
  uint32_t set = 0;
  uint32_t binding = 0;
  uint32_t variable_id = 0;
  bool is_uniform = false;  // A uniform buffer; else a storage buffer.
};

// Calls visit(opcode, operands, index of the first word) for each instruction.
template <class Visit>
void for_each_instruction(std::span<const uint32_t> module, const Visit& visit) {
  constexpr uint32_t kMagic = 0x07230203;
  constexpr size_t kHeaderWordCount = 5;
  INTERLOCK_CHECK(module.size() >= kHeaderWordCount && module[0] == kMagic);
  for (size_t i = kHeaderWordCount; i < module.size();) {
    const uint32_t word_count = module[i] >> 16;
    INTERLOCK_CHECK(word_count > 0 && i + word_count <= module.size());
    visit(module[i] & 0xffffu, module.subspan(i + 1, word_count - 1), i);
    i += word_count;
  }
}

// The buffers of the module, by binding. Requires: `module` is valid SPIR-V.
std::vector<SpirvBinding> bindings_of(std::span<const uint32_t> module);

// `module` with each of its storage buffers decorated as Aliased: without that a compiler may
// assume that two of them never share bytes, and sharing is our subject. glslc has no word for it.
// Requires: `module` is valid SPIR-V.
std::vector<uint32_t> with_aliased_buffers(std::span<const uint32_t> module);

}  // namespace interlock
