// QueuePoint: a dispatch of a serial queue, by its number there.
#pragma once

#include <cstdint>

namespace interlock {

// How many dispatches there have been there, this one included.
struct QueuePoint {
  uint32_t queue = 0;
  uint64_t number = 0;

  bool operator==(const QueuePoint&) const = default;
};

}  // namespace interlock
