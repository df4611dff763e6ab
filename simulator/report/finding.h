// Finding: one fact that a check or an execution established about a program. A value, never an
// exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"

namespace interlock {

enum class Observability : uint8_t {
  kUnknown,       // Not judged: over the budget, or slices of one dispatch conflict.
  kObservable,    // `witness` changes an output, in the shadow machine.
  kUnobservable,  // No schedule changes an output.
  kMasked,        // Other hazards change an output; reversing this one alone does not.
};

struct Finding {
  FindingKind kind;
  // Hazards: the earlier access. Alias: the input. Clobber: the overwriter. Uninitialized,
  // use-after-free: the reader, which is no dispatch if the end of the program reads. Gradient: the
  // last write of it, if any.
  AccessRef first;
  // Hazards: the later access. Alias: the output. Clobber: the reader; none if it is the end.
  std::optional<AccessRef> second;
  MemoryId memory;
  ByteRange overlap;
  LifetimeId lifetime;  // Use-after-free: what ended the value.
  TensorId tensor;      // Gradient: the tensor that it is by.
  Observability observability = Observability::kUnknown;
  std::vector<Displacement> witness;  // A legal schedule that shows it; empty if none is known.
  // Complete sentences. `headline` names kind, accesses, bytes and dispatches; `details` say why
  // nothing orders them, what aliases what, and what the damage is; `fix` is the smallest repair,
  // to stand after "Fix: ".
  std::string headline;
  std::vector<std::string> details;
  std::string fix;
};

}  // namespace interlock
