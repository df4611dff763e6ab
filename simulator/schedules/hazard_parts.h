// HazardParts: the parts of the machine of counters by which two dispatches have a hazard.
#pragma once

#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/hazards.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {

// The ways in which two dispatches meet on their bytes as one kind of hazard has it.
class HazardParts {
 public:
  struct Pair {
    OperationPart first;
    OperationPart second;
  };

  // Requires: `machine` is of `program`, and splits memory; both outlive this.
  // Cost: the pieces of the two, squared.
  HazardParts(const Program& program, const QueueMachine& machine, const Hazard& hazard);

  const std::vector<Pair>& pairs() const { return pairs_; }

 private:
  // Some bytes through which a part takes part.
  struct Use {
    OperationPart part;
    const Access* access;
    ByteRange bytes;
  };

  // `leaves`: those alone by which the dispatch finds bytes that it leaves as they were.
  std::vector<Use> uses_of(DispatchId dispatch, PartRole role, bool leaves) const;
  void add(const Hazard& hazard, PartRole first_role, PartRole second_role);
  bool is_split(DispatchId dispatch, uint32_t access) const;
  bool conflict(const Access& first, const Access& second) const {
    return !(is_same_atomic_ && first.is_atomic() && second.is_atomic());
  }

  const Program& program_;
  const QueueMachine& machine_;
  FindingKind kind_;
  bool is_same_atomic_ = false;
  std::vector<Pair> pairs_;
};

}  // namespace interlock
