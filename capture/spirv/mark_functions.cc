#include "capture/spirv/mark_functions.h"

#include "capture/spirv/instrument.h"

namespace interlock {
namespace {

constexpr uint32_t kRelaxed = 0;     // Memory semantics: none.
constexpr uint32_t kDontUnroll = 2;  // Loop control.

}  // namespace

uint32_t BlockWriter::value(Opcode opcode, uint32_t type, const std::vector<uint32_t>& operands) {
  const uint32_t id = additions_.fresh_id();
  std::vector<uint32_t> all = {type, id};
  all.insert(all.end(), operands.begin(), operands.end());
  put(opcode, all);
  return id;
}

uint32_t BlockWriter::pointer_to_word(uint32_t index) {
  return value(Opcode::kAccessChain, additions_.word_pointer_type(),
               {additions_.buffer(), additions_.uint_constant(0), index});
}

uint32_t BlockWriter::load_word(uint32_t index) {
  return word(Opcode::kLoad, {pointer_to_word(index)});
}

uint32_t BlockWriter::load_word_of(uint32_t entry, uint32_t table_word) {
  return load_word(word(Opcode::kIAdd, {entry, additions_.uint_constant(table_word)}));
}

MarkFunctions::Function MarkFunctions::begin(BlockWriter& to, uint32_t result_type,
                                             const std::vector<uint32_t>& parameter_types,
                                             uint32_t label) {
  std::vector<uint32_t> signature = {result_type};
  signature.insert(signature.end(), parameter_types.begin(), parameter_types.end());
  Function function;
  function.id = to.value(Opcode::kFunction, result_type, {0, additions_.function_type(signature)});
  for (const uint32_t type : parameter_types) {
    function.parameters.push_back(to.value(Opcode::kFunctionParameter, type, {}));
  }
  to.put(Opcode::kLabel, {label});
  return function;
}

// Sets one bit, if it is not set yet: most accesses come again.
uint32_t MarkFunctions::bit_function() {
  if (bit_function_ != 0) return bit_function_;
  std::vector<uint32_t> words;
  BlockWriter to(additions_, words);
  const uint32_t word_type = additions_.uint_type();
  const uint32_t zero = additions_.uint_constant(0);
  const uint32_t one = additions_.uint_constant(1);
  const uint32_t scope = additions_.atomic_scope();
  const uint32_t relaxed = additions_.uint_constant(kRelaxed);
  const uint32_t start = additions_.fresh_id();
  const uint32_t inside = additions_.fresh_id();
  const uint32_t missing = additions_.fresh_id();
  const uint32_t inside_end = additions_.fresh_id();
  const uint32_t past = additions_.fresh_id();
  const uint32_t end = additions_.fresh_id();
  const Function function =
      begin(to, additions_.void_type(), {word_type, word_type, word_type}, start);
  const uint32_t entry = function.parameters[0];
  const uint32_t kind = function.parameters[1];
  const uint32_t at = function.parameters[2];
  const uint32_t is_inside = to.claim(Opcode::kULessThan, {at, to.load_word_of(entry, kLimitWord)});
  to.put(Opcode::kSelectionMerge, {end, 0});
  to.put(Opcode::kBranchConditional, {is_inside, inside, past});
  to.put(Opcode::kLabel, {inside});
  const uint32_t bitmap = to.load_word(to.word(Opcode::kIAdd, {entry, kind}));
  const uint32_t place = to.pointer_to_word(
      to.word(Opcode::kIAdd,
              {bitmap, to.word(Opcode::kShiftRightLogical, {at, additions_.uint_constant(5)})}));
  const uint32_t mask =
      to.word(Opcode::kShiftLeftLogical,
              {one, to.word(Opcode::kBitwiseAnd, {at, additions_.uint_constant(31)})});
  const uint32_t before = to.word(Opcode::kAtomicLoad, {place, scope, relaxed});
  const uint32_t is_missing =
      to.claim(Opcode::kIEqual, {to.word(Opcode::kBitwiseAnd, {before, mask}), zero});
  to.put(Opcode::kSelectionMerge, {inside_end, 0});
  to.put(Opcode::kBranchConditional, {is_missing, missing, inside_end});
  to.put(Opcode::kLabel, {missing});
  to.word(Opcode::kAtomicOr, {place, scope, relaxed, mask});
  to.put(Opcode::kBranch, {inside_end});
  to.put(Opcode::kLabel, {inside_end});
  to.put(Opcode::kBranch, {end});
  to.put(Opcode::kLabel, {past});
  const uint32_t past_word =
      to.pointer_to_word(to.word(Opcode::kIAdd, {entry, additions_.uint_constant(kPastWord)}));
  to.word(Opcode::kAtomicOr, {past_word, scope, relaxed, one});
  to.put(Opcode::kBranch, {end});
  to.put(Opcode::kLabel, {end});
  to.put(Opcode::kReturn, {});
  to.put(Opcode::kFunctionEnd, {});
  words_.insert(words_.end(), words.begin(), words.end());
  return bit_function_ = function.id;
}

// Sets `count` bits from `first` on.
uint32_t MarkFunctions::bits_function() {
  if (bits_function_ != 0) return bits_function_;
  bit_function();
  std::vector<uint32_t> words;
  BlockWriter to(additions_, words);
  const uint32_t word_type = additions_.uint_type();
  const uint32_t start = additions_.fresh_id();
  const Function function =
      begin(to, additions_.void_type(), {word_type, word_type, word_type, word_type}, start);
  const std::vector<uint32_t>& given = function.parameters;
  write_loop(to, start, given[3], [&](uint32_t index) {
    call_bit(to, given[0], given[1], to.word(Opcode::kIAdd, {given[2], index}));
  });
  words_.insert(words_.end(), words.begin(), words.end());
  return bits_function_ = function.id;
}

void MarkFunctions::write_loop(BlockWriter& to, uint32_t before, uint32_t count,
                               const std::function<void(uint32_t)>& body_of) {
  const uint32_t zero = additions_.uint_constant(0);
  const uint32_t one = additions_.uint_constant(1);
  const uint32_t header = additions_.fresh_id();
  const uint32_t test = additions_.fresh_id();
  const uint32_t body = additions_.fresh_id();
  const uint32_t next = additions_.fresh_id();
  const uint32_t end = additions_.fresh_id();
  const uint32_t next_index = additions_.fresh_id();
  to.put(Opcode::kBranch, {header});
  to.put(Opcode::kLabel, {header});
  const uint32_t index = to.word(Opcode::kPhi, {zero, before, next_index, next});
  to.put(Opcode::kLoopMerge, {end, next, kDontUnroll});
  to.put(Opcode::kBranch, {test});
  to.put(Opcode::kLabel, {test});
  const uint32_t goes_on = to.claim(Opcode::kULessThan, {index, count});
  to.put(Opcode::kBranchConditional, {goes_on, body, end});
  to.put(Opcode::kLabel, {body});
  body_of(index);
  to.put(Opcode::kBranch, {next});
  to.put(Opcode::kLabel, {next});
  to.put(Opcode::kIAdd, {additions_.uint_type(), next_index, index, one});
  to.put(Opcode::kBranch, {header});
  to.put(Opcode::kLabel, {end});
  to.put(Opcode::kReturn, {});
  to.put(Opcode::kFunctionEnd, {});
}

// Sets the bit of one texel, if there is such a texel: what is outside of an image is not touched.
uint32_t MarkFunctions::texel_function() {
  if (texel_function_ != 0) return texel_function_;
  bit_function();
  std::vector<uint32_t> words;
  BlockWriter to(additions_, words);
  const uint32_t word_type = additions_.uint_type();
  const uint32_t start = additions_.fresh_id();
  const uint32_t there = additions_.fresh_id();
  const uint32_t end = additions_.fresh_id();
  const Function function = begin(to, additions_.void_type(),
                                  {word_type, word_type, word_type, word_type, word_type}, start);
  const std::vector<uint32_t>& given = function.parameters;
  const uint32_t width = to.load_word_of(given[0], kWidthWord);
  const uint32_t height = to.load_word_of(given[0], kHeightWord);
  const uint32_t depth = to.load_word_of(given[0], kDepthWord);
  const uint32_t is_there =
      to.claim(Opcode::kLogicalAnd,
               {to.claim(Opcode::kLogicalAnd, {to.claim(Opcode::kULessThan, {given[2], width}),
                                               to.claim(Opcode::kULessThan, {given[3], height})}),
                to.claim(Opcode::kULessThan, {given[4], depth})});
  to.put(Opcode::kSelectionMerge, {end, 0});
  to.put(Opcode::kBranchConditional, {is_there, there, end});
  to.put(Opcode::kLabel, {there});
  const uint32_t row =
      to.word(Opcode::kIAdd, {to.word(Opcode::kIMul, {given[4], height}), given[3]});
  const uint32_t at = to.word(Opcode::kIAdd, {to.word(Opcode::kIMul, {row, width}), given[2]});
  call_bit(to, given[0], given[1], at);
  to.put(Opcode::kBranch, {end});
  to.put(Opcode::kLabel, {end});
  to.put(Opcode::kReturn, {});
  to.put(Opcode::kFunctionEnd, {});
  words_.insert(words_.end(), words.begin(), words.end());
  return texel_function_ = function.id;
}

void MarkFunctions::call_bit(BlockWriter& to, uint32_t entry, uint32_t kind, uint32_t at) {
  to.value(Opcode::kFunctionCall, additions_.void_type(), {bit_function(), entry, kind, at});
}

void MarkFunctions::call_bits(BlockWriter& to, uint32_t entry, uint32_t kind, uint32_t first,
                              uint32_t count) {
  to.value(Opcode::kFunctionCall, additions_.void_type(),
           {bits_function(), entry, kind, first, count});
}

void MarkFunctions::call_texel(BlockWriter& to, uint32_t entry, uint32_t kind,
                               std::array<uint32_t, 3> at) {
  to.value(Opcode::kFunctionCall, additions_.void_type(),
           {texel_function(), entry, kind, at[0], at[1], at[2]});
}

void MarkFunctions::call_sample(BlockWriter& to, uint32_t entry, std::array<uint32_t, 3> at) {
  to.value(Opcode::kFunctionCall, additions_.void_type(),
           {sample_function(), entry, at[0], at[1], at[2]});
}

}  // namespace interlock
