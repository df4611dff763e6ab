// The dependencies of a program with several queues, with both their ends: what barriers, serial
// queues, semaphores, events, edges, submissions and the host say, written down one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Where a statement of the text stands among the ends of dependencies.
constexpr int64_t position_of_statement(size_t statement) {
  return static_cast<int64_t>(statement + 1) * 4;
}

inline constexpr AccessMask kAccessesOfHost =
    bit_of(StageAccess::kHostRead) | bit_of(StageAccess::kHostWrite);

// One end of a dependency. Ends can stand between statements.
struct ChainEnd {
  QueueIndex queue = kNoQueue;  // kNoQueue: the host.
  int64_t position = 0;         // position_of_statement(); the source end is about what is before.
  StageMask stages = 0;         // With those that they imply for execution.
  AccessMask accesses = 0;
  DispatchId operation;  // Some: about this operation alone.
};

struct ChainDependency {
  ChainEnd source;
  ChainEnd destination;
  std::span<const Access> operands;  // None: all memory.
};

// The stages in which the dispatch does anything.
StageMask stages_of_dispatch(const Program& program, DispatchId dispatch);

// Where a statement is submitted: at the next `submit` of its queue, else where it stands.
size_t submission_of(const Program& program, size_t statement);

// Returns all dependencies. Nothing is said twice in short: semaphores have one for each signal of
// their queue up to theirs, and a submission one for each of its statements.
// Requires: `program` was parsed, its statements stand as in the text, and it outlives the result.
// Cost: cubic in the statements.
std::vector<ChainDependency> chain_dependencies_of(const Program& program);

}  // namespace interlock
