// LateWrites: the dispatches of a schedule whose writes wait for their commit, in a program with
// scoped barriers; and what forces them to commit.
#pragma once

#include <optional>
#include <vector>

#include "encoder/program.h"
#include "simulator/happens_before.h"

namespace interlock {

class LateWrites {
 public:
  // How many dispatches may wait at once: each of them is asked about each dispatch that runs.
  static constexpr size_t kCountMax = 1000;

  // Requires: both outlive this, and `order` was built from `program`.
  LateWrites(const Program& program, const HappensBefore& order)
      : program_(program), order_(order) {}

  // The writes of `dispatch` begin to wait, and commit. Requires: fewer than kCountMax wait.
  void add(DispatchId dispatch);
  void remove(DispatchId dispatch);
  bool is_full() const { return waiting_.size() >= kCountMax; }

  // A dispatch that waits although `next` sees what it writes in a byte that `next` touches,
  // through an access that it is visible to; none if `next` may run. While a write waits nobody
  // sees it: so a schedule in which one dispatch must see it before another one misses it does not
  // exist. Cost: the pairs of operands of `next` and of all that wait, and find_invisible for those
  // that share bytes.
  std::optional<DispatchId> find_forced(DispatchId next) const;

 private:
  bool is_seen(DispatchId waiting, DispatchId next) const;

  const Program& program_;
  const HappensBefore& order_;
  std::vector<DispatchId> waiting_;  // Ascending.
};

}  // namespace interlock
