// Hazards: conflicting accesses that no dependency orders.
// Terms: Vulkan 1.3 specification, chapter 7, "Synchronization and Cache Control".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/conflict_scan.h"
#include "simulator/order/happens_before.h"

namespace interlock {

struct Hazard {
  FindingKind kind;  // RAW, WAR or WAW.
  AccessRef first;   // Earlier in reference order.
  AccessRef second;
  // In the memory of both: what the two accesses share, or the first run of it in which the first
  // one is not visible to the second.
  ByteRange overlap;
  // RAW, WAW: an execution dependency is there, a memory dependency is not.
  bool is_ordered = false;
  // WAW, ordered: the second dispatch sees all of these bytes and reads them before it writes them,
  // after a barrier that names no write. Against the letter of Vulkan, and harmless on known
  // hardware.
  bool is_after_own_read = false;
  // An approximate dispatch has a part in it, so that no common byte is certain (find_facts.h).
  bool is_possible = false;

  bool operator==(const Hazard&) const = default;
};

// As which kinds the two accesses conflict on a shared byte, `first` being the earlier one. Two
// atomics of the same operation do not conflict; otherwise an atomic reads and writes.
struct ConflictKinds {
  bool raw = false;
  bool war = false;
  bool waw = false;
  bool any() const { return raw || war || waw; }
  bool includes(ConflictKinds other) const {
    return (raw || !other.raw) && (war || !other.war) && (waw || !other.waw);
  }
  bool has(FindingKind kind) const {
    return kind == FindingKind::kReadAfterWrite   ? raw
           : kind == FindingKind::kWriteAfterRead ? war
                                                  : kind == FindingKind::kWriteAfterWrite && waw;
  }
};
ConflictKinds conflict_kinds(const Access& first, AtomicOp first_op, const Access& second,
                             AtomicOp second_op);

struct HazardOptions {
  uint64_t limit = UINT64_MAX;  // Hazards listed at most.
  // Steps of the search beside scoped barriers, whose operands can make it slow.
  uint64_t scoped_step_limit = UINT64_MAX;
  // See every dispatch: the limits end the list and not the pass.
  std::span<ConflictObserver* const> observers = {};
};

// Ordered by second, first, kind.
struct HazardList {
  std::vector<Hazard> hazards;
  bool has_more = false;  // Than may be listed.
  bool is_cut = false;    // The search took too many steps: some may be missing.

  // Means nothing after a stop (stop.h), which may have come before all were found.
  bool is_complete() const { return !has_more && !is_cut; }
};

// Returns the hazards of `program`, each access listed against the latest conflicting accesses of
// its bytes, per kind: one per (kind, first dispatch, second dispatch). Of the access pairs of two
// dispatches that have this hazard, the one of the lowest positions stands for all. With scoped
// barriers: the latest accesses of each stage.
// Empty and complete iff there is no hazard at all.
// Requires: `order` and `segments` were built from `program`.
// Cost: O((a + h) log a) for a accesses and h runs of hazardous bytes, and the operands of the two
// for each hazard. Where operands narrow dependencies, more: see scoped_hazards.h and
// HappensBefore::find_invisible.
HazardList find_hazards(const Program& program, const HappensBefore& order,
                        const ByteSegments& segments, const HazardOptions& options = {});
HazardList find_hazards(const Program& program, const HappensBefore& order,
                        const HazardOptions& options = {});

// Every hazardous pair, with every kind, at most `limit` of them. It is cut where hostile operands
// make pairs overlap more than examinations_max() times, and then misses some of the last second
// dispatch.
// Cost: O((a + h) log a) for a accesses and h overlaps of hazardous pairs.
HazardList find_all_hazards(const Program& program, const HappensBefore& order,
                            const ByteSegments& segments, uint64_t limit = UINT64_MAX);
HazardList find_all_hazards(const Program& program, const HappensBefore& order,
                            uint64_t limit = UINT64_MAX);

// How many overlaps find_all_hazards() looks at, if it may list so many hazards.
uint64_t examinations_max(uint64_t hazard_limit);

// The kinds of hazard that the two have, through any of their operands. Requires: first < second.
// Cost: O(a log a) for a accesses, and the operands of the two.
ConflictKinds hazard_kinds(const Program& program, const HappensBefore& order, DispatchId first,
                           DispatchId second);

}  // namespace interlock
