// check: every exact verdict about a program, with explanations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/barriers/joint_removal.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/barriers/wait_bounds.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/report/finding.h"

namespace interlock {

struct CheckOptions {
  bool lists_all_pairs = false;  // Every hazardous pair instead of the latest.
  // Hazards that count as findings; else they are noted. Hazard says what they are. Those that are
  // both count as after own reads.
  bool counts_possible = false;
  bool counts_own_reads = false;
  // Hazards listed at most. An explained finding takes about a kilobyte.
  uint64_t pair_limit = 250'000;
  // Steps of the search for hazards beside scoped barriers, whose operands can make it slow. None:
  // 20 million and 64 for each operand, about a second for a program of few; a clean stream takes a
  // few for each access.
  std::optional<uint64_t> scoped_step_limit;
  // Judging observability runs the shadow machine once per hazardous pair, listed or hidden behind
  // a listed one; it stops after this much work, in dispatches executed (those that touch many byte
  // segments count as several) and pairs looked for.
  // Hazards beyond it stay Observability::kUnknown.
  uint64_t observability_budget = 4'000'000;
  // Beside scoped barriers redundancy is found by visits of commands between conflicts; where there
  // are hazards, and with several queues or the host, by checking again. In all so many visits of
  // commands and accesses, where a barrier with operands may visit all of them.
  uint64_t redundancy_budget = 200'000'000;
  // With several queues or the host, repairs are tried on the program; in all so many visits of
  // statements and accesses.
  uint64_t repair_budget = 20'000'000;
  // Runs of bytes with different owners that the check of lifetimes visits beyond a few for each
  // access; and accesses that the histories in its explanations look at, beyond which they are left
  // out.
  uint64_t lifetime_budget = 50'000'000;
};

struct CheckReport : BarrierBounds {
  // False where the program has several queues or the host: then the bounds, `forcing` and `chain`
  // are not judged, and all advice is in `redundant_sync`.
  bool has_bounds = true;
  // Observable hazards first, then the rest; each in reference order of second, then first
  // dispatch.
  std::vector<Finding> findings;
  // Hazards that do not count: possible ones, and those after own reads. In the same order.
  std::vector<Finding> noted;
  // Advice, in order of barriers: each of these can go, one at a time.
  std::vector<RedundantBarrier> redundant;
  uint64_t unjudged_barrier_count = 0;  // redundancy_budget was too small for these.
  // Likewise, in the order of the text: with several queues or the host all pieces of sync, else
  // words of barriers that cannot go.
  std::vector<SyncPiece> redundant_sync;
  uint64_t unjudged_sync_count = 0;
  // With several queues and no finding: how few waits, or edges, add no order; of a program whose
  // waits or edges do not either. Its dispatches are those of the text.
  std::optional<WaitBounds> waits;
  NoWaitBounds no_waits;  // Likewise: why there are none.
  // What could go, too, but for what comes after this text (closing_sync.h): no advice.
  std::vector<RedundantBarrier> closing;
  std::vector<SyncPiece> closing_sync;
  uint64_t closing_barrier_count = 0;  // With bounds; of barrier_count.
  uint64_t dispatch_count = 0;
  uint64_t bare_dispatch_count = 0;  // Of dispatch_count: opaque, without accesses.
  uint64_t access_count = 0;
  uint64_t barrier_count = 0;
  uint64_t execution_barrier_count = 0;  // Of barrier_count, those that are execution only.
  uint64_t queue_count = 1;              // Queues of which there are statements.
  uint64_t host_access_count = 0;        // Statements in which the host reads or writes.
  uint64_t sync_count = 0;               // Waits, signals, submissions and the like.
  // Hazardous pairs by kind, with lists_all_pairs; a pair can count under several.
  uint64_t raw_count = 0;
  uint64_t war_count = 0;
  uint64_t waw_count = 0;
  uint64_t pair_count = 0;  // Distinct pairs of dispatches.
  // The limits that ended a search early. Then even a report without findings says nothing about
  // the rest of the program: whoever passes judgement asks is_truncated() first.
  std::vector<Truncation> truncations;
  // How many of the barriers do; none where nobody asked joint_advice.h, as check() does not.
  std::optional<JointRemoval> joint;

  bool is_truncated() const { return !truncations.empty(); }
  // Barriers above the fewest; those after the last dispatch do not count. Requires: bounds.
  uint64_t excess_barrier_count() const {
    const uint64_t counted = barrier_count - closing_barrier_count;
    return counted > fewest_barriers ? counted - fewest_barriers : 0;
  }
};

// Returns all findings with explanations, and the numbers. Redundant barriers, and barriers
// above the minimum, are advice and not findings: ask excess_barrier_count() where nothing is
// found. With several queues all of it is about the reference run (reference_order.h), whose
// identities are those of `program`; a program in reference order is that run. Cost: O((a + h) log
// a) for a accesses and h hazards, and the budgets.
CheckReport check(const Program& program, const CheckOptions& options = {});

}  // namespace interlock
