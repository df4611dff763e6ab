// Small random programs that can be differentiated: square tensors, so that every operand fits
// everywhere, and weights that are used again and again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/backward/backward.h"
#include "encoder/program/program.h"
#include "simulator/gradients/gradient_check.h"

namespace interlock {

struct DifferentiableProgram {
  std::string text;
  std::string loss;
  std::vector<std::string> wrt;
};

inline constexpr int kSquareExtent = 3;  // Every tensor is f32[3,3], every weight of a norm f32[3].

DifferentiableProgram random_differentiable_program(uint32_t seed, int dispatch_count);

// The program with every value but the first ones read under another name, which adopts it.
DifferentiableProgram with_adoptions(const DifferentiableProgram& program);

// Tensors x and w with random values and others without, all f32[2,2]; then `dispatches`, in text.
Program program_on_squares(const std::vector<std::string>& others, std::string_view dispatches);

// Where the pass of `request` stands in `program`, which is `forward` and what the pass appended.
Backward pass_of(const Program& forward, const Program& program, const BackwardDraft& request);

}  // namespace interlock
