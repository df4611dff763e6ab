// Explanations: what a finding says to a person. Complete sentences in the present tense; they
// claim only what was computed.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/facts/fact.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/finding.h"
#include "simulator/schedules/observability.h"

namespace interlock {

struct ExplainContext {
  const HappensBefore& order;  // Of the program.
  // Accesses that the histories in explanations of lifetimes look at in all, beyond which they are
  // left out.
  uint64_t history_work_left;
};

// Returns the finding with place and sentences; observability is not judged yet.
// Cost: that of the function for its kind, here or in explain_KIND.h.
Finding explain(const Program& program, const Fact& fact, ExplainContext& context);

// Each returns a finding with kind, accesses, bytes and sentences; observability is not judged yet.
// Requires: `order` was built from `program`.
Finding explain_hazard(const Program& program, const HappensBefore& order, const Hazard& hazard);
Finding explain_alias(const Program& program, const AliasViolation& violation);

Finding explain_reordered(const Program& program, const ReorderedRead& read);

// Sets the observability, and the witness of an observable hazard, and appends the sentence that
// says so. Requires: `finding` is a hazard.
void explain_observability(const Program& program, const ObservabilityVerdict& verdict,
                           Finding& finding);

}  // namespace interlock
