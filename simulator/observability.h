// Observability: whether a hazard can change an output.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program.h"
#include "simulator/happens_before.h"
#include "simulator/hazards.h"

namespace interlock {

enum class ObservabilityProof : uint8_t {
  kOwnWitness,     // The schedule moves this pair only, and an output differs.
  kCommonWitness,  // The schedule changes an output, but moves other hazards' dispatches too.
  kDecidingRuns,   // The deciding runs change no output, hence no schedule does (docs/theory.md,
                   // T5).
  kOwnSchedule,    // The schedule moves this pair only, and no output differs; others do.
  kOverBudget,     // Not judged.
};

struct ObservabilityVerdict {
  ObservabilityProof proof = ObservabilityProof::kOverBudget;
  std::vector<Displacement> schedule;  // Empty for kDecidingRuns and kOverBudget.
  // What the witness changes: positions in Program::outputs; of memories if it has none.
  std::vector<uint32_t> changed_outputs;
};

// Returns a verdict for each of `hazards`, by executing schedules in the shadow machine.
// Requires: `order` was built from `program`, and `hazards` found in it.
// Cost: three runs, and one more per pair of dispatches if an output can differ at all; runs stop
// once they have executed `budget_dispatch_count` dispatches.
std::vector<ObservabilityVerdict> judge_observability(const Program& program,
                                                      const HappensBefore& order,
                                                      std::span<const Hazard> hazards,
                                                      uint64_t budget_dispatch_count);

}  // namespace interlock
