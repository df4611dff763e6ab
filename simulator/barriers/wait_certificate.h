// WaitCertificate: the proof that sync which adds no order needs so many waits, or edges, checked
// by itself. docs/theory.md, "Sync that adds no order", says why it is one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

// Why a pair of dispatches needs a wait. Each is a pair that conflicts, with nothing between.
enum class WaitNeed : uint8_t {
  kOwn,    // No queue with dispatches could pass it on: a wait of its own, whatever else there is.
  kJoin,   // It joins two groups of places that no pair before it joins, those of kOwn first.
  kApart,  // A wait of its own, where no queue passes on what it has waited for.
};

struct NeededWait {
  DispatchId first;
  DispatchId second;
  WaitNeed need = WaitNeed::kOwn;

  bool operator==(const NeededWait&) const = default;
};

struct WaitCertificate {
  static constexpr uint32_t kNoLine = UINT32_MAX;  // Of what the host does.

  // By dispatch: counted from 0, its serial queue; of a graph, a path on which each conflicts with
  // the next.
  std::vector<uint32_t> line_of;
  std::vector<NeededWait> waits;  // By second, then first dispatch.
  bool is_of_edges = false;       // On graph queues. All needs are kOwn.
  // Queues without a dispatch may pass on, too: they are places to stop at for all, so that no need
  // is kOwn.
  bool is_of_all_queues = false;
  // Told by places (place_certificate.h): no lines, no kJoin. No wait can be that of two pairs
  // between the same two queues, nor of two of kOwn that lead to the same queue; or from the same
  // one, if is_by_source. Queues that join each other are one.
  bool is_by_places = false;
  bool is_by_source = false;

  // Waits of any placement that adds no order, on the queues of the lines or on all; of one where
  // no queue passes on what it has waited for all of them are needed.
  uint64_t fewest() const;
};

// Nothing is said of programs whose dispatches, times their lines, are more.
inline constexpr uint64_t kWaitClocksMax = uint64_t{1} << 24;

struct WaitProof {
  bool is_cut_short = false;  // It takes more steps than the limit, or is beyond kWaitClocksMax.
  std::string defect;         // Why it proves nothing; empty if it does, or is_cut_short.
};

// Whether `certificate` proves that of all sync which orders what conflicts in `program`, and adds
// no order to that and to the order of the queues that have its dispatches, any on these, or on any
// queues if it is_of_all_queues, has at least certificate.fewest() waits for everything, or edges;
// and at least certificate.waits.size() if no queue passes on what it has waited for. Of sync where
// the host passes nothing on from dispatch to dispatch. Reads the operands and queues alone, not
// the sync, and shares no code with what finds the pairs. Requires: `program` is in reference
// order. Cost: linear, times the lines; the bytes of the accesses that other accesses tell apart,
// times the uses of each. If it is_by_places: prove_by_places().
WaitProof prove(const Program& program, const WaitCertificate& certificate,
                uint64_t step_limit = 200'000'000);

}  // namespace interlock
