// The idea: few bytes, so that most operands touch, and barriers of two sorts: some name a scope or
// two, and rarely fit; some name nearly everything, and rarely fail. What is interesting lies
// between.
#include "tests/simulator/programs/random_scoped_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr const char* kAtomicWords[] = {"add", "max"};
constexpr std::string_view kScopeWords[] = {
    "compute.read", "compute.write", "compute.uniform", "copy.read", "copy.write",
    "compute",      "copy",          "indirect",        "host",      "indirect.read",
    "all",          "all.read",      "all.write"};

// Which of the optional features one program has.
struct Features {
  bool copies;
  bool uniforms;
  bool updates;
  bool atomics;
  bool partial_writes;
  bool barrier_operands;
  bool global_barriers;
};

Scope united(Scope a, Scope b) {
  return {static_cast<StageMask>(a.stages | b.stages),
          static_cast<AccessMask>(a.accesses | b.accesses)};
}

Scope random_scope(Choice& choice) {
  Scope scope;
  const bool is_wide = choice.chance(3, 4);
  for (const std::string_view word : kScopeWords) {
    const bool is_long = word.starts_with("all");
    if (is_wide && !is_long ? choice.chance(9, 10) : choice.chance(1, 10)) {
      scope = united(scope, *scope_of(word));
    }
  }
  while (scope.stages == 0) scope = *scope_of(kScopeWords[choice.below(5)]);
  return scope;
}

OperandDraft operand_at(AccessMode mode, uint64_t begin, uint64_t end) {
  return {mode, "m", ByteRange{begin, end}};
}

OperandDraft random_operand(Choice& choice, const RandomScopedProgramOptions& options,
                            AccessMode mode, uint64_t size_bytes) {
  const uint64_t begin = choice.below(options.memory_bytes - size_bytes + 1);
  return operand_at(mode, begin, begin + size_bytes);
}

DispatchDraft random_opaque_dispatch(Choice& choice, const RandomScopedProgramOptions& options,
                                     const Features& features) {
  std::vector<AccessMode> modes = {AccessMode::kRead, AccessMode::kWrite};
  if (features.uniforms) modes.push_back(AccessMode::kUniform);
  if (features.updates) modes.push_back(AccessMode::kUpdate);
  if (features.atomics) modes.insert(modes.end(), 2, AccessMode::kAtomic);
  DispatchDraft dispatch;
  dispatch.kernel = "Work";
  bool has_atomic = false;
  bool has_write = false;
  for (uint64_t k = 1 + choice.below(options.operand_count_max); k > 0; --k) {
    const AccessMode mode = modes[choice.below(modes.size())];
    has_atomic |= mode == AccessMode::kAtomic;
    has_write |= mode == AccessMode::kWrite || mode == AccessMode::kUpdate;
    dispatch.operands.push_back(random_operand(choice, options, mode, 1 + choice.below(2)));
  }
  std::stable_sort(dispatch.operands.begin(), dispatch.operands.end(),
                   [](const OperandDraft& a, const OperandDraft& b) { return a.mode < b.mode; });
  if (has_atomic) dispatch.attributes.emplace_back("atomic", kAtomicWords[choice.below(2)]);
  if (has_write && features.partial_writes) dispatch.is_partial = choice.chance(1, 4);
  return dispatch;
}

DispatchDraft random_dispatch(Choice& choice, const RandomScopedProgramOptions& options,
                              const Features& features) {
  if (!features.copies || choice.chance(1, 2)) {
    return random_opaque_dispatch(choice, options, features);
  }
  DispatchDraft dispatch;
  const uint64_t size_bytes = 1 + choice.below(2);
  dispatch.kernel = choice.chance(1, 3) ? "fill" : "copy";
  if (dispatch.kernel == "copy") {
    dispatch.operands.push_back(random_operand(choice, options, AccessMode::kRead, size_bytes));
  } else {
    dispatch.attributes.emplace_back("value", "7");
  }
  dispatch.operands.push_back(random_operand(choice, options, AccessMode::kWrite, size_bytes));
  return dispatch;
}

BarrierDraft random_barrier(Choice& choice, const RandomScopedProgramOptions& options,
                            const Features& features) {
  BarrierDraft barrier;
  if (features.global_barriers && choice.chance(1, 3)) {
    barrier.kind = choice.chance(1, 2) ? BarrierKind::kFull : BarrierKind::kExecution;
    return barrier;
  }
  barrier.kind = BarrierKind::kScoped;
  for (uint64_t k = 1 + choice.below(options.dependency_count_max); k > 0; --k) {
    DependencyDraft dependency;
    dependency.source = random_scope(choice);
    dependency.destination = random_scope(choice);
    if (features.barrier_operands && choice.chance(1, 2)) {
      for (uint64_t i = 1 + choice.below(2); i > 0; --i) {
        dependency.operands.push_back(
            random_operand(choice, options, AccessMode::kRead, 1 + choice.below(3)));
      }
    }
    barrier.dependencies.push_back(std::move(dependency));
  }
  return barrier;
}

// A chain of up to four barriers from the writes of compute over stages that nothing executes in
// back to compute, mostly for some bytes only.
void append_relay(Choice& choice, const RandomScopedProgramOptions& options,
                  std::vector<ItemDraft>& items) {
  constexpr std::string_view kBetween[] = {"copy", "host"};
  constexpr std::string_view kTo[] = {"compute.read", "compute.read", "compute.write",
                                      "compute.uniform", "compute"};
  const auto random_operands = [&](DependencyDraft& dependency) {
    for (uint64_t k = choice.below(3); k > 0; --k) {
      dependency.operands.push_back(
          random_operand(choice, options, AccessMode::kRead, 1 + choice.below(3)));
    }
  };
  std::string_view at = "compute.write";
  for (uint64_t left = 1 + choice.below(4); left > 0; --left) {
    BarrierDraft barrier{"", BarrierKind::kScoped, {}};
    for (uint64_t k = 1 + choice.below(5) / 4; k > 0; --k) {
      const std::string_view to =
          left == 1 ? kTo[choice.below(std::size(kTo))] : kBetween[choice.below(2)];
      barrier.dependencies.push_back({*scope_of(at), *scope_of(to), {}});
      if (left == 1 || choice.chance(1, 4)) random_operands(barrier.dependencies.back());
      if (k == 1) at = to;
    }
    items.emplace_back(std::move(barrier));
  }
}

// A tensor of a byte or two of the memory: what is written elsewhere, or overwritten, is dead.
void add_output(Choice& choice, const RandomScopedProgramOptions& options, ProgramDraft& draft) {
  const uint64_t size_bytes = 1 + choice.below(2);
  TensorDraft tensor;
  tensor.name = "out";
  tensor.dtype = DType::kU8;
  tensor.shape = {size_bytes};
  tensor.base = "m";
  tensor.offset_bytes = choice.below(options.memory_bytes - size_bytes + 1);
  draft.items.emplace_back(std::move(tensor));
  draft.items.emplace_back(OutputDraft{{"out"}});
}

Program build_valid(const ProgramDraft& draft) {
  Result<Program> program = build(draft);
  if (!program) fmt::print(stderr, "{}\n", program.error().message);
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

// What a dispatch of a tiny program does to byte m[0:1]. A copy needs somewhere to write to.
DispatchDraft tiny_dispatch(Choice& choice, uint64_t index) {
  constexpr AccessMode kModes[] = {AccessMode::kRead, AccessMode::kUniform, AccessMode::kWrite,
                                   AccessMode::kUpdate};
  const uint64_t action = choice.below(std::size(kModes) + 2);
  DispatchDraft dispatch;
  if (action < std::size(kModes)) {
    dispatch.kernel = "Work";
    dispatch.operands.push_back(operand_at(kModes[action], 0, 1));
  } else if (action == std::size(kModes)) {
    dispatch.kernel = "copy";
    dispatch.operands.push_back(operand_at(AccessMode::kRead, 0, 1));
    dispatch.operands.push_back(operand_at(AccessMode::kWrite, 1 + index, 2 + index));
  } else {
    dispatch.kernel = "fill";
    dispatch.operands.push_back(operand_at(AccessMode::kWrite, 0, 1));
    dispatch.attributes.emplace_back("value", "7");
  }
  return dispatch;
}

DependencyDraft tiny_dependency(Choice& choice) {
  constexpr std::string_view kSources[] = {"compute.write", "copy.write", "compute", "copy"};
  constexpr std::string_view kDestinations[] = {"compute.read", "compute.write", "copy"};
  DependencyDraft dependency;
  dependency.source = *scope_of(kSources[choice.below(std::size(kSources))]);
  dependency.destination = *scope_of(kDestinations[choice.below(std::size(kDestinations))]);
  return dependency;
}

}  // namespace

Program random_scoped_program(Choice& choice, const RandomScopedProgramOptions& options) {
  ProgramDraft draft;
  draft.items.emplace_back(MemoryDraft{"m", options.memory_bytes, false});
  if (options.may_have_output && choice.chance(3, 4)) add_output(choice, options, draft);
  const Features features = {choice.chance(1, 2), choice.chance(1, 3), choice.chance(1, 2),
                             choice.chance(1, 3), choice.chance(1, 3), choice.chance(1, 2),
                             choice.chance(1, 3)};
  uint64_t command_count = options.command_count_max;
  const uint64_t dispatch_count =
      options.dispatch_count_min +
      choice.below(options.dispatch_count_max - options.dispatch_count_min + 1);
  BarrierDraft last;
  bool has_last = false;
  for (uint64_t d = 0; d < dispatch_count; ++d) {
    while (d > 0 && command_count > 0 && choice.chance(2, 3)) {
      if (!has_last || !choice.chance(1, 6)) last = random_barrier(choice, options, features);
      has_last = true;
      draft.items.emplace_back(last);
      --command_count;
    }
    draft.items.emplace_back(random_dispatch(choice, options, features));
  }
  return build_valid(draft);
}

Program random_relay_program(Choice& choice, const RandomScopedProgramOptions& options) {
  const Features features = {choice.chance(1, 4),
                             choice.chance(1, 3),
                             choice.chance(1, 3),
                             choice.chance(1, 5),
                             false,
                             true,
                             choice.chance(1, 4)};
  ProgramDraft draft;
  draft.items.emplace_back(MemoryDraft{"m", options.memory_bytes, false});
  const uint64_t dispatch_count =
      options.dispatch_count_min +
      choice.below(options.dispatch_count_max - options.dispatch_count_min + 1);
  for (uint64_t d = 0; d < dispatch_count; ++d) {
    if (d > 0 && (d == 1 || choice.chance(1, 2))) append_relay(choice, options, draft.items);
    if (d > 0 && choice.chance(1, 4)) {
      draft.items.emplace_back(random_barrier(choice, options, features));
    }
    draft.items.emplace_back(random_dispatch(choice, options, features));
  }
  return build_valid(draft);
}

Program tiny_scoped_program(Choice& choice, const TinyScopedProgramOptions& options) {
  ProgramDraft draft;
  draft.items.emplace_back(MemoryDraft{"m", 1 + options.dispatch_count, false});
  for (uint64_t d = 0; d < options.dispatch_count; ++d) {
    for (uint64_t c = 0; d > 0 && c < options.command_count; ++c) {
      const uint64_t sort = choice.below(3 + options.dependency_count);
      if (sort == 0) continue;
      BarrierDraft barrier;
      barrier.kind = sort == 1   ? BarrierKind::kFull
                     : sort == 2 ? BarrierKind::kExecution
                                 : BarrierKind::kScoped;
      for (uint64_t k = 2; k < sort; ++k) barrier.dependencies.push_back(tiny_dependency(choice));
      draft.items.emplace_back(std::move(barrier));
    }
    draft.items.emplace_back(tiny_dispatch(choice, d));
  }
  return build_valid(draft);
}

}  // namespace interlock
