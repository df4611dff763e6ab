// IntervalMap: a value for every byte of every memory, as maximal runs of equal values. Bytes that
// were never assigned have the value Value{}.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/range.h"

namespace interlock {

template <typename Value>
class IntervalMap {
 public:
  // A maximal run, cut to the bytes that were asked for.
  struct Run {
    ByteRange bytes;
    Value value;
  };

  // Cost: O(log n) for n runs, amortized: each assignment adds at most two runs more than it takes.
  void assign(MemoryId memory, ByteRange bytes, const Value& value) {
    if (bytes.is_empty()) return;
    auto next = cut(memory, bytes.begin);
    while (next != runs_.end() && next->first.first == memory && next->first.second < bytes.end) {
      if (next->second.end > bytes.end) {
        runs_.emplace(std::pair(memory, bytes.end), next->second);
      }
      next = runs_.erase(next);
    }
    join(runs_.emplace_hint(next, std::pair(memory, bytes.begin), Entry{bytes.end, value}));
  }

  // Calls visit(run) for the runs that cover `bytes`, in order, the unassigned ones too.
  // Returns how many there are. Cost: O(log n) and the runs.
  template <typename Visit>
  uint64_t for_each(MemoryId memory, ByteRange bytes, Visit visit) const {
    if (bytes.is_empty()) return 0;
    uint64_t count = 0;
    uint64_t at = bytes.begin;
    auto next = runs_.upper_bound({memory, at});
    if (next != runs_.begin()) {
      const auto before = std::prev(next);
      if (before->first.first == memory && before->second.end > at) next = before;
    }
    while (at < bytes.end) {
      const bool is_there = next != runs_.end() && next->first.first == memory;
      const uint64_t begin = is_there ? std::min(next->first.second, bytes.end) : bytes.end;
      if (at < begin) {
        visit(Run{{at, begin}, Value{}});
        at = begin;
      } else {
        const uint64_t end = std::min(next->second.end, bytes.end);
        visit(Run{{at, end}, next->second.value});
        at = end;
        ++next;
      }
      ++count;
    }
    return count;
  }

  // Calls change(value) for the value of every run of `bytes`; it returns whether it changed it.
  // Returns how many runs there are. Cost: O(log n) a run.
  template <typename Change>
  uint64_t change(MemoryId memory, ByteRange bytes, Change change) {
    std::vector<Run> changed;
    const uint64_t count = for_each(memory, bytes, [&](Run run) {
      if (change(run.value)) changed.push_back(run);
    });
    for (const Run& run : changed) assign(memory, run.bytes, run.value);
    return count;
  }

  // Calls visit(memory, run) for all assigned runs, in order.
  template <typename Visit>
  void for_each_assigned(Visit visit) const {
    for (const auto& [key, entry] : runs_) {
      visit(key.first, Run{{key.second, entry.end}, entry.value});
    }
  }

 private:
  struct Entry {
    uint64_t end;
    Value value;
  };
  using Runs = std::map<std::pair<MemoryId, uint64_t>, Entry>;

  // Makes a run end at `at` if one goes across, and returns the first that starts there or later.
  typename Runs::iterator cut(MemoryId memory, uint64_t at) {
    auto next = runs_.lower_bound({memory, at});
    if (next == runs_.begin()) return next;
    const auto before = std::prev(next);
    if (before->first.first != memory || before->second.end <= at) return next;
    const Entry rest = before->second;
    before->second.end = at;
    return runs_.emplace_hint(next, std::pair(memory, at), rest);
  }

  // Makes one run of this one and its neighbours that touch it and have its value.
  void join(typename Runs::iterator run) {
    const auto join_two = [this](auto left, auto right) {
      const bool are_one = left->first.first == right->first.first &&
                           left->second.end == right->first.second &&
                           left->second.value == right->second.value;
      if (!are_one) return;
      left->second.end = right->second.end;
      runs_.erase(right);
    };
    if (std::next(run) != runs_.end()) join_two(run, std::next(run));
    if (run != runs_.begin()) join_two(std::prev(run), run);
  }

  Runs runs_;
};

}  // namespace interlock
