// What is wrong with the gradients that a backward pass of others appended. Two methods look: the
// gradient check (simulator/gradients/gradient_check.h), which is exact and does not see shapes and
// transpositions; and numbers, which do.
#pragma once

#include <optional>
#include <string>

#include "encoder/assemble/append_backward.h"
#include "encoder/assemble/append_backward_by.h"
#include "encoder/backward/backward.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/external_encoder.h"

namespace interlock {

// Programs with more bytes are not executed.
inline constexpr uint64_t kGradientNumbersBytes = 4u << 20;

// A sentence about the first gradient of `appended` whose numbers are not those of `reference`,
// both in reference order in float64: "3 of 4 values of d_w differ from those of one-shot in
// float64: …". They may differ by 1e-9 of the largest number of either run, by which no order of
// additions that keeps those numbers differs: one wrong by less passes. None if there is none, or
// the programs are too large. Cost: as execute_in_float64(), twice.
std::optional<std::string> differing_numbers(const AppendedBackward& appended,
                                             const AppendedBackward& reference);

// What is wrong with a pass of others by either method, as a text; none if nothing is. Requires: it
// has not failed.
std::optional<std::string> wrong_gradients(const AppendedBy& by);

// `program` where all of its statements `backward` are written by `backward`, one of others, and
// spelled out. A wrong gradient is a failure. Errors: those of append_backward_by(); a program that
// exceeds the limits.
Result<Encoding> with_backward_of_others(const Program& program, const BackwardEntry& backward);

// What such a pass is asked first: the program before the first statement `backward`, spelled out.
// Requires: there is such a statement.
Program forward_of(const Program& program);

}  // namespace interlock
