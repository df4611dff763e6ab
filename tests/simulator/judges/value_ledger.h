// ValueLedger: the second method for lifetimes. Every byte holds a record of its own, with the list
// of tensors that hold its value; statements are executed one by one and byte by byte. As simple as
// can be, and nothing in common with simulator/lifetimes/lifetimes.h but the definitions of
// docs/theory.md.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/lifetimes/lifetimes.h"

namespace interlock {

// The findings of issue order, sorted like check_lifetimes() sorts none: compare as sets.
// Cost: statements times bytes.
std::vector<LifetimeFinding> findings_by_ledger(const Program& program);

// An access of a byte, any of its stage, the destroy of the byte that it may still be pending at,
// and the statement that carries that out.
using PendingByte = std::tuple<AccessRef, LifetimeId, LifetimeId, MemoryId, uint64_t>;

// All of them. Cost: as above.
std::set<PendingByte> pending_by_ledger(const Program& program);

// A destroy, the statement of the host that carries it out as it is issued, and a byte of it.
using IssuedByte = std::tuple<LifetimeId, LifetimeId, MemoryId, uint64_t>;

// All of them, of a program in reference order that has a text_order. Cost: as above.
std::set<IssuedByte> issued_destroys_by_ledger(const Program& program);

// Whether some schedule has a read that goes wrong, of all orders in which the dispatches between
// two barriers can run. Statements of lifetimes stay where they are issued: a value is ended for
// the dispatches that are issued after its end. Requires: full barriers only, no adopt. Cost: the
// schedules, times dispatches times bytes.
bool goes_wrong_in_some_schedule(const Program& program);

// Whether in some such schedule `reader` finds, in a byte of `bytes`, what `writer` wrote.
bool can_find(const Program& program, DispatchId reader, DispatchId writer, MemoryId memory,
              ByteRange bytes);

}  // namespace interlock
