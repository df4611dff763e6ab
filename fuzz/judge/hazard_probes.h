// Probes: small programs that have the conflict of a find and less and less of what stood around
// it. Whether an encoder goes wrong on one is an experiment: the widest probe on which it still
// does says what it gets wrong, and what in the find was chance.
#pragma once

#include <string_view>

#include "encoder/program/draft.h"
#include "encoder/program/program.h"
#include "fuzz/judge/probe_shapes.h"
#include "simulator/hazards/hazards.h"

namespace interlock {

// Whether the two operands are tensors, and not memories.
bool names_tensors(const Program& program, const Hazard& hazard);

inline constexpr std::string_view kFirstOfProbe = "first";
inline constexpr std::string_view kSecondOfProbe = "second";

// The probe of this shape, without sync; its two dispatches are labelled as above.
// Requires: `hazard` is a hazard of `program` between two dispatches, or is like one but for its
// kind, if the modes are plain.
ProgramDraft probe_of(const Program& program, const Hazard& hazard, const ProbeShape& shape);

}  // namespace interlock
