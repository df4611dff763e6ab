// Gradient laws: what each kernel of the table computes on a single element of a prime field, and
// how its outputs depend on its inputs there.
//
// Sums and products are computed as such; what is linear has the same random factor in a kernel
// and in its VJP; any other function has random values and random derivatives, by its operands. So
// all that the chain rule allows stays true, and whatever counts a path once too often does not.
// Written without the VJP rules of the encoder, which it is to judge.
#pragma once

#include <optional>
#include <span>

#include "encoder/program/program.h"
#include "simulator/gradients/prime_field.h"

namespace interlock {

// The values of one dispatch: by operand what it reads, for updates what was there before.
using OperandValues = std::span<const FieldMatrix>;

// Sets the values of the operands that the dispatch writes. A dispatch that is opaque, or touches
// parts of its operands, has random values by all that it reads.
// Requires: as many `written` as operands; those of reads stay.
void evaluate(const Program& program, const Dispatch& dispatch, OperandValues read,
              std::span<FieldMatrix> written);

// What the cotangent `adjoint` of output `output` gives to input `input`, both operand positions;
// none if the output does not depend on it, or nothing is known of how. `written` is what
// evaluate() gave.
std::optional<FieldMatrix> pulled_back(const Program& program, const Dispatch& dispatch,
                                       OperandValues read, OperandValues written, int input,
                                       int output, const FieldMatrix& adjoint);

// True iff all that the dispatch does is to add its inputs up: copy, add, accumulate.
bool only_adds(const Program& program, const Dispatch& dispatch);

}  // namespace interlock
