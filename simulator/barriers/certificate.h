// Certificate: the proof that no placement of barriers has fewer, checked by itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "encoder/program/program.h"
#include "simulator/lifetimes/destroy_needs.h"

namespace interlock {

// Returns why `forcing` does not prove that a hazard-free placement of barriers in the issue order
// of `program` has at least `barrier_count` of them; none if it does. The proof: each pair
// conflicts, or its first dispatch accesses what is destroyed right before the second, so a barrier
// stands in its slots [first, second); these are disjoint, so no barrier serves two pairs; and
// there are `barrier_count` pairs. Reads the operands alone, and shares no code with what finds the
// pairs. Cost: O(p log p) for the p operands of the pairs.
std::optional<std::string> certificate_defect(const Program& program,
                                              std::span<const ForcingPair> forcing,
                                              uint64_t barrier_count);

}  // namespace interlock
