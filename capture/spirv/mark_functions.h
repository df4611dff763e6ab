// MarkFunctions: the functions that set bits, as SPIR-V, and the calls of them. Each is written
// when it is first called.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "capture/spirv/module_additions.h"

namespace interlock {

// Instructions of a block.
class BlockWriter {
 public:
  BlockWriter(ModuleAdditions& additions, std::vector<uint32_t>& words)
      : additions_(additions), words_(words) {}

  void put(Opcode opcode, const std::vector<uint32_t>& operands) {
    put_instruction(words_, opcode, operands);
  }
  // The id of its result.
  uint32_t value(Opcode opcode, uint32_t type, const std::vector<uint32_t>& operands);
  // Arithmetic on unsigned words.
  uint32_t word(Opcode opcode, const std::vector<uint32_t>& operands) {
    return value(opcode, additions_.uint_type(), operands);
  }
  uint32_t claim(Opcode opcode, const std::vector<uint32_t>& operands) {
    return value(opcode, additions_.bool_type(), operands);
  }
  uint32_t pointer_to_word(uint32_t index);
  uint32_t load_word(uint32_t index);
  // Of the entry that begins at word `entry`.
  uint32_t load_word_of(uint32_t entry, uint32_t table_word);

  ModuleAdditions& additions() { return additions_; }

 private:
  ModuleAdditions& additions_;
  std::vector<uint32_t>& words_;
};

class MarkFunctions {
 public:
  explicit MarkFunctions(ModuleAdditions& additions) : additions_(additions) {}

  // All arguments are ids of unsigned words, but for coordinates of a sample, which are floats.
  // `kind` is kLoadsWord or kStoresWord.
  void call_bit(BlockWriter& to, uint32_t entry, uint32_t kind, uint32_t at);
  void call_bits(BlockWriter& to, uint32_t entry, uint32_t kind, uint32_t first, uint32_t count);
  void call_texel(BlockWriter& to, uint32_t entry, uint32_t kind, std::array<uint32_t, 3> at);
  void call_sample(BlockWriter& to, uint32_t entry, std::array<uint32_t, 3> at);

  // Those that were called.
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  struct Function {
    uint32_t id = 0;
    std::vector<uint32_t> parameters;
  };

  // Begins a function, up to the label of its first block.
  Function begin(BlockWriter& to, uint32_t result_type,
                 const std::vector<uint32_t>& parameter_types, uint32_t label);
  // A loop of `count` turns, up to the end of the function; it begins in the block `before`.
  // `body_of` writes a turn, of which it gets the index.
  void write_loop(BlockWriter& to, uint32_t before, uint32_t count,
                  const std::function<void(uint32_t)>& body_of);
  uint32_t bit_function();
  uint32_t bits_function();
  uint32_t texel_function();
  // sample_functions.cc:
  uint32_t axis_function();
  uint32_t sample_function();

  ModuleAdditions& additions_;
  std::vector<uint32_t> words_;
  uint32_t bit_function_ = 0;
  uint32_t bits_function_ = 0;
  uint32_t texel_function_ = 0;
  uint32_t axis_function_ = 0;
  uint32_t sample_function_ = 0;
};

}  // namespace interlock
