// RunRanges: which runs of a seed were made.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace interlock {

class RunRanges {
 public:
  // Adds [first, first + count).
  void add(uint64_t first, uint64_t count) {
    if (count == 0) return;
    const auto after = ends_.upper_bound(first);
    const bool extends = after != ends_.begin() && std::prev(after)->second >= first;
    uint64_t& end = extends ? std::prev(after)->second : ends_[first];
    end = first + count > end ? first + count : end;
  }

  // The first run from `run` on that was not made.
  uint64_t next_free(uint64_t run) const {
    for (auto after = ends_.upper_bound(run); after != ends_.begin();
         after = ends_.upper_bound(run)) {
      const uint64_t end = std::prev(after)->second;
      if (end <= run) break;
      run = end;
    }
    return run;
  }

  // Where the runs that were not made end. Requires: `run` is one of them.
  uint64_t end_of_free(uint64_t run) const {
    const auto after = ends_.upper_bound(run);
    return after == ends_.end() ? UINT64_MAX : after->first;
  }

  // How many of [first, end) were not made.
  uint64_t free_count(uint64_t first, uint64_t end) const {
    uint64_t count = 0;
    for (uint64_t run = next_free(first); run < end; run = next_free(run)) {
      const uint64_t next = end_of_free(run) < end ? end_of_free(run) : end;
      count += next - run;
      run = next;
    }
    return count;
  }

 private:
  std::map<uint64_t, uint64_t> ends_;  // By first run.
};

}  // namespace interlock
