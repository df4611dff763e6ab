// Split order: happens-before among the parts of dispatches, beside scoped barriers.
// docs/theory.md, "Split steps", has the model and the proof of what it decides.
//
// A dispatch o is a fetch F(o, c, q) for each byte c that it reads by sort of access q, a run R(o),
// and a commit C(o, c) for each byte that it writes. Each dependency p is one event E(p). Edges:
//   F -> R -> C         of one dispatch;
//   R(o) -> E(p)        if o executes at the source of p; C(o, c) -> E(p) if p also covers c and
//                       names the write;
//   E(p) -> R(o)        if o executes at the destination of p; E(p) -> F(o, c, q) if p also covers
//                       c and names q;
//   E(p) -> E(r)        if r is of a later command, and the destination of p meets the source of r.
// An execution is a linear extension. So what a path leads to from a given node is found by one
// walk along the statements, which carries the stages that the path has reached; and what leads to
// a given fetch by one walk back. Other queues would add places beside the stages, other sorts of
// sync add dependencies with two positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

// What a path leads to from one node of a dispatch, up to a later dispatch.
struct Followers {
  std::vector<DispatchId> runs;  // Between the two: their runs follow. Ascending.
  bool second_runs = false;      // The run of the later dispatch follows,
  AccessMask fetches = 0;        // and its fetches, by these sorts, of the bytes at hand.
};

// The maximal runs of `bytes` that no dependency between the two dispatches splits.
// Cost: the operands between the two; with o of them on these bytes O(o log o) more.
std::vector<MemoryRange> split_alike(const ScopedOrder& order, DispatchId first, DispatchId second,
                                     MemoryRange bytes);

// The dispatches, dependencies and operands between the two: what a walk along them takes.
// Cost: the dependencies.
uint64_t steps_between(const ScopedOrder& order, DispatchId first, DispatchId second);

// What follows C(first, bytes), up to `second`. Requires: first < second; `bytes` is one of
// split_alike(). Cost: the dispatches and dependencies between the two, and their operands.
Followers after_commit(const ScopedOrder& order, DispatchId first, MemoryRange bytes,
                       DispatchId second);

// Those bytes c of `waiting` for which the run of `second` follows C(first, c). Requires: none of
// `waiting` is empty. Cost: constant where no dependency has operands, else split_alike() and, for
// each run, the dependencies between the two.
std::vector<MemoryRange> forced_commits(const ScopedOrder& order, DispatchId first,
                                        std::span<const MemoryRange> waiting, DispatchId second);

// What leads to the fetch of some bytes: asked while a schedule is built or checked.
class FetchNeeds {
 public:
  // Of F(second, c, sort) for the bytes c of `bytes`, as far as dispatches from `begin` on lead to
  // it. Requires: begin <= second; `order` outlives this.
  // Cost: the dependencies between the two, and their operands.
  FetchNeeds(const ScopedOrder& order, DispatchId begin, DispatchId second, MemoryRange bytes,
             StageAccess sort);

  // R(dispatch) leads to it. Requires: begin <= dispatch < second. Cost: constant.
  bool needs_run(DispatchId dispatch) const;

  // C(dispatch, c) leads to it for some byte c of `bytes`. Requires: as above.
  // Cost: the dependencies after `dispatch`, and their operands.
  bool needs_commit(DispatchId dispatch, MemoryRange bytes) const;

 private:
  struct NeededEvent {
    uint32_t command;
    const ScopedDependency* dependency;
  };

  const ScopedOrder* order_;
  uint32_t first_command_;
  std::vector<StageMask> sources_;   // By command from the first one: of it and all later ones.
  std::vector<NeededEvent> events_;  // The latest first.
};

}  // namespace interlock
