// The basic idea: each hazard is a gap between two statements in which a barrier is missing. The
// fewest points that meet all gaps are found from the gap that ends first on, each time at the end
// of the first gap that has no point yet: whatever else meets that gap meets no more of the later
// ones.
#include "simulator/report/added_barriers.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "simulator/facts/fact.h"
#include "simulator/report/hazard_end.h"
#include "simulator/report/sync_edit.h"

namespace interlock {
namespace {

// A barrier is missing right before one of the statements begin + 1 … end.
struct Gap {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool is_about_memory = false;
  Scope source;  // What a scoped barrier there names.
  Scope destination;
};

// A barrier that is added right before a statement.
struct Added {
  uint32_t at = 0;
  bool is_about_memory = false;
  Scope source;
  Scope destination;
};

Scope joined(Scope a, Scope b) {
  return {static_cast<StageMask>(a.stages | b.stages),
          static_cast<AccessMask>(a.accesses | b.accesses)};
}

Gap gap_of(const Program& program, const Finding& finding) {
  const HazardEnd first(program, finding.first);
  const HazardEnd second(program, *finding.second);
  const bool is_about_memory = finding.kind != FindingKind::kWriteAfterRead;
  const StatementId end =
      second.is_transition() ? second.barrier(program) : second.dispatch.statement;
  return {first.dispatch.statement.index, end.index, is_about_memory,
          source_scope_of(first, finding.kind), destination_scope_of(second, finding.kind)};
}

// Any destination will do: what the barrier holds back comes after the destroy.
Gap gap_before_destroy(const Program& program, const Finding& finding) {
  const HazardEnd first(program, finding.first);
  const Scope stage = {bit_of(first.stage), 0};
  return {.begin = first.dispatch.statement.index,
          .end = program.lifetimes[finding.pending_at.index].statement.index,
          .source = stage,
          .destination = stage};
}

class BarrierSearch {
 public:
  BarrierSearch(const Program& program, std::span<const Finding> findings, AddedBarriers added)
      : program_(program), kind_(added) {
    for (const Finding& finding : findings) {
      if (is_hazard(finding.kind)) gaps_.push_back(gap_of(program, finding));
      if (finding.pending_at.is_some()) gaps_.push_back(gap_before_destroy(program, finding));
    }
    std::ranges::stable_sort(gaps_, {}, &Gap::end);
    for (const Barrier& barrier : program.barriers) {
      if (barrier.kind == BarrierKind::kExecution) executions_.push_back(barrier.statement.index);
    }
  }

  std::vector<RepairLine> run() {
    for (const Gap& gap : gaps_) {
      if (!execution_in(gap)) meet(gap);
    }
    // A barrier that is new for others may serve where one is not about memory.
    std::vector<uint32_t> made_full;
    for (const Gap& gap : gaps_) {
      const std::optional<uint32_t> execution = execution_in(gap);
      if (!execution || added_in(gap) != nullptr || is_met(made_full, gap)) continue;
      made_full.push_back(*execution);
    }
    for (const Gap& gap : gaps_) {
      if (execution_in(gap) && !is_met(made_full, gap)) join(*added_in(gap), gap);
    }
    SyncEdit edit(program_);
    for (const uint32_t at : made_full) edit.make_full(StatementId(size_t{at}));
    for (const Added& added : added_) add(added, edit);
    return edit.lines();
  }

 private:
  // The last barrier in the gap that is there and is not about memory.
  std::optional<uint32_t> execution_in(const Gap& gap) const {
    const auto after = std::ranges::lower_bound(executions_, gap.end);
    if (after == executions_.begin() || *std::prev(after) <= gap.begin) return std::nullopt;
    return *std::prev(after);
  }

  static bool is_met(const std::vector<uint32_t>& barriers, const Gap& gap) {
    const auto after = std::ranges::upper_bound(barriers, gap.end);
    return after != barriers.begin() && *std::prev(after) > gap.begin;
  }

  Added* added_in(const Gap& gap) {
    const auto after = std::ranges::upper_bound(added_, gap.end, {}, &Added::at);
    if (after == added_.begin() || std::prev(after)->at <= gap.begin) return nullptr;
    return &*std::prev(after);
  }

  static void join(Added& added, const Gap& gap) {
    added.is_about_memory |= gap.is_about_memory;
    added.source = joined(added.source, gap.source);
    added.destination = joined(added.destination, gap.destination);
  }

  void meet(const Gap& gap) {
    Added* added = added_in(gap);
    if (added == nullptr) added = &added_.emplace_back(Added{.at = gap.end});
    join(*added, gap);
  }

  void add(const Added& added, SyncEdit& edit) const {
    const SyncEdit::Place place = {StatementId(size_t{added.at}), false};
    // That of a destroy may be none.
    const QueueIndex of_statement = program_.statements[added.at].queue;
    const QueueIndex queue = of_statement == kNoQueue ? kDefaultQueue : of_statement;
    if (kind_ == AddedBarriers::kScoped) {
      edit.add_barrier(place, queue, added.source, added.destination, {});
    } else {
      edit.add_barrier(place, queue,
                       added.is_about_memory ? BarrierKind::kFull : BarrierKind::kExecution);
    }
  }

  const Program& program_;
  const AddedBarriers kind_;
  std::vector<Gap> gaps_;             // By their ends.
  std::vector<uint32_t> executions_;  // Statements, ascending.
  std::vector<Added> added_;          // Ascending.
};

}  // namespace

std::vector<RepairLine> find_barriers_to_add(const Program& program,
                                             std::span<const Finding> findings,
                                             AddedBarriers added) {
  return BarrierSearch(program, findings, added).run();
}

}  // namespace interlock
