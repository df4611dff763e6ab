#include "capture/spirv/module_additions.h"

#include <bit>

#include "capture/spirv/value_layout.h"

namespace interlock {
namespace {

constexpr uint32_t kVersion13 = 0x00010300;
constexpr uint32_t kVulkanMemoryModel = 3;
constexpr uint32_t kBlockDecoration = 2;
constexpr uint32_t kBufferBlockDecoration = 3;

// Those that may stand in a module only once.
bool is_type_that_stands_once(Opcode opcode) {
  return opcode == Opcode::kTypeVoid || opcode == Opcode::kTypeBool || opcode == Opcode::kTypeInt ||
         opcode == Opcode::kTypeFloat || opcode == Opcode::kTypeFunction;
}

}  // namespace

void put_instruction(std::vector<uint32_t>& words, Opcode opcode,
                     std::span<const uint32_t> operands) {
  words.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | static_cast<uint32_t>(opcode));
  words.insert(words.end(), operands.begin(), operands.end());
}

ModuleAdditions::ModuleAdditions(const SpirvWords& module, uint32_t own_set)
    : next_id_(module.id_bound()) {
  for (const SpirvInstruction& instruction : module.instructions()) {
    const std::span<const uint32_t> words = module.words_of(instruction);
    if (is_type_that_stands_once(instruction.opcode)) {
      types_[{instruction.opcode, {words.begin() + 2, words.end()}}] = instruction.result;
    } else if (instruction.opcode == Opcode::kMemoryModel) {
      uses_vulkan_memory_model_ = words.back() == kVulkanMemoryModel;
    }
  }
  // Before 1.3 there is no class for buffers that are written, but a decoration.
  const bool has_storage_class = module.version() >= kVersion13;
  const uint32_t storage_class = has_storage_class ? 12 : 2;
  const uint32_t word = uint_type();
  const uint32_t words = fresh_id();
  const uint32_t block = fresh_id();
  const uint32_t block_pointer = fresh_id();
  word_pointer_type_ = fresh_id();
  buffer_ = fresh_id();
  const auto add = [&](Opcode opcode, const std::vector<uint32_t>& operands) {
    put_instruction(globals_, opcode, operands);
  };
  add(Opcode::kTypeRuntimeArray, {words, word});
  add(Opcode::kTypeStruct, {block, words});
  add(Opcode::kTypePointer, {block_pointer, storage_class, block});
  add(Opcode::kTypePointer, {word_pointer_type_, storage_class, word});
  add(Opcode::kVariable, {block_pointer, buffer_, storage_class});
  annotate(Opcode::kDecorate, {words, kArrayStrideDecoration, 4});
  annotate(Opcode::kMemberDecorate, {block, 0, kOffsetDecoration, 0});
  annotate(Opcode::kDecorate,
           {block, has_storage_class ? kBlockDecoration : kBufferBlockDecoration});
  annotate(Opcode::kDecorate, {buffer_, kSetDecoration, own_set});
  annotate(Opcode::kDecorate, {buffer_, kBindingDecoration, 0});
}

uint32_t ModuleAdditions::type(Opcode opcode, const std::vector<uint32_t>& operands) {
  uint32_t& id = types_[{opcode, operands}];
  if (id != 0) return id;
  id = fresh_id();
  std::vector<uint32_t> words = {id};
  words.insert(words.end(), operands.begin(), operands.end());
  put_instruction(globals_, opcode, words);
  return id;
}

uint32_t ModuleAdditions::constant(uint32_t type, uint32_t value) {
  uint32_t& id = constants_[{type, value}];
  if (id != 0) return id;
  id = fresh_id();
  put_instruction(globals_, Opcode::kConstant, std::vector{type, id, value});
  return id;
}

uint32_t ModuleAdditions::float_constant(float value) {
  return constant(float_type(), std::bit_cast<uint32_t>(value));
}

}  // namespace interlock
