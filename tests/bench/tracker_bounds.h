// What the time of a tracker is held against: the best peers of its row, measured beside it.
#pragma once

#include <optional>
#include <vector>

#include "tests/bench/by_turns.h"

namespace interlock {

enum class Role { kRegistered, kRaw, kExact, kInexact, kIdeal };

struct Measured {
  Role role;
  Timing timing;  // In nanoseconds a dispatch.
};

// What ours of this role may take, in nanoseconds a dispatch, where the others take `times`, one
// for each of `row`: the least of the time of an exact peer and 1.2 times that of an inexact one,
// or 5 ns above if that is more, and of twice the ideal for registered buffers. Nothing without
// peers.
std::optional<double> bound_of(Role ours, const std::vector<Measured>& row,
                               const std::vector<double>& times);

// The median of the ratios of all rounds: what row[ours] took to its bound in the same round.
// Nothing without peers. Requires: all have as many rounds.
std::optional<double> ratio_to_bound(const std::vector<Measured>& row, size_t ours);

// The same to the time of the best peer, exact or not; the ideal is none.
std::optional<double> ratio_to_best_peer(const std::vector<Measured>& row, size_t ours);

}  // namespace interlock
