// Signal needs: which sync keeps the signals of a timeline in the order of their values, where
// several queues signal it, or the host does too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// Of pieces, each by itself.
struct SignalNeeds {
  std::vector<size_t> needed;  // Without it some signal need not fire after the next lower value.
  std::vector<size_t> can_go;  // Without it all do.
};

// True of a signal of such a timeline, and of a word of one: it begins one chain, and ends another.
std::vector<bool> is_of_crossing_signal(const Program& program, std::span<const SyncPiece> pieces);

// Returns which of `asked`, into `pieces`, are needed for that, and which are not; in neither are
// those for which `work_left` is too little, and those with statements between two pairs of
// signals. Requires: `program` is its own reference run, and its signals fire in the order of their
// values; it uses no binary semaphore again; the pieces are of it, and none that is asked is of a
// crossing signal, a part of another one that is, or a queue of a `host idle`.
// Cost: a pass over the program for every kSemaphoresAtOnce of these timelines, each of which
// counts as `pass_work`; and where that finds signals that would be out of order without all of
// them, for each such semaphore as many as there are of these pieces between two signals of it, at
// most.
SignalNeeds find_signal_needs(const Program& program, std::span<const SyncPiece> pieces,
                              std::span<const size_t> asked, uint64_t pass_work,
                              uint64_t& work_left);

}  // namespace interlock
