// Queue ways: what the steps of a program of several queues do for chains, whichever two accesses
// these are between.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/scope.h"
#include "simulator/barriers/queue_marks.h"
#include "simulator/barriers/queue_steps.h"
#include "simulator/barriers/signal_marks.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// A step adds marks wherever it finds one of others. It begins at the first access itself, too, and
// leads to the second one, if these are covered.
struct QueueWay {
  // Wherever one of these has been reached, these are.
  uint64_t from_places = 0;
  uint64_t from_signals = 0;
  uint64_t to_places = 0;
  uint64_t to_signals = 0;
  // The first access, if it is on this queue, the host's kNoQueue: for order in one of the stages,
  // for memory what it wrote by one of the accesses.
  Scope first;
  QueueIndex first_queue = kNoQueue;
  // The second one, likewise: for memory, by one of these accesses.
  QueueIndex second_queue = kNoQueue;
  AccessMask second = 0;
  // To the upper level (queue_marks.h): where the second access is the host's; where the first is,
  // and then, if not that, in unified memory.
  bool rises_to_reads = false;
  bool rises_from_writes = false;
  bool rises_in_unified = false;
  // Into Program::dependencies: its operands say of which bytes. kNone: of all.
  uint32_t dependency = kNone;

  static constexpr uint32_t kNone = UINT32_MAX;

  // What the step makes, signals or an event.
  uint64_t made() const { return to_signals & kAllMarks; }

  bool operator==(const QueueWay&) const = default;
};

// Appends what the step does; without that piece, if it is not null. Of what the host moves that is
// nothing. Requires: `marks` have begun, or are of the program. Cost: linear in the dependencies,
// signals or queues of the step.
void append_ways(const Program& program, const QueueStep& step, const SignalMarks& marks,
                 const SyncPiece* without, std::vector<QueueWay>& ways);

// The piece takes something from what the statement does.
bool takes_from_ways(const Program& program, const SyncPiece& piece, uint32_t statement);

}  // namespace interlock
