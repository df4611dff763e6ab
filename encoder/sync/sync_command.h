// SyncCommand: a statement of sync as an encoder issues it, with all that the text can say of it.
// What most encoders need CommandSink says in fewer words.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/barrier.h"
#include "encoder/program/program.h"
#include "encoder/program/sync_step.h"
#include "encoder/sync/encoder.h"

namespace interlock {

// One dependency of a barrier or of an event.
struct DependencyCommand {
  Scope source;
  Scope destination;
  std::vector<Access> operands;  // Their modes mean nothing. None: all memory.
  TransitionKind transition = TransitionKind::kNone;
};

// What its kind does not have is empty.
struct SyncCommand {
  bool is_barrier = false;
  SyncKind kind = SyncKind::kSplit;             // Of what is no barrier.
  BarrierKind barrier = BarrierKind::kFull;     // Of a barrier, and of kSet.
  std::vector<DependencyCommand> dependencies;  // Of kScoped.
  // One or more of kSignal, in one batch; one of kWait, kHostWaits and kHostSignals. Of a binary
  // semaphore the value means nothing.
  std::vector<SemaphorePoint> points;
  bool is_from_outside = false;      // Of kWait and kHostWaits: nobody in the program signals it.
  uint32_t event = 0;                // Of kSet and kAwait.
  QueueIndex idle_queue = kNoQueue;  // Of kHostIdle: none means all queues.
  std::vector<Access> operands;      // Of kHostFlushes and kHostInvalidates.
};

}  // namespace interlock
