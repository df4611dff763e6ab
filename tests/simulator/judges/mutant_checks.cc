// The idea: a check that misunderstands programs is the right check on another program, and one
// that overlooks findings is the right check with a filter after it. So no fault touches
// simulator/.
#include "tests/simulator/judges/mutant_checks.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/program/scope.h"
#include "simulator/hazards/hazards.h"

namespace interlock {
namespace {

bool has_hazard(const Program& program) {
  return !find_hazards(program, HappensBefore(program)).hazards.empty();
}

template <FindingKind kKind>
bool finds_other_kinds_only(const Program& program) {
  const std::vector<Hazard> hazards = find_all_hazards(program, HappensBefore(program)).hazards;
  return std::any_of(hazards.begin(), hazards.end(),
                     [](const Hazard& hazard) { return hazard.kind != kKind; });
}

bool has_hazard_as(const ProgramDraft& draft) {
  Result<Program> program = build(draft);
  INTERLOCK_CHECK(program.has_value());
  return has_hazard(*program);
}

// The check on what `change` makes of each dispatch.
template <void (*kChange)(DispatchDraft& dispatch)>
bool with_dispatches(const Program& program) {
  ProgramDraft draft = draft_of(program);
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) kChange(*dispatch);
  }
  return has_hazard_as(draft);
}

template <void (*kChange)(OperandDraft& operand)>
void change_operands(DispatchDraft& dispatch) {
  if (dispatch.kernel != "Work") return;  // Those of copy and fill must fit each other.
  for (OperandDraft& operand : dispatch.operands) kChange(operand);
  std::stable_sort(dispatch.operands.begin(), dispatch.operands.end(),
                   [](const OperandDraft& a, const OperandDraft& b) { return a.mode < b.mode; });
}

template <void (*kChange)(OperandDraft& operand)>
constexpr auto with_operands = with_dispatches<change_operands<kChange>>;

void begin_late(OperandDraft& operand) { ++operand.slice->begin; }
void end_early(OperandDraft& operand) { --operand.slice->end; }
void begin_early(OperandDraft& operand) { operand.slice->begin -= operand.slice->begin > 0; }
void ignore_offsets(OperandDraft& operand) { operand.slice.reset(); }

template <AccessMode kFrom, AccessMode kTo>
void take_for(OperandDraft& operand) {
  if (operand.mode == kFrom) operand.mode = kTo;
}

// Only a dispatch with atomics says of which operation they are.
void set_atomic(DispatchDraft& dispatch, const std::string& word) {
  const bool has_atomic = std::any_of(dispatch.operands.begin(), dispatch.operands.end(),
                                      [](const auto& o) { return o.mode == AccessMode::kAtomic; });
  std::erase_if(dispatch.attributes, [](const auto& a) { return a.first == "atomic"; });
  if (has_atomic) dispatch.attributes.emplace_back("atomic", word);
}

void keep_four_operands(DispatchDraft& dispatch) {
  if (dispatch.operands.size() <= 4) return;
  dispatch.operands.resize(4);
  for (const auto& [key, word] : DispatchDraft(dispatch).attributes) {
    if (key == "atomic") set_atomic(dispatch, word);
  }
}

void confuse_atomics(DispatchDraft& dispatch) { set_atomic(dispatch, "add"); }

template <AccessMode kTo>
void take_atomics_for(DispatchDraft& dispatch) {
  change_operands<take_for<AccessMode::kAtomic, kTo>>(dispatch);
  set_atomic(dispatch, "add");
}

// The check on what `change` leaves of the barriers of each slot.
using Slot = std::vector<BarrierDraft>;

template <void (*kChange)(Slot& slot)>
bool with_slots(const Program& program) {
  ProgramDraft changed;
  Slot slot;
  for (ItemDraft& item : draft_of(program).items) {
    if (const auto* barrier = std::get_if<BarrierDraft>(&item)) {
      slot.push_back(*barrier);
      continue;
    }
    kChange(slot);
    for (BarrierDraft& barrier : slot) changed.items.emplace_back(std::move(barrier));
    slot.clear();
    changed.items.push_back(std::move(item));
  }
  return has_hazard_as(changed);
}

template <void (*kChange)(BarrierDraft& barrier)>
void change_barriers(Slot& slot) {
  for (BarrierDraft& barrier : slot) kChange(barrier);
}

template <void (*kChange)(BarrierDraft& barrier)>
constexpr auto with_barriers = with_slots<change_barriers<kChange>>;

template <BarrierKind kFrom, BarrierKind kTo>
void take_barrier_for(BarrierDraft& barrier) {
  if (barrier.kind == kFrom) barrier.kind = kTo;
}

void drop_execution_barriers(Slot& slot) {
  std::erase_if(slot, [](const auto& b) { return b.kind == BarrierKind::kExecution; });
}

void keep_first_barrier(Slot& slot) {
  if (slot.size() > 1) slot.resize(1);
}

void drop_repeated_barriers(Slot& slot) {
  const auto is_same = [](const BarrierDraft& a, const BarrierDraft& b) {
    return a.kind == b.kind &&
           std::equal(a.dependencies.begin(), a.dependencies.end(), b.dependencies.begin(),
                      b.dependencies.end(), [](const auto& p, const auto& q) {
                        return p.source == q.source && p.destination == q.destination;
                      });
  };
  slot.erase(std::unique(slot.begin(), slot.end(), is_same), slot.end());
}

void let_dependencies_chain(Slot& slot) {
  Slot split;
  for (const BarrierDraft& barrier : slot) {
    if (barrier.kind != BarrierKind::kScoped) split.push_back(barrier);
    for (const DependencyDraft& dependency : barrier.dependencies) {
      split.push_back({"", BarrierKind::kScoped, {dependency}});
    }
  }
  slot = std::move(split);
}

void keep_first_dependency(BarrierDraft& barrier) {
  if (barrier.dependencies.size() > 1) barrier.dependencies.resize(1);
}

template <void (*kChange)(DependencyDraft& dependency)>
void change_dependencies(BarrierDraft& barrier) {
  for (DependencyDraft& dependency : barrier.dependencies) kChange(dependency);
}

template <void (*kChange)(DependencyDraft& dependency)>
constexpr auto with_dependencies = with_barriers<change_dependencies<kChange>>;

constexpr auto kWrites =
    static_cast<AccessMask>(bit_of(StageAccess::kComputeWrite) | bit_of(StageAccess::kCopyWrite) |
                            bit_of(StageAccess::kGraphicsWrite) | bit_of(StageAccess::kHostWrite));

AccessMask accesses_in(StageMask stages) {
  AccessMask accesses = 0;
  for (size_t i = 0; i < kScopeSortCount; ++i) {
    const auto access = static_cast<StageAccess>(i);
    if ((bit_of(stage_of(access)) & stages) != 0) accesses |= bit_of(access);
  }
  return accesses;
}

void drop_barrier_operands(DependencyDraft& dependency) { dependency.operands.clear(); }

void drop_last_barrier_operand(DependencyDraft& dependency) {
  if (dependency.operands.size() > 1) dependency.operands.pop_back();
}

void let_reads_cover_uniforms(DependencyDraft& dependency) {
  AccessMask& accesses = dependency.destination.accesses;
  if ((accesses & bit_of(StageAccess::kComputeRead)) != 0) {
    accesses |= bit_of(StageAccess::kComputeUniform);
  }
}

void let_reads_cover_writes(DependencyDraft& dependency) {
  AccessMask& accesses = dependency.destination.accesses;
  if ((accesses & bit_of(StageAccess::kComputeRead)) != 0) {
    accesses |= bit_of(StageAccess::kComputeWrite);
  }
}

void make_every_write_available(DependencyDraft& dependency) {
  dependency.source.accesses |=
      static_cast<AccessMask>(accesses_in(dependency.source.stages) & kWrites);
}

void make_visible_to_every_access(DependencyDraft& dependency) {
  dependency.destination.accesses |= accesses_in(dependency.destination.stages);
}

void take_copies_for_compute(DependencyDraft& dependency) {
  const auto widen = [](Scope& scope) {
    constexpr StageMask kDevice = bit_of(Stage::kCompute) | bit_of(Stage::kCopy);
    if ((scope.stages & kDevice) != 0) scope.stages |= kDevice;
  };
  widen(dependency.source);
  widen(dependency.destination);
}

void order_every_stage(DependencyDraft& dependency) {
  dependency.source.stages = kAllStages;
  dependency.destination.stages = kAllStages;
}

void need_writes_in_each_source(Slot& slot) {
  for (BarrierDraft& barrier : slot) {
    std::erase_if(barrier.dependencies,
                  [](const auto& d) { return (d.source.accesses & kWrites) == 0; });
  }
  std::erase_if(slot, [](const auto& barrier) {
    return barrier.kind == BarrierKind::kScoped && barrier.dependencies.empty();
  });
}

constexpr auto kUnsafe = MutantCheckKind::kUnsafe;
constexpr auto kExcess = MutantCheckKind::kExcess;

constexpr std::array kCheckMutants = {
    MutantCheck{"drops-raw", "reads after writes are fine", kUnsafe, false,
                finds_other_kinds_only<FindingKind::kReadAfterWrite>},
    MutantCheck{"drops-war", "writes after reads are fine", kUnsafe, false,
                finds_other_kinds_only<FindingKind::kWriteAfterRead>},
    MutantCheck{"drops-waw", "writes after writes are fine", kUnsafe, false,
                finds_other_kinds_only<FindingKind::kWriteAfterWrite>},
    MutantCheck{"execution-as-full", "execution barriers make visible", kUnsafe, false,
                with_barriers<take_barrier_for<BarrierKind::kExecution, BarrierKind::kFull>>},
    MutantCheck{"full-as-execution", "full barriers make nothing visible", kExcess, false,
                with_barriers<take_barrier_for<BarrierKind::kFull, BarrierKind::kExecution>>},
    MutantCheck{"execution-as-none", "execution barriers do nothing", kExcess, false,
                with_slots<drop_execution_barriers>},
    MutantCheck{"begins-late", "ranges begin one byte late", kUnsafe, false,
                with_operands<begin_late>},
    MutantCheck{"ends-early", "ranges end one byte early", kUnsafe, false,
                with_operands<end_early>},
    MutantCheck{"begins-early", "ranges begin one byte early", kExcess, false,
                with_operands<begin_early>},
    MutantCheck{"ignores-offsets", "an operand is its whole memory", kExcess, false,
                with_operands<ignore_offsets>},
    MutantCheck{"first-four-operands", "looks at four operands", kUnsafe, false,
                with_dispatches<keep_four_operands>},
    MutantCheck{"updates-as-reads", "an update does not write", kUnsafe, false,
                with_operands<take_for<AccessMode::kUpdate, AccessMode::kRead>>},
    MutantCheck{"atomics-as-reads", "an atomic does not write", kUnsafe, false,
                with_dispatches<take_atomics_for<AccessMode::kRead>>},
    MutantCheck{"atomics-as-updates", "equal atomics conflict", kExcess, false,
                with_dispatches<take_atomics_for<AccessMode::kUpdate>>},
    MutantCheck{"ignores-atomic-op", "atomics never conflict", kUnsafe, false,
                with_dispatches<confuse_atomics>},
    MutantCheck{"chains-in-one-command", "dependencies of one barrier chain", kUnsafe, true,
                with_slots<let_dependencies_chain>},
    MutantCheck{"ignores-barrier-operands", "every dependency covers all memory", kUnsafe, true,
                with_dependencies<drop_barrier_operands>},
    MutantCheck{"one-barrier-operand", "a dependency covers its first operand", kExcess, true,
                with_dependencies<drop_last_barrier_operand>},
    MutantCheck{"uniform-as-read", "compute.read covers uniform reads", kUnsafe, true,
                with_dependencies<let_reads_cover_uniforms>},
    MutantCheck{"write-as-read", "visible to reads is visible to writes", kUnsafe, true,
                with_dependencies<let_reads_cover_writes>},
    MutantCheck{"ignores-source-access", "a source stage makes its writes available", kUnsafe, true,
                with_dependencies<make_every_write_available>},
    MutantCheck{"ignores-destination-access", "visible to all accesses of the stages", kUnsafe,
                true, with_dependencies<make_visible_to_every_access>},
    MutantCheck{"one-stage", "copies are compute", kUnsafe, true,
                with_dependencies<take_copies_for_compute>},
    MutantCheck{"first-dependency-only", "a barrier is its first dependency", kExcess, true,
                with_barriers<keep_first_dependency>},
    MutantCheck{"one-barrier-per-slot", "a second barrier in a slot does nothing", kExcess, true,
                with_slots<keep_first_barrier>},
    MutantCheck{"repeats-do-nothing", "an equal barrier after the first does nothing", kExcess,
                true, with_slots<drop_repeated_barriers>},
    MutantCheck{"orders-every-stage", "a scoped barrier orders everything", kUnsafe, true,
                with_dependencies<order_every_stage>},
    MutantCheck{"carries-no-availability", "a source without writes does nothing", kExcess, true,
                with_slots<need_writes_in_each_source>},
};

}  // namespace

std::span<const MutantCheck> mutant_checks() { return kCheckMutants; }

}  // namespace interlock
