// OpenMarks: which mark of a chain (queue_links.h) stands for which signal or event between two
// accesses.
//
// There are few marks, and a long program has many signals. So they are given out as a compiler
// gives out registers: that of a signal is free again after the last wait for it. (M. Poletto and
// V. Sarkar, "Linear scan register allocation", TOPLAS 21(5), 1999.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace interlock {

class OpenMarks {
 public:
  // Signals and events are tokens, numbered below `token_count`; `marks` has a bit for each mark.
  OpenMarks(size_t token_count, uint64_t marks)
      : marks_(marks), number_of_(token_count, 0), opened_in_(token_count, 0) {}

  // Begins anew, without any.
  void clear();
  // The token is made at a step, and waited for at a later one. Requires: steps of waits rise.
  void open(uint32_t token, uint32_t made, uint32_t waited);
  // Returns false if more are open at once than there are marks. Cost: O(n log n) for n tokens.
  bool give_out();

  // The bit of the token; 0 if it is not open. Requires: give_out() returned true.
  uint64_t of(uint32_t token) const {
    return opened_in_[token] == round_ ? uint64_t{1} << number_of_[token] : 0;
  }

  // On a way through rising steps: the marks whose last wait stands before the step, of which it
  // was not told. On one through falling steps: those that are made after it. Require: after
  // restart(). Cost: of all together linear in the tokens.
  void restart();
  uint64_t over_before(uint32_t step);
  uint64_t unmade_after(uint32_t step);

 private:
  struct Open {
    uint32_t token = 0;
    uint32_t made = 0;
    uint32_t last = 0;  // Wait.
  };
  struct MarkStep {
    uint32_t step = 0;
    uint64_t mark = 0;
  };

  const uint64_t marks_;
  std::vector<uint32_t> number_of_;  // By token, if it is open: first in opens_, then its mark.
  std::vector<uint32_t> opened_in_;  // By token.
  uint32_t round_ = 0;
  std::vector<Open> opens_;
  // Where marks are given out more than once, both rising; else empty.
  std::vector<MarkStep> makings_;
  std::vector<MarkStep> ends_;
  size_t next_making_ = 0;  // One more.
  size_t next_end_ = 0;
};

}  // namespace interlock
