// The outline: find hazards, reordered reads, alias violations, undeclared accesses, ended
// lifetimes and wrong gradients, explain each, judge whether the hazards can reach an output, and
// sort what a person should see first to the front.
#include "simulator/report/check.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/barriers/certificate.h"
#include "simulator/barriers/scoped_redundancy.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/gradients/gradient_requests.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/hazards/hazards.h"
#include "simulator/hazards/scoped_hazards.h"
#include "simulator/hazards/undeclared.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/explain.h"
#include "simulator/report/explain_gradient.h"
#include "simulator/report/explain_lifetimes.h"
#include "simulator/report/explain_undeclared.h"
#include "simulator/schedules/observability.h"

namespace interlock {

namespace {

void count_statements(const Program& program, CheckReport& report) {
  report.dispatch_count = program.dispatches.size();
  report.access_count = program.accesses.size();
  report.barrier_count = program.barriers.size();
  report.execution_barrier_count = static_cast<uint64_t>(std::count_if(
      program.barriers.begin(), program.barriers.end(),
      [](const Barrier& barrier) { return barrier.kind == BarrierKind::kExecution; }));
}

void set_bounds(const Program& program, BarrierBounds bounds, CheckReport& report) {
  // A barrier is removed because of this number, so its proof is checked each time it is given.
  const auto defect = certificate_defect(program, bounds.forcing, bounds.fewest_barriers);
  if (is_stopped()) return;
  INTERLOCK_CHECK(!defect.has_value());
  report.fewest_barriers = bounds.fewest_barriers;
  report.fewest_full_barriers = bounds.fewest_full_barriers;
  report.longest_chain = bounds.longest_chain;
  report.forcing = std::move(bounds.forcing);
  report.chain = std::move(bounds.chain);
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

uint64_t scoped_step_limit(const Program& program, const CheckOptions& options) {
  constexpr uint64_t kMin = 20'000'000;
  constexpr uint64_t kPerOperand = 64;
  const uint64_t operand_count = program.accesses.size() + program.barrier_operands.size();
  return options.scoped_step_limit.value_or(kMin + kPerOperand * operand_count);
}

// What ended the search for hazards, if it was.
void set_hazard_truncation(bool is_over, bool is_at_limit, const CheckOptions& options,
                           uint64_t limit, uint64_t step_limit, CheckReport& report) {
  if (is_at_limit) {
    report.truncations.push_back({TruncationCause::kHazards, options.pair_limit});
  } else if (is_over && options.lists_all_pairs) {
    report.truncations.push_back({TruncationCause::kAllPairs, examinations_max(limit)});
  } else if (is_over) {
    report.truncations.push_back({TruncationCause::kScopedSearch, step_limit});
  }
}

void add_hazards(const Program& program, const ByteSegments& segments,
                 const std::vector<AliasViolation>& violations, const CheckOptions& options,
                 CheckReport& report) {
  const HappensBefore order(program);
  // One more than the limit tells whether there are more.
  const uint64_t limit = std::min(options.pair_limit, UINT64_MAX - 1) + 1;
  const uint64_t step_limit = scoped_step_limit(program, options);
  bool is_search_over = false;
  const DestroyNeeds destroys = find_destroy_needs(program);
  if (is_stopped()) return;
  GreedyBarriers greedy(destroys.pairs);
  EpochJoins joins(program, order);
  ConflictObserver* const observers[] = {&greedy, &joins};
  std::vector<Hazard> hazards;
  if (order.has_scopes()) {
    scan_conflicts(program, segments, std::span(observers).first(1));
    is_search_over = !find_scoped_hazards(program, order, segments, limit, step_limit, hazards);
  } else {
    hazards =
        find_hazards(program, order, segments, options.lists_all_pairs ? 1 : limit, observers);
  }
  if (is_stopped()) return;
  if (order.has_scopes()) {
    ScopedRedundancy scoped = find_scoped_redundant(program, options.redundancy_budget);
    report.redundant = std::move(scoped.redundant);
    report.unjudged_barrier_count = scoped.unjudged_count;
  } else {
    report.redundant =
        hazards.empty() ? joins.redundant() : find_redundant(program, order, segments);
  }
  if (is_stopped()) return;
  report.unjudged_barrier_count += keep_for_destroys(destroys, report.redundant);
  set_bounds(program, std::move(greedy).bounds(program, segments), report);
  if (options.lists_all_pairs) {
    hazards = find_all_hazards(program, order, segments, limit, is_search_over);
  }
  const bool is_at_limit = hazards.size() >= limit;
  set_hazard_truncation(is_search_over, is_at_limit, options, limit, step_limit, report);
  if (is_at_limit) hazards.resize(limit - 1);
  if (options.lists_all_pairs) {
    count_pairs(hazards, report);
  }
  if (is_stopped()) return;
  const std::vector<ObservabilityVerdict> verdicts = judge_observability(
      program, order, segments, hazards,
      {.work_limit = options.observability_budget,
       .lists_all_pairs = options.lists_all_pairs,
       .conflicting_in = violations.empty() ? DispatchId() : violations.front().dispatch});
  for (size_t i = 0; i < hazards.size(); ++i) {
    if (is_stopped()) return;
    report.findings.push_back(explain_hazard(program, order, hazards[i]));
    explain_observability(program, verdicts[i], report.findings.back());
  }
}

void add_lifetimes(const Program& program, const CheckOptions& options, CheckReport& report) {
  const LifetimeReport lifetimes =
      check_lifetimes(program, {options.pair_limit, options.lifetime_budget});
  uint64_t history_work_left = options.lifetime_budget;
  for (const LifetimeFinding& finding : lifetimes.findings) {
    if (is_stopped()) return;
    report.findings.push_back(explain_lifetime(program, finding, history_work_left));
  }
  if (lifetimes.truncation) report.truncations.push_back(*lifetimes.truncation);
}

void add_gradients(const Program& program, CheckReport& report) {
  const GradientReport gradients = check_gradients(program, gradient_requests_of(program));
  for (const GradientFinding& finding : gradients.findings) {
    if (is_stopped()) return;
    report.findings.push_back(explain_gradient(program, finding));
  }
  if (gradients.is_truncated) {
    report.truncations.push_back({TruncationCause::kGradients, kGradientWorkMax});
  }
}

auto sort_key(const Finding& finding) {
  const AccessRef second = finding.second.value_or(finding.first);
  return std::tuple(finding.observability != Observability::kObservable, second.dispatch,
                    finding.first.dispatch, finding.kind, second.access, finding.first.access,
                    finding.memory, finding.overlap.begin, finding.lifetime, finding.tensor);
}

}  // namespace

std::string reason_of_truncation(const CheckReport& report) { return text_of(report.truncations); }

std::vector<Truncation> find_value_truncations(const Program& program) {
  std::vector<Truncation> truncations;
  if (const LifetimeReport lifetimes = check_lifetimes(program); lifetimes.truncation) {
    truncations.push_back(*lifetimes.truncation);
  }
  if (check_gradients(program, gradient_requests_of(program)).is_truncated) {
    truncations.push_back({TruncationCause::kGradients, kGradientWorkMax});
  }
  return truncations;
}

CheckReport check(const Program& program, const CheckOptions& options) {
  CheckReport report;
  const uint64_t limit = std::min(options.pair_limit, UINT64_MAX - 1) + 1;
  std::vector<AliasViolation> violations = find_alias_violations(program, limit);
  const bool has_more_violations = violations.size() == limit;
  if (has_more_violations) violations.pop_back();
  {
    const ByteSegments segments(program);
    count_statements(program, report);
    if (is_stopped()) return report;
    add_hazards(program, segments, violations, options, report);
  }
  if (has_more_violations) {
    report.truncations.push_back({TruncationCause::kAliases, options.pair_limit});
  }
  for (const ReorderedRead& read : find_reordered(program)) {
    if (is_stopped()) return report;
    report.findings.push_back(explain_reordered(program, read));
  }
  for (const AliasViolation& violation : violations) {
    if (is_stopped()) return report;
    report.findings.push_back(explain_alias(program, violation));
  }
  for (const UndeclaredAccess& undeclared : find_undeclared_accesses(program)) {
    if (is_stopped()) return report;
    report.findings.push_back(explain_undeclared(program, undeclared));
  }
  if (is_stopped()) return report;
  add_lifetimes(program, options, report);
  if (is_stopped()) return report;
  add_gradients(program, report);
  if (is_stopped()) return report;
  std::stable_sort(report.findings.begin(), report.findings.end(),
                   [](const Finding& a, const Finding& b) { return sort_key(a) < sort_key(b); });
  return report;
}

}  // namespace interlock
