// A draft without some of its items, in one piece: what is left must be a program, or no search
// takes it.
#pragma once

#include <cstddef>
#include <span>

#include "encoder/program/draft.h"

namespace interlock {

// Names that an operation comes after, at most, where edges are handed on. The first ones stay.
inline constexpr size_t kHandedOnEdgesMax = 256;

// Returns `draft` without the items at `positions`. An operation of a graph queue that came after a
// dropped one comes after what that one came after, so that full edges order as much as before and
// no edge leads to what is not there; beyond kHandedOnEdgesMax less. Edges are programmatic where
// all ways that they stand for have been so at one end; where some have, all are full.
// Requires: `positions` rise; edges name labels. Cost: linear in the draft, and in the edges of
// dropped operations and of those after them, at most kHandedOnEdgesMax for each edge.
ProgramDraft without_items(const ProgramDraft& draft, std::span<const size_t> positions);

}  // namespace interlock
