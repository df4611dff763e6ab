// Queue marks: where a chain between two accesses in a program of several queues may have got to.
#pragma once

#include <cstdint>

#include "encoder/program/program.h"
#include "simulator/barriers/queue_steps.h"

namespace interlock {

// Places are stages of queues and those below. Signals are what the signals of a queue cover, from
// the lowest bit on, and from kFirstMark on signals and events (signal_marks.h).
inline constexpr uint64_t kAtHost = uint64_t{1} << 60;
inline constexpr uint64_t kMoved = uint64_t{1} << 61;  // What the host wrote has left its cache.
inline constexpr uint64_t kSeen = uint64_t{1} << 62;   // It is visible to the second access.
inline constexpr uint64_t kFirstAccess = uint64_t{1} << 63;  // The first access itself.
static_assert(QueueSteps::kQueuesMax * kStageCount <= 60);
inline constexpr uint64_t kAllMarks = ~uint64_t{0} << QueueSteps::kQueuesMax;

constexpr uint64_t stages_in(QueueIndex queue, StageMask stages) {
  return uint64_t{stages} << (queue * kStageCount);
}
constexpr uint64_t covered_by_signals_of(QueueIndex queue) { return uint64_t{1} << queue; }

// Of memory that the host accesses the upper ones say, beside the others, that what it wrote has
// been made available, or that what it reads has got to its domain.
struct QueueMarks {
  uint64_t places = 0;
  uint64_t signals = 0;
  uint64_t upper_places = 0;
  uint64_t upper_signals = 0;

  bool meets(const QueueMarks& other) const {
    return ((places & other.places) | (signals & other.signals) |
            (upper_places & other.upper_places) | (upper_signals & other.upper_signals)) != 0;
  }
  void remove_signals(uint64_t which) {
    signals &= ~which;
    upper_signals &= ~which;
  }
  void add(const QueueMarks& other) {
    places |= other.places;
    signals |= other.signals;
    upper_places |= other.upper_places;
    upper_signals |= other.upper_signals;
  }
  bool has_stage_of(QueueIndex queue) const {
    return ((places | upper_places) & stages_in(queue, kAllStages)) != 0;
  }
};

}  // namespace interlock
