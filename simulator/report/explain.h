// Explanations: what a finding says to a person. Complete sentences in the present tense; they
// claim only what was computed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "encoder/program/program.h"
#include "simulator/facts/fact.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/hazards/hazards.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/scoped_order.h"
#include "simulator/report/finding.h"
#include "simulator/report/hazard_extent.h"
#include "simulator/schedules/observability.h"

namespace interlock {

struct WholeAtoms {
  explicit WholeAtoms(const Program& exact)
      : program(with_whole_atoms(exact)), order(program, &exact) {}
  WholeAtoms(const WholeAtoms&) = delete;
  WholeAtoms& operator=(const WholeAtoms&) = delete;

  const Program program;
  const HappensBefore order;
};

struct ExplainContext {
  const HappensBefore& order;  // Of the program.
  // Accesses that the histories in explanations of lifetimes look at in all, beyond which they are
  // left out.
  uint64_t history_work_left;
  // Operands of the two that are looked at for all bytes of a hazard, beyond which a barrier that
  // is named is about all memory.
  uint64_t extent_work_left = 20'000'000;
  // Of the program with what the host does in whole atoms; made where that is asked for.
  std::unique_ptr<const WholeAtoms> atoms = nullptr;
};

// Returns the finding with place and sentences; observability is not judged yet.
// Requires: `context.order` was built from `program`.
// Cost: linear in what the fact names; for a hazard beside scoped barriers see explain_missing(),
// and for a finding of lifetimes history_of() (byte_history.h).
Finding explain(const Program& program, const Fact& fact, ExplainContext& context);

// Of one kind of fact each, as explain() gives it. Defined in explain_hazards.cc.
Finding explain_hazard(const Program& program, const Hazard& hazard, ExplainContext& context);
// The history of the bytes of a value and that of its pins take their work from
// `context.history_work_left`, and are left out when that is too little.
// Defined in explain_lifetimes.cc.
Finding explain_lifetime(const Program& program, const LifetimeFinding& found,
                         ExplainContext& context);
// Defined in explain_gradient.cc.
Finding explain_gradient(const Program& program, const GradientFinding& found);

// Which part of a dependency is missing between two dispatches of a program with scoped barriers.
struct MissingDependency {
  std::string reason;  // A complete sentence.
  std::string fix;     // The smallest barrier that repairs it, and where it goes.
};

// Requires: `order` was built from `program`, and `hazard`, which is about all of `extent`, found
// in it. Cost: linear in the dependencies and operands of the barriers between the two, of which
// only the first thousand are looked at for a reason. Defined in explain_scopes.cc.
MissingDependency explain_missing(const Program& program, const ScopedOrder& order,
                                  const Hazard& hazard, const HazardExtent& extent);

// As explain_missing(), with several queues or the host. Requires: `program` is in reference order.
// Cost: linear in the statements between the two, of which only the first ten thousand are looked
// at for what is there already. Defined in explain_queues.cc, as the next.
MissingDependency explain_missing_across(const Program& program, const Hazard& hazard,
                                         const HazardExtent& extent);
Finding explain_deadlock(const Program& program, const Deadlock& deadlock);

// What would let `access` be over where `at` takes place, with several queues or the host.
std::string order_before(const Program& program, AccessRef access, LifetimeId at);
// `access` executes after `at` in the reference run. Requires: `program` is in that order.
bool executes_after(const Program& program, AccessRef access, LifetimeId at);

// Sets the observability, and the witness of an observable hazard, and appends the sentence that
// says so. Requires: `finding` is a hazard.
void explain_observability(const Program& program, const ObservabilityVerdict& verdict,
                           Finding& finding);

}  // namespace interlock
