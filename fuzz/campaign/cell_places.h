// Where two dispatches in conflict stand, as the encoder has made the program: what orders them,
// and how many outputs came before the first. What cells.h counts of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// In which words the cells name it. Of one queue: no barrier, one of a kind, or more than one. Of
// several: both are on one queue; an edge leads from the first to the second; the queue of the
// second waits for a signal behind the first; or others stand between them, or nothing does; or one
// of the two is the host's.
enum class CellSync : uint8_t {
  kMissed,
  kFull,
  kExecution,
  kScoped,
  kSeveral,
  kQueue,
  kEdge,
  kSignal,
  kIndirect,
  kHost,
};
inline constexpr std::array<std::string_view, 10> kCellSyncWords = {
    "missed", "full", "execution", "scoped",   "several",
    "queue",  "edge", "signal",    "indirect", "host"};

struct DispatchPair {
  DispatchId first;
  DispatchId second;
};

struct PairPlace {
  CellSync sync = CellSync::kMissed;
  // Before the first, since the last barrier; of several queues, of its own since its last sync.
  uint64_t output_count = 0;
};

// By pair. Requires: the second ones rise. Cost: linear; with several queues times their number.
std::vector<PairPlace> places_of(const Program& encoded, std::span<const DispatchPair> pairs);

}  // namespace interlock
