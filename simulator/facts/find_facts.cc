// The list of checks. A new one is a function here that runs it and turns its answer into facts,
// and a line in find_facts().
#include "simulator/facts/find_facts.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>
#include <variant>

#include "encoder/program/stop.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/barriers/closing_sync.h"
#include "simulator/gradients/gradient_check.h"
#include "simulator/lifetimes/destroy_needs.h"
#include "simulator/order/host_atoms.h"

namespace interlock {
namespace {

template <typename Item>
void add(std::vector<Item> found, FactReport& report) {
  report.facts.insert(report.facts.end(), std::make_move_iterator(found.begin()),
                      std::make_move_iterator(found.end()));
}

// The operands of which every byte is touched.
bool is_certain(const Dispatch& dispatch, const Access& access) {
  return !dispatch.is_approximate || access.mode == AccessMode::kIndirect;
}

// `program` with nothing but what is certain; its accesses keep their positions.
Program with_certain_bytes(Program program) {
  for (const Dispatch& dispatch : program.dispatches) {
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      Access& access = program.accesses[dispatch.first_access + k];
      if (!is_certain(dispatch, access)) access.range.end = access.range.begin;
    }
  }
  return program;
}

void add_limits(const HazardList& list, const FactOptions& options, uint64_t step_limit,
                FactReport& report) {
  if (list.has_more) {
    report.truncations.push_back({TruncationCause::kHazards, options.limit});
  } else if (list.is_cut && options.lists_all_pairs) {
    report.truncations.push_back({TruncationCause::kAllPairs, examinations_max(options.limit)});
  } else if (list.is_cut) {
    report.truncations.push_back({TruncationCause::kScopedSearch, step_limit});
  }
}

// Those of the bounds, and among them those on certain bytes. One that is certain may be hidden
// among the bounds, by a later access that need not be there: so these are found by themselves.
std::vector<Hazard> with_possible(std::vector<Hazard> bounds, std::vector<Hazard> certain) {
  const auto place = [](const Hazard& hazard) {
    return std::tuple(hazard.second.dispatch, hazard.first.dispatch, hazard.kind);
  };
  std::vector<Hazard> all = std::move(certain);
  const auto certain_end = static_cast<std::ptrdiff_t>(all.size());
  for (Hazard& hazard : bounds) {
    hazard.is_possible = true;
    const bool is_certain = std::ranges::binary_search(all.begin(), all.begin() + certain_end,
                                                       place(hazard), {}, place);
    if (!is_certain) all.push_back(hazard);
  }
  std::ranges::sort(all, {}, place);
  return all;
}

// `exact`: the program whose host accesses `program` has in whole atoms, or null. `part`: what
// `order` was made with.
void list_hazards(const Program& program, const Program* exact, const HappensBefore& order,
                  const ByteSegments& segments, std::optional<PathPart> part,
                  const FactOptions& options, FactReport& report) {
  constexpr uint64_t kStepsMin = 20'000'000;
  constexpr uint64_t kStepsPerOperand = 64;
  const uint64_t operand_count = program.accesses.size() + program.barrier_operands.size();
  const uint64_t step_limit =
      options.scoped_step_limit.value_or(kStepsMin + kStepsPerOperand * operand_count);
  const auto listed = [&](const Program& in, const HappensBefore& in_order,
                          const ByteSegments& in_segments,
                          std::span<ConflictObserver* const> observers) {
    if (!options.lists_all_pairs) {
      return find_hazards(in, in_order, in_segments, {options.limit, step_limit, observers});
    }
    if (!observers.empty()) scan_conflicts(in, in_segments, observers);
    return find_all_hazards(in, in_order, in_segments, options.limit);
  };
  const bool is_exact = std::ranges::none_of(program.dispatches, &Dispatch::is_approximate);
  HazardList bounds;
  if (is_exact || options.lists_possible || !options.observers.empty()) {
    bounds = listed(program, order, segments, options.observers);
  }
  if (is_exact) {
    add_limits(bounds, options, step_limit, report);
    return add(std::move(bounds.hazards), report);
  }
  const Program certain_bytes = with_certain_bytes(program);
  std::optional<Program> exact_bytes;  // What the host loses are the bytes that it writes.
  if (exact != nullptr) exact_bytes = with_certain_bytes(*exact);
  const HappensBefore certain_order(certain_bytes, exact_bytes ? &*exact_bytes : nullptr, part);
  HazardList certain = listed(certain_bytes, certain_order, ByteSegments(certain_bytes), {});
  add_limits(certain.is_complete() && options.lists_possible ? bounds : certain, options,
             step_limit, report);
  if (!options.lists_possible) return add(std::move(certain.hazards), report);
  add(with_possible(std::move(bounds.hazards), std::move(certain.hazards)), report);
}

// Where graph queues fall into more paths than clocks have numbers for: each time the hazards whose
// earlier dispatch is on a path of one part, or on another queue.
void list_by_parts(const Program& program, uint32_t path_count, const FactOptions& options,
                   FactReport& report) {
  constexpr uint32_t kPartsMax = 16;
  const uint32_t part_count = (path_count - 1) / options.paths_at_once + 1;
  if (part_count > kPartsMax || options.lists_all_pairs) {
    const uint32_t parts = options.lists_all_pairs ? 1 : kPartsMax;
    report.truncations.push_back({TruncationCause::kGraphPaths, parts * options.paths_at_once});
    return;
  }
  const bool has_atoms = has_host_atoms(program);
  const Program widened = has_atoms ? with_whole_atoms(program) : Program();
  const Program& judged = has_atoms ? widened : program;
  const ByteSegments segments(judged);
  std::vector<Hazard> hazards;
  for (uint32_t index = 0; index < part_count && !is_stopped(); ++index) {
    const PathPart part{index, options.paths_at_once};
    FactReport found;
    list_hazards(judged, has_atoms ? &program : nullptr, HappensBefore(judged, &program, part),
                 segments, part, options, found);
    for (const Fact& fact : found.facts) hazards.push_back(std::get<Hazard>(fact));
    for (const Truncation& truncation : found.truncations) {
      if (std::ranges::count(report.truncations, truncation) > 0) continue;
      report.truncations.push_back(truncation);
    }
  }
  // Pairs of other queues are found each time.
  const auto place = [](const Hazard& hazard) {
    return std::tuple(hazard.second.dispatch, hazard.first.dispatch, hazard.kind);
  };
  std::ranges::sort(hazards, {}, place);
  const auto is_same = [&](const Hazard& a, const Hazard& b) { return place(a) == place(b); };
  hazards.erase(std::unique(hazards.begin(), hazards.end(), is_same), hazards.end());
  if (hazards.size() > options.limit) {
    hazards.resize(options.limit);
    report.truncations = {{TruncationCause::kHazards, options.limit}};
  }
  add(std::move(hazards), report);
}

void find_hazard_facts(const Program& program, const HappensBefore& order,
                       const ByteSegments& segments, const FactOptions& options,
                       FactReport& report) {
  const bool is_wide =
      order.has_queues() && order.queues().places().path_count() > options.paths_at_once;
  if (is_wide) return list_by_parts(program, order.queues().places().path_count(), options, report);
  if (has_host_atoms(program)) {
    const Program widened = with_whole_atoms(program);
    list_hazards(widened, &program, HappensBefore(widened, &program), ByteSegments(widened), {},
                 options, report);
    return;
  }
  list_hazards(program, nullptr, order, segments, {}, options, report);
}

void find_alias_facts(const Program& program, uint64_t limit, FactReport& report) {
  // One more than the limit tells whether there are more.
  const uint64_t count_max = std::min(limit, UINT64_MAX - 1) + 1;
  std::vector<AliasViolation> violations = find_alias_violations(program, count_max);
  if (violations.size() == count_max) {
    violations.pop_back();
    report.truncations.push_back({TruncationCause::kAliases, limit});
  }
  add(std::move(violations), report);
}

void find_lifetime_facts(const Program& program, const LifetimeOptions& options,
                         FactReport& report) {
  const bool is_too_wide = options.queues != nullptr && options.queues->is_too_wide();
  if (is_too_wide && program.has_any(LifetimeKind::kDestroy)) {
    report.truncations.push_back({TruncationCause::kGraphPaths, Places::kPathsMax});
  }
  LifetimeReport lifetimes = check_lifetimes(program, options);
  if (lifetimes.truncation) report.truncations.push_back(*lifetimes.truncation);
  add(std::move(lifetimes.findings), report);
}

void find_gradient_facts(const Program& program, FactReport& report) {
  GradientReport gradients = check_gradients(program, program.backwards);
  if (gradients.is_truncated) {
    report.truncations.push_back({TruncationCause::kGradients, kGradientWorkMax});
  }
  add(std::move(gradients.findings), report);
}

}  // namespace

FactReport find_facts(const Program& program, const HappensBefore& order,
                      const ByteSegments& segments, const FactOptions& options) {
  FactReport report;
  const auto looks_at = [&options](FactGroup group) {
    return !is_stopped() && options.group.value_or(group) == group;
  };
  using enum FactGroup;
  if (looks_at(kAccesses)) find_hazard_facts(program, order, segments, options, report);
  if (looks_at(kAccesses)) find_alias_facts(program, options.limit, report);
  if (looks_at(kAccesses)) add(find_undeclared_accesses(program), report);
  if (looks_at(kAccesses)) add(find_reordered(program), report);
  LifetimeOptions lifetimes = options.lifetimes;
  if (order.has_queues()) lifetimes.queues = &order.queues();
  if (looks_at(kLifetimes)) find_lifetime_facts(program, lifetimes, report);
  if (looks_at(kGradients)) find_gradient_facts(program, report);
  if (!options.lists_possible) {
    std::erase_if(report.facts, [&](const Fact& fact) { return is_of_bounds(program, fact); });
  }
  return report;
}

bool is_of_bounds(const Program& program, const Fact& fact) {
  DispatchId dispatch;
  if (const auto* const violation = std::get_if<AliasViolation>(&fact)) {
    dispatch = violation->dispatch;
  } else if (const auto* const finding = std::get_if<LifetimeFinding>(&fact)) {
    dispatch = finding->reader.dispatch;
  }
  return dispatch.is_some() && program.dispatch(dispatch).is_approximate;
}

FactReport find_facts(const Program& program, const FactOptions& options) {
  return find_facts(program, HappensBefore(program), ByteSegments(program), options);
}

std::vector<Truncation> find_value_truncations(const Program& program) {
  FactReport report;
  find_lifetime_facts(program, {}, report);
  find_gradient_facts(program, report);
  return std::move(report.truncations);
}

std::optional<ExcessBarriers> find_excess(const Program& program) {
  GreedyBarriers greedy(find_destroy_needs(program).pairs);
  ConflictObserver* const observers[] = {&greedy};
  const HazardList list =
      find_hazards(program, HappensBefore(program), {.limit = 0, .observers = observers});
  const uint64_t fewest = greedy.count();
  const uint64_t count = program.barriers.size() - closing_barrier_count(program);
  if (!list.is_complete() || count <= fewest) return std::nullopt;
  return ExcessBarriers{count, fewest};
}

}  // namespace interlock
