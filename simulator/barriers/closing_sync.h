// Closing sync: what stands after the last dispatch of its queue. It orders nothing that the text
// has; it orders all of that before what comes after the text: the next frame, the next command
// buffer, whoever presents or reads the outputs. So that it can go from this text is no advice.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

class ClosingSync {
 public:
  // Cost: linear in the statements, the queues and the lifetime statements; where no other queue is
  // declared, in the statements after the last dispatch and in the lifetime statements.
  explicit ClosingSync(const Program& program);

  // The statement is sync, and nothing that its queue does stands after it: no dispatch, and where
  // the program destroys bytes, no lifetime statement. Of the host: nothing that anyone does. Where
  // there is no dispatch at all nothing closes.
  bool has(StatementId id) const;

  // All of it is closing sync: the statement, or of a barrier a word. Of other sync that stays, a
  // wait elsewhere may be narrowed by a word.
  bool has(const SyncPiece& piece) const;

 private:
  const Program& program_;
  std::vector<StatementId> last_;  // By queue, and then of all: what stands last; none: nothing.
  bool asks_all_;                  // There is one queue, or all that do something end together.
};

// The barriers of a program on one queue that are closing sync. Cost: the statements after the last
// dispatch.
uint64_t closing_barrier_count(const Program& program);

}  // namespace interlock
