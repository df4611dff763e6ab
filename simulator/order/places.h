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

// So many paths of all graph queues together, as they come; of the last part those that are left.
// Clocks have a number for each, for each operation: a wide graph is judged part by part.
struct PathPart {
  uint32_t index = 0;
  uint32_t size = 1024;
};

class Places {
 public:
  static constexpr PlaceIndex kNone = UINT32_MAX;
  static constexpr PlaceIndex kPathsMax = PathPart{}.size;

  // Those in which `program` has operations, but for paths of other parts. Cost: linear.
  explicit Places(const Program& program, PathPart part = {});

  PlaceIndex count() const { return static_cast<PlaceIndex>(queues_.size()); }

  // Of all graph queues, those of other parts too.
  uint32_t path_count() const { return path_count_; }

  // There are more paths than the part has.
  bool is_too_wide() const { return path_count_ > part_.size; }

  // Where the dispatch does what it does in this stage. kNone: on a path of another part.
  // Requires: it does something there. Cost: constant.
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
  // While places are found: the paths so far, those of other parts too.
  struct Paths {
    std::vector<uint32_t> of;       // By dispatch.
    std::vector<DispatchId> tails;  // By path: the last operation so far. So below.
    std::vector<QueueIndex> queues;
    std::vector<PlaceIndex> places;  // kNone: of another part.
  };

  void add(const Program& program, DispatchId id, EdgeCursor& edges, Paths& paths);
  void add_to_path(EdgeCursor& edges, DispatchId id, QueueIndex queue, Paths& paths);
  void add(QueueIndex queue, Stage stage);

  std::vector<std::array<PlaceIndex, kStageCount>> of_queue_;
  std::vector<StageMask> stage_masks_;  // By queue.
  std::vector<AccessMask> sort_masks_;  // By queue.
  PlaceIndex host_ = kNone;
  std::vector<QueueIndex> queues_;    // By place.
  std::vector<QueueIndex> queue_of_;  // By dispatch.
  std::vector<PlaceIndex> path_of_;   // By dispatch; empty without graph queues.
  PathPart part_;
  uint32_t path_count_ = 0;
};

}  // namespace interlock
