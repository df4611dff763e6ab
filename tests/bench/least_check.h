// LeastCheck: what `check` must know of a program on one queue whose barriers are all full, and
// nothing else: of each byte its last write and access with their levels, as runs in a sorted
// array; and from these of each dispatch its latest conflict and level. It says whether there is a
// hazard, how few barriers do, how many of them are needed, and how long the longest chain is.
// There is no certificate of that, nothing else is looked for, and atomics are writes.
//
// It is no fair peer, but what remains of `check` if all else is free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

class LeastCheck {
 public:
  struct Verdicts {
    bool is_clean = true;
    uint64_t fewest_barriers = 0;
    uint64_t needed_barriers = 0;  // Of the program; each by itself.
    uint64_t longest_chain = 0;
    size_t most_runs = 0;
  };

  explicit LeastCheck(const Program& program) : program_(program) {
    uint64_t begin = 0;
    for (const Memory& memory : program.memories) {
      memory_begins_.push_back(begin);
      begin += memory.size_bytes;
    }
    runs_.push_back({});
  }

  Verdicts run() {
    uint32_t greedy_begin = 0;  // Stamps: dispatch indices plus 1.
    uint32_t epoch_begin = 0;   // Of the program's epoch.
    uint32_t previous_begin = 0;
    bool is_joined = true;  // The epoch with the one before.
    bool is_behind_barrier = false;
    for (const Statement& statement : program_.statements) {
      if (statement.kind == StatementKind::kBarrier) {
        is_behind_barrier = true;
        continue;
      }
      if (statement.kind != StatementKind::kDispatch) continue;
      const uint32_t index = statement.index;
      if (is_behind_barrier && index > 0) {
        verdicts_.needed_barriers += is_joined && epoch_begin > 0;
        previous_begin = epoch_begin;
        epoch_begin = index;
        is_joined = false;
      }
      is_behind_barrier = false;
      const Dispatch& dispatch = program_.dispatches[index];
      Stamps latest;
      for (const Access& access : program_.accesses_of(dispatch)) find(access, latest);
      if (latest.any > epoch_begin) verdicts_.is_clean = false;
      if (latest.any > previous_begin) is_joined = true;
      if (latest.any > greedy_begin) {
        ++verdicts_.fewest_barriers;
        greedy_begin = index;
      }
      const uint32_t level = latest.any_level + 1;
      verdicts_.longest_chain = std::max<uint64_t>(verdicts_.longest_chain, level - 1);
      for (const Access& access : program_.accesses_of(dispatch)) record(access, index + 1, level);
      verdicts_.most_runs = std::max(verdicts_.most_runs, runs_.size());
    }
    verdicts_.needed_barriers += is_joined && epoch_begin > 0;
    return verdicts_;
  }

 private:
  struct Stamps {
    uint32_t write = 0;
    uint32_t any = 0;
    uint32_t write_level = 0;
    uint32_t any_level = 0;
  };
  // From `begin` to where the next one begins.
  struct Run {
    uint64_t begin = 0;
    Stamps stamps;
  };
  using Place = std::vector<Run>::iterator;

  uint64_t begin_of(const Access& access) const {
    return memory_begins_[access.memory.index] + access.range.begin;
  }
  uint64_t end_of(const Access& access) const {
    return memory_begins_[access.memory.index] + access.range.end;
  }

  // The run that has the byte.
  Place run_at(uint64_t byte) {
    const Run* base = runs_.data();
    size_t count = runs_.size();
    while (count > 1) {  // Without a branch.
      const size_t half = count / 2;
      base = base[half].begin <= byte ? base + half : base;
      count -= half;
    }
    return runs_.begin() + (base - runs_.data());
  }

  void find(const Access& access, Stamps& latest) {
    const bool writes = access.has_write_side();
    const uint64_t end = end_of(access);
    for (Place run = run_at(begin_of(access)); run != runs_.end() && run->begin < end; ++run) {
      const Stamps& stamps = run->stamps;
      latest.any = std::max(latest.any, writes ? stamps.any : stamps.write);
      latest.any_level = std::max(latest.any_level, writes ? stamps.any_level : stamps.write_level);
    }
  }

  // Begins a run at the byte, if none does; returns it.
  Place cut(uint64_t byte) {
    const Place run = run_at(byte);
    return run->begin == byte ? run : runs_.insert(run + 1, {byte, run->stamps});
  }

  void record(const Access& access, uint32_t stamp, uint32_t level) {
    if (access.range.is_empty()) return;
    cut(end_of(access));
    Place run = cut(begin_of(access));
    const Place end = std::find_if(run, runs_.end(),
                                   [&](const Run& each) { return each.begin == end_of(access); });
    if (access.has_write_side()) {
      run->stamps = {stamp, stamp, level, level};
      runs_.erase(run + 1, end);
      return;
    }
    for (; run != end; ++run) {
      run->stamps.any = stamp;
      run->stamps.any_level = std::max(run->stamps.any_level, level);
    }
  }

  const Program& program_;
  std::vector<uint64_t> memory_begins_;
  std::vector<Run> runs_;
  Verdicts verdicts_;
};

}  // namespace interlock
