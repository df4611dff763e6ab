// Decorations name their target by id, so one pass collects all there is.
#include "tests/backends/vulkan/spirv_access.h"

#include <map>
#include <set>
#include <utility>

#include "backends/vulkan/spirv.h"

namespace interlock {
namespace {

enum Opcode : uint32_t {
  kTypeStruct = 30,
  kTypePointer = 32,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kAccessChain = 65,
  kInBoundsAccessChain = 66,
  kDecorate = 71,
  kMemberDecorate = 72,
  kAtomicLoad = 227,
  kAtomicStore = 228,
  kAtomicExchange = 229,  // And those up to kAtomicXor load and store.
  kAtomicXor = 242,
};

enum Decoration : uint32_t { kNonWritable = 24, kNonReadable = 25 };

struct ModuleFacts {
  std::map<uint32_t, uint32_t> member_counts;                            // By struct.
  std::map<uint32_t, uint32_t> pointees;                                 // By pointer type.
  std::map<uint32_t, SpirvAccess> variables;                             // Buffers, by id.
  std::map<uint32_t, uint32_t> variable_types;                           // By variable.
  std::set<std::pair<uint32_t, uint32_t>> flags;                         // Id and decoration.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> member_flag_counts;  // Struct and decoration.
  std::map<uint32_t, uint32_t> bases;  // Pointers into a buffer, to its variable.
};

// Notes what the instruction does to a buffer, through a pointer into it or to all of it.
void note_access(ModuleFacts& facts, uint32_t opcode, std::span<const uint32_t> operands) {
  const auto buffer_of = [&](uint32_t pointer) -> SpirvAccess* {
    const auto base = facts.bases.find(pointer);
    const auto variable = facts.variables.find(base == facts.bases.end() ? pointer : base->second);
    return variable == facts.variables.end() ? nullptr : &variable->second;
  };
  // A result stands after its type, in front of the pointer; stores have none.
  const bool is_store = opcode == kStore || opcode == kAtomicStore;
  const bool is_load = opcode == kLoad || opcode == kAtomicLoad;
  const bool is_update = opcode >= kAtomicExchange && opcode <= kAtomicXor;
  if (opcode == kAccessChain || opcode == kInBoundsAccessChain) {
    const auto base = facts.bases.find(operands[2]);
    facts.bases[operands[1]] = base == facts.bases.end() ? operands[2] : base->second;
  } else if (is_store || is_load || is_update) {
    SpirvAccess* const buffer = buffer_of(operands[is_store ? 0 : 2]);
    if (buffer == nullptr) return;
    buffer->is_loaded = buffer->is_loaded || !is_store;
    buffer->is_stored = buffer->is_stored || !is_load;
  }
}

ModuleFacts facts_of(std::span<const uint32_t> module, std::span<const SpirvBinding> bindings) {
  ModuleFacts facts;
  for (const SpirvBinding& binding : bindings) facts.variables[binding.variable_id];
  for_each_instruction(module, [&](uint32_t opcode, std::span<const uint32_t> operands, size_t) {
    if (opcode == kTypeStruct) {
      facts.member_counts[operands[0]] = static_cast<uint32_t>(operands.size() - 1);
    } else if (opcode == kTypePointer) {
      facts.pointees[operands[0]] = operands[2];
    } else if (opcode == kDecorate) {
      facts.flags.insert({operands[0], operands[1]});
    } else if (opcode == kMemberDecorate) {
      ++facts.member_flag_counts[{operands[0], operands[2]}];
    } else if (opcode == kVariable) {
      facts.variable_types[operands[1]] = operands[0];
    } else {
      note_access(facts, opcode, operands);
    }
  });
  return facts;
}

// On the variable itself, or on every member of its block.
bool is_decorated(const ModuleFacts& facts, uint32_t variable, uint32_t decoration) {
  if (facts.flags.count({variable, decoration}) > 0) return true;
  const uint32_t block = facts.pointees.at(facts.variable_types.at(variable));
  const auto found = facts.member_flag_counts.find({block, decoration});
  return found != facts.member_flag_counts.end() && found->second == facts.member_counts.at(block);
}

}  // namespace

std::vector<SpirvAccess> buffer_accesses_of(std::span<const uint32_t> module) {
  const std::vector<SpirvBinding> bindings = bindings_of(module);
  const ModuleFacts facts = facts_of(module, bindings);
  std::vector<SpirvAccess> accesses;
  for (const SpirvBinding& binding : bindings) {
    SpirvAccess& access = accesses.emplace_back(facts.variables.at(binding.variable_id));
    access.is_non_writable =
        binding.is_uniform || is_decorated(facts, binding.variable_id, kNonWritable);
    access.is_non_readable = is_decorated(facts, binding.variable_id, kNonReadable);
  }
  return accesses;
}

}  // namespace interlock
