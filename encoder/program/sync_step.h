// Queues, semaphores, and what orders statements of several queues and of the host. docs/format.md
// says what each means.
// Terms: Vulkan 1.3 specification, chapter 7; the kinds of queue are those of CUDA streams.
#pragma once

#include <cstdint>
#include <string_view>

#include "encoder/program/ids.h"
#include "encoder/program/scope.h"

namespace interlock {

enum class QueueKind : uint8_t {
  kConcurrent,      // Barriers alone order its statements. The default.
  kSerial,          // A full barrier stands between any two statements.
  kSerialBlocking,  // As kSerial; legacy-default queues join it.
  kLegacyDefault,   // As kSerial; joins all serial blocking queues at each statement, both ways.
  kGraph,           // Edges alone order its operations.
};

// Whether each statement comes after the one before it.
constexpr bool is_serial(QueueKind kind) {
  return kind != QueueKind::kConcurrent && kind != QueueKind::kGraph;
}

// "concurrent", "serial", "serial blocking", "legacy-default", "graph".
std::string_view word_of(QueueKind kind);

// The queue of statements that name none.
inline constexpr std::string_view kDefaultQueueName = "q0";

struct Queue {
  NameId name;
  QueueKind kind = QueueKind::kConcurrent;
  // Of a graph queue: the serial one on which replays launch what it executes. It has no
  // declaration then, and no other statements.
  QueueIndex launched_on = kNoQueue;
};

struct Semaphore {
  NameId name;
  bool is_binary = false;    // Its text has no values: each wait is for one signal.
  bool is_declared = false;  // By a statement of its own.
  uint64_t initial = 0;  // Of a timeline. It meets waits for values up to it, and orders nothing.
  bool is_of_launches = false;  // Of such a graph queue, and of no statement of the text.
};

// What a signal does to one semaphore.
struct SignalPart {
  SemaphoreId semaphore;
  StageMask stages = kAllStages;  // `after STAGES`: the work that it covers.
  uint64_t value = 0;             // Of a binary semaphore: 1 for its first signal, then 2, 3, ….
};

enum class SyncKind : uint8_t {
  kSignal,           // `signal s=1 after copy, t=1 on q`: one batch, whose parts do not cover each
                     // other (Vulkan 1.3, 7.2).
  kWait,             // `wait s=1 before compute on q`
  kSet,              // `set e SCOPE -> SCOPE on q`: an event, the first half of a barrier (7.5).
  kAwait,            // `await e on q`: the second half.
  kSplit,            // `split on q`: a command buffer ends. Queues do not care, encoders do.
  kSubmit,           // `submit on q`: what was issued on q since its last submission may run.
  kHostWaits,        // `host waits s=1`
  kHostSignals,      // `host signals s=1`
  kHostIdle,         // `host idle`, `host idle on q`
  kHostFlushes,      // `host flushes x`: from the host's cache to memory.
  kHostInvalidates,  // `host invalidates x`: what the host's cache holds is dropped.
};
inline constexpr size_t kSyncKindCount = 11;

// "signal", "wait", "set", …, "host waits", …: the words that the statement begins with.
std::string_view word_of(SyncKind kind);

constexpr bool is_of_host(SyncKind kind) { return kind >= SyncKind::kHostWaits; }

enum class BarrierKind : uint8_t {
  kFull,       // Execution and memory, everything.
  kExecution,  // Orders, makes nothing available or visible.
  kScoped,     // Its dependencies say what it does.
};

// A statement that orders others, beside barriers.
struct SyncStep {
  StatementId statement;
  SyncKind kind = SyncKind::kSplit;
  BarrierKind barrier_kind = BarrierKind::kFull;  // Of kSet: what it is a half of.
  StageMask stages = kAllStages;                  // Of kWait: `before STAGES`, what it holds back.
  bool is_from_outside = false;      // Of kWait and kHostWaits: nobody in the program signals it.
  bool is_of_launch = false;         // Of kSignal and kWait: a part of a replay on a serial queue.
  QueueIndex idle_queue = kNoQueue;  // Of kHostIdle: none means all queues.
  NameId event;                      // Of kSet and kAwait.
  SemaphoreId semaphore;             // Of kWait and kHostWaits.
  uint64_t value = 0;                // Likewise; counted if the semaphore is binary.
  // kSignal, kHostSignals: into Program::signal_parts. kSet: into Program::dependencies.
  // kHostFlushes, kHostInvalidates: into Program::barrier_operands.
  uint32_t first = 0;
  uint32_t count = 0;
  // kWait, kHostWaits: the part in Program::signal_parts that meets it, that of the smallest value
  // not below its own; kNoPartner if the initial value does, or somebody outside the program.
  // kAwait: its kSet, in Program::syncs.
  uint32_t partner = kNoPartner;

  static constexpr uint32_t kNoPartner = UINT32_MAX;
};

// `dispatch K … after A`: an edge of a graph queue.
struct Edge {
  DispatchId to;
  DispatchId from;
  bool is_programmatic = false;  // Execution only: ports 1 and 2 of a CUDA graph's edge.
};

}  // namespace interlock
