#include "capture/spirv/spirv_words.h"

#include <spirv-tools/libspirv.h>

#include <memory>
#include <utility>

namespace interlock {

class SpirvWordsReader {
 public:
  static spv_result_t on_header(void* reader, spv_endianness_t, uint32_t magic, uint32_t version,
                                uint32_t generator, uint32_t bound, uint32_t reserved) {
    static_cast<SpirvWordsReader*>(reader)->words_.words_ = {magic, version, generator, bound,
                                                             reserved};
    return SPV_SUCCESS;
  }

  static spv_result_t on_instruction(void* reader, const spv_parsed_instruction_t* parsed) {
    static_cast<SpirvWordsReader*>(reader)->add(*parsed);
    return SPV_SUCCESS;
  }

  SpirvWords take() { return std::move(words_); }

 private:
  void add(const spv_parsed_instruction_t& parsed) {
    SpirvInstruction instruction;
    instruction.opcode = static_cast<Opcode>(parsed.opcode);
    instruction.type = parsed.type_id;
    instruction.result = parsed.result_id;
    instruction.first_word = static_cast<uint32_t>(words_.words_.size());
    instruction.word_count = parsed.num_words;
    instruction.first_id = static_cast<uint32_t>(words_.ids_.size());
    words_.words_.insert(words_.words_.end(), parsed.words, parsed.words + parsed.num_words);
    for (uint16_t i = 0; i < parsed.num_operands; ++i) {
      if (parsed.operands[i].type != SPV_OPERAND_TYPE_ID) continue;
      words_.ids_.push_back(parsed.words[parsed.operands[i].offset]);
    }
    instruction.id_count = static_cast<uint32_t>(words_.ids_.size()) - instruction.first_id;
    if (parsed.result_id != 0) {
      words_.definitions_[parsed.result_id] = words_.instructions_.size();
    }
    note_decoration(instruction.opcode, {parsed.words, parsed.num_words});
    words_.instructions_.push_back(instruction);
  }

  void note_decoration(Opcode opcode, std::span<const uint32_t> words) {
    if (opcode == Opcode::kDecorate && words.size() >= 3) {
      words_.decorations_[{words[1], words[2]}] = words.size() > 3 ? words[3] : 0;
    } else if (opcode == Opcode::kMemberDecorate && words.size() >= 4) {
      words_.member_decorations_[{words[1], words[2], words[3]}] = words.size() > 4 ? words[4] : 0;
    } else if (opcode == Opcode::kGroupDecorate || opcode == Opcode::kGroupMemberDecorate) {
      words_.has_decoration_groups_ = true;
    }
  }

  SpirvWords words_;
};

Result<SpirvWords> SpirvWords::read(std::span<const uint32_t> module) {
  const std::unique_ptr<spv_context_t, decltype(&spvContextDestroy)> context(
      spvContextCreate(SPV_ENV_UNIVERSAL_1_6), spvContextDestroy);
  SpirvWordsReader reader;
  spv_diagnostic diagnostic = nullptr;
  const spv_result_t result =
      spvBinaryParse(context.get(), &reader, module.data(), module.size(),
                     SpirvWordsReader::on_header, SpirvWordsReader::on_instruction, &diagnostic);
  const std::unique_ptr<spv_diagnostic_t, decltype(&spvDiagnosticDestroy)> said(
      diagnostic, spvDiagnosticDestroy);
  if (result == SPV_SUCCESS) return reader.take();
  return Error{std::string("it is not valid SPIR-V: ") +
               (said == nullptr ? "no reason is known" : said->error)};
}

const SpirvInstruction* SpirvWords::find(uint32_t id) const {
  const auto found = definitions_.find(id);
  return found == definitions_.end() ? nullptr : &instructions_[found->second];
}

uint32_t SpirvWords::type_of(uint32_t id) const {
  const SpirvInstruction* const definition = find(id);
  return definition == nullptr ? 0 : definition->type;
}

uint32_t SpirvWords::word(uint32_t id, uint32_t index) const {
  const SpirvInstruction* const definition = find(id);
  if (definition == nullptr || index >= definition->word_count) return 0;
  return words_[definition->first_word + index];
}

bool SpirvWords::is(uint32_t id, Opcode opcode) const {
  const SpirvInstruction* const definition = find(id);
  return definition != nullptr && definition->opcode == opcode;
}

std::optional<uint32_t> SpirvWords::literal(uint32_t id) const {
  const SpirvInstruction* const definition = find(id);
  if (definition == nullptr || definition->opcode != Opcode::kConstant ||
      definition->word_count != 4 || !is(definition->type, Opcode::kTypeInt)) {
    return std::nullopt;
  }
  return word(id, 3);
}

std::optional<uint32_t> SpirvWords::decoration(uint32_t id, uint32_t decoration) const {
  const auto found = decorations_.find({id, decoration});
  return found == decorations_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<uint32_t> SpirvWords::member_decoration(uint32_t type, uint32_t member,
                                                      uint32_t decoration) const {
  const auto found = member_decorations_.find({type, member, decoration});
  return found == member_decorations_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace interlock
