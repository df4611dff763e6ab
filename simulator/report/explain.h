// Explanations: what a finding says to a person. Complete sentences in the present tense; they
// claim only what was computed.
#pragma once

#include <string>

#include "encoder/program/program.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/finding.h"
#include "simulator/schedules/observability.h"

namespace interlock {

// Each returns a finding with kind, accesses, bytes and sentences; observability is not judged yet.
// Requires: `order` was built from `program`.
Finding explain_hazard(const Program& program, const HappensBefore& order, const Hazard& hazard);
Finding explain_alias(const Program& program, const AliasViolation& violation);

// `first` and `second` are the two whose order is wrong, as the sentences have it, the one issued
// first named first: of the reader, the writer that it sees and the right one. Where rows of
// atomics differ without such a pair: the writer that is seen, or else the right one, and the
// reader; at the end of the program the two writers.
Finding explain_reordered(const Program& program, const ReorderedRead& read);

// Sets the observability, and the witness of an observable hazard, and appends the sentence that
// says so. Requires: `finding` is a hazard.
void explain_observability(const Program& program, const ObservabilityVerdict& verdict,
                           Finding& finding);

}  // namespace interlock
