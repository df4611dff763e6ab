// Explanations: what a finding says to a person. Complete sentences in the present tense; they
// claim only what was computed.
#pragma once

#include <string>

#include "encoder/program.h"
#include "simulator/alias_contracts.h"
#include "simulator/data_flow.h"
#include "simulator/finding.h"
#include "simulator/happens_before.h"
#include "simulator/hazards.h"
#include "simulator/observability.h"

namespace interlock {

// Each returns a finding with kind, accesses, bytes and sentences; observability is not judged yet.
// Requires: `order` was built from `program`.
Finding explain_hazard(const Program& program, const HappensBefore& order, const Hazard& hazard);
Finding explain_alias(const Program& program, const AliasViolation& violation);

// `first` and `second` are, in issue order, the writer that the read sees and the reader. If it
// sees the initial bytes: the reader and the right writer, which comes too late. At the end of the
// program: the two writers.
Finding explain_reordered(const Program& program, const ReorderedRead& read);

// Sets the observability, and the witness of an observable hazard, and appends the sentence that
// says so. Requires: `finding` is a hazard.
void explain_observability(const Program& program, const ObservabilityVerdict& verdict,
                           Finding& finding);

}  // namespace interlock
