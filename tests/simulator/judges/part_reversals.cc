#include "tests/simulator/judges/part_reversals.h"

#include <fmt/format.h>

#include <algorithm>

#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/schedules/part_order.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {
namespace {

// What the host has invalidated before part `k` does not get to memory any more.
bool comes_after_drop(const PartOrder& order, OperationPart commit, size_t k) {
  if (commit.role != PartRole::kCommit) return false;
  commit.role = PartRole::kDrop;
  const auto drop = std::ranges::find(order.parts, commit);
  if (drop == order.parts.end()) return false;
  return order.is_before(static_cast<size_t>(drop - order.parts.begin()), k);
}

// Some fetch or commit of the one may come after one of the other on bytes that they share.
bool can_reverse(const Program& run, const QueueMachine& machine, const PartOrder& order,
                 DispatchId first, PartRole first_role, DispatchId second, PartRole second_role,
                 bool second_writes) {
  const auto is_meant = [&](const OperationPart& part, DispatchId dispatch, PartRole role,
                            bool writes) {
    if (part.dispatch != dispatch || part.role != role) return false;
    const StageAccess sort = machine.pieces()[part.piece].sort;
    return writes == (sort == write_sort_of(stage_of(sort)));
  };
  for (size_t i = 0; i < order.parts.size(); ++i) {
    if (!is_meant(order.parts[i], first, first_role, first_role == PartRole::kCommit)) continue;
    const AccessPiece& one = machine.pieces()[order.parts[i].piece];
    const Access& access = run.accesses_of(first)[one.access];
    for (size_t k = 0; k < order.parts.size(); ++k) {
      if (!is_meant(order.parts[k], second, second_role, second_writes)) continue;
      const AccessPiece& other = machine.pieces()[order.parts[k].piece];
      const Access& later = run.accesses_of(second)[other.access];
      const bool commute = access.is_atomic() && later.is_atomic() &&
                           run.dispatch(first).atomic_op == run.dispatch(second).atomic_op;
      if (access.memory != later.memory || !share_a_byte(one.bytes, other.bytes) || commute) {
        continue;
      }
      if (!order.is_before(i, k) && !comes_after_drop(order, order.parts[i], k)) return true;
    }
  }
  return false;
}

// The host writes, between the two, bytes that both access: what it comes to later then finds that.
bool host_writes_between(const Program& run, DispatchId first, DispatchId second) {
  const auto shares = [&](const Access& written, DispatchId with) {
    return std::ranges::any_of(run.accesses_of(with), [&](const Access& access) {
      return access.memory == written.memory && share_a_byte(access.range, written.range);
    });
  };
  for (size_t between = first.index + 1; between < second.index; ++between) {
    if (run.dispatches[between].host != HostAccess::kWrites) continue;
    for (const Access& written : run.accesses_of(DispatchId(between))) {
      if (shares(written, first) && shares(written, second)) return true;
    }
  }
  return false;
}

// What the host writes goes back in whole atoms, and nothing of what it reads.
Program with_atoms_of_writes(Program run) {
  for (const DispatchId id : run.host_dispatches) {
    const Dispatch& dispatch = run.dispatch(id);
    if (dispatch.host != HostAccess::kWrites) continue;
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      Access& access = run.accesses[dispatch.first_access + k];
      access.range = in_whole_atoms(run.memory(access.memory), access.range);
    }
  }
  return run;
}

}  // namespace

std::optional<std::string> find_wrong_kinds(const Program& run) {
  const Program atoms = with_atoms_of_writes(run);
  const HappensBefore order(atoms, &run);
  const QueueMachine machine(run, {.splits_memory = true});
  const PartOrder parts = find_part_order(run, true);
  const bool is_at_once = std::ranges::any_of(run.memories, &Memory::is_unified);
  using enum PartRole;
  for (DispatchId second(size_t{1}); second.index < run.dispatches.size(); ++second.index) {
    for (DispatchId first(size_t{0}); first < second; ++first.index) {
      const bool is_first_of_host = run.dispatch(first).host != HostAccess::kNone;
      const bool is_second_of_host = run.dispatch(second).host != HostAccess::kNone;
      // The host's own accesses come one after another; what it has lost is told by what it finds,
      // and what it does at once has no such parts.
      if (is_first_of_host && is_second_of_host) continue;
      const bool is_of_host = is_first_of_host || is_second_of_host;
      if (is_of_host && (is_at_once || !order.queues().host_moves().lost().empty())) continue;
      const ConflictKinds kinds = hazard_kinds(atoms, order, first, second);
      const auto reverses = [&](PartRole a, PartRole b, bool second_writes) {
        return can_reverse(run, machine, parts, first, a, second, b, second_writes);
      };
      const bool raw = reverses(kCommit, kFetch, false);
      const bool waw = reverses(kCommit, kCommit, true) || reverses(kCommit, kFetch, true);
      // A hazard with what the host finds: the machine reverses that with its write in between.
      const bool is_covered = is_second_of_host && host_writes_between(run, first, second);
      const bool is_same = (kinds.raw && !(is_covered && !raw)) == raw &&
                           kinds.war == reverses(kFetch, kCommit, true) &&
                           (kinds.waw && !(is_covered && !waw)) == waw;
      if (is_same) continue;
      return fmt::format("The hazards of {} and {} are not those that the machine can reverse.",
                         run.reference_of(first), run.reference_of(second));
    }
  }
  return std::nullopt;
}

}  // namespace interlock
