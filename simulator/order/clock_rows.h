// Clock rows: one number for each column, the index of the first dispatch that it does not hold
// for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulator/order/places.h"

namespace interlock {

using ClockRow = std::span<const uint32_t>;

// Three rows of one length, one after another: what has executed before something, what is
// available there, and what of it is known to have got to the host's domain.
using OrderRows = std::vector<uint32_t>;

// The columns of a row: places, and host writes once more as memory of special kinds has them.
struct ClockColumns {
  PlaceIndex count = 0;
  PlaceIndex host = Places::kNone;
  // Host writes to unified memory, which every dependency of memory takes along.
  PlaceIndex unified = Places::kNone;
  // What has left the host's cache, of memory that is not coherent: the statements of the host
  // whose moves are over, by their positions plus 1; of a tracked write, whether it has.
  PlaceIndex moved = Places::kNone;
  // The first of the columns of a SignalWatch: how many signals of a semaphore have fired.
  PlaceIndex signals = Places::kNone;
};

inline void raise_row(std::span<uint32_t> row, ClockRow by) {
  for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(row[i], by[i]);
}

// Host writes that have executed before the source of a dependency become available by it, where
// its source accesses name them; those to unified memory by any dependency of memory.
inline void take_host_writes(OrderRows& rows, const ClockColumns& columns, bool names_host_writes,
                             bool is_of_memory) {
  const auto take = [&](PlaceIndex column) {
    if (column == Places::kNone) return;
    uint32_t& available = rows[columns.count + column];
    available = std::max(available, rows[column]);
  };
  if (names_host_writes) take(columns.host);
  if (names_host_writes) take(columns.moved);
  if (is_of_memory) take(columns.unified);
}

}  // namespace interlock
