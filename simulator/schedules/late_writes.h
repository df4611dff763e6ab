// LateWrites: the dispatches of a schedule whose writes wait for their commit, in a program with
// scoped barriers; which bytes of each; and what forces them to commit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

class LateWrites {
 public:
  // How many dispatches may wait at once: each of them is asked about each dispatch that runs.
  static constexpr size_t kCountMax = 1000;

  // How far the bytes that wait have been followed along the commands.
  struct Walk {
    uint32_t command = 0;  // The next one.
    std::vector<ReachedBytes> runs;
    // By stage: after so many commands some of the bytes are available to it; or more than walked.
    std::array<uint32_t, kDispatchStageCount> forced_from = {UINT32_MAX, UINT32_MAX};
  };

  struct Waiting {
    DispatchId dispatch;
    std::vector<MemoryRange> bytes;  // Disjoint and not empty; perhaps none any more.
    Walk walk;
  };

  // Requires: both outlive this, and `order` was built from `program`.
  LateWrites(const Program& program, const HappensBefore& order)
      : program_(program), order_(order) {}

  // All writes of `dispatch` begin to wait, and commit. Requires: fewer than kCountMax wait.
  void add(DispatchId dispatch);
  void remove(DispatchId dispatch);
  bool is_full() const { return waiting_.size() >= kCountMax; }

  // Those of `dispatch` in `bytes` commit. Returns false if they are not all bytes that waited.
  bool commit(DispatchId dispatch, MemoryRange bytes);

  // Ascending by dispatch.
  std::span<const Waiting> waiting() const { return waiting_; }
  const Waiting* find(DispatchId dispatch) const;

  // A dispatch that waits although a path leads from the commit of some of its bytes to the run of
  // `next`: a barrier makes them available to its stage. None if `next` may run.
  // Cost: constant for each that waits; and where dependencies have operands, each command once for
  // each that waits, as far as any dispatch that is asked about.
  std::optional<DispatchId> find_forced(DispatchId next);

 private:
  void restart(Waiting& waiting) const;
  bool is_forced(Waiting& waiting, DispatchId next) const;

  const Program& program_;
  const HappensBefore& order_;
  std::vector<Waiting> waiting_;
};

}  // namespace interlock
