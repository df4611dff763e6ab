// Queue needs: as needed_sync.h, for programs of several queues that QueueCuts can judge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

struct NeededPieces {
  // By piece; neither where chains do not say.
  std::vector<bool> is_needed;
  std::vector<bool> can_go;
};

// Returns which of `pieces` some conflict needs that has no hazard: without one of them alone,
// `program` has a byte of a hazard that it has not with it, or a hazard that is no longer ordered;
// without any other alone it has none.
// What flushes and invalidations save from being lost it does not know: of those another finding
// may come. Requires: QueueCuts::can_judge(); `program` is its own reference run; `pieces` are its
// sync_pieces_of(); `hazards` are those of its find_order_findings(), all of them. Cost: for each
// access, and each place, O(log segments); for those conflicts that no shorter one between the same
// places, and on the same bytes, stands for, the steps between the two; and for dispatches with a
// hazard that of SeparatedFirsts. Takes its work from `work_left`.
NeededPieces find_queue_needs(const Program& program, std::span<const SyncPiece> pieces,
                              std::span<const ByteHazards> hazards, uint64_t& work_left);

}  // namespace interlock
