// Redundancy in programs with several queues: which piece of their sync can go, each by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

struct SyncRedundancy {
  std::vector<SyncPiece> redundant;  // In the order of sync_pieces_of().
  uint64_t unjudged_count = 0;       // Pieces for which the work limit was too small.
};

struct SyncRedundancyOptions {
  uint64_t work_limit = UINT64_MAX;
  // Up to so many pieces are each left out by themselves; of more, many at once where that decides.
  size_t alone_max = 24;
  // Then every so manieth piece is left out at once: close conflicts show; and four times so many
  // apart, for wider ones.
  size_t stride = 16;
  // Of more pieces than `alone_max`, chains are asked first, where queue_cuts.h can judge them, and
  // the two ends of edges, where edge_needs.h can.
  bool asks_chains = true;
  // Somebody has checked the program, which does nothing on the host, and found nothing at all
  // wrong with it. Whether its signals come in the order of their values is looked at all the same.
  bool is_clean = false;
};

// Returns the pieces without which nothing is wrong with the program that is not wrong with it: no
// byte of a hazard, no access pending at a `destroy`, no other value that a read finds, no
// deadlock, and no statement that is an error then; and that fail to order no hazard. Where they
// are left out the reference run is another one, so that both are about what runs then.
// Exact, except for the unjudged. None in a program with a deadlock.
// Requires: no text_order. Cost: a check of the program, and where QueueCuts can judge it,
// find_queue_needs(), and the hazards for each piece that no conflict needs; where there is no
// hazard, of edges find_edge_needs(). Else a few checks more, and one for each piece that can go.
// Beside hazards, of other programs: one for each piece. All as far as `work_limit` allows, which
// bounds statements, accesses and steps visited.
SyncRedundancy find_redundant_sync(const Program& program,
                                   const SyncRedundancyOptions& options = {});

// "the barrier on q0 (fence, statement 3)": the statement, which is a barrier or sync of a device.
// Defined in sync_redundancy_text.cc.
std::string description_of_sync(const Program& program, StatementId statement);

// Complete sentences that say why it can go. Cost: linear in the sync statements.
// Defined in sync_redundancy_text.cc.
std::string reason_of(const Program& program, const SyncPiece& piece);

}  // namespace interlock
