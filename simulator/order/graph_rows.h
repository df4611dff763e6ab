// GraphRows: what is ordered before the operations of graph queues, each of which is a place of its
// own to the edges that lead to it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/clock_rows.h"
#include "simulator/order/edge_cursor.h"
#include "simulator/order/places.h"
#include "simulator/order/sync_uses.h"

namespace interlock {

class GraphRows {
 public:
  // All outlive this.
  GraphRows(const Program& program, const Places& places, const SyncUses& uses,
            const ClockColumns& columns);

  // Makes current() that of the operation: what its queue has by waits and submissions, and what
  // its edges bring. Cost: the columns, for each edge.
  void arrive(DispatchId operation, ClockRow rows_of_queue, ClockRow visible_to_queue);

  // The operation has run. What is later is told `number` of it.
  void leave(DispatchId operation, uint32_t number);

  // Of the operation of the last arrive().
  const OrderRows& current() const { return current_; }
  ClockRow visible() const { return visible_; }

  // Of all operations of the queue so far, these included.
  const OrderRows& of_all(QueueIndex queue) const { return of_all_[queue]; }

 private:
  // Kept as long as edges from the operation are to come.
  struct Kept {
    OrderRows rows;              // The operation included.
    uint32_t available_own = 0;  // Of its own place, before it.
    uint32_t edge_count = 0;
  };

  void follow(const Edge& edge);

  const Program& program_;
  const Places& places_;
  const SyncUses& uses_;
  const ClockColumns columns_;
  EdgeCursor edges_;
  OrderRows current_;
  std::vector<uint32_t> visible_;
  OrderRows full_;                 // What an edge that is full brings.
  std::map<uint32_t, Kept> kept_;  // By dispatch.
  std::vector<OrderRows> of_all_;  // By queue; empty if it is no graph.
};

}  // namespace interlock
