// Finding: one fact (facts/fact.h) that a check or an execution established about a program, with
// its explanation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/facts/fact.h"

namespace interlock {

enum class Observability : uint8_t {
  kUnknown,       // Not judged: over the budget, or slices of one dispatch conflict.
  kObservable,    // `witness` changes an output, in the shadow machine.
  kUnobservable,  // No schedule changes an output.
  kMasked,        // Other hazards change an output; reversing this one alone does not.
};

enum class RepairPlace : uint8_t { kBefore, kAfter, kInstead };

// One line of a repair, right before or after a statement of the text, or instead of it: empty, it
// goes.
struct RepairLine {
  RepairPlace place = RepairPlace::kBefore;
  StatementId at;
  std::string text;
};

// A fact as a person reads it, in the place where it is.
struct Finding : FactPlace {
  Observability observability = Observability::kUnknown;
  std::vector<Displacement> witness;  // A legal schedule that shows it; empty if none is known.
  // Of a hazard: the two are ordered, and what the first one wrote is not visible to the second.
  bool is_ordered = false;
  bool is_after_own_read = false;  // Of a hazard (hazards.h). So the next.
  bool is_possible = false;
  std::vector<BlockedStatement> cycle;  // Of a deadlock: who waits for whom.
  // Complete sentences. `headline` names kind, accesses, bytes and dispatches; `details` say why
  // nothing orders them, what aliases what, and what the damage is; `fix` is the smallest repair,
  // to stand after "Fix: ".
  std::string headline;
  std::vector<std::string> details;
  std::string fix;
  // What `fix` says, as lines of the text, where it was tried: the pair then has no such hazard on
  // these bytes, and no deadlock is new.
  std::vector<RepairLine> repair;
};

}  // namespace interlock
