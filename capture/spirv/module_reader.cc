#include "capture/spirv/module_reader.h"

#include <spirv-tools/libspirv.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/spirv/storage_class.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

enum Decoration : uint32_t { kBinding = 33, kDescriptorSet = 34 };

// Whether a variable of this storage class is what a descriptor names.
bool is_of_resources(uint32_t storage_class) {
  return storage_class == kUniformConstantClass || storage_class == kUniformClass ||
         storage_class == kStorageBufferClass;
}

class ModuleReader {
 public:
  void add(const spv_parsed_instruction_t& parsed) {
    const auto opcode = static_cast<Opcode>(parsed.opcode);
    switch (opcode) {
      case Opcode::kEntryPoint:
        add_entry(parsed);
        return;
      case Opcode::kDecorate:
        if (parsed.words[2] == kBinding) bindings_[parsed.words[1]] = parsed.words[3];
        if (parsed.words[2] == kDescriptorSet) sets_[parsed.words[1]] = parsed.words[3];
        return;
      case Opcode::kGroupDecorate:
        // The group's own decorations stand before.
        for (uint16_t i = 2; i < parsed.num_words; ++i) {
          copy_decoration(bindings_, parsed.words[1], parsed.words[i]);
          copy_decoration(sets_, parsed.words[1], parsed.words[i]);
        }
        return;
      case Opcode::kTypePointer:
        // A pointer to memory that no binding names is a value like others: to load it is to load.
        if (parsed.words[2] == kPhysicalStorageClass) {
          module_.has_addresses = true;
          return;
        }
        [[fallthrough]];
      case Opcode::kTypeImage:
      case Opcode::kTypeSampler:
      case Opcode::kTypeSampledImage:
      case Opcode::kTypeAccelerationStructure:
        module_.reference_types.insert(parsed.result_id);
        return;
      case Opcode::kFunction:
        function_ = parsed.result_id;
        return;
      case Opcode::kFunctionEnd:
        function_ = 0;
        return;
      case Opcode::kVariable:
        if (function_ == 0) variables_.push_back({parsed.result_id, parsed.words[3]});
        break;
      default:
        break;
    }
    if (function_ != 0) add_instruction(parsed);
  }

  ShaderModule finish() {
    for (const auto& [variable, storage_class] : variables_) {
      const auto set = sets_.find(variable);
      const auto binding = bindings_.find(variable);
      if (set != sets_.end() && binding != bindings_.end()) {
        module_.bindings[variable] = {set->second, binding->second};
      } else if (is_of_resources(storage_class)) {
        module_.unbound.insert(variable);
      }
    }
    return std::move(module_);
  }

 private:
  static void copy_decoration(std::map<uint32_t, uint32_t>& of, uint32_t group, uint32_t target) {
    const auto found = of.find(group);
    if (found != of.end()) of[target] = found->second;
  }

  void add_entry(const spv_parsed_instruction_t& parsed) {
    if (parsed.num_operands < 3) return;
    const spv_parsed_operand_t& name = parsed.operands[2];
    const auto* const text = reinterpret_cast<const char*>(parsed.words + name.offset);
    const size_t size_max = name.num_words * sizeof(uint32_t);
    module_.entries[{parsed.words[1], std::string(text, strnlen(text, size_max))}] =
        parsed.words[2];
  }

  void add_instruction(const spv_parsed_instruction_t& parsed) {
    ShaderInstruction instruction;
    instruction.opcode = static_cast<Opcode>(parsed.opcode);
    instruction.function = function_;
    instruction.type = parsed.type_id;
    instruction.result = parsed.result_id;
    instruction.first_id = static_cast<uint32_t>(module_.ids.size());
    for (uint16_t i = 0; i < parsed.num_operands; ++i) {
      if (parsed.operands[i].type != SPV_OPERAND_TYPE_ID) continue;
      module_.ids.push_back(parsed.words[parsed.operands[i].offset]);
    }
    instruction.id_count = static_cast<uint32_t>(module_.ids.size()) - instruction.first_id;
    module_.instructions.push_back(instruction);
  }

  ShaderModule module_;
  uint32_t function_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> variables_;  // With their storage classes.
  std::map<uint32_t, uint32_t> sets_;
  std::map<uint32_t, uint32_t> bindings_;
};

spv_result_t on_header(void*, spv_endianness_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t) {
  return SPV_SUCCESS;
}

spv_result_t on_instruction(void* reader, const spv_parsed_instruction_t* parsed) {
  static_cast<ModuleReader*>(reader)->add(*parsed);
  return SPV_SUCCESS;
}

}  // namespace

Result<ShaderModule> read_module(std::span<const uint32_t> words) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), spvContextDestroy);
  ModuleReader reader;
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result = spvBinaryParse(context.get(), &reader, words.data(), words.size(),
                                             on_header, on_instruction, &diagnostic);
  const std::unique_ptr<spv_diagnostic_t, decltype(&spvDiagnosticDestroy)> said(
      diagnostic, spvDiagnosticDestroy);
  if (result != SPV_SUCCESS) {
    return error_of("the shader module is not valid SPIR-V: {}",
                    said == nullptr ? "no reason is known" : said->error);
  }
  return reader.finish();
}

}  // namespace interlock
