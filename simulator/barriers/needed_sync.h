// Needed sync: which barriers of a program with scoped barriers on one queue, and which of their
// words, some conflict needs, conflict by conflict, without a removal.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

struct NeededSync {
  // By barrier, and one more: pieces are numbered as sync_pieces_of() lists them, a barrier and
  // then its words.
  std::vector<uint32_t> first_piece;
  std::vector<bool> is_needed;  // By piece.
  bool is_complete = true;      // Else the search was too much work: what is not needed is open.
};

// Returns what is needed: without that piece alone, `program` has a hazard. Without any other piece
// alone it has none.
// Requires: one queue; `order` and `segments` were built from `program`, which has no hazard.
// Cost: O(log segments) for each access and each run of a conflict; and for those conflicts that no
// shorter one of their sort stands for, the commands from where a chain can begin to where it is
// complete, and the operands there. `work_limit` bounds these visits.
NeededSync find_needed_sync(const Program& program, const ScopedOrder& order,
                            const ByteSegments& segments, uint64_t work_limit);

}  // namespace interlock
