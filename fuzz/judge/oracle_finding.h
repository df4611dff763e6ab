// OracleFinding: what the exact checks found, without prose: campaigns judge millions of programs.
#pragma once

#include <optional>

#include "encoder/program/program.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazards.h"

namespace interlock {

struct OracleFinding {
  FindingKind kind = FindingKind::kReadAfterWrite;
  AccessRef first;                  // Alias: the input. Reordered: the reader.
  std::optional<AccessRef> second;  // None for kinds that concern one access.
  MemoryId memory;
  ByteRange overlap;
  std::optional<ReorderedRead> reordered;  // Of kReordered.
  bool is_ordered = false;                 // RAW, WAW: ordered, but not made available and visible.
  bool is_excess = false;                  // Not a hazard: more barriers than the proven minimum.

  bool operator==(const OracleFinding&) const = default;
};

}  // namespace interlock
