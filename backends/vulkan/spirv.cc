// The idea: a module is a header of five words and instructions, each of which starts with its
// length and opcode. Decorations name their target by id, so one pass collects all there is.
#include "backends/vulkan/spirv.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr uint32_t kMagic = 0x07230203;
constexpr size_t kHeaderWordCount = 5;

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

enum Decoration : uint32_t {
  kAliased = 20,
  kNonWritable = 24,
  kNonReadable = 25,
  kBinding = 33,
  kDescriptorSet = 34,
};

enum StorageClass : uint32_t { kUniform = 2, kStorageBuffer = 12 };

// Calls visit(opcode, operands, index of the first word) for each instruction.
template <class Visit>
void for_each_instruction(std::span<const uint32_t> module, const Visit& visit) {
  INTERLOCK_CHECK(module.size() >= kHeaderWordCount && module[0] == kMagic);
  for (size_t i = kHeaderWordCount; i < module.size();) {
    const uint32_t word_count = module[i] >> 16;
    INTERLOCK_CHECK(word_count > 0 && i + word_count <= module.size());
    visit(module[i] & 0xffffu, module.subspan(i + 1, word_count - 1), i);
    i += word_count;
  }
}

struct ModuleFacts {
  std::map<uint32_t, uint32_t> member_counts;                            // By struct.
  std::map<uint32_t, uint32_t> pointees;                                 // By pointer type.
  std::map<uint32_t, SpirvBinding> variables;                            // Buffers, by id.
  std::map<uint32_t, uint32_t> variable_types;                           // By variable.
  std::map<uint32_t, uint32_t> bindings;                                 // By variable.
  std::map<uint32_t, uint32_t> sets;                                     // By variable.
  std::set<std::pair<uint32_t, uint32_t>> flags;                         // Id and decoration.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> member_flag_counts;  // Struct and decoration.
  std::map<uint32_t, uint32_t> bases;  // Pointers into a buffer, to its variable.
};

// Notes what the instruction does to a buffer, through a pointer into it or to all of it.
void note_access(ModuleFacts& facts, uint32_t opcode, std::span<const uint32_t> operands) {
  const auto buffer_of = [&](uint32_t pointer) -> SpirvBinding* {
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
    SpirvBinding* const buffer = buffer_of(operands[is_store ? 0 : 2]);
    if (buffer == nullptr) return;
    buffer->is_loaded = buffer->is_loaded || !is_store;
    buffer->is_stored = buffer->is_stored || !is_load;
  }
}

void note_decoration(ModuleFacts& facts, uint32_t id, std::span<const uint32_t> decoration) {
  if (decoration[0] == kBinding) {
    facts.bindings[id] = decoration[1];
  } else if (decoration[0] == kDescriptorSet) {
    facts.sets[id] = decoration[1];
  } else {
    facts.flags.insert({id, decoration[0]});
  }
}

ModuleFacts facts_of(std::span<const uint32_t> module) {
  ModuleFacts facts;
  for_each_instruction(module, [&](uint32_t opcode, std::span<const uint32_t> operands, size_t) {
    if (opcode == kTypeStruct) {
      facts.member_counts[operands[0]] = static_cast<uint32_t>(operands.size() - 1);
    } else if (opcode == kTypePointer) {
      facts.pointees[operands[0]] = operands[2];
    } else if (opcode == kDecorate) {
      note_decoration(facts, operands[0], operands.subspan(1));
    } else if (opcode == kMemberDecorate) {
      ++facts.member_flag_counts[{operands[0], operands[2]}];
    } else if (opcode == kVariable && (operands[2] == kUniform || operands[2] == kStorageBuffer)) {
      facts.variables[operands[1]].is_uniform = operands[2] == kUniform;
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

std::vector<SpirvBinding> bindings_of(std::span<const uint32_t> module) {
  const ModuleFacts facts = facts_of(module);
  std::vector<SpirvBinding> bindings;
  for (const auto& [id, variable] : facts.variables) {
    SpirvBinding binding = variable;
    binding.variable_id = id;
    binding.set = facts.sets.at(id);
    binding.binding = facts.bindings.at(id);
    binding.is_non_writable = variable.is_uniform || is_decorated(facts, id, kNonWritable);
    binding.is_non_readable = is_decorated(facts, id, kNonReadable);
    bindings.push_back(binding);
  }
  std::sort(bindings.begin(), bindings.end(),
            [](const SpirvBinding& a, const SpirvBinding& b) { return a.binding < b.binding; });
  return bindings;
}

std::vector<uint32_t> with_aliased_buffers(std::span<const uint32_t> module) {
  std::vector<uint32_t> added;
  for (const SpirvBinding& binding : bindings_of(module)) {
    if (binding.is_uniform) continue;
    added.insert(added.end(), {3u << 16 | kDecorate, binding.variable_id, kAliased});
  }
  size_t place = module.size();
  for_each_instruction(module, [&](uint32_t opcode, std::span<const uint32_t>, size_t index) {
    const bool is_annotation = opcode == kDecorate || opcode == kMemberDecorate;
    if (is_annotation) place = std::min(place, index);
  });
  std::vector<uint32_t> result(module.begin(), module.end());
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(place), added.begin(), added.end());
  return result;
}

}  // namespace interlock
