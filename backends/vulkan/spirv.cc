// The idea: a module is a header of five words and instructions, each of which starts with its
// length and opcode. Decorations name their target by id, and stand before it.
#include "backends/vulkan/spirv.h"

#include <algorithm>
#include <map>

namespace interlock {
namespace {

enum Opcode : uint32_t { kVariable = 59, kDecorate = 71, kMemberDecorate = 72 };

enum Decoration : uint32_t { kAliased = 20, kBinding = 33, kDescriptorSet = 34 };

enum StorageClass : uint32_t { kUniform = 2, kStorageBuffer = 12 };

}  // namespace

std::vector<SpirvBinding> bindings_of(std::span<const uint32_t> module) {
  std::map<uint32_t, SpirvBinding> decorated;  // By id.
  std::vector<SpirvBinding> bindings;
  for_each_instruction(module, [&](uint32_t opcode, std::span<const uint32_t> operands, size_t) {
    if (opcode == kDecorate) {
      if (operands[1] == kBinding) decorated[operands[0]].binding = operands[2];
      if (operands[1] == kDescriptorSet) decorated[operands[0]].set = operands[2];
    } else if (opcode == kVariable && (operands[2] == kUniform || operands[2] == kStorageBuffer)) {
      SpirvBinding& binding = bindings.emplace_back(decorated[operands[1]]);
      binding.variable_id = operands[1];
      binding.is_uniform = operands[2] == kUniform;
    }
  });
  std::ranges::sort(bindings, {}, &SpirvBinding::binding);
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
