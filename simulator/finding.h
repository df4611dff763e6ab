// Finding: one fact that a check or an execution established about a program. A value, never an
// exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program.h"
#include "simulator/hazards.h"

namespace interlock {

enum class Observability : uint8_t {
  kUnknown,       // Not judged: over the budget, or slices of one dispatch conflict.
  kObservable,    // `witness` changes an output, in the shadow machine.
  kUnobservable,  // No schedule changes an output.
  kMasked,        // Other hazards change an output; reversing this one alone does not.
};

struct Finding {
  FindingKind kind;
  AccessRef first;                  // Hazards: the earlier access. Alias: the input.
  std::optional<AccessRef> second;  // Hazards: the later access. Alias: the output.
  MemoryId memory;
  ByteRange overlap;
  Observability observability = Observability::kUnknown;
  std::vector<Displacement> witness;  // A legal schedule that shows it; empty if none is known.
  // Complete sentences. `headline` names kind, accesses, bytes and dispatches; `details` say why
  // nothing orders them, what aliases what, and what the damage is; `fix` is the smallest repair,
  // to stand behind "Fix: ".
  std::string headline;
  std::vector<std::string> details;
  std::string fix;
};

}  // namespace interlock
