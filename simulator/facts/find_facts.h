// find_facts: everything that goes wrong in a program, by every check. One list names the checks;
// `check`, campaigns and minimization run them from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/conflict_scan.h"
#include "simulator/facts/fact.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/order/happens_before.h"

namespace interlock {

// What a check looks at; campaigns that know what they put to the test leave out the others.
enum class FactGroup : uint8_t {
  kAccesses,   // Which accesses meet on which bytes, and in which order: what an encoder answers
               // for.
  kLifetimes,  // Whose value a read finds: what planners and replays answer for.
  kGradients,  // What a backward pass computes.
};

struct FactOptions {
  std::optional<FactGroup> group;  // None: all.
  uint64_t limit = UINT64_MAX;     // Of hazards, and of broken alias contracts, at most.
  bool lists_all_pairs = false;    // Every hazardous pair instead of the latest.
  // Also what the bounds of approximate dispatches make possible: operands of these bound what they
  // touch, but for the arguments of indirect ones. Of hazards, those on bytes of which none is
  // certain; and what is_of_bounds() says. Else what is certain alone.
  bool lists_possible = false;
  // Steps of the search for hazards beside scoped barriers. None: 20 million and 64 for each
  // operand.
  std::optional<uint64_t> scoped_step_limit;
  LifetimeOptions lifetimes;
  uint32_t paths_at_once = Places::kPathsMax;  // Of graph queues; more are judged part by part.
  // See the conflicts of every dispatch, whatever the limit.
  std::span<ConflictObserver* const> observers;
};

struct FactReport {
  std::vector<Fact> facts;  // Check by check, each in reference order.
  // The limits that ended a check early; in the order of the checks.
  std::vector<Truncation> truncations;

  bool is_truncated() const { return !truncations.empty(); }
};

// Ends early, with what was found, at a stop (stop.h).
// Requires: `order` and `segments` were built from `program`.
// Cost: that of the checks of the group; see their headers.
FactReport find_facts(const Program& program, const HappensBefore& order,
                      const ByteSegments& segments, const FactOptions& options = {});
FactReport find_facts(const Program& program, const FactOptions& options = {});

// Whether the fact is about an approximate dispatch alone, whose operands overlap or which would
// read what it should not, if it touched all of its bounds. No report tells that.
bool is_of_bounds(const Program& program, const Fact& fact);

// What ends the checks of values early, of lifetimes and of gradients: an execution that equals its
// reference shows nothing then, as the reference may have the same fault.
std::vector<Truncation> find_value_truncations(const Program& program);

// The barriers of `program` beyond the fewest for its order, those after its last dispatch apart:
// an encoder that ends a command buffer with one orders what comes after. None if there are none or
// if the program has hazards, which make the comparison meaningless. No check: excess is right,
// only slow.
std::optional<ExcessBarriers> find_excess(const Program& program);

}  // namespace interlock
