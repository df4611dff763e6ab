// PlacePlacements: the fewest waits that add no order, by trying all placements, on queues that are
// concurrent, serial, or join.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/scope.h"
#include "encoder/program/sync_step.h"

namespace interlock {

enum class PlacedKind : uint8_t { kDispatch, kBarrier, kSignal, kWait, kNothing };

struct Placed {
  PlacedKind kind = PlacedKind::kDispatch;
  uint32_t queue = 0;
  StageMask source = kAllStages;       // Of a dispatch: where it executes. What it waits for.
  StageMask destination = kAllStages;  // What it holds back.
  uint32_t arc = 0;                    // Of a signal and its wait.
};

// Statements in the order of a text, at most 32.
struct PlacedText {
  std::vector<QueueKind> queues;
  std::vector<Placed> statements;
};

// By statement, a bit for each that comes after it; none if they wait for each other in a circle.
std::optional<std::vector<uint64_t>> order_of(const PlacedText& text);

// By dispatch, in the order of the text: bits of the dispatches that come after it.
std::vector<uint64_t> dispatches_after(const PlacedText& text, const std::vector<uint64_t>& order);

// Some wait comes before a signal, and no dispatch between.
bool passes_on(const PlacedText& text, const std::vector<uint64_t>& order);

struct FewestPlaced {
  std::optional<uint32_t> of_all;
  std::optional<uint32_t> of_apart;  // Where no queue passes on.
};

// The fewest waits with which the dispatches and barriers of `text` have just the order that its
// waits and signals give them; none if it takes more than two. Waits are before copies, compute or
// both, and signals after these; on a legacy-default queue statements that do nothing may stand
// anywhere. Cost: squared in the pairs of places of statements.
FewestPlaced fewest_placed(const PlacedText& text);

}  // namespace interlock
