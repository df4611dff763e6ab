// Programs with one conflict, which everything between its dispatches leaves alone: what an encoder
// with a ring or a cap forgets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/draft.h"
#include "encoder/program/finding_kind.h"

namespace interlock {

enum class ProbePlace : uint8_t { kOwnMemories, kOneMemory };

struct ConflictProbe {
  FindingKind kind = FindingKind::kReadAfterWrite;  // A hazard.
  ProbePlace place = ProbePlace::kOwnMemories;      // Of the operands that are in no conflict.
};

// Every kind of hazard in every place.
std::vector<ConflictProbe> conflict_probes();

// Two dispatches that conflict, the second `distance` after the first. Those between access bytes
// of their own, as the first does: they write, or read if that is what the second must not pass.
// The first then writes an output besides.
// Requires: distance > 0.
std::string text_at_distance(const ConflictProbe& probe, uint64_t distance);

// Two dispatches: one with so many operands, and one that conflicts with its operand `index`. One
// that reads its operands writes an output besides.
// Requires: index < operand_count <= 250.
std::string text_of_operands(const ConflictProbe& probe, uint64_t operand_count, uint64_t index);

// 1 to `max`: each up to 17, then powers of two with their neighbours.
std::vector<uint64_t> probe_distances(uint64_t max);

// A stream in which each dispatch reads what was written `window` dispatches before it and writes
// over what was read then: a conflict every few dispatches, and bytes that come again and again.
std::string text_of_stream(uint64_t dispatch_count, uint64_t window = 8);

// With the end of a command buffer before each dispatch but the first.
ProgramDraft in_command_buffers(const ProgramDraft& draft);

}  // namespace interlock
