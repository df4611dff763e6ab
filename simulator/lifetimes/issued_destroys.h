// IssuedDestroys: which destroys a statement of the host carries out by the order of the text. A
// pin keeps what its tensor holds as the host issues the destroy, though the write of that value
// may be held back until later. What is written after the destroy frees the bytes of it by this
// order, though the write may be held back beyond the unpin; only then the run decides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

class IssuedDestroys {
 public:
  struct Run {
    ByteRange bytes;
    LifetimeId destroy;
  };

  // Judges nothing.
  IssuedDestroys() = default;

  // Of `program`, which is in reference order; judges nothing without a text_order. More than
  // `limit` runs of bytes that are kept, or looked at beyond a few for each statement: is_cut().
  // Cost: O(a log a) for a accesses, and the runs that lifetime statements find.
  IssuedDestroys(const Program& program, uint64_t limit);

  bool is_cut() const { return is_cut_; }

  // Whether it is a statement of the host in a program that executes in another order than that of
  // its text. Of others what is carried out is decided as they execute.
  bool judges(LifetimeId at) const { return !is_judged_.empty() && is_judged_[at.index]; }

  // Of a `destroy` or an `unpin`, in the order of the bytes. Requires: judges(at).
  // Cost: constant.
  std::span<const Run> at(LifetimeId at) const;

  // Of the bytes those of which no statement of the host carries out the destroy. Requires: some
  // statement is judged. Cost: logarithmic, and the runs.
  std::vector<ByteRange> never_done(LifetimeId destroy, ByteRange bytes) const;

 private:
  std::vector<bool> is_judged_;   // By lifetime statement.
  std::vector<Run> runs_;         // As the text has the statements that carry them out.
  std::vector<uint32_t> begins_;  // By lifetime statement: of its runs.
  std::vector<uint32_t> ends_;
  std::vector<Run> by_destroy_;  // The same, sorted by destroy, by bytes.
  bool is_cut_ = false;
};

}  // namespace interlock
