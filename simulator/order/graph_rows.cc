#include "simulator/order/graph_rows.h"

#include <algorithm>
#include <utility>

namespace interlock {

GraphRows::GraphRows(const Program& program, const Places& places, const SyncUses& uses,
                     const ClockColumns& columns)
    : program_(program), places_(places), uses_(uses), columns_(columns), edges_(program) {
  of_all_.resize(program.queue_count());
  for (size_t q = 0; q < of_all_.size(); ++q) {
    const bool is_graph = program.kind_of(static_cast<QueueIndex>(q)) == QueueKind::kGraph;
    if (is_graph) of_all_[q].resize(3 * size_t{columns.count});
  }
}

void GraphRows::arrive(DispatchId operation, ClockRow rows_of_queue, ClockRow visible_to_queue) {
  current_.assign(rows_of_queue.begin(), rows_of_queue.end());
  visible_.assign(visible_to_queue.begin(), visible_to_queue.end());
  for (const Edge& edge : edges_.to(operation)) follow(edge);
}

void GraphRows::follow(const Edge& edge) {
  const auto found = kept_.find(edge.from.index);
  if (found == kept_.end()) return;  // It ran before the walk began.
  Kept& from = found->second;
  const size_t count = columns_.count;
  if (edge.is_programmatic) {
    // Its own writes do not become available; what was available to it travels on.
    const PlaceIndex place = places_.of(edge.from, Stage::kCompute);
    if (place == Places::kNone) {
      raise_row(current_, from.rows);
    } else {
      uint32_t& own = from.rows[count + place];
      const uint32_t available = std::exchange(own, from.available_own);
      raise_row(current_, from.rows);
      own = available;
    }
  } else {
    full_ = from.rows;
    take_host_writes(full_, columns_, true, true);
    const ClockRow available = ClockRow(full_).subspan(count, count);
    raise_row(std::span(full_).subspan(2 * count, count), available);
    raise_row(current_, full_);
    raise_row(visible_, available);
  }
  if (--from.edge_count == 0) kept_.erase(found);
}

void GraphRows::leave(DispatchId operation, uint32_t number) {
  const PlaceIndex own = places_.of(operation, Stage::kCompute);
  uint32_t available_own = 0;
  if (own != Places::kNone) {
    available_own = current_[columns_.count + own];
    current_[own] = std::max(current_[own], number);
    current_[columns_.count + own] = std::max(available_own, number);
  }
  const QueueIndex queue = program_.queue_of(program_.dispatch(operation));
  raise_row(of_all_[queue], current_);
  const uint32_t edge_count = uses_.edges.empty() ? 0 : uses_.edges[operation.index];
  if (edge_count > 0) kept_.emplace(operation.index, Kept{current_, available_own, edge_count});
}

}  // namespace interlock
