// The list of checks. A new one is a function here that runs it and turns its answer into facts,
// and a line in kFinders.
#include "simulator/facts/find_facts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/gradients/gradient_requests.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/hazards/scoped_hazards.h"
#include "simulator/lifetimes/destroy_needs.h"

namespace interlock {
namespace {

template <typename Item>
void add(std::vector<Item> found, FactReport& report) {
  report.facts.insert(report.facts.end(), std::make_move_iterator(found.begin()),
                      std::make_move_iterator(found.end()));
}

// One more than the limit tells whether there are more.
uint64_t one_more_than(uint64_t limit) { return std::min(limit, UINT64_MAX - 1) + 1; }

uint64_t scoped_step_limit(const FactSearch& search) {
  constexpr uint64_t kMin = 20'000'000;
  constexpr uint64_t kPerOperand = 64;
  const uint64_t operand_count =
      search.program.accesses.size() + search.program.barrier_operands.size();
  return search.options.scoped_step_limit.value_or(kMin + kPerOperand * operand_count);
}

void find_hazard_facts(FactSearch& search) {
  const auto& [program, order, segments, options, report] = search;
  const uint64_t limit = one_more_than(options.limit);
  const uint64_t step_limit = scoped_step_limit(search);
  bool is_search_over = false;
  std::vector<Hazard> hazards;
  if (order.has_scopes()) {
    if (!options.observers.empty()) scan_conflicts(program, segments, options.observers);
    is_search_over = !find_scoped_hazards(program, order, segments, limit, step_limit, hazards);
  } else {
    hazards = find_hazards(program, order, segments, options.lists_all_pairs ? 1 : limit,
                           options.observers);
  }
  if (options.lists_all_pairs && !is_stopped()) {
    hazards = find_all_hazards(program, order, segments, limit, is_search_over);
  }
  if (hazards.size() >= limit) {
    search.report.truncations.push_back({TruncationCause::kHazards, options.limit});
    hazards.resize(limit - 1);
  } else if (is_search_over && options.lists_all_pairs) {
    search.report.truncations.push_back({TruncationCause::kAllPairs, examinations_max(limit)});
  } else if (is_search_over) {
    search.report.truncations.push_back({TruncationCause::kScopedSearch, step_limit});
  }
  add(std::move(hazards), search.report);
}

void find_alias_facts(FactSearch& search) {
  const uint64_t limit = one_more_than(search.options.limit);
  std::vector<AliasViolation> violations = find_alias_violations(search.program, limit);
  if (violations.size() == limit) {
    violations.pop_back();
    search.report.truncations.push_back({TruncationCause::kAliases, search.options.limit});
  }
  add(std::move(violations), search.report);
}

void find_undeclared_facts(FactSearch& search) {
  add(find_undeclared_accesses(search.program), search.report);
}

void find_reordered_facts(FactSearch& search) {
  add(find_reordered(search.program), search.report);
}

void find_lifetime_facts(FactSearch& search) {
  LifetimeReport lifetimes = check_lifetimes(search.program, search.options.lifetimes);
  if (lifetimes.truncation) search.report.truncations.push_back(*lifetimes.truncation);
  add(std::move(lifetimes.findings), search.report);
}

void find_gradient_facts(FactSearch& search) {
  if (search.program.backwards.empty()) return;
  GradientReport gradients = check_gradients(search.program, gradient_requests_of(search.program));
  if (gradients.is_truncated) {
    search.report.truncations.push_back({TruncationCause::kGradients, kGradientWorkMax});
  }
  add(std::move(gradients.findings), search.report);
}

constexpr FactFinder kFinders[] = {
    {"hazards", FactGroup::kAccesses, &find_hazard_facts},
    {"alias contracts", FactGroup::kAccesses, &find_alias_facts},
    {"undeclared accesses", FactGroup::kAccesses, &find_undeclared_facts},
    {"reordered reads", FactGroup::kAccesses, &find_reordered_facts},
    {"lifetimes", FactGroup::kLifetimes, &find_lifetime_facts},
    {"gradients", FactGroup::kGradients, &find_gradient_facts},
};

}  // namespace

std::span<const FactFinder> fact_finders() { return kFinders; }

FactReport find_facts(const Program& program, const HappensBefore& order,
                      const ByteSegments& segments, const FactOptions& options) {
  FactSearch search{program, order, segments, options, {}};
  for (const FactFinder& finder : kFinders) {
    if (is_stopped()) break;
    if (!options.group || *options.group == finder.group) finder.find(search);
  }
  return std::move(search.report);
}

FactReport find_facts(const Program& program, const FactOptions& options) {
  return find_facts(program, HappensBefore(program), ByteSegments(program), options);
}

std::optional<ExcessBarriers> find_excess(const Program& program) {
  const ByteSegments segments(program);
  GreedyBarriers greedy(find_destroy_needs(program).pairs);
  ConflictObserver* const observers[] = {&greedy};
  const bool is_clean =
      find_hazards(program, HappensBefore(program), segments, 1, observers).empty();
  const uint64_t fewest = greedy.count();
  if (!is_clean || program.barriers.size() <= fewest) return std::nullopt;
  return ExcessBarriers{program.barriers.size(), fewest};
}

}  // namespace interlock
