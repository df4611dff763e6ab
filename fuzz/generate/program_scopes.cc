// The basic idea is that a chain must be likely to hold: sources and destinations are drawn from a
// few words that meet each other, and only now and then from all there are.
#include "fuzz/generate/program_scopes.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace interlock {
namespace {

constexpr std::string_view kSources[] = {"compute.write", "compute.write", "all.write",
                                         "compute",       "copy.write",    "compute.read"};
constexpr std::string_view kDestinations[] = {"compute.read", "compute.write",  "all.read",
                                              "compute",      "copy.read",      "compute.uniform",
                                              "all.write",    "compute.uniform"};
constexpr std::string_view kWords[] = {
    "compute",       "compute.read", "compute.write", "compute.uniform",
    "copy",          "copy.read",    "copy.write",    "indirect",
    "indirect.read", "host",         "host.read",     "host.write",
    "all",           "all.read",     "all.write",     "all.uniform"};

template <size_t kCount>
Scope draw_scope(const std::string_view (&common)[kCount], Choice& choice) {
  Scope scope;
  for (uint64_t count = 1 + choice.below(3); count > 0; --count) {
    const Scope part = *(choice.chance(5, 6) ? scope_of(common[choice.below(kCount)])
                                             : scope_of(kWords[choice.below(std::size(kWords))]));
    scope.stages |= part.stages;
    scope.accesses |= part.accesses;
  }
  return scope;
}

// Ranges that dispatches name, and whole memories and tensors.
std::vector<OperandDraft> operand_candidates(const ProgramDraft& draft) {
  std::vector<OperandDraft> candidates;
  for (const ItemDraft& item : draft.items) {
    if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      candidates.insert(candidates.end(), dispatch->operands.begin(), dispatch->operands.end());
    } else if (const auto* memory = std::get_if<MemoryDraft>(&item)) {
      candidates.push_back({AccessMode::kRead, memory->name, {}});
    }
  }
  for (OperandDraft& candidate : candidates) candidate.mode = AccessMode::kRead;
  return candidates;
}

BarrierDraft draw_barrier(const std::vector<OperandDraft>& candidates, Choice& choice) {
  BarrierDraft barrier{"", BarrierKind::kScoped, {}};
  for (uint64_t count = 1 + choice.below(choice.chance(1, 3) ? 3 : 1); count > 0; --count) {
    DependencyDraft dependency{draw_scope(kSources, choice), draw_scope(kDestinations, choice), {}};
    if (choice.chance(1, 3) && !candidates.empty()) {
      for (uint64_t operands = 1 + choice.below(3); operands > 0; --operands) {
        dependency.operands.push_back(candidates[choice.below(candidates.size())]);
      }
    }
    barrier.dependencies.push_back(std::move(dependency));
  }
  return barrier;
}

void read_as_uniforms(DispatchDraft& dispatch, Choice& choice) {
  const bool is_opaque = dispatch.kernel.front() >= 'A' && dispatch.kernel.front() <= 'Z';
  if (!is_opaque || !choice.chance(1, 3)) return;
  for (OperandDraft& operand : dispatch.operands) {
    if (operand.mode == AccessMode::kRead && choice.chance(1, 2)) {
      operand.mode = AccessMode::kUniform;
    }
  }
  std::ranges::stable_sort(dispatch.operands, {}, &OperandDraft::mode);
}

}  // namespace

BarrierDraft draw_scoped_barrier(const ProgramDraft& draft, Choice& choice) {
  return draw_barrier(operand_candidates(draft), choice);
}

void give_uniforms(ProgramDraft& draft, Choice& choice) {
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) read_as_uniforms(*dispatch, choice);
  }
}

void give_scopes(ProgramDraft& draft, Choice& choice) {
  const std::vector<OperandDraft> candidates = operand_candidates(draft);
  std::vector<ItemDraft> items;
  for (ItemDraft& item : draft.items) {
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) read_as_uniforms(*dispatch, choice);
    const bool becomes_scoped = std::holds_alternative<BarrierDraft>(item) && choice.chance(7, 8);
    if (!becomes_scoped) {
      items.push_back(std::move(item));
      continue;
    }
    const BarrierDraft scoped = draw_barrier(candidates, choice);
    // In two commands what does not chain in one.
    for (uint64_t count = 1 + choice.below(choice.chance(1, 4) ? 2 : 1); count > 0; --count) {
      items.emplace_back(scoped);
    }
  }
  draft.items = std::move(items);
}

}  // namespace interlock
