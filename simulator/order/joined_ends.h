// JoinedEnds: what values wait for that end on legacy-default or blocking queues. A value ends
// after what stands before it, in the text, on the queues that a statement there would join; nobody
// waits for that, so that those queues may have gone on by then.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/queue_clocks.h"

namespace interlock {

class JoinedEnds {
 public:
  // Requires: `program` is in reference order, and outlives this. Cost: linear, and for each end
  // the queues that it joins, times a logarithm.
  explicit JoinedEnds(const Program& program);

  // Goes along with the clocks. Requires: they have left a statement, each in turn.
  void see(const QueueClocks& clocks);
  // Raises `row` by what the queues that are joined have executed before the end that the clocks
  // have arrived at.
  void raise(const QueueClocks& clocks, std::span<uint32_t> row) const;

 private:
  // Of this queue, for this end, nothing counts after its statement `last`.
  struct Cut {
    uint32_t end = 0;
    QueueIndex queue = 0;
    uint32_t last = kNone;  // None: nothing counts.
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  const Program& program_;
  std::vector<Cut> cuts_;  // By end and queue.
  // By statement: what its queue has executed with it. Empty: not yet.
  std::map<uint32_t, std::vector<uint32_t>> kept_;
};

}  // namespace interlock
