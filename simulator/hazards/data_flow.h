// Data flow: which writer each read sees, in reference order against program order (`order=`).
#pragma once

#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// A read that sees another writer in reference order than program order gives it. A `reader` of
// none is the end of the program, which reads all ordinary bytes. A partial write reads what it
// keeps, and an atomic on scratch what it adds to.
struct ReorderedRead {
  DispatchId reader;
  uint32_t access = 0;      // Of the reader.
  DispatchId seen_writer;   // None: the initial bytes.
  DispatchId right_writer;  // None: the initial bytes.
  MemoryId memory;
  ByteRange bytes;  // The lowest contiguous run of them.

  bool operator==(const ReorderedRead&) const = default;
};

// Bytes of a scratch memory were placed after reordering: there the reference-order writer is
// right, unless it is later in program order. Atomics of one operation side by side commute, so
// each of them reads what stood there before the first. One entry per (reader, access, seen,
// right), in reference order of the reader; the end of the program last. Empty if the program has
// no `order=`. Cost: O((a + s) log a) for a accesses and s byte segments.
std::vector<ReorderedRead> find_reordered(const Program& program);

}  // namespace interlock
