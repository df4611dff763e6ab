// Queue needs: as needed_sync.h, for programs of several queues that QueueCuts can judge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

struct NeededPieces {
  // By piece; neither where chains do not say.
  std::vector<bool> is_needed;
  std::vector<bool> can_go;
};

// Returns which of `pieces` some conflict needs: without one of them alone, `program` has a hazard;
// without any other alone it has none.
// What flushes and invalidations save from being lost it does not know: of those another finding
// may come. Requires: QueueCuts::can_judge(); `program` is its own reference run, and has no
// hazard; `pieces` are its sync_pieces_of(). Cost: for each access, and each place, O(log
// segments); and for those conflicts that no shorter one between the same places, and on the same
// bytes, stands for, the steps between the two. Takes its work from `work_left`.
NeededPieces find_queue_needs(const Program& program, std::span<const SyncPiece> pieces,
                              uint64_t& work_left);

}  // namespace interlock
