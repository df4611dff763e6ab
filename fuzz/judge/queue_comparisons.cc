// The order of programs of several queues: clocks, chains and counters.
#include "fuzz/judge/queue_comparisons.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include <fmt/format.h>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/chains/chain_hazards.h"
#include "simulator/chains/counter_run.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/queue_order.h"
#include "simulator/schedules/part_order.h"
#include "simulator/schedules/queue_machine.h"

namespace interlock {
namespace {

bool runs_to_its_end(const Program& program, FrontEnds front_ends) {
  QueueMachine machine(program, {.front_ends = front_ends});
  while (!machine.enabled().empty()) machine.run(*machine.enabled().begin());
  return machine.is_done() || machine.is_halted();
}

std::set<ChainHazard> hazard_bytes(const std::vector<ByteHazards>& hazards) {
  std::set<ChainHazard> bytes;
  for (const ByteHazards& hazard : hazards) {
    for (uint64_t byte = hazard.begin; byte < hazard.end; ++byte) {
      bytes.insert({hazard.first, hazard.second, hazard.kind, hazard.sort, hazard.first_stage,
                    hazard.memory, byte, hazard.is_ordered});
    }
  }
  return bytes;
}

std::string text_of_byte(const Program& program, const ChainHazard& hazard) {
  return fmt::format("the {} of {} and {} on byte {} of {}, by {}, {}", word_of(hazard.kind),
                     program.reference_of(hazard.first), program.reference_of(hazard.second),
                     hazard.byte, program.name(program.memory(hazard.memory).name),
                     text_of(hazard.sort),
                     hazard.is_ordered ? "ordered and not visible" : "in no order");
}

// Fetches and commits of two dispatches, and what one of them has to do to the other.
class Reversals {
 public:
  explicit Reversals(const Program& run)
      : run_(run), machine_(run, {.splits_memory = true}), order_(find_part_order(run, true)) {}

  ConflictKinds kinds_of(DispatchId first, DispatchId second) const {
    using enum PartRole;
    const auto reverses = [&](PartRole a, PartRole b, bool second_writes) {
      return can_reverse({first, a, a == kCommit}, {second, b, second_writes});
    };
    return {.raw = reverses(kCommit, kFetch, false),
            .war = reverses(kFetch, kCommit, true),
            .waw = reverses(kCommit, kCommit, true) || reverses(kCommit, kFetch, true)};
  }

 private:
  struct Meant {
    DispatchId dispatch;
    PartRole role;
    bool writes;  // Of a fetch: what a write fetches of the bytes that it overwrites.
  };

  bool is(const Meant& meant, const OperationPart& part) const {
    if (part.dispatch != meant.dispatch || part.role != meant.role) return false;
    const StageAccess sort = machine_.pieces()[part.piece].sort;
    const bool writes = sort == write_sort_of(stage_of(sort));
    return writes == meant.writes;
  }

  // Some part of the one may come after one of the other on bytes that they share.
  bool can_reverse(const Meant& first, const Meant& second) const {
    for (size_t i = 0; i < order_.parts.size(); ++i) {
      if (!is(first, order_.parts[i])) continue;
      for (size_t k = 0; k < order_.parts.size(); ++k) {
        if (!is(second, order_.parts[k]) || order_.is_before(i, k)) continue;
        if (share_bytes(order_.parts[i], order_.parts[k])) return true;
      }
    }
    return false;
  }

  bool share_bytes(const OperationPart& a, const OperationPart& b) const {
    const AccessPiece& one = machine_.pieces()[a.piece];
    const AccessPiece& other = machine_.pieces()[b.piece];
    const Access& first = run_.accesses_of(a.dispatch)[one.access];
    const Access& second = run_.accesses_of(b.dispatch)[other.access];
    const bool commute = first.is_atomic() && second.is_atomic() &&
                         run_.dispatch(a.dispatch).atomic_op == run_.dispatch(b.dispatch).atomic_op;
    return first.memory == second.memory && !commute && share_a_byte(one.bytes, other.bytes);
  }

  const Program& run_;
  const QueueMachine machine_;
  const PartOrder order_;
};

std::string text_of_kinds(ConflictKinds kinds) {
  std::string text;
  for (const auto& [has, word] :
       {std::pair(kinds.raw, "RAW"), std::pair(kinds.war, "WAR"), std::pair(kinds.waw, "WAW")}) {
    if (has) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
  }
  return text.empty() ? "none" : text;
}

size_t part_count(const Program& run, bool splits_memory) {
  const QueueMachine machine(run, {.splits_memory = splits_memory});
  size_t count = 0;
  for (size_t i = 0; i < run.dispatches.size(); ++i) {
    count += machine.parts_of(DispatchId(i)).size();
  }
  return count;
}

}  // namespace

Difference compare_runs(const Program& text, const ReferenceOrder& reference) {
  const std::vector<StatementId> run = run_by_counters(text);
  if (reference.statements != run) {
    return fmt::format(
        "The reference run has {} of {} statements, the run of semaphores that count {}, or in "
        "another order.",
        reference.statements.size(), text.statements.size(), run.size());
  }
  const bool is_deadlock = !reference.cycle.empty();
  if (is_deadlock != (run.size() < text.statements.size())) {
    return "A circle of waiting statements is told iff all of them run.";
  }
  if (runs_to_its_end(text, FrontEnds::kStopAtWaits) == is_deadlock) {
    return fmt::format("The reference run says {}, and the machine of counters otherwise.",
                       is_deadlock ? "deadlock" : "no deadlock");
  }
  // Where queues run ahead of their waits, less is stuck, and never more.
  if (!is_deadlock && !runs_to_its_end(text, FrontEnds::kRunAhead)) {
    return "The machine of counters is stuck where queues run ahead of their waits.";
  }
  return std::nullopt;
}

Difference compare_hazards(const Program& text, const OrderFindings& findings) {
  const std::optional<std::set<ChainHazard>> chains = chain_hazards_of(text);
  if (!findings.runs || !chains) {
    if (findings.runs == chains.has_value()) return std::nullopt;
    return "Of the clocks and of the search of chains, one says that not all of it runs.";
  }
  const std::set<ChainHazard> clocks = hazard_bytes(findings.hazards);
  for (const ChainHazard& hazard : clocks) {
    if (chains->contains(hazard)) continue;
    return fmt::format("The exact check finds {}, and the search of chains does not.",
                       text_of_byte(text, hazard));
  }
  for (const ChainHazard& hazard : *chains) {
    if (clocks.contains(hazard)) continue;
    return fmt::format("The search of chains finds {}, and the exact check does not.",
                       text_of_byte(text, hazard));
  }
  return std::nullopt;
}

Difference compare_orders(const Program& run) {
  if (part_count(run, false) > kOrderedPartsMax) return std::nullopt;
  const QueueOrder order(run);
  if (order.is_too_wide()) return std::nullopt;
  const PartOrder machine = find_part_order(run, false);
  for (size_t k = 0; k < machine.parts.size(); ++k) {
    const OperationPart& second = machine.parts[k];
    for (size_t i = 0; i < machine.parts.size(); ++i) {
      const OperationPart& first = machine.parts[i];
      if (first.dispatch == second.dispatch) continue;
      const bool is_before =
          first.dispatch < second.dispatch &&
          order.executes_before(first.dispatch, first.stage, second.dispatch, second.stage);
      if (machine.is_before(i, k) == is_before) continue;
      return fmt::format(
          "{} in {} is {} {} in {} by the clocks, and by the machine of counters {}.",
          run.reference_of(first.dispatch), text_of(first.stage),
          is_before ? "before" : "not before", run.reference_of(second.dispatch),
          text_of(second.stage), is_before ? "not" : "it is");
    }
  }
  return std::nullopt;
}

Difference compare_reversals(const Program& run) {
  if (part_count(run, true) > kOrderedPartsMax) return std::nullopt;
  const HappensBefore order(run);
  const Reversals reversals(run);
  for (DispatchId second(size_t{0}); second.index < run.dispatches.size(); ++second.index) {
    for (DispatchId first(size_t{0}); first < second; ++first.index) {
      if (is_stopped()) return std::nullopt;
      const bool has_host = run.dispatch(first).host != HostAccess::kNone ||
                            run.dispatch(second).host != HostAccess::kNone;
      if (has_host) continue;
      const ConflictKinds clocks = hazard_kinds(run, order, first, second);
      const ConflictKinds machine = reversals.kinds_of(first, second);
      if (clocks.includes(machine) && machine.includes(clocks)) continue;
      return fmt::format(
          "{} and {} have these hazards by the clocks: {}; and by what the machine of counters can "
          "reverse: {}.",
          run.reference_of(first), run.reference_of(second), text_of_kinds(clocks),
          text_of_kinds(machine));
    }
  }
  return std::nullopt;
}

}  // namespace interlock
