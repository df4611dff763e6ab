// Pass oracle: what a chain of passes does wrong on one unplanned program. A finding counts if the
// reference chain makes a program without any of the same program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoder/plan/planner.h"
#include "encoder/program/program.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/pass_chain.h"
#include "fuzz/judge/replay.h"
#include "simulator/facts/fact.h"

namespace interlock {

// What goes wrong in a program that passes made, by the name that a campaign gives it.
struct SignedFact {
  Fact fact;
  std::string signature;  // Of alias contracts with the kernel, else without.
};

// Accesses and lifetimes: every check of a program as it stands.
std::vector<SignedFact> find_signed(const Program& program);

// As above, of the placed program; and the gradients that are wrong in what it means.
std::vector<SignedFact> find_signed(const PassedProgram& program);

struct PassReport {
  Program program;  // What the passes made, placed.
  // Why one of others made nothing of it; then nothing below is judged.
  std::optional<EncodeFailure> failure;
  std::vector<SignedFact> facts;
  std::vector<InternalDisagreement> disagreements;
  bool ran_on_cpu = false;
};

// Judges one program. `number` selects the runs on the CPU: those compare the outputs with the
// reference chain's, and a difference without a finding is a disagreement.
// Requires: `program` is unplanned, and nothing is wrong in it.
PassReport judge_passes(const PassChain& chain, const Program& program, const PlanOptions& plan,
                        const OracleOptions& options, uint64_t number);

// The outputs of `program` in reference order on the CPU, against those of the same names in
// `reference`, bit for bit. Empty if either is too large to run.
std::vector<OutputComparison> compare_with_reference(const Program& program,
                                                     const Program& reference);

// Whether one of those outputs differs.
bool differs_from_reference(const Program& program, const Program& reference);

// The best evidence of a schedule for a finding of this signature; that is of a program that passes
// made.
Evidence best_pass_evidence(const Program& program, const std::string& signature,
                            EvidenceLevel sufficient);

// What the passes make of `program`, with the evidence for the finding of this signature: witness
// lines where a schedule shows it, and an expect line for every finding. A wrong gradient is shown
// where it is meant, before anything is placed. Requires: none of them fails.
Program passed_with_evidence(const PassChain& chain, const Program& program,
                             const PlanOptions& plan, const std::string& signature);

}  // namespace interlock
