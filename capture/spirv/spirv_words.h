// SpirvWords: a module as it is to be changed: every instruction with its words, and what types,
// constants and decorations say. Terms: SPIR-V 1.6 specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "capture/spirv/opcodes.h"
#include "encoder/program/result.h"

namespace interlock {

struct SpirvInstruction {
  Opcode opcode = {};
  uint32_t type = 0;  // Of its result; 0: none. So for the result.
  uint32_t result = 0;
  uint32_t first_word = 0;  // Into SpirvWords::words; the one with opcode and count.
  uint32_t word_count = 0;
  uint32_t first_id = 0;  // Into SpirvWords::ids: operands that are ids, without type and result.
  uint32_t id_count = 0;
};

inline constexpr size_t kSpirvHeaderWords = 5;

class SpirvWords {
 public:
  // Errors: what SPIRV-Tools says is wrong with the module. Its words are in the order of bytes of
  // this machine afterwards.
  static Result<SpirvWords> read(std::span<const uint32_t> module);

  const std::vector<SpirvInstruction>& instructions() const { return instructions_; }
  std::span<const uint32_t> header() const { return std::span(words_).first(kSpirvHeaderWords); }
  uint32_t version() const { return words_[1]; }
  uint32_t id_bound() const { return words_[3]; }

  std::span<const uint32_t> words_of(const SpirvInstruction& instruction) const {
    return std::span(words_).subspan(instruction.first_word, instruction.word_count);
  }
  std::span<const uint32_t> ids_of(const SpirvInstruction& instruction) const {
    return std::span(ids_).subspan(instruction.first_id, instruction.id_count);
  }

  // What has this id as its result; null if nothing has.
  const SpirvInstruction* find(uint32_t id) const;
  // The type of the value with this id; 0 if there is none.
  uint32_t type_of(uint32_t id) const;
  // Word `index` of the instruction with this result; 0 if there is none.
  uint32_t word(uint32_t id, uint32_t index) const;
  bool is(uint32_t id, Opcode opcode) const;

  // The value of an integer constant of at most 32 bits that no specialization changes.
  std::optional<uint32_t> literal(uint32_t id) const;
  // The first operand of a decoration, or 0 if it has none; none if the id has no such decoration.
  std::optional<uint32_t> decoration(uint32_t id, uint32_t decoration) const;
  std::optional<uint32_t> member_decoration(uint32_t type, uint32_t member,
                                            uint32_t decoration) const;
  // Decorations come by way of groups, which are not followed.
  bool has_decoration_groups() const { return has_decoration_groups_; }

 private:
  friend class SpirvWordsReader;

  std::vector<uint32_t> words_;
  std::vector<SpirvInstruction> instructions_;
  std::vector<uint32_t> ids_;
  std::map<uint32_t, size_t> definitions_;  // Of each result: into instructions_.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> decorations_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> member_decorations_;
  bool has_decoration_groups_ = false;
};

}  // namespace interlock
