#include "simulator/order/places.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

Places::Places(const Program& program) {
  std::array<PlaceIndex, kStageCount> no_places{};
  no_places.fill(kNone);
  of_queue_.assign(program.queue_count(), no_places);
  paths_.resize(program.queue_count());
  stage_masks_.assign(program.queue_count(), 0);
  sort_masks_.assign(program.queue_count(), 0);
  const bool has_graph =
      std::ranges::find(program.queues, QueueKind::kGraph, &Queue::kind) != program.queues.end();
  if (has_graph) path_of_.assign(program.dispatches.size(), kNone);
  queue_of_.reserve(program.dispatches.size());
  EdgeCursor edges(program);
  for (size_t i = 0; i < program.dispatches.size(); ++i) add(program, DispatchId(i), edges);
  tails_ = {};
}

void Places::add(const Program& program, DispatchId id, EdgeCursor& edges) {
  const Dispatch& dispatch = program.dispatch(id);
  const QueueIndex queue = program.queue_of(dispatch);
  queue_of_.push_back(queue);
  const bool is_graph = queue != kNoQueue && program.kind_of(queue) == QueueKind::kGraph;
  if (is_graph) add_to_path(edges, id, queue);
  if (!is_graph) add(queue, stage_of(dispatch));
  for (const Access& access : program.accesses_of(dispatch)) {
    const Stage stage = stage_of(dispatch, access);
    if (!is_graph) add(queue, stage);
    if (queue == kNoQueue) continue;
    for (const auto& sort : {read_sort_of(stage, access), write_sort_of(stage, access)}) {
      if (sort) sort_masks_[queue] = static_cast<AccessMask>(sort_masks_[queue] | bit_of(*sort));
    }
  }
}

// Greedily: to the path of a predecessor that is its last so far.
void Places::add_to_path(EdgeCursor& edges, DispatchId id, QueueIndex queue) {
  for (const Edge& edge : edges.to(id)) {
    const PlaceIndex path = path_of_[edge.from.index];
    if (edge.is_programmatic || path == kNone || queues_[path] != queue) continue;
    if (tails_[path] != edge.from) continue;
    path_of_[id.index] = path;
    tails_[path] = id;
    return;
  }
  is_too_wide_ = is_too_wide_ || paths_[queue].size() == kPathsMax;
  if (is_too_wide_) return;
  const PlaceIndex path = count();
  path_of_[id.index] = path;
  paths_[queue].push_back(path);
  queues_.push_back(queue);
  tails_.resize(path + 1);
  tails_[path] = id;
}

void Places::add(QueueIndex queue, Stage stage) {
  if (at(queue, stage) != kNone) return;
  if (queue == kNoQueue) {
    host_ = count();
  } else {
    of_queue_[queue][static_cast<size_t>(stage)] = count();
    stage_masks_[queue] = static_cast<StageMask>(stage_masks_[queue] | bit_of(stage));
  }
  queues_.push_back(queue);
}

}  // namespace interlock
