// Edge needs: which edges of graph queues can go and which are needed, as far as the operations at
// their two ends say it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

struct EdgeNeeds {
  // By piece; neither where the two ends do not say.
  std::vector<bool> is_needed;
  std::vector<bool> can_go;
};

// Whether nothing but edges orders operations of graph queues after one another, and there are
// edges. Cost: linear in the sync statements.
bool can_judge_edges(const Program& program);

// Returns of `pieces` the edges that are needed, as the operations at their ends conflict and no
// other path joins them, and those that can go, as another path does. Each alone.
// Requires: can_judge_edges(); `program` is its own reference run and has no hazard; `pieces` are
// its sync_pieces_of(). Cost: for each edge d / 64 steps, where d operations before are the
// farthest that an edge from there on begins at, the edges beside it that lead to the same
// operation, and the operands of its ends; d / 8 bytes an operation. Takes its work from
// `work_left`; says nothing if that is too little, or the memory more than 128 MiB.
EdgeNeeds find_edge_needs(const Program& program, std::span<const SyncPiece> pieces,
                          uint64_t& work_left);

}  // namespace interlock
