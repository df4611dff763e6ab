// PendingAccesses: which bytes a `destroy` may not have yet, as dispatches and barriers are issued.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/scope.h"

namespace interlock {

class PendingAccesses {
 public:
  // Requires: `program` outlives this.
  explicit PendingAccesses(const Program& program);

  // Declared accesses: an encoder can know of no others. Cost per access: O(log t) for t tensors
  // that are destroyed.
  void see_dispatch(DispatchId id);
  // The barrier covers all that was seen in these stages.
  void see_barrier(StageMask stages);

  // Whether this statement destroys the bytes of its tensor, or lets a destroy have them that a pin
  // has kept waiting. A destroy of a pinned tensor is taken to be carried out both at once and at
  // the last unpin: who holds the bytes is not followed here. Requires: the statements are given in
  // order, each once. Cost: constant.
  bool destroys_at(const Lifetime& lifetime);

  // Whether a dispatch accesses some byte of the tensor that was seen since the last barrier that
  // covers its stage. Requires: the tensor is destroyed. Cost: O(log t).
  bool is_pending(TensorId tensor) const;

 private:
  using Boundary = std::pair<uint32_t, uint64_t>;  // Memory, byte.

  // By stage.
  using Stamps = std::array<uint64_t, kStageCount>;

  // What a node of the tree over the segments between boundaries knows, as stamps of dispatches.
  struct Node {
    Stamps all{};  // The last access of all segments below.
    Stamps any{};  // The last access of some segment below.
  };

  struct Segments {
    size_t begin = 0;
    size_t end = 0;
  };

  Segments segments_of(MemoryId memory, ByteRange bytes) const;
  void stamp(size_t node, Segments node_segments, Segments wanted, size_t stage);
  Stamps latest(size_t node, Segments node_segments, Segments wanted) const;

  const Program& program_;
  std::vector<Boundary> boundaries_;       // Ends of the tensors that are destroyed, sorted.
  std::vector<Node> nodes_;                // Children of i: 2i + 1 and 2i + 2. Empty: no destroy.
  uint64_t stamp_ = 0;                     // Dispatches seen.
  Stamps barrier_stamps_{};                // Of them, those before the last barrier.
  std::vector<uint32_t> pins_;             // By tensor.
  std::vector<bool> has_waiting_destroy_;  // By tensor.
};

}  // namespace interlock
