// Observability: whether a hazard can change an output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"

namespace interlock {

enum class ObservabilityProof : uint8_t {
  kOwnWitness,  // The schedule moves this pair only, and an output differs.
  // As kOwnWitness, but no witness line says it: displacements would fetch other bytes early, where
  // not all can be; or what a device wrote gets to the copy that the host reads after what the host
  // wrote over it (stale_host_copies.h).
  kOwnExecution,
  kCommonWitness,  // The schedule changes an output, but moves other hazards' dispatches too.
  kDecidingRuns,   // The deciding runs change no output, hence no schedule does (docs/theory.md,
                   // T5).
  // The schedule moves this pair only, and no output differs; others do. Beside scoped barriers
  // there may be no such schedule: no read of this pair can miss anything.
  kOwnSchedule,
  kSinks,       // No sink of a hazard changes an output: hence no schedule does (T6).
  kUndecided,   // As kOwnSchedule, but the budget did not reach all other hazards.
  kOverBudget,  // Not judged.
  kTooWide,     // Likewise: QueueOrder::is_too_wide().
  kSlices,      // The deciding runs change no output, but slices of one dispatch conflict.
};

struct ObservabilityVerdict {
  ObservabilityProof proof = ObservabilityProof::kOverBudget;
  // Empty for kDecidingRuns, kSinks, kOverBudget and kTooWide.
  std::vector<Displacement> schedule;
  // kOwnWitness: the hidden hazard that the schedule reverses instead, if it is not the listed one.
  std::optional<Hazard> through;
  DispatchId conflicting_in;  // kSlices: a dispatch whose slices conflict.
  // What the witness changes: as ShadowMachine::differing_outputs() counts.
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
// Requires: `order` and `segments` were built from `program`, and `hazards` found in it, with what
// the host accesses in whole atoms, ordered by second, then first.
// Cost: three runs, and one more per pair of dispatches, listed or hidden, if an output can differ
// at all. Beside scoped barriers one run for each of sinks_of() (sinks.h), and the statements
// between the pair; with several queues one run, and one of the machine of counters, for each of
// queue_sinks_of() (queue_schedule.h). It ends with the work limit.
std::vector<ObservabilityVerdict> judge_observability(const Program& program,
                                                      const HappensBefore& order,
                                                      const ByteSegments& segments,
                                                      std::span<const Hazard> hazards,
                                                      const ObservabilityOptions& options);

}  // namespace interlock
