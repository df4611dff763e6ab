// WaitBounds: how few waits of serial queues, or edges of graphs, add no order. Found by the sync
// of a program without hazards; wait_certificate.h proves it from the operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "encoder/program/program.h"
#include "simulator/barriers/wait_certificate.h"

namespace interlock {

struct WaitBounds {
  WaitCertificate certificate;
  // Those of the program; a wait that no dispatch comes after does not count.
  uint64_t wait_count = 0;
  // Some queue passes on what it has waited for: no dispatch stands between that wait and a signal
  // for which somebody waits.
  bool passes_on = false;

  bool is_of_edges() const { return certificate.is_of_edges; }
  // Any placement that adds no order has as many, on the queues that have the dispatches, or on any
  // queues where one without a dispatch passes on in the program; and one where no queue passes on,
  // which can do with as many as that.
  uint64_t fewest() const { return certificate.fewest(); }
  uint64_t fewest_apart() const { return certificate.waits.size(); }
};

// Why there are none.
struct NoWaitBounds {
  std::string_view reason;  // What follows "as"; empty where there are no waits to speak of.
  DispatchId first;         // Some: the program's sync orders these two, and nothing asks for it.
  DispatchId second;
};

// Returns the bounds of `program` if its sync adds no order to what conflicts and to the order of
// its queues, with what barriers order there; nothing if it does, or if something else orders what
// queues execute: the host, which passes on what it has waited for, events of concurrent queues,
// graphs that are launched or beside other queues, edges that are not full. Nor of programs beyond
// kWaitClocksMax, or kPlaceDispatchesMax where queues are concurrent or join. Then says in
// `why_not`, if given, why not. Requires: `program` is in reference order, and has no hazard.
// Cost: linear, times the lines; the pairs of operands of the dispatches that waits and edges join.
// Where queues are concurrent or join, that of find_place_bounds().
std::optional<WaitBounds> find_wait_bounds(const Program& program, NoWaitBounds* why_not = nullptr);

// "2 waits, the fewest on these queues that add no order; certified.", or what else is to be said
// of them; empty if there are none and none is needed.
std::string text_of(const WaitBounds& bounds);

}  // namespace interlock
