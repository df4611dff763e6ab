// Gradient check: does a backward pass, as its dispatches stand in a program, count every path from
// a tensor to the loss exactly once?
//
// The whole program is evaluated over a prime field with random inputs and random derivatives
// (gradient_laws.h), and each gradient compared with the sum over all paths, which is found from
// the forward dispatches alone. No rounding: a difference is a finding, whatever its size. A wrong
// gradient passes only if two different polynomials agree at a random point, with odds of at most
// degree / 2^61: for a loss whose degree in its inputs is below a million, one in 2^41.
//
// What it does not see: shapes and transpositions (those that the kernel table allows), the bytes
// of tensors (lifetimes.h), and sync.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Dispatches whose contributions cannot be told apart: they add the same to the gradient.
struct GradientCount {
  std::vector<DispatchId> dispatches;  // Those that read the tensor, in reference order.
  uint64_t expected = 0;               // How often they count together.
  uint64_t actual = 0;
  std::vector<DispatchId> terms;  // What wrote the terms that hold them.

  bool operator==(const GradientCount&) const = default;
};

// A dispatch that adds to the whole cotangent of a value what is in it already: the same once more,
// or what some of the value's readers contribute.
struct DoubledCotangent {
  DispatchId sum;
  TensorId value;
  std::vector<DispatchId> readers;  // Those; none: all of it.

  bool operator==(const DoubledCotangent&) const = default;
};

// A gradient that is not the sum over all paths.
struct GradientFinding {
  TensorId tensor;  // To differentiate by.
  TensorId gradient;
  TensorId loss;
  DispatchId writer;                      // Last to write the gradient; none if nobody does.
  std::vector<GradientCount> counts;      // Those with another count than expected.
  std::vector<DispatchId> foreign;        // What wrote terms that are no contributions at all.
  std::vector<DoubledCotangent> doubled;  // Where the pass goes wrong, as far as that is known.

  bool operator==(const GradientFinding&) const = default;
};

struct GradientReport {
  std::vector<GradientFinding> findings;  // By pass, then by `wrt`.
  bool is_truncated = false;              // work_limit was reached: later passes are not judged.
};

inline constexpr uint64_t kGradientWorkMax = 50'000'000;

// Judges the gradients of `passes`, as Program::backwards has them; their tensors start with the
// values that they state.
// Requires: the statements of each pass are dispatches, after those that they differentiate.
// Cost: near linear in the program, plus the forward dispatches before each pass; at most
// `work_limit` dispatches are visited. To explain wrong gradients, the dispatches of their pass
// once more, and for each of its sums a bounded search.
GradientReport check_gradients(const Program& program, const std::vector<Backward>& passes,
                               uint64_t work_limit = kGradientWorkMax);

}  // namespace interlock
