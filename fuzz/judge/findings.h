// What the exact checks find in one program, however long they take: what every oracle, the
// minimizer and the evidence of a find ask.
#pragma once

#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/conflict_scan.h"
#include "simulator/facts/fact.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/order/happens_before.h"

namespace interlock {

// What the exact checks of accesses say of the program as it stands (FactGroup::kAccesses).
std::vector<Fact> find_exactly(const Program& program);

// As above; `observers` see the conflicts of every dispatch (FactOptions).
// Requires: `order` and `segments` were built from `program`.
std::vector<Fact> find_exactly(const Program& program, const HappensBefore& order,
                               const ByteSegments& segments,
                               std::span<ConflictObserver* const> observers = {});

// Those, and what goes wrong with the values of tensors (FactGroup::kLifetimes). With
// `lists_possible` hazards that are only possible, too (FactOptions). Gradients are
// judged where they are meant, before a program is planned: find_wrong_gradients().
std::vector<Fact> find_everything(const Program& program, bool lists_possible = false);

// Of those what a check tells: none of the bounds of approximate dispatches alone (is_of_bounds()).
std::vector<Fact> findings_of(const Program& program, bool lists_possible);

// The gradients of the program's own `backward` statements that are not the sum over all paths.
std::vector<GradientFinding> find_wrong_gradients(const Program& program);

}  // namespace interlock
