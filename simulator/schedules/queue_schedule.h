// Schedules of programs with several queues, with the host or with indirect dispatches, made by the
// machine of counters (queue_machine.h), which shares nothing with the clocks that found the
// hazards, and checked by it (queue_legality.h).
//
// docs/theory.md, "Schedules of several queues": a schedule defers some parts of operations until
// others have been carried out; all else goes on in reference order, and what must come after the
// deferred parts waits with them. That is a sink (T6).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/queue_machine.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// `deferred` wait until all of `until` has been carried out.
struct Deferral {
  std::set<OperationPart> deferred;
  std::set<OperationPart> until;
};

// All parts of `program` in the order in which the machine carries them out: always the first one
// in reference order of those that may run and are not deferred. What the host invalidates before
// a deferred commit waits with it, unless it is what holds the rest: then the write is lost.
// Requires: `program` is in reference order. So below.
// Errors: a stop (stop.h); something that a deferral waits for comes after what it defers, whatever
// runs: the sentence says what holds it; more steps than are left. Cost: that of the machine; it is
// taken from `steps_left`, if given, kStepsOfARun for each dispatch and what is looked at. Where it
// is too small it ends at 0. So below.
Result<std::vector<OperationPart>> run_deferring(const Program& program,
                                                 std::vector<Deferral> deferrals,
                                                 uint64_t* steps_left = nullptr);

inline constexpr uint64_t kStepsOfARun = 4096;

// What witness lines say of such programs, one after the other:
//   `A before B`           all of B waits until all of A has run; `B after A` says the same;
//   `A commits after B`    the writes of A commit after B, those that B need not come after;
//   `A fetches before B commits`   the writes of B commit once A has fetched their bytes.
// Errors: as above; slices; a witness in which nothing can wait.
// Cost: one run; and where only some writes can wait, one more for each piece of them.
Result<Schedule> queue_schedule_of(const Program& program,
                                   const std::vector<Displacement>& displacements,
                                   uint64_t* steps_left = nullptr);

// The sinks of a hazard: one for each pair of conflicting parts, of a fetch and a commit or of two
// commits, that the machine can carry out in the other order. None where it cannot: what the
// hazard is about is then no part of the machine, such as the host's own cache; or the second one
// overwrites what is available to it, so that no read can miss anything.
// Cost: a run of the machine for each pair. Where steps do not last sinks may be missing.
std::vector<Schedule> queue_sinks_of(const Program& program, const Hazard& hazard,
                                     uint64_t& steps_left);

// The witness lines that may say such a sink, the plainest first.
std::vector<std::vector<Displacement>> queue_witnesses_of(const Hazard& hazard);

}  // namespace interlock
