// The part of MarkFunctions about samples: which texels a coordinate reads. Vulkan 1.3
// specification, 16.5 to 16.9: unnormalized coordinates, integer coordinates and wrapping. Where a
// coordinate is filtered, both neighbours are read unless the weight of one rounds to zero in
// eight bits, which is what devices have.

#include "capture/spirv/instrument.h"
#include "capture/spirv/mark_functions.h"

namespace interlock {
namespace {

constexpr float kWeightSteps = 256.0F;

// The largest whole number that is no larger, as an integer.
uint32_t floor_of(BlockWriter& to, uint32_t number) {
  ModuleAdditions& additions = to.additions();
  const uint32_t whole = to.value(Opcode::kConvertFToS, additions.int_type(), {number});
  const uint32_t back = to.value(Opcode::kConvertSToF, additions.float_type(), {whole});
  const uint32_t is_above = to.claim(Opcode::kFOrdLessThan, {number, back});
  const uint32_t below =
      to.value(Opcode::kISub, additions.int_type(), {whole, additions.int_constant(1)});
  return to.value(Opcode::kSelect, additions.int_type(), {is_above, below, whole});
}

}  // namespace

// The texel along one axis that a coordinate reads: the first or the second of the two that are
// filtered; they are the same where there is only one.
uint32_t MarkFunctions::axis_function() {
  if (axis_function_ != 0) return axis_function_;
  std::vector<uint32_t> words;
  BlockWriter to(additions_, words);
  const uint32_t word_type = additions_.uint_type();
  const uint32_t float_type = additions_.float_type();
  const uint32_t int_type = additions_.int_type();
  const uint32_t zero = additions_.uint_constant(0);
  const uint32_t start = additions_.fresh_id();
  const Function function =
      begin(to, word_type, {word_type, float_type, word_type, word_type}, start);
  const uint32_t bits = function.parameters[0];
  const uint32_t coordinate = function.parameters[1];
  const uint32_t stated_size = function.parameters[2];
  const uint32_t which = function.parameters[3];
  const auto has = [&](uint32_t bit) {
    return to.claim(Opcode::kINotEqual,
                    {to.word(Opcode::kBitwiseAnd, {bits, additions_.uint_constant(bit)}), zero});
  };
  const auto real = [&](Opcode opcode, uint32_t a, uint32_t b) {
    return to.value(opcode, float_type, {a, b});
  };
  const auto chosen = [&](uint32_t type, uint32_t claim, uint32_t yes, uint32_t no) {
    return to.value(Opcode::kSelect, type, {claim, yes, no});
  };
  const uint32_t is_linear = has(kSamplesLinearly);
  const uint32_t is_layer = has(kSamplesLayer);
  const uint32_t no_shift = additions_.float_constant(0.0F);
  const uint32_t half = additions_.float_constant(0.5F);
  // Of nothing there is no texel: one is for the arithmetic alone.
  const uint32_t size = chosen(word_type, to.claim(Opcode::kIEqual, {stated_size, zero}),
                               additions_.uint_constant(1), stated_size);
  const uint32_t scaled =
      real(Opcode::kFMul, coordinate, to.value(Opcode::kConvertUToF, float_type, {size}));
  uint32_t place = chosen(float_type, has(kSamplesTexelCoordinates), coordinate, scaled);
  place = real(Opcode::kFAdd, place, chosen(float_type, is_layer, half, no_shift));
  place = real(Opcode::kFSub, place, chosen(float_type, is_linear, half, no_shift));
  const uint32_t steps = real(
      Opcode::kFAdd, real(Opcode::kFMul, place, additions_.float_constant(kWeightSteps)), half);
  const uint32_t rounded =
      real(Opcode::kFMul, to.value(Opcode::kConvertSToF, float_type, {floor_of(to, steps)}),
           additions_.float_constant(1.0F / kWeightSteps));
  place = chosen(float_type, is_linear, rounded, place);
  const uint32_t first = floor_of(to, place);
  const uint32_t has_weight =
      to.claim(Opcode::kFOrdLessThan, {to.value(Opcode::kConvertSToF, float_type, {first}), place});
  const uint32_t is_second =
      to.claim(Opcode::kLogicalAnd, {to.claim(Opcode::kLogicalAnd, {is_linear, has_weight}),
                                     to.claim(Opcode::kINotEqual, {which, zero})});
  const uint32_t texel = to.value(
      Opcode::kIAdd, int_type,
      {first, chosen(int_type, is_second, additions_.int_constant(1), additions_.int_constant(0))});
  const uint32_t count = to.value(Opcode::kBitcast, int_type, {size});
  const uint32_t last = to.value(Opcode::kISub, int_type, {count, additions_.int_constant(1)});
  const uint32_t none = additions_.int_constant(0);
  const uint32_t not_below =
      chosen(int_type, to.claim(Opcode::kSLessThan, {texel, none}), none, texel);
  const uint32_t at_edge =
      chosen(int_type, to.claim(Opcode::kSLessThan, {last, not_below}), last, not_below);
  const uint32_t repeated = to.value(Opcode::kSMod, int_type, {texel, count});
  const uint32_t wrapped = chosen(int_type, has(kSamplesRepeating), repeated, at_edge);
  // A number below zero is a large one without its sign: past every edge.
  const uint32_t found = chosen(int_type, has(kSamplesBorder), texel, wrapped);
  to.put(Opcode::kReturnValue, {to.value(Opcode::kBitcast, word_type, {found})});
  to.put(Opcode::kFunctionEnd, {});
  words_.insert(words_.end(), words.begin(), words.end());
  return axis_function_ = function.id;
}

uint32_t MarkFunctions::sample_function() {
  if (sample_function_ != 0) return sample_function_;
  axis_function();
  texel_function();
  std::vector<uint32_t> words;
  BlockWriter to(additions_, words);
  const uint32_t word_type = additions_.uint_type();
  const uint32_t float_type = additions_.float_type();
  const uint32_t start = additions_.fresh_id();
  const Function function =
      begin(to, additions_.void_type(), {word_type, float_type, float_type, float_type}, start);
  const std::vector<uint32_t>& given = function.parameters;
  const uint32_t sampling = to.load_word_of(given[0], kSamplingWord);
  uint32_t sizes[3] = {};
  uint32_t bits[3] = {};
  for (uint32_t axis = 0; axis < 3; ++axis) {
    sizes[axis] = to.load_word_of(given[0], kWidthWord + axis);
    bits[axis] =
        to.word(Opcode::kShiftRightLogical, {sampling, additions_.uint_constant(8 * axis)});
  }
  // Two along each axis that is filtered: the first is, if any is.
  const uint32_t zero = additions_.uint_constant(0);
  const auto chosen_by = [&](uint32_t axis, uint32_t yes, uint32_t no) {
    const uint32_t bit =
        to.word(Opcode::kBitwiseAnd, {bits[axis], additions_.uint_constant(kSamplesLinearly)});
    const uint32_t is_linear = to.claim(Opcode::kINotEqual, {bit, zero});
    return to.word(Opcode::kSelect, {is_linear, yes, no});
  };
  const uint32_t of_two = chosen_by(1, additions_.uint_constant(4), additions_.uint_constant(2));
  const uint32_t of_three = chosen_by(2, additions_.uint_constant(8), of_two);
  const uint32_t count = chosen_by(0, of_three, additions_.uint_constant(1));
  write_loop(to, start, count, [&](uint32_t index) {
    std::array<uint32_t, 3> texel = {};
    for (uint32_t axis = 0; axis < 3; ++axis) {
      const uint32_t shifted =
          to.word(Opcode::kShiftRightLogical, {index, additions_.uint_constant(axis)});
      const uint32_t which = to.word(Opcode::kBitwiseAnd, {shifted, additions_.uint_constant(1)});
      texel[axis] = to.word(Opcode::kFunctionCall,
                            {axis_function(), bits[axis], given[1 + axis], sizes[axis], which});
    }
    call_texel(to, given[0], additions_.uint_constant(kLoadsWord), texel);
  });
  words_.insert(words_.end(), words.begin(), words.end());
  return sample_function_ = function.id;
}

}  // namespace interlock
