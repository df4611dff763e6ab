// The instructions of a module, as far as accesses need them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/spirv/opcodes.h"
#include "encoder/program/result.h"

namespace interlock {

struct ShaderInstruction {
  Opcode opcode = {};
  uint32_t function = 0;  // In which it stands; 0 outside of all.
  uint32_t type = 0;      // Of its result, if any.
  uint32_t result = 0;
  uint32_t first_id = 0;  // Into ShaderModule::ids: operands that are ids, in order.
  uint32_t id_count = 0;
};

struct ShaderModule {
  std::vector<ShaderInstruction> instructions;  // Those of functions.
  std::vector<uint32_t> ids;
  // The function of each entry point, by its ExecutionModel and name.
  std::map<std::pair<uint32_t, std::string>, uint32_t> entries;
  // Variables outside functions with a set and a binding.
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> bindings;
  // Likewise, of buffers and images, but without: what they are bound to is not known.
  std::set<uint32_t> unbound;
  std::set<uint32_t> reference_types;  // Pointers, images, samplers.
  // It has pointers to memory that no binding names (PhysicalStorageBuffer).
  bool has_addresses = false;

  std::span<const uint32_t> ids_of(const ShaderInstruction& instruction) const {
    return std::span(ids).subspan(instruction.first_id, instruction.id_count);
  }
};

// Errors: what SPIRV-Tools says is wrong with it.
Result<ShaderModule> read_module(std::span<const uint32_t> words);

}  // namespace interlock
