// Queue generator: random programs of several queues as they stand, with sync of their own, valid
// by construction: semaphores, events, edges, submissions and the host, on memories of any sort. As
// in generator.h each program draws some features with weights of their own, since what many
// statements order at once hides what one of them should not.
#pragma once

#include <cstdint>
#include <string_view>

#include "encoder/program/draft.h"
#include "simulator/schedules/choice.h"

namespace interlock {

enum class QueueFeature : uint8_t {
  // Kinds of queue, by the first statement on each.
  kConcurrent,
  kSerial,
  kSerialBlocking,
  kLegacyDefault,
  kGraph,
  // Of dispatches.
  kCopies,
  kUniforms,
  kIndirect,
  kUpdates,
  kAtomics,
  kPartial,
  kRows,  // Of dispatches, of the host and of dependencies.
  kTensors,
  kEdges,
  kProgrammatic,
  kGraphics,      // `dispatch K in graphics`
  kOpaqueCopies,  // `dispatch K in copy`
  kApproximate,
  // Of the host.
  kHostReads,
  kHostWrites,
  kHostValues,
  kHostFlushes,
  kHostInvalidates,
  kHostIdle,
  kHostWaits,
  kHostSignals,
  // Of memories.
  kUnified,
  kNoncoherent,
  // Of sync on a queue.
  kFullBarriers,
  kExecutionBarriers,
  kScopes,
  kOperands,
  kEvents,
  kSubmits,
  kSplits,
  kSignals,
  kBatches,  // A signal of several semaphores.
  kWaits,
  kSomeStages,  // `after copy`, `before compute`.
  kBinary,
  kInitial,     // A semaphore with an initial value.
  kHandoffs,    // Another queue, or the host, goes on with the values of a semaphore.
  kEarlyWaits,  // Before its signal in the text.
  kFromOutside,
  kTransitions,
  kDiscards,
  // Of values.
  kFree,
  kDestroy,
  kEndsOnQueues,  // `free x on q1`.
  // By queue_meanings.h.
  kPin,
  kUnpin,
  kReset,
  kAdopt,
  kOrder,
  kCaptures,
  kReplays,
  kLaunches,  // By queue_launches.h.
};
inline constexpr int kQueueFeatureCount = static_cast<int>(QueueFeature::kLaunches) + 1;
std::string_view word_of(QueueFeature feature);

// What generated programs contain; index: QueueFeature.
struct QueueFeatureCounts {
  uint64_t counts[kQueueFeatureCount] = {};
};

struct QueueGeneratorOptions {
  uint64_t queue_count_max = 4;  // Of a device.
  uint64_t operation_count_max =
      6;                        // Dispatches, and what the host reads and writes. Two at least.
  uint64_t sync_count_max = 9;  // What is added for waits that nobody meets apart.
  uint64_t memory_bytes = 8;    // Of each of one or two memories; at least 6.
  bool ends_values = true;      // With `free` and `destroy`.
};

// Returns a draft that builds, whatever `choice` says, and whose signals of one semaphore come in
// the order of their values. It may be of one queue. Some waits stand before their signals in the
// text, so that one program in a few dozen has a deadlock.
// Operations are labelled d0, d1, …, those of the host too. `counts`, if given, is added to.
ProgramDraft generate_queues(Choice& choice, const QueueGeneratorOptions& options = {},
                             QueueFeatureCounts* counts = nullptr);

}  // namespace interlock
