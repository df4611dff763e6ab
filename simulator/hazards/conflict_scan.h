// ConflictScan: the one pass that visits all dispatches in issue order and knows, for each, its
// latest conflicts. Bounds, redundancy and hazards share it: what costs time is to find conflicts.
#pragma once

#include <algorithm>
#include <span>

#include "encoder/program/program.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/byte_segments.h"

namespace interlock {

// The latest earlier dispatches that one conflicts with, as index plus 1; zero: none.
struct LatestConflicts {
  Stamp write = 0;  // RAW and WAW: what this one reads or overwrites was written there.
  Stamp read = 0;   // WAR: what this one overwrites was read there.

  Stamp any() const { return std::max(write, read); }
};

class ConflictObserver {
 public:
  virtual ~ConflictObserver() = default;

  // Called once per dispatch, in issue order.
  virtual void see(DispatchId dispatch, const LatestConflicts& latest) = 0;
};

class ConflictScan {
 public:
  // Requires: `segments` was built from `program`; both outlive this.
  ConflictScan(const Program& program, const ByteSegments& segments)
      : program_(program), segments_(segments), history_(segments.count()) {}

  // Returns the latest conflicts with what is recorded. Cost: O(log segments) per operand.
  LatestConflicts latest(DispatchId dispatch) const;

  // Records `dispatch`. Its operands do not conflict with each other: after all questions about it.
  void record(DispatchId dispatch);

  // Of what is recorded, with stamps as in LatestConflicts.
  const AccessHistory& history() const { return history_; }

 private:
  const Program& program_;
  const ByteSegments& segments_;
  AccessHistory history_;
};

// Asks for the cache lines that a dispatch a little after `dispatch` will need of `history`.
void prefetch_ahead(const Program& program, const ByteSegments& segments, DispatchId dispatch,
                    const AccessHistory& history);

// Shows every dispatch to each of `observers`, whatever sync orders.
// Requires: `segments` was built from `program`. Cost: O(a log a) for a accesses.
void scan_conflicts(const Program& program, const ByteSegments& segments,
                    std::span<ConflictObserver* const> observers);

}  // namespace interlock
