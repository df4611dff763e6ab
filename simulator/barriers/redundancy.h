// Redundancy: which barriers of a program on one queue can go, and which of their words. Each can
// go by itself; removals interact, so that two that each can go may not both go (barrier_bounds.h
// counts what can go together).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"
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

struct BarrierRedundancy {
  std::vector<RedundantBarrier> redundant;  // In order of barriers.
  // Of barriers that cannot go, in the order of sync_pieces_of(). None where all barriers are full:
  // such a program speaks of nothing that is narrower.
  std::vector<SyncPiece> words;
  uint64_t unjudged_count = 0;       // Barriers for which the work limit was too small.
  uint64_t unjudged_word_count = 0;  // Likewise words, of other barriers.
};

// The epochs of one sort, while the dispatches are visited in issue order.
class JoinedEpochs {
 public:
  // A dispatch, of the epoch that begins at `epoch_begin`, and its latest conflict.
  [[gnu::always_inline]] void see(DispatchId epoch_begin, Stamp latest) {
    if (epoch_begin != begin_) start(epoch_begin);
    if (latest > previous_.index) joined_.back() |= uint64_t{1} << ((count_ - 1) % 64);
  }
  // A conflict joins the epoch of that number with the one before. Requires: it was seen.
  bool is_joined(uint32_t epoch) const { return (joined_[epoch / 64] >> (epoch % 64) & 1) != 0; }
  // Whether the epoch that begins there is the current one, and joined: nothing more can change.
  bool is_current_joined(DispatchId epoch_begin) const {
    return epoch_begin == begin_ && is_joined(count_ - 1);
  }

 private:
  void start(DispatchId epoch_begin);

  DispatchId begin_;              // Of the current epoch; none before the first one.
  DispatchId previous_;           // Of the one before it.
  uint32_t count_ = 0;            // Of epochs.
  std::vector<uint64_t> joined_;  // A bit each.
};

// Which epochs a conflict joins, as part of a pass over the dispatches.
class EpochJoins : public ConflictObserver {
 public:
  // Requires: `order` was built from `program`; both outlive this.
  EpochJoins(const Program& program, const HappensBefore& order);

  void see(DispatchId dispatch, const ScannedConflicts& latest) override;

  // As find_redundant(), but for scoped barriers, beside which there are none. Requires: every
  // dispatch was seen, and none has a hazard: a hazard can hide the conflict that joins two epochs.
  BarrierRedundancy redundant(const DestroyNeeds& destroys) const;

 private:
  const Program& program_;
  const HappensBefore& order_;
  const bool are_all_full_;  // Then memory has the epochs of execution, and what joins them does.
  JoinedEpochs execution_;
  JoinedEpochs memory_;  // Unless all are full.
};

// Returns what can go and leaves the hazards of `program` as they are: its removal adds none, on no
// byte, and takes from none the execution order that it has without visibility; and leaves no
// destroy with an access pending that was over. Sync that fails to order a hazard is not among
// them: an execution barrier that stands within one.
// Exact also in programs that have hazards: a barrier is listed iff no conflict joins the two
// execution epochs that it separates, and no RAW or WAW the two memory epochs; but for those that a
// destroy waits for, and those that fail. Of a full barrier the memory can go iff no RAW or WAW
// joins the memory epochs. Beside scoped barriers it is find_scoped_redundant(), which gives the
// same for the same barriers spelled as scopes.
// Requires: `order` and `segments` were built from `program`, and `destroys` is of it.
// Cost: O(a log a) for a accesses; beside scoped barriers see below.
BarrierRedundancy find_redundant(const Program& program, const HappensBefore& order,
                                 const ByteSegments& segments, const DestroyNeeds& destroys);

// Likewise, for any mixture of full, execution and scoped barriers. Exact, except for the unjudged.
// Cost: a check for hazards. Where there are none, find_needed_sync(). Else for each barrier, and
// each word of one that stays, two checks of the dispatches around it, up to the next barrier on
// either side that alone orders all that it separates. `work_limit` bounds the accesses so checked,
// and what is compared.
// Defined in scoped_redundancy.cc.
BarrierRedundancy find_scoped_redundant(const Program& program, uint64_t work_limit,
                                        const DestroyNeeds& destroys = {});

// Likewise. Requires: `order`, which has scopes, and `segments` were built from `program`, which
// has no hazard.
// Defined in clean_redundancy.cc.
BarrierRedundancy find_redundant_of_clean(const Program& program, const HappensBefore& order,
                                          const ByteSegments& segments, uint64_t work_limit,
                                          const DestroyNeeds& destroys);

// "fence (barrier 3, before dispatch 7)", "barrier 3 (after the last dispatch)".
// Defined in redundancy_text.cc, as reason_of().
std::string description_of(const Program& program, const RedundantBarrier& redundant);

// Complete sentences that say why it can go. Cost: the statements of the epochs that it separates.
std::string reason_of(const Program& program, const RedundantBarrier& redundant);

}  // namespace interlock
