// Places: where the operations of a program execute, numbered.
//
// A place is a pair (queue, stage), or the host, or a path of a graph queue: operations each of
// which has a full edge to the next. What is ordered before anything is, of each place, a prefix of
// its operations (docs/theory.md, "Several queues"), so that clocks have one number for each.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/edge_cursor.h"

namespace interlock {

using PlaceIndex = uint32_t;

class Places {
 public:
  static constexpr PlaceIndex kNone = UINT32_MAX;
  // Paths of graph queues at most. Clocks have a number for each, for each operation.
  static constexpr PlaceIndex kPathsMax = 1024;

  // Those in which `program` has operations. Cost: linear.
  explicit Places(const Program& program);

  PlaceIndex count() const { return static_cast<PlaceIndex>(queues_.size()); }

  // More paths would be needed than kPathsMax: then there are no places in graph queues.
  bool is_too_wide() const { return is_too_wide_; }

  // Where the dispatch does what it does in this stage. Requires: it does something there.
  // Cost: constant.
  PlaceIndex of(DispatchId dispatch, Stage stage) const {
    if (!path_of_.empty() && path_of_[dispatch.index] != kNone) return path_of_[dispatch.index];
    return at(queue_of_[dispatch.index], stage);
  }

  // kNone: no operation executes there, or the queue is a graph. The queue of the host is kNoQueue.
  // Cost: constant.
  PlaceIndex at(QueueIndex queue, Stage stage) const {
    if (queue == kNoQueue) return host_;
    return of_queue_[queue][static_cast<size_t>(stage)];
  }
  PlaceIndex host() const { return host_; }

  QueueIndex queue_of(PlaceIndex place) const { return queues_[place]; }

  // What the dispatches of the queue do: stages, sorts of access.
  StageMask stages_of(QueueIndex queue) const { return stage_masks_[queue]; }
  AccessMask sorts_of(QueueIndex queue) const { return sort_masks_[queue]; }

 private:
  void add(const Program& program, DispatchId id, EdgeCursor& edges);
  void add_to_path(EdgeCursor& edges, DispatchId id, QueueIndex queue);
  void add(QueueIndex queue, Stage stage);

  std::vector<std::array<PlaceIndex, kStageCount>> of_queue_;
  std::vector<std::vector<PlaceIndex>> paths_;  // By queue.
  std::vector<StageMask> stage_masks_;          // By queue.
  std::vector<AccessMask> sort_masks_;          // By queue.
  PlaceIndex host_ = kNone;
  std::vector<QueueIndex> queues_;    // By place.
  std::vector<QueueIndex> queue_of_;  // By dispatch.
  std::vector<PlaceIndex> path_of_;   // By dispatch; empty without graph queues.
  std::vector<DispatchId> tails_;     // By place: the last operation of a path so far.
  bool is_too_wide_ = false;
};

}  // namespace interlock
