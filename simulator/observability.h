// Observability: whether a hazard can change an output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program.h"
#include "simulator/byte_segments.h"
#include "simulator/happens_before.h"
#include "simulator/hazards.h"

namespace interlock {

enum class ObservabilityProof : uint8_t {
  kOwnWitness,     // The schedule moves this pair only, and an output differs.
  kCommonWitness,  // The schedule changes an output, but moves other hazards' dispatches too.
  kDecidingRuns,   // The deciding runs change no output, hence no schedule does (docs/theory.md,
                   // T5).
  kOwnSchedule,    // The schedule moves this pair only, and no output differs; others do.
  kSinks,       // No sink of a hazard changes an output, and all hazards are about order: hence no
                // schedule does (T6).
  kUndecided,   // Scoped barriers: `schedule` changes no output, which decides nothing.
  kNoSchedule,  // Scoped barriers: no schedule shows it alone. Another dispatch must see what the
                // first one writes before the second misses it.
  kOverBudget,  // Not judged.
  kSlices,      // The deciding runs change no output, but slices of one dispatch conflict.
};

struct ObservabilityVerdict {
  ObservabilityProof proof = ObservabilityProof::kOverBudget;
  // Empty for kDecidingRuns, kSinks, kNoSchedule and kOverBudget.
  std::vector<Displacement> schedule;
  // kOwnWitness: the hidden hazard that the schedule reverses instead, if it is not the listed one.
  std::optional<Hazard> through;
  DispatchId conflicting_in;  // kSlices: a dispatch whose slices conflict.
  // What the witness changes: positions in Program::outputs; of memories if it has none.
  std::vector<uint32_t> changed_outputs;
};

struct ObservabilityOptions {
  // In dispatches executed (those that touch many byte segments count as several) and pairs looked
  // for.
  uint64_t work_limit = UINT64_MAX;
  bool lists_all_pairs = false;  // `hazards` hides none.
  // A dispatch whose slices conflict, if there is one: T5 and T6 then decide nothing.
  DispatchId conflicting_in;
};

// Returns a verdict for each of `hazards`, by executing schedules in the shadow machine. A listed
// hazard stands for those that it hides: of the same kind and second dispatch, with an earlier
// first one, on bytes of its own. If it changes no output and one of these does, that is its
// verdict.
// Requires: `order` and `segments` were built from `program`, and `hazards` found in it, ordered by
// second, then first.
// Cost: three runs, and one more per pair of dispatches, listed or hidden, if an output can differ
// at all; it ends with the work limit.
std::vector<ObservabilityVerdict> judge_observability(const Program& program,
                                                      const HappensBefore& order,
                                                      const ByteSegments& segments,
                                                      std::span<const Hazard> hazards,
                                                      const ObservabilityOptions& options);

}  // namespace interlock
