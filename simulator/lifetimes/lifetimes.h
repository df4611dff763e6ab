// Lifetimes: which logical value owns each byte, and reads that find another one or none.
//
// In reference order, the owner of a byte is the root tensor of its last write through a tensor:
// views write for their root, donations for themselves. Raw ranges own nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/lifetimes/truncation.h"
#include "simulator/order/queue_order.h"

namespace interlock {

// A read that goes wrong in reference order, whatever the sync; or a destroy with an access
// pending.
struct LifetimeFinding {
  FindingKind kind = FindingKind::kClobber;  // kClobber, kUninitialized or kUseAfterFree.
  AccessRef reader;                          // No dispatch: the end of the program reads an output.
  TensorId tensor;          // The root of the value that is read; none for a raw range.
  TensorId found;           // The root of the value on the bytes; none if there is none.
  AccessRef overwriter;     // Of kClobber: who wrote `found`.
  LifetimeId ended_by;      // Of kUseAfterFree: the free, destroy or reset.
  LifetimeId ended_at;      // What carried it out: itself, or the unpin that it waited for.
  bool is_pending = false;  // `ended_by` is a destroy, and nothing orders `reader` before it.
  MemoryId memory;
  ByteRange bytes;  // The first maximal run on which all this is so.

  bool operator==(const LifetimeFinding&) const = default;
};

struct LifetimeOptions {
  uint64_t finding_limit = 250'000;
  // Runs of bytes that reads and lifetime statements visit, beyond a few for each.
  uint64_t work_limit = 50'000'000;
  // Of a program in reference order that needs_queue_order(); null: one queue.
  const QueueOrder* queues = nullptr;
};

struct LifetimeReport {
  std::vector<LifetimeFinding> findings;
  std::optional<Truncation> truncation;  // There may be more.

  bool is_truncated() const { return truncation.has_value(); }
};

// Returns the findings in reference order of the reader, one for each reader's operand and each
// overwriter, end of the value, or value found; those of the end of the program last. The end reads
// the outputs that are named, and does not mind one that nobody wrote.
// Cost: O(a log a) for a accesses, plus the runs of bytes with different owners that reads cross.
// Nothing if no tensor is declared and no memory reset.
LifetimeReport check_lifetimes(const Program& program, const LifetimeOptions& options = {});

}  // namespace interlock
