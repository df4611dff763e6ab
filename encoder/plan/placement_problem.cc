#include "encoder/plan/placement_problem.h"

#include <algorithm>
#include <compare>

#include "encoder/program/check.h"

namespace interlock {
namespace {

// An output born in a step and the inputs that it may replace, told apart by size alone.
struct Claim {
  uint32_t step = 0;
  uint64_t size_bytes = 0;
  uint32_t value = 0;

  auto operator<=>(const Claim&) const = default;
  bool is_in_class_of(const Claim& other) const {
    return step == other.step && size_bytes == other.size_bytes;
  }
};

std::vector<Claim> distinct_claims(const PlacementProblem& problem,
                                   uint32_t InPlaceChoice::*member) {
  std::vector<Claim> claims;
  claims.reserve(problem.in_place.size());
  for (const InPlaceChoice& choice : problem.in_place) {
    const ValueLife& output = problem.values[choice.output];
    claims.push_back({output.first_step, output.size_bytes, choice.*member});
  }
  std::ranges::sort(claims);
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  return claims;
}

// By step: at most so many bytes are saved by outputs in place. For each size, neither more outputs
// than there are inputs nor the other way round.
std::vector<uint64_t> savings_bytes(const PlacementProblem& problem) {
  std::vector<uint64_t> savings(problem.step_count, 0);
  const std::vector<Claim> outputs = distinct_claims(problem, &InPlaceChoice::output);
  const std::vector<Claim> inputs = distinct_claims(problem, &InPlaceChoice::input);
  size_t output = 0;
  size_t input = 0;
  while (output < outputs.size()) {
    const Claim& first = outputs[output];
    uint64_t output_count = 0;
    uint64_t input_count = 0;
    for (; output < outputs.size() && outputs[output].is_in_class_of(first); ++output) {
      ++output_count;
    }
    for (; input < inputs.size() && inputs[input].is_in_class_of(first); ++input) ++input_count;
    savings[first.step] += first.size_bytes * std::min(output_count, input_count);
  }
  return savings;
}

}  // namespace

uint64_t lower_bound_bytes(const PlacementProblem& problem) {
  std::vector<uint64_t> born(problem.step_count, 0);
  std::vector<uint64_t> dead(problem.step_count, 0);
  uint64_t bound = 0;
  for (const ValueLife& value : problem.values) {
    bound = std::max(bound, value.size_bytes);
    if (!value.is_used()) continue;
    INTERLOCK_CHECK(value.last_step < problem.step_count);
    born[value.first_step] += value.size_bytes;
    dead[value.last_step] += value.size_bytes;
  }
  const std::vector<uint64_t> savings = savings_bytes(problem);
  uint64_t live = 0;
  for (uint32_t step = 0; step < problem.step_count; ++step) {
    live += born[step];
    bound = std::max(bound, live - savings[step]);
    live -= dead[step];
  }
  return bound;
}

uint64_t size_bytes_of(const PlacementProblem& problem, const std::vector<uint64_t>& offsets) {
  uint64_t size_bytes = 0;
  for (size_t i = 0; i < offsets.size(); ++i) {
    size_bytes = std::max(size_bytes, offsets[i] + problem.values[i].size_bytes);
  }
  return size_bytes;
}

}  // namespace interlock
