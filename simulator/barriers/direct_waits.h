// DirectWaits: the dispatches that the waits and edges of a program lead from and to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

struct DirectWaits {
  // The dispatches of each serial queue; of graph queues, of paths on which each conflicts with the
  // next and has an edge to it.
  std::vector<std::vector<uint32_t>> lines;
  std::vector<uint32_t> line_of;      // By dispatch; of the host: WaitCertificate::kNoLine.
  std::vector<uint32_t> position_of;  // By dispatch, in its line.
  // By dispatch, one after another: those of other lines, or with edges to it, that come before it
  // and before no dispatch of its queue before it, by nothing but waits and signals between; of a
  // queue the latest one.
  std::vector<uint32_t> before_of_all;
  std::vector<size_t> before_end;
  // Edges, or waits for queues but those that no dispatch comes after.
  uint64_t wait_count = 0;
  bool passes_on = false;         // Some wait leads on from another one, with no dispatch between.
  bool is_by_idle_queue = false;  // By way of a queue that has no dispatch.
  bool is_of_edges = false;

  std::span<const uint32_t> before(uint32_t dispatch) const {
    const size_t begin = dispatch == 0 ? 0 : before_end[dispatch - 1];
    return std::span(before_of_all).subspan(begin, before_end[dispatch] - begin);
  }
};

// Returns nothing where other sync orders what queues execute than signals and waits, of serial
// queues that join no others, or full edges of graphs; so where the host
// passes on what it has waited for. And where queues pass on very much. Requires: `program` is in
// reference order. Cost: linear; times the queues where they pass on; of edges the operands at
// their ends.
std::optional<DirectWaits> find_direct_waits(const Program& program);

// Whether an access of one conflicts with one of the other. Cost: the pairs of operands.
bool share_conflicting_bytes(const Program& program, DispatchId first, DispatchId second);

}  // namespace interlock
