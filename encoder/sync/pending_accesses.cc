// The basic idea is that stamps only grow. Memory is cut where the tensors that are destroyed begin
// and end; a dispatch stamps the segments that it touches, and bytes are pending iff their latest
// stamp is later than the last barrier. A tree over the segments does both in logarithmic time.
#include "encoder/sync/pending_accesses.h"

#include <algorithm>
#include <bit>

#include "encoder/kernel/kernel_table.h"

namespace interlock {

PendingAccesses::PendingAccesses(const Program& program) : program_(program) {
  for (const Lifetime& lifetime : program.lifetimes) {
    if (lifetime.kind != LifetimeKind::kDestroy) continue;
    const Tensor& tensor = program.tensor(lifetime.tensor);
    boundaries_.emplace_back(tensor.memory.index, tensor.range.begin);
    boundaries_.emplace_back(tensor.memory.index, tensor.range.end);
  }
  if (boundaries_.empty()) return;
  std::sort(boundaries_.begin(), boundaries_.end());
  boundaries_.erase(std::unique(boundaries_.begin(), boundaries_.end()), boundaries_.end());
  nodes_.resize(2 * std::bit_ceil(boundaries_.size()));
  pins_.resize(program.tensors.size(), 0);
  has_waiting_destroy_.resize(program.tensors.size(), false);
}

// A segment starts at its boundary. What lies between the last tensor of a memory and the first of
// the next one is of no tensor, and no destroy asks for it.
PendingAccesses::Segments PendingAccesses::segments_of(MemoryId memory, ByteRange bytes) const {
  if (bytes.is_empty()) return {};
  const auto behind =
      std::upper_bound(boundaries_.begin(), boundaries_.end(), Boundary{memory.index, bytes.begin});
  const auto end = std::lower_bound(behind, boundaries_.end(), Boundary{memory.index, bytes.end});
  const auto begin = behind == boundaries_.begin() ? behind : behind - 1;
  return {static_cast<size_t>(begin - boundaries_.begin()),
          static_cast<size_t>(end - boundaries_.begin())};
}

void PendingAccesses::stamp(size_t node, Segments node_segments, Segments wanted, size_t stage) {
  if (wanted.begin >= node_segments.end || node_segments.begin >= wanted.end) return;
  nodes_[node].any[stage] = stamp_;
  if (wanted.begin <= node_segments.begin && node_segments.end <= wanted.end) {
    nodes_[node].all[stage] = stamp_;
    return;
  }
  const size_t middle = (node_segments.begin + node_segments.end) / 2;
  stamp(2 * node + 1, {node_segments.begin, middle}, wanted, stage);
  stamp(2 * node + 2, {middle, node_segments.end}, wanted, stage);
}

PendingAccesses::Stamps PendingAccesses::latest(size_t node, Segments node_segments,
                                                Segments wanted) const {
  if (wanted.begin >= node_segments.end || node_segments.begin >= wanted.end) return {};
  if (wanted.begin <= node_segments.begin && node_segments.end <= wanted.end) {
    return nodes_[node].any;
  }
  const size_t middle = (node_segments.begin + node_segments.end) / 2;
  Stamps stamps = nodes_[node].all;
  for (const Stamps& below : {latest(2 * node + 1, {node_segments.begin, middle}, wanted),
                              latest(2 * node + 2, {middle, node_segments.end}, wanted)}) {
    for (size_t stage = 0; stage < kStageCount; ++stage) {
      stamps[stage] = std::max(stamps[stage], below[stage]);
    }
  }
  return stamps;
}

void PendingAccesses::see_dispatch(DispatchId id) {
  if (nodes_.empty()) return;
  ++stamp_;
  for (const Access& access : program_.declared_accesses_of(id)) {
    stamp(0, {0, std::bit_ceil(boundaries_.size())}, segments_of(access.memory, access.range),
          static_cast<size_t>(stage_of(program_.dispatch(id), access)));
  }
}

void PendingAccesses::see_barrier(StageMask stages) {
  for (size_t stage = 0; stage < kStageCount; ++stage) {
    if ((stages & bit_of(static_cast<Stage>(stage))) != 0) barrier_stamps_[stage] = stamp_;
  }
}

bool PendingAccesses::is_pending(TensorId id) const {
  const Tensor& tensor = program_.tensor(id);
  const Segments segments = segments_of(tensor.memory, tensor.range);
  const Stamps stamps = latest(0, {0, std::bit_ceil(boundaries_.size())}, segments);
  for (size_t stage = 0; stage < kStageCount; ++stage) {
    if (stamps[stage] > barrier_stamps_[stage]) return true;
  }
  return false;
}

bool PendingAccesses::destroys_at(const Lifetime& lifetime) {
  if (nodes_.empty()) return false;
  const size_t tensor = lifetime.tensor.index;
  if (lifetime.kind == LifetimeKind::kPin) ++pins_[tensor];
  if (lifetime.kind == LifetimeKind::kDestroy) {
    has_waiting_destroy_[tensor] = pins_[tensor] > 0;
    return true;
  }
  if (lifetime.kind != LifetimeKind::kUnpin) return false;
  if (--pins_[tensor] > 0 || !has_waiting_destroy_[tensor]) return false;
  has_waiting_destroy_[tensor] = false;
  return true;
}

}  // namespace interlock
