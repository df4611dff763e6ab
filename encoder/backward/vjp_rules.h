// VJP rules: for each kernel of the table, the group of dispatches that computes the cotangents of
// its inputs from its inputs, its outputs and their cotangents. A rule is data; a backward pass
// appends its dispatches to a program, under names of its own. Nothing but the bytes that they
// share orders the dispatches of a group: an encoder decides what may overlap.
//
// Cotangents add up where a value is read more than once, also by two operands of one dispatch:
// that is up to the backward pass. A rule has one contribution per input.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/draft.h"

namespace interlock {

enum class VjpValueKind : uint8_t {
  kPrimal,        // The value of a forward operand: of an input, or of an output.
  kCotangent,     // The cotangent of an output; given.
  kGradient,      // The cotangent of an input; what the group computes.
  kIntermediate,  // Between two dispatches of the group.
};

// A value as a rule refers to it.
struct VjpValue {
  VjpValueKind kind = VjpValueKind::kPrimal;
  int index = 0;  // Operand position of the forward kernel; number, of an intermediate.

  bool operator==(const VjpValue&) const = default;
};

// The kernel takes each attribute of the forward dispatch that it has itself.
struct VjpDispatch {
  std::string_view kernel;
  std::span<const VjpValue> operands;  // In the order of its table entry.
};

struct VjpRule {
  std::string_view kernel;                  // The forward one.
  std::span<const VjpDispatch> dispatches;  // A value is written before it is read.
  // (input, output): the cotangent of the input is that of the output as it is, and no dispatch
  // computes it. The two may share bytes, or the backward pass copies.
  std::span<const std::pair<int, int>> passes;
  // By number: the forward operand whose shape the intermediate has.
  std::span<const int> intermediate_shapes;
};

// In the order of the kernel table.
std::span<const VjpRule> vjp_rules();

// Returns null if the kernel has none: fill, which reads nothing; VJPs themselves and what updates
// in place, which no backward pass meets; mix, whose values are no numbers. Cost: linear in the
// rules.
const VjpRule* find_vjp_rule(std::string_view kernel);

// The inputs whose cotangents the rule gives, as operand positions: passed ones too.
std::vector<int> inputs_of(const VjpRule& rule);

// Positions in rule.dispatches of what computes the cotangents of `inputs`, in order: a backward
// pass that wants some cotangents now, the others later or never, leaves out the rest.
// Requires: `inputs` are among inputs_of(rule).
std::vector<size_t> dispatches_of(const VjpRule& rule, std::span<const int> inputs);

// The forward operands whose values these dispatches read, as sorted positions: what must be kept
// alive, unchanged, from the forward pass. An output of the forward dispatch can be one of them.
// Requires: as above.
std::vector<int> saved_primals_of(const VjpRule& rule, std::span<const int> inputs);

// Dispatch number `position` of the rule, for `forward`. `name_of` names cotangents, gradients and
// intermediates; primals have the names that `forward` gives them.
// Requires: `forward` is a valid dispatch of rule.kernel.
DispatchDraft vjp_dispatch(const VjpRule& rule, size_t position, const DispatchDraft& forward,
                           const std::function<std::string(VjpValue)>& name_of);

// The dispatches that compute the cotangents of `inputs` of `forward`. `name_of` names cotangents,
// gradients and intermediates; it is asked for every gradient that such a dispatch writes, also for
// one that `inputs` leaves out. Primals have the names that `forward` gives them.
// Requires: `forward` is a valid dispatch of rule.kernel; `inputs` as above.
std::vector<DispatchDraft> vjp_group(const VjpRule& rule, const DispatchDraft& forward,
                                     std::span<const int> inputs,
                                     const std::function<std::string(VjpValue)>& name_of);

}  // namespace interlock
