// LateAccesses: what stands in the text before a destroy, and executes after it all the same, as
// what a signal of the host or of another queue holds back. It is pending where bytes are
// destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/lifetimes/pending_work.h"

namespace interlock {

class LateAccesses {
 public:
  struct Run {
    AccessRef access;
    ByteRange bytes;
  };

  // None.
  LateAccesses() = default;

  // Those of `program` beside each `destroy` and `unpin`: for each byte and track of `pending`, the
  // last access that stands before it in the text, if that executes after it. None without a
  // text_order. More than `limit` runs of bytes that are kept, or looked at beyond a few for each:
  // is_cut(). Requires: `program` is in reference order. Cost: O(a log a) for a accesses, and the
  // runs that such statements find.
  LateAccesses(const Program& program, const PendingWork& pending, uint64_t limit);

  bool is_cut() const { return is_cut_; }

  // The runs that overlap `bytes`, of what `at` ends, in order. Cost: logarithmic, and the runs.
  std::vector<Run> at(LifetimeId at, size_t track, ByteRange bytes) const;

 private:
  struct Entry {
    LifetimeId at;
    size_t track = 0;
    Run run;
  };

  std::vector<Entry> entries_;  // Sorted: by statement, by track, by bytes.
  bool is_cut_ = false;
};

}  // namespace interlock
