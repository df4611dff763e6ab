// The outline: find all facts, and in the same pass how few barriers would do; explain each, judge
// whether the hazards can reach an output, and sort what a person should see first to the front.
#include "simulator/report/check.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/barriers/certificate.h"
#include "simulator/barriers/closing_sync.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/barriers/wait_bounds.h"
#include "simulator/barriers/wait_certificate.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/facts/find_facts.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/hazards.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/places.h"
#include "simulator/order/reference_order.h"
#include "simulator/report/explain.h"
#include "simulator/report/repair.h"
#include "simulator/schedules/observability.h"

namespace interlock {

namespace {

void count_statements(const Program& program, CheckReport& report) {
  report.host_access_count = program.host_dispatches.size();
  report.dispatch_count = program.dispatches.size() - program.uncounted_dispatches.size();
  report.bare_dispatch_count = static_cast<uint64_t>(
      std::ranges::count_if(program.dispatches, [&](const Dispatch& dispatch) {
        return dispatch.is_counted() && dispatch.access_count == 0 && is_opaque(program, dispatch);
      }));
  // A replay on a serial queue is one statement of that.
  report.sync_count =
      static_cast<uint64_t>(std::ranges::count(program.syncs, false, &SyncStep::is_of_launch));
  std::vector<bool> is_used(program.queue_count(), false);
  QueueIndex last = kNoQueue;
  for (const Statement& statement : program.statements) {
    if (statement.queue == last || statement.queue == kNoQueue) continue;
    last = statement.queue;
    is_used[program.launching_queue_of(last)] = true;
  }
  report.queue_count = static_cast<uint64_t>(std::ranges::count(is_used, true));
  report.access_count = program.accesses.size();
  report.barrier_count = program.barriers.size();
  report.execution_barrier_count = static_cast<uint64_t>(
      std::ranges::count(program.barriers, BarrierKind::kExecution, &Barrier::kind));
}

void set_bounds(const Program& program, BarrierBounds bounds, CheckReport& report) {
  // A barrier is removed because of this number, so its proof is checked each time it is given.
  const auto defect = certificate_defect(program, bounds.forcing, bounds.fewest_barriers);
  if (is_stopped()) return;
  INTERLOCK_CHECK(!defect.has_value());
  static_cast<BarrierBounds&>(report) = std::move(bounds);
}

// Requires: `hazards` is ordered by second, then first.
void count_pairs(const std::vector<Hazard>& hazards, CheckReport& report) {
  for (size_t i = 0; i < hazards.size(); ++i) {
    const Hazard& hazard = hazards[i];
    report.raw_count += hazard.kind == FindingKind::kReadAfterWrite;
    report.war_count += hazard.kind == FindingKind::kWriteAfterRead;
    report.waw_count += hazard.kind == FindingKind::kWriteAfterWrite;
    report.pair_count += i == 0 || hazards[i - 1].first.dispatch != hazard.first.dispatch ||
                         hazards[i - 1].second.dispatch != hazard.second.dispatch;
  }
}

// Beside scoped barriers, or with hazards, EpochJoins say nothing.
BarrierRedundancy redundancy_of(const Program& program, const HappensBefore& order,
                                const ByteSegments& segments, const DestroyNeeds& destroys,
                                bool is_clean, uint64_t work_limit) {
  if (!order.has_scopes()) return find_redundant(program, order, segments, destroys);
  return is_clean ? find_redundant_of_clean(program, order, segments, work_limit, destroys)
                  : find_scoped_redundant(program, work_limit, destroys);
}

void set_redundant(BarrierRedundancy redundancy, CheckReport& report) {
  report.redundant = std::move(redundancy.redundant);
  report.unjudged_barrier_count = redundancy.unjudged_count;
  report.redundant_sync = std::move(redundancy.words);
  report.unjudged_sync_count = redundancy.unjudged_word_count;
}

// Moves those for which is_advice() is false, in their order.
template <typename Entry, typename IsAdvice>
void move_others(std::vector<Entry>& entries, const IsAdvice& is_advice,
                 std::vector<Entry>& others) {
  const auto first = std::stable_partition(entries.begin(), entries.end(), is_advice);
  others.assign(first, entries.end());
  entries.erase(first, entries.end());
}

// Takes from the advice what is for whatever comes after this text.
void set_closing_apart(const Program& program, CheckReport& report) {
  if (report.has_bounds) report.closing_barrier_count = closing_barrier_count(program);
  if (report.redundant.empty() && report.redundant_sync.empty()) return;
  const ClosingSync closing(program);
  move_others(
      report.redundant,
      [&](const RedundantBarrier& entry) {
        return !closing.has(program.barriers[entry.barrier.index].statement);
      },
      report.closing);
  move_others(
      report.redundant_sync, [&](const SyncPiece& piece) { return !closing.has(piece); },
      report.closing_sync);
}

// Why it may be none.
void explain_doubt(const Hazard& hazard, Finding& finding) {
  finding.is_possible = hazard.is_possible;
  finding.is_after_own_read = hazard.is_after_own_read;
  const auto name_class = [&](std::string_view before, std::string_view after) {
    constexpr std::string_view kNoun = " hazard:";
    const size_t at = finding.headline.find(kNoun);
    INTERLOCK_CHECK(at != std::string::npos);
    finding.headline.insert(at + kNoun.size() - 1, after);
    finding.headline.insert(0, before);
  };
  if (hazard.is_possible) {
    name_class("possible ", "");
    finding.details.emplace_back(
        "An approximate dispatch has a part in it: its operands bound what it touches, so that no "
        "byte is certain.");
  }
  if (hazard.is_after_own_read) {
    name_class("", " after own read");
    finding.details.emplace_back(
        "The later one sees these bytes, reads them and then overwrites them, and nothing names its "
        "write: the specification asks for that, and no known hardware does.");
  }
}

// One that is after own read and only possible is after own read: that decides.
bool counts_as_finding(const Hazard* hazard, const CheckOptions& options) {
  if (hazard == nullptr) return true;
  if (hazard->is_after_own_read) return options.counts_own_reads;
  return options.counts_possible || !hazard->is_possible;
}

// Judges whether the hazards can reach an output, and puts them before the other findings.
void explain_facts(const Program& program, const HappensBefore& order, const ByteSegments& segments,
                   const std::vector<Fact>& facts, const CheckOptions& options,
                   CheckReport& report) {
  std::vector<Hazard> hazards;
  DispatchId aliased;
  for (const Fact& fact : facts) {
    if (const auto* hazard = std::get_if<Hazard>(&fact)) hazards.push_back(*hazard);
  }
  // Bounds that overlap make no finding, and are executed.
  const auto violations =
      hazards.empty() ? std::vector<AliasViolation>() : find_alias_violations(program, 1);
  if (!violations.empty()) aliased = violations.front().dispatch;
  if (options.lists_all_pairs) count_pairs(hazards, report);
  const std::vector<ObservabilityVerdict> verdicts =
      judge_observability(program, order, segments, hazards,
                          {.work_limit = options.observability_budget,
                           .lists_all_pairs = options.lists_all_pairs,
                           .conflicting_in = aliased});
  ExplainContext context{order, options.lifetime_budget};
  size_t hazard_count = 0;
  for (const Fact& fact : facts) {
    if (is_stopped()) return;
    if (is_of_bounds(program, fact)) continue;
    Finding finding = explain(program, fact, context);
    const auto* const hazard = std::get_if<Hazard>(&fact);
    if (hazard != nullptr) explain_observability(program, verdicts[hazard_count++], finding);
    if (hazard != nullptr) explain_doubt(*hazard, finding);
    (counts_as_finding(hazard, options) ? report.findings : report.noted)
        .push_back(std::move(finding));
  }
}

auto sort_key(const Finding& finding) {
  const AccessRef second = finding.second.value_or(finding.first);
  return std::tuple(finding.observability != Observability::kObservable, second.dispatch,
                    finding.first.dispatch, finding.kind, second.access, finding.first.access,
                    finding.memory, finding.overlap.begin, finding.lifetime, finding.tensor);
}

// Of what comes in the order of a run, with the verdicts that one queue alone has.
CheckReport check_one_queue(const Program& program, const CheckOptions& options) {
  CheckReport report;
  const ByteSegments segments(program);
  count_statements(program, report);
  const HappensBefore order = HappensBefore::of_one_queue(program);
  const DestroyNeeds destroys = find_destroy_needs(program);
  if (is_stopped()) return report;
  GreedyBarriers greedy(destroys.pairs);
  EpochJoins joins(program, order);
  ConflictObserver* const observers[] = {&greedy, &joins};
  FactReport found =
      find_facts(program, order, segments,
                 {.limit = options.pair_limit,
                  .lists_all_pairs = options.lists_all_pairs,
                  .lists_possible = true,
                  .scoped_step_limit = options.scoped_step_limit,
                  .lifetimes = {options.pair_limit, options.lifetime_budget},
                  // Scoped barriers join no epochs.
                  .observers = std::span(observers).first(order.has_scopes() ? 1 : 2)});
  if (is_stopped()) return report;
  report.truncations = std::move(found.truncations);
  const bool has_hazard = !found.facts.empty() && is_hazard(kind_of(found.facts.front()));
  // What a limit has ended says nothing of hazards either.
  const bool is_clean = !has_hazard && report.truncations.empty();
  const bool has_joins = !has_hazard && !order.has_scopes();
  set_redundant(has_joins ? joins.redundant(destroys)
                          : redundancy_of(program, order, segments, destroys, is_clean,
                                          options.redundancy_budget),
                report);
  set_closing_apart(program, report);
  if (is_stopped()) return report;
  set_bounds(program, std::move(greedy).bounds(program, segments), report);
  if (is_stopped()) return report;
  explain_facts(program, order, segments, found.facts, options, report);
  if (is_stopped()) return report;
  std::ranges::stable_sort(report.findings, {}, sort_key);
  std::ranges::stable_sort(report.noted, {}, sort_key);
  return report;
}

CheckReport check_run(const Program& run, const CheckOptions& options) {
  CheckReport report;
  report.has_bounds = false;
  const ByteSegments segments(run);
  const HappensBefore order(run);
  if (is_stopped()) return report;
  FactReport found = find_facts(run, order, segments,
                                {.limit = options.pair_limit,
                                 .lists_all_pairs = options.lists_all_pairs,
                                 .lists_possible = true,
                                 .scoped_step_limit = options.scoped_step_limit,
                                 .lifetimes = {options.pair_limit, options.lifetime_budget}});
  if (is_stopped()) return report;
  report.truncations = std::move(found.truncations);
  explain_facts(run, order, segments, found.facts, options, report);
  std::ranges::stable_sort(report.findings, {}, sort_key);
  std::ranges::stable_sort(report.noted, {}, sort_key);
  return report;
}

// Lets the findings of a run name what stands in the text.
void name_in_text(const Program& program, const Program& run, CheckReport& report) {
  const auto name = [&](Finding& finding) {
    const auto rename = [&](AccessRef& ref) {
      if (ref.dispatch.is_some()) ref.dispatch = in_text(program, run, ref.dispatch);
    };
    rename(finding.first);
    if (finding.second) rename(*finding.second);
    for (LifetimeId* const lifetime : {&finding.lifetime, &finding.pending_at}) {
      if (lifetime->is_some()) *lifetime = in_text(program, run, *lifetime);
    }
    for (Displacement& line : finding.witness) {
      line.moved = in_text(program, run, line.moved);
      line.anchor = in_text(program, run, line.anchor);
    }
  };
  std::ranges::for_each(report.findings, name);
  std::ranges::for_each(report.noted, name);
}

// As set_bounds(), of waits and edges. `program` is the text of `run`, or that itself.
void set_wait_bounds(const Program& program, const Program& run, CheckReport& report) {
  if (!report.findings.empty() || !report.noted.empty() || report.is_truncated()) return;
  NoWaitBounds& why_not = report.no_waits;
  std::optional<WaitBounds> bounds = find_wait_bounds(run, &why_not);
  if (&program != &run && why_not.second.is_some()) {
    why_not.first = in_text(program, run, why_not.first);
    why_not.second = in_text(program, run, why_not.second);
  }
  if (!bounds || is_stopped()) return;
  const WaitProof proof = prove(run, bounds->certificate);
  INTERLOCK_CHECK(proof.defect.empty());
  if (proof.is_cut_short) {
    why_not.reason = "its proof takes too many steps";
    return;
  }
  for (NeededWait& wait : bounds->certificate.waits) {
    if (&program == &run) break;
    wait.first = in_text(program, run, wait.first);
    wait.second = in_text(program, run, wait.second);
  }
  report.waits = std::move(bounds);
}

// What is wrong in the reference run, and whether that ends before all statements have run.
CheckReport check_reference(const Program& program, const CheckOptions& options) {
  const ReferenceOrder reference = find_reference_order(program);
  if (is_stopped()) return {};
  CheckReport report;
  if (reference.is_text_order) {
    report = check_run(program, options);
    set_wait_bounds(program, program, report);
  } else {
    const Program run = in_reference_order(program, reference);
    report = check_run(run, options);
    name_in_text(program, run, report);
    if (reference.cycle.empty()) set_wait_bounds(program, run, report);
    const uint64_t left_out = program.backwards.size() - run.backwards.size();
    if (left_out > 0) {
      report.truncations.push_back({TruncationCause::kGradientOrder, left_out});
    }
  }
  count_statements(program, report);
  if (is_stopped()) return report;
  if (!reference.cycle.empty()) {
    report.findings.insert(report.findings.begin(),
                           explain_deadlock(program, Deadlock{reference.cycle}));
  }
  find_repairs(program, options.repair_budget, report.findings);
  if (is_stopped()) return report;
  // Of host accesses, which count as whole atoms there, more has to be known.
  const bool is_clean = reference.is_text_order && report.findings.empty() &&
                        report.noted.empty() && report.truncations.empty() &&
                        program.host_dispatches.empty() && !Places(program).is_too_wide();
  SyncRedundancy sync =
      find_redundant_sync(program, {.work_limit = options.redundancy_budget, .is_clean = is_clean});
  report.redundant_sync = std::move(sync.redundant);
  report.unjudged_sync_count = sync.unjudged_count;
  set_closing_apart(program, report);
  return report;
}

}  // namespace

CheckReport check(const Program& program, const CheckOptions& options) {
  if (!needs_queue_order(program)) return check_one_queue(program, options);
  if (program.text_order == nullptr) return check_reference(program, options);
  CheckReport report = check_run(program, options);
  count_statements(program, report);
  return report;
}

}  // namespace interlock
