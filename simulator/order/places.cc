#include "simulator/order/places.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

Places::Places(const Program& program, PathPart part) : part_(part) {
  std::array<PlaceIndex, kStageCount> no_places{};
  no_places.fill(kNone);
  of_queue_.assign(program.queue_count(), no_places);
  stage_masks_.assign(program.queue_count(), 0);
  sort_masks_.assign(program.queue_count(), 0);
  const bool has_graph =
      std::ranges::find(program.queues, QueueKind::kGraph, &Queue::kind) != program.queues.end();
  if (has_graph) path_of_.assign(program.dispatches.size(), kNone);
  Paths paths;
  if (has_graph) paths.of.assign(program.dispatches.size(), kNone);
  queue_of_.reserve(program.dispatches.size());
  EdgeCursor edges(program);
  for (size_t i = 0; i < program.dispatches.size(); ++i) add(program, DispatchId(i), edges, paths);
}

void Places::add(const Program& program, DispatchId id, EdgeCursor& edges, Paths& paths) {
  const Dispatch& dispatch = program.dispatch(id);
  const QueueIndex queue = program.queue_of(dispatch);
  queue_of_.push_back(queue);
  const bool is_graph = queue != kNoQueue && program.kind_of(queue) == QueueKind::kGraph;
  if (is_graph) add_to_path(edges, id, queue, paths);
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
void Places::add_to_path(EdgeCursor& edges, DispatchId id, QueueIndex queue, Paths& paths) {
  const auto join = [&](uint32_t path) {
    paths.of[id.index] = path;
    paths.tails[path] = id;
    path_of_[id.index] = paths.places[path];
  };
  for (const Edge& edge : edges.to(id)) {
    const uint32_t path = paths.of[edge.from.index];
    if (edge.is_programmatic || path == kNone || paths.queues[path] != queue) continue;
    if (paths.tails[path] == edge.from) return join(path);
  }
  const bool is_of_part = path_count_ / part_.size == part_.index;
  paths.places.push_back(is_of_part ? count() : kNone);
  if (is_of_part) queues_.push_back(queue);
  paths.queues.push_back(queue);
  paths.tails.push_back(id);
  join(path_count_++);
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
