// HazardExtent: all that a hazard of one kind between two dispatches is about. A report names the
// first bytes of it; a repair has to separate all.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/order_findings.h"

namespace interlock {

struct HazardExtent {
  // As operands of a barrier or a flush: apart, and ascending in each memory. Of more than 16 runs
  // in all, one for each memory that spans its runs.
  std::vector<Access> bytes;
  // The least that a scoped barrier names to separate the two.
  Scope source;
  Scope destination;
};

// Returns it, of those of `hazards` that are of this kind, and of which `first` is the earlier one.
// Requires: `hazards` are of the two in `program`. Cost: O(n log n), and the operands of the two
// for each run.
HazardExtent extent_of(const Program& program, FindingKind kind, DispatchId first,
                       DispatchId second, std::span<const ByteHazards> hazards);

// Those in memories that have atoms, which the host flushes and invalidates.
std::vector<Access> bytes_in_atoms(const Program& program, std::span<const Access> bytes);

// "barrier compute.write -> compute.read x": what separates the two. About all memory where `bytes`
// are none, or the second one writes what the first one reads.
std::string barrier_text_of(const Program& program, FindingKind kind, const HazardExtent& extent);

// "x[0:64] y": as operands stand in a text.
std::string text_of_operands(const Program& program, std::span<const Access> bytes);

}  // namespace interlock
