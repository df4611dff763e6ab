// The basic idea: changes are listed from the cheapest on, and each is made and judged as if it
// were the text. The last ones always work: a full dependency from right after the first access to
// right before the second one only says what the reference run does anyway.
#include "simulator/report/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/report/repair_deadlock.h"
#include "simulator/report/repair_destroy.h"
#include "simulator/report/repair_effects.h"
#include "simulator/report/repair_search.h"

namespace interlock {
namespace {

// What a try costs beside visits.
constexpr uint64_t kWorkOfOne = 4000;

// Of the list of all findings, before and after a try.
constexpr uint64_t kListingWorkMax = 1'000'000;

// Statements that are looked at between the two, nearest to the second one first, for words that
// one may have more and for signals to wait for.
constexpr size_t kStatementsBetweenMax = 24;

}  // namespace

void RepairSearch::run() {
  if (!has_work()) return;
  if (!context_.hazards) context_.hazards.emplace(program_);
  const auto hazards = context_.hazards->of(first_.id, second_.id);
  if (!hazards || is_stopped()) return;
  extent_ = extent_of(program_, finding_.kind, first_.id, second_.id, *hazards);
  if (extent_.bytes.empty()) return;
  in_atoms_ = bytes_in_atoms(program_, extent_.bytes);
  list_between();
  // Between two of the host there is only its cache.
  const bool is_of_host = first_.is_of_host() && second_.is_of_host();
  const bool is_named = is_of_host ? add_flush_between()
                                   : widen_some() || add_one() || submit_later() ||
                                         widen_signal_and_wait() || add_several();
  if (!is_named && with_others_) take(*with_others_);
}

bool RepairSearch::has_work() {
  const uint64_t work = 8 * (program_.statements.size() + program_.accesses.size()) + kWorkOfOne;
  if (work > work_left_ || is_stopped()) return false;
  work_left_ -= work;
  return true;
}

bool RepairSearch::works(const SyncEdit& edit, const std::string& fix) {
  if (!has_work()) return false;
  const auto hazards = HazardsBetween(edit.program()).of(first_.id, second_.id);
  if (!hazards || std::ranges::any_of(*hazards, [&](const ByteHazards& h) { return is_it(h); })) {
    return false;
  }
  if (!brings_another(edit)) {
    take({fix, edit.lines()});
    return true;
  }
  if (!with_others_) {
    with_others_ = {fix +
                        " It brings another finding, and no other small change was found to "
                        "separate the two and bring none.",
                    edit.lines()};
  }
  return false;
}

void RepairSearch::take(const NamedRepair& repair) {
  finding_.fix = repair.fix;
  finding_.repair = repair.lines;
}

bool RepairSearch::brings_another(const SyncEdit& edit) {
  if (!context_.findings) return false;
  const uint64_t work = 16 * (program_.statements.size() + program_.accesses.size()) + kWorkOfOne;
  if (work > work_left_) return false;
  work_left_ -= work;
  uint64_t listing_work = kListingWorkMax;
  const OrderFindings after =
      find_order_findings(edit.program(), HazardsListed::kAll, listing_work);
  return after.is_known && !is_stopped() && interlock::brings_another(*context_.findings, after);
}

bool RepairSearch::is_it(const ByteHazards& hazard) const {
  return hazard.kind == finding_.kind || hazard.first != first_.id;
}

void RepairSearch::list_between() {
  // What a transition is part of can name more, too.
  const uint32_t begin = first_.is_transition()
                             ? context_.position[first_.barrier(program_).index]
                             : context_.position[first_.dispatch.statement.index] + 1;
  for (uint32_t i = context_.position[second_.dispatch.statement.index]; i-- > begin;) {
    if (between_.size() == kStatementsBetweenMax) return;
    const StatementId id = context_.reference.statements[i];
    const StatementKind kind = program_.statements[id.index].kind;
    const uint32_t index = program_.statements[id.index].index;
    const bool is_sync = kind == StatementKind::kBarrier ||
                         (kind == StatementKind::kSync && !program_.syncs[index].is_of_launch);
    if (is_sync) between_.push_back(id);
  }
}

bool RepairSearch::is_in_graph(const RepairEnd& end) const {
  return !end.is_of_host() && program_.kind_of(end.queue) == QueueKind::kGraph;
}

std::string_view RepairSearch::name_of(const RepairEnd& end) const {
  return program_.name_of(end.queue);
}

bool RepairSearch::add_one() {
  if (first_.queue == second_.queue && is_in_graph(first_)) return add_edge();
  if (first_.queue == second_.queue) return add_barrier_between();
  if (!second_.is_of_host()) return add_wait() || add_for_host_write();
  return add_wait() || add_for_host_read();
}

bool RepairSearch::add_edge() {
  SyncEdit edit(program_);
  edit.add_edge(first_.id, second_.id);
  const std::string fix = fmt::format(
      "{}`after {}`{} on {}.", was_ordered() ? "" : "an edge: ", program_.reference_of(first_.id),
      was_ordered() ? " without `programmatic`" : "", second_.name);
  if (!has_edges_alone()) return works(edit, fix);
  take({fix, edit.lines()});
  return true;
}

bool RepairSearch::has_edges_alone() const {
  return program_.syncs.empty() && program_.barriers.empty() && program_.host_dispatches.empty();
}

bool RepairSearch::was_ordered() const {
  // By a programmatic edge of its own, or by others.
  return std::ranges::any_of(program_.edges_to(second_.id), &Edge::is_programmatic);
}

bool RepairSearch::add_barrier_between() {
  SyncEdit edit(program_);
  add_barrier(edit, second_.before(program_), second_.queue);
  return works(edit, fmt::format("`{} on {}` between {} and {}.", barrier_text(), name_of(second_),
                                 first_.name, second_.name));
}

void RepairSearch::add_barrier(SyncEdit& edit, SyncEdit::Place place, QueueIndex queue) const {
  edit.add_barrier(place, queue, source_word(), destination_word(),
                   is_war_ ? std::span<const Access>() : extent_.bytes);
}

std::string RepairSearch::barrier_text() const {
  return barrier_text_of(program_, finding_.kind, extent_);
}

bool RepairSearch::add_wait() {
  for (auto id = between_.rbegin(); id != between_.rend(); ++id) {
    const Statement& statement = program_.statements[id->index];
    if (statement.kind != StatementKind::kSync) continue;
    const SyncStep& step = program_.syncs[statement.index];
    for (uint32_t i = 0; i < program_.parts_of(step).size(); ++i) {
      if (is_free(step.first + i) && add_wait(step.first + i)) return true;
    }
  }
  return false;
}

bool RepairSearch::is_free(uint32_t part) const {
  return !program_.semaphores[program_.signal_parts[part].semaphore.index].is_binary;
}

bool RepairSearch::add_wait(uint32_t part) {
  SyncEdit edit(program_);
  edit.add_wait(second_.before(program_), second_.queue, part);
  return works(edit, wait_text(part) + ".");
}

std::string RepairSearch::wait_text(uint32_t part) const {
  const std::string use = text_of_part(program_, program_.signal_parts[part]);
  return second_.is_of_host()
             ? fmt::format("`host waits {}` before {}", use, second_.name)
             : fmt::format("`wait {} on {}` before {}", use, name_of(second_), second_.name);
}

bool RepairSearch::add_several() {
  if (second_.is_of_host()) return add_before_host();
  if (first_.is_of_host()) return add_after_host();
  SyncEdit edit(program_);
  const uint32_t part = edit.add_signal(first_.after(program_), first_.queue);
  edit.add_wait(second_.before(program_), second_.queue, part);
  return works(edit, fmt::format("a signal on {} after {}, and a wait for it on {} before {}.",
                                 name_of(first_), first_.name, name_of(second_), second_.name));
}

void find_repairs(const Program& program, uint64_t work_limit, std::vector<Finding>& findings) {
  const auto is_one = [](const Finding& finding) {
    return is_hazard(finding.kind) || finding.pending_at.is_some();
  };
  const auto is_stuck = [](const Finding& f) { return f.kind == FindingKind::kDeadlock; };
  const auto deadlock = std::ranges::find_if(findings, is_stuck);
  if (deadlock != findings.end()) {
    // Where nothing goes on, no repair of a pair lets it.
    find_deadlock_repair(program, work_limit, *deadlock);
    return;
  }
  if (std::ranges::none_of(findings, is_one)) return;
  RepairContext context(program);
  if (!context.reference.cycle.empty()) return;
  uint64_t listing_work = std::min(work_limit, kListingWorkMax);
  OrderFindings known = find_order_findings(program, HazardsListed::kAll, listing_work);
  if (known.is_known) context.findings = std::move(known);
  for (Finding& finding : findings) {
    if (is_stopped()) return;
    if (finding.pending_at.is_some()) {
      find_destroy_repair(context, work_limit, finding);
    } else if (is_one(finding)) {
      RepairSearch(context, work_limit, finding).run();
    }
  }
}

}  // namespace interlock
