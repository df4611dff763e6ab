// Redundancy: which sync commands of a program can go. Each can go by itself; removals interact, so
// that two that each can go may not both go (barrier_bounds.h counts what can go together).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/conflict_scan.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/order/happens_before.h"

namespace interlock {

enum class RedundancyReason : uint8_t {
  kNothingBefore,  // No dispatch stands before it.
  kNothingBehind,  // No dispatch stands after it.
  kSamePlace,      // `other`, with no dispatch between, does what it does.
  kNoConflict,     // No conflict joins what it separates, and no destroy waits for it.
  kNoDifference,   // Scoped: without it the same accesses have the same hazards.
};

struct RedundantBarrier {
  BarrierId barrier;
  RedundancyReason reason;
  BarrierId other;    // Of kSamePlace.
  uint32_t slot = 0;  // How many dispatches stand before it.

  bool operator==(const RedundantBarrier&) const = default;
};

// The epochs of one sort, while the dispatches are visited in issue order.
struct JoinedEpochs {
  // A dispatch, of the epoch that begins at `epoch_begin`, and its latest conflict.
  void see(DispatchId epoch_begin, Stamp latest);
  // Whether the epoch that begins there is the current one, and joined: nothing more can change.
  bool is_joined(DispatchId epoch_begin) const {
    return !joined.empty() && epoch_begin == begin && joined.back();
  }

  DispatchId begin;          // Of the current epoch.
  DispatchId previous;       // Of the one before it.
  std::vector<bool> joined;  // By epoch: a conflict joins it with the one before.
};

// Which epochs a conflict joins, as part of a pass over the dispatches.
class EpochJoins : public ConflictObserver {
 public:
  // Requires: `order` was built from `program`; both outlive this.
  EpochJoins(const Program& program, const HappensBefore& order)
      : program_(program), order_(order) {}

  void see(DispatchId dispatch, const ScannedConflicts& latest) override;

  // As find_redundant() says. Requires: every dispatch was seen, and none has a hazard: a hazard
  // can hide the conflict that joins two epochs.
  std::vector<RedundantBarrier> redundant() const;

 private:
  const Program& program_;
  const HappensBefore& order_;
  JoinedEpochs execution_;
  JoinedEpochs memory_;
};

// Takes from `redundant` what a destroy needs, and returns how many of it nobody can judge, which
// go, too: find_destroy_needs() was too much work.
uint64_t keep_for_destroys(const DestroyNeeds& needs, std::vector<RedundantBarrier>& redundant);

// Returns the barriers whose removal leaves the hazards of `program` as they are: it adds none, on
// no byte, and takes from none the execution order that it has without visibility; and leaves no
// destroy with an access pending that was over. Sync that fails to order a hazard is not among
// them: an execution barrier that stands within one. In order of barriers.
// Exact also in programs that have hazards: a barrier is listed iff no conflict joins the two
// execution epochs that it separates, and no RAW or WAW the two memory epochs; but for those that a
// destroy waits for, and those that fail. Beside scoped barriers it is find_scoped_redundant()
// without a limit, which gives the same for the same barriers spelled as scopes.
// Requires: `order` and `segments` were built from `program`.
// Cost: O(a log a) for a accesses; beside scoped barriers see below.
std::vector<RedundantBarrier> find_redundant(const Program& program, const HappensBefore& order,
                                             const ByteSegments& segments);

struct ScopedRedundancy {
  std::vector<RedundantBarrier> redundant;  // In order of barriers.
  uint64_t unjudged_count = 0;              // Barriers for which the work limit was too small.
};

// Returns the barriers that judge_removal() calls redundant, for any mixture of full, execution and
// scoped barriers. Exact, except for the unjudged.
// Cost: for each barrier two checks of the dispatches around it, up to the next barrier on either
// side that alone orders all that it separates; `work_limit` bounds the accesses so checked, and
// what is compared where there are hazards.
// Defined in scoped_redundancy.cc.
ScopedRedundancy find_scoped_redundant(const Program& program, uint64_t work_limit);

// "fence (barrier 3, before dispatch 7)", "barrier 3 (after the last dispatch)".
// Defined in redundancy_text.cc, as reason_of().
std::string description_of(const Program& program, const RedundantBarrier& redundant);

// Complete sentences that say why it can go. Cost: the statements of the epochs that it separates.
std::string reason_of(const Program& program, const RedundantBarrier& redundant);

}  // namespace interlock
