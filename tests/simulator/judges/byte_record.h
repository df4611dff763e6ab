// Records of the ledger of bytes (value_ledger.h): what one byte holds, and what a read finds
// there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/lifetimes/lifetimes.h"

namespace interlock {

// What one byte holds.
struct Record {
  bool is_written = false;        // By a dispatch, or an initial value.
  bool is_raw = false;            // Through no tensor.
  AccessRef writer;               // No dispatch: an initial value.
  DispatchId changer;             // Likewise, and through no tensor, too.
  std::vector<TensorId> holders;  // The owner last.
  TensorId owner;                 // Stays when the last holder lets go.
  // What waits for an unpin, in the order of the statements: frees by holders; resets by nobody.
  std::vector<std::pair<LifetimeId, TensorId>> waiting;
  LifetimeId ended_by;
  LifetimeId ended_at;
};

using Memories = std::vector<std::vector<Record>>;

inline Memories initial_memories(const Program& program) {
  Memories memories;
  for (const Memory& memory : program.memories) memories.emplace_back(memory.size_bytes);
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    if (tensor.initial.kind == InitialKind::kNone) continue;
    for (uint64_t b = tensor.range.begin; b < tensor.range.end; ++b) {
      Record& record = memories[tensor.memory.index][b];
      record.is_written = true;
      record.holders = {TensorId(i)};
      record.owner = TensorId(i);
    }
  }
  return memories;
}

inline TensorId root_of(const Program& program, const Access& access) {
  return access.tensor.is_some() ? program.tensor(access.tensor).root : TensorId();
}

inline bool holds(const Record& record, TensorId tensor) {
  return std::find(record.holders.begin(), record.holders.end(), tensor) != record.holders.end();
}

// The finding of one byte, without its bytes; kDivergence if all is well.
inline LifetimeFinding judge(const Record& record, AccessRef reader, TensorId root) {
  LifetimeFinding finding;
  finding.kind = FindingKind::kDivergence;
  finding.reader = reader;
  finding.tensor = root;
  finding.found = record.owner;
  if (record.ended_at.is_some()) {
    finding.kind = FindingKind::kUseAfterFree;
    finding.ended_by = record.ended_by;
    finding.ended_at = record.ended_at;
  } else if (!root.is_some() || record.is_raw) {
  } else if (!record.is_written) {
    finding.kind = FindingKind::kUninitialized;
  } else if (!holds(record, root)) {
    finding.kind =
        record.writer.dispatch.is_some() ? FindingKind::kClobber : FindingKind::kUninitialized;
    finding.overwriter = record.writer;
  }
  return finding;
}

}  // namespace interlock
