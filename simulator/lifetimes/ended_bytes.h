// Ended bytes: what dispatches read of values that were freed or reset. Backends poison it.
#pragma once

#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Bytes that hold nothing when they are read: their value was freed or reset; or, at the end of the
// program, the host has lost it (host_moves.h).
struct EndedBytes {
  DispatchId reader;  // None: at the end of the program, whoever reads.
  MemoryId memory;
  ByteRange bytes;

  bool operator==(const EndedBytes&) const = default;
};

// Returns what each dispatch reads of ended bytes, in reference order, and all that is ended at the
// end. Of values none where they take more work than any but a hostile program.
// Cost: as check_lifetimes() and HostMoves.
std::vector<EndedBytes> find_ended_bytes(const Program& program);

// The same without what the host has lost. Cost: as check_lifetimes().
std::vector<EndedBytes> find_ended_values(const Program& program);

}  // namespace interlock
