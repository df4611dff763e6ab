// Joint removal: barriers of a program that can go together, and how few of its own do then.
//
// What can go by itself (redundancy.h, sync_redundancy.h) need not go together: of two barriers
// that each order a conflict, either can go. barrier_bounds.h says how few barriers would do on one
// queue, wherever they stand; this is about those that the program has, beside semaphores, the host
// and scopes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Some of the barriers of a program.
struct JointBarriers {
  std::vector<BarrierId> barriers;  // It is about these, in ascending order.
  // Of them, those that may go: without any one of them alone the program has no finding more, or
  // nobody knows. In ascending order. The others stay.
  std::vector<BarrierId> removable;
  // Of the others, those that are needed by what the program says: without one of them alone it has
  // a finding more, or it does more than order. In ascending order.
  std::vector<BarrierId> needed;
};

struct JointCounts {
  uint64_t barrier_count = 0;  // That it is about.
  uint64_t removed_count = 0;  // That can go together.
  uint64_t untried_count = 0;  // For these the work limit was too small: they stay.
  // Whatever else goes, any part of them that does has so many. What approximate dispatches may
  // touch counts as touched.
  uint64_t kept_min = 0;

  uint64_t kept_count() const { return barrier_count - removed_count; }
  // None of the parts that do is smaller.
  bool is_fewest() const { return kept_count() == kept_min; }
  void add(const JointCounts& other);
};

struct JointRemoval : JointCounts {
  // These can go together, in ascending order: then the program has no finding more. Where all were
  // tried and the host neither flushes nor invalidates, no other one can go with them.
  std::vector<BarrierId> removed;
};

// Returns them. Tried in the order of the reference run, so that of two that do the same the later
// one stays: with full barriers on one queue no choice leaves fewer.
// Requires: no text_order. Cost: as find_order_findings(), once for each that stays and may go, and
// a few times more for each run of those that go. `work_limit` bounds the statements and accesses
// that are visited so.
JointRemoval find_joint_removal(const Program& program, const JointBarriers& barriers,
                                uint64_t work_limit);

// True iff a dependency of the barrier changes what it is for: a layout, or an owner.
bool does_more_than_order(const Program& program, const Barrier& barrier);

// True iff a dependency of it names what the host does, before it or after it.
bool names_host(const Program& program, const Barrier& barrier);

// "barriers: 32 of 53 do; the other 21 can go together, and at least 30 are needed." with a line
// end; empty where it is about none.
std::string text_of(const JointCounts& counts);

}  // namespace interlock
