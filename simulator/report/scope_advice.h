// Scope advice: where a text says `all` or `device` and the stages and accesses of a list would do.
// Of a program that works with such a scope: it is wider than needed, and costs what it waits for.
// No finding, and none of what `redundant` counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/report/check.h"

namespace interlock {

// A statement that could say less than `all`.
struct NarrowerStatement {
  StatementId statement;
  std::string instead;  // "barrier compute.write -> compute.read on q1", without its label.

  bool operator==(const NarrowerStatement&) const = default;
};

struct ScopeAdvice {
  // In the order of the text. With all of them at once the program has the findings that it has;
  // and no stage or access of these lists can go then, but for one that fails to order a hazard.
  std::vector<NarrowerStatement> narrower;
  // Scopes, stages and accesses for which the work limit was too small: they stay.
  uint64_t unjudged_count = 0;
};

// Returns it: of the scopes of barriers, transitions and events that name `all` or `device`, with
// or without an access; of signals, and of waits, that are for all stages, in a program that has
// another signal, or wait, that names some. Not of sync that can go as a whole, that fails to
// order a hazard, or that is for what comes after the text. None in a program with a deadlock.
// Beside a flush or an invalidation of the host less order need not be worse: there all at once
// are judged, and not that no word can go.
// Requires: `report` is what check() says of `program`, which has no text_order.
// Cost: check() of the program once more, find_order_findings() a few times, and some log n times
// for each word that can go by itself and not with those that go. Both within `work_limit`.
ScopeAdvice find_scope_advice(const Program& program, const CheckReport& report,
                              uint64_t work_limit = CheckOptions().redundancy_budget);

// "wider than needed: the barrier (fence, statement 3) could be `…`.", a line each, with line ends;
// at most `limit`, and how many more. Empty where there is none.
std::string text_of(const Program& program, const ScopeAdvice& advice, uint64_t limit);

}  // namespace interlock
