// ModuleAdditions: what is added to a module beside its functions: types, constants and the buffer
// with the bitmaps. Types that may stand in a module only once are those that it has, if it has
// them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "capture/spirv/spirv_words.h"

namespace interlock {

void put_instruction(std::vector<uint32_t>& words, Opcode opcode,
                     std::span<const uint32_t> operands);

class ModuleAdditions {
 public:
  // Requires: `module` outlives this.
  ModuleAdditions(const SpirvWords& module, uint32_t own_set);

  uint32_t fresh_id() { return next_id_++; }
  uint32_t id_bound() const { return next_id_; }

  uint32_t void_type() { return type(Opcode::kTypeVoid, {}); }
  uint32_t bool_type() { return type(Opcode::kTypeBool, {}); }
  uint32_t uint_type() { return type(Opcode::kTypeInt, {32, 0}); }
  uint32_t int_type() { return type(Opcode::kTypeInt, {32, 1}); }
  uint32_t float_type() { return type(Opcode::kTypeFloat, {32}); }
  uint32_t function_type(const std::vector<uint32_t>& result_and_parameters) {
    return type(Opcode::kTypeFunction, result_and_parameters);
  }
  uint32_t uint_constant(uint32_t value) { return constant(uint_type(), value); }
  uint32_t int_constant(int32_t value) {
    return constant(int_type(), static_cast<uint32_t>(value));
  }
  uint32_t float_constant(float value);

  // The buffer, a struct of one array of words; and the type of a pointer to one of them.
  uint32_t buffer() const { return buffer_; }
  uint32_t word_pointer_type() const { return word_pointer_type_; }
  // The scope of atomics that every invocation of the dispatch is in.
  uint32_t atomic_scope() { return uint_constant(uses_vulkan_memory_model_ ? 5u : 1u); }

  const std::vector<uint32_t>& annotations() const { return annotations_; }
  const std::vector<uint32_t>& globals() const { return globals_; }

 private:
  uint32_t type(Opcode opcode, const std::vector<uint32_t>& operands);
  uint32_t constant(uint32_t type, uint32_t value);
  void annotate(Opcode opcode, const std::vector<uint32_t>& operands) {
    put_instruction(annotations_, opcode, operands);
  }

  uint32_t next_id_;
  uint32_t buffer_ = 0;
  uint32_t word_pointer_type_ = 0;
  bool uses_vulkan_memory_model_ = false;
  std::map<std::pair<Opcode, std::vector<uint32_t>>, uint32_t> types_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> constants_;
  std::vector<uint32_t> annotations_;
  std::vector<uint32_t> globals_;
};

}  // namespace interlock
