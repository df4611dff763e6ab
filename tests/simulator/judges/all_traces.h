// All traces of a few steps, by brute force: every linear extension, and the classes they fall
// into. Nothing in common with the simulator: bytes, barriers and slices are spelled out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/trace_groups.h"

namespace interlock {

using Relation = std::vector<std::vector<bool>>;  // [a][b]
using StepOrder = std::vector<uint32_t>;

struct StepRelations {
  Relation precedes;   // Sync has a before b. Transitive; a < b.
  Relation conflicts;  // Symmetric.

  size_t count() const { return precedes.size(); }
  bool are_dependent(size_t a, size_t b) const {
    return conflicts[a][b] || precedes[a][b] || precedes[b][a];
  }
  // Conflicts that nothing orders.
  std::vector<UnitPair> hazards() const;
};

// The steps are the dispatches, and conflict by their declared ranges. Global barriers only.
StepRelations dispatch_relations(const Program& program);

// The steps are the slices; `slices` tells which.
struct SliceStep {
  uint32_t dispatch;
  uint32_t slice;
};
StepRelations slice_relations(const Program& program, std::vector<SliceStep>& slices);

// Any strict partial order within issue order, and any conflicts.
StepRelations random_relations(Choice& choice, size_t step_count_max);

std::vector<StepOrder> linear_extensions(const StepRelations& relations);

// The Foata normal form (Cartier and Foata, 1969): each step as early as the steps before it that
// it depends on allow, in layers. Two orders have the same iff swaps of independent neighbours lead
// from one to the other.
using NormalForm = std::vector<std::set<uint32_t>>;
NormalForm normal_form(const StepOrder& order, const StepRelations& relations);
std::set<NormalForm> normal_forms(const StepRelations& relations);

// The number of classes by those swaps themselves. For a handful of steps.
size_t count_classes_by_swapping(const StepRelations& relations);

}  // namespace interlock
