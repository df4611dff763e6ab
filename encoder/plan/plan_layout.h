// PlanLayout: the decisions of a planner, and the program that they make.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/plan/placement_problem.h"
#include "encoder/plan/plan_values.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

struct PlanMemory {
  std::string name;  // Another one is found if the program has it.
  uint64_t size_bytes = 0;
};

struct ValuePlace {
  uint32_t memory = 0;  // Into PlanLayout::memories.
  uint64_t offset_bytes = 0;
  uint32_t donor = PlanValues::kNoValue;  // If some: a donation of that value, not a place.
};

// A lifetime statement that the plan adds.
struct PlanLifetime {
  uint32_t dispatch_count = 0;  // It stands after so many dispatches.
  LifetimeKind kind = LifetimeKind::kReset;
  TensorId tensor;      // Of a pin and an unpin.
  uint32_t memory = 0;  // Of a reset, into PlanLayout::memories.
};

struct PlanLayout {
  std::vector<PlanMemory> memories;     // Those of 0 bytes are left out.
  std::vector<ValuePlace> places;       // By value.
  std::vector<PlanLifetime> lifetimes;  // By dispatch_count, in the order of the text.
};

// All values in one memory `pool`.
PlanLayout layout_of(const PlacementProblem& problem, const ValuePlacement& placement);

// Returns the program with its values placed. Errors: what the format has no room for.
// Cost: linear, and what a build takes.
Result<Program> place_values(const Program& program, const PlanValues& values,
                             const PlanLayout& layout);

}  // namespace interlock
