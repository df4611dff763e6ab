// The idea: few bytes, so that most pairs of operands touch; few barriers, so that about half of
// the programs have a hazard.
#include "tests/simulator/programs/random_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr const char* kAtomicWords[] = {"add", "min", "xor"};

// Which of the optional features one program has.
struct Features {
  bool execution_barriers;
  bool updates;
  bool atomics;
  bool partial_writes;
};

OperandDraft random_operand(Choice& choice, const RandomProgramOptions& options, AccessMode mode) {
  OperandDraft operand;
  operand.mode = mode;
  operand.name = fmt::format("m{}", choice.below(options.memory_count));
  const uint64_t size = 1 + choice.below(std::min(options.range_bytes_max, options.memory_bytes));
  const uint64_t begin = choice.below(options.memory_bytes - size + 1);
  operand.slice = ByteRange{begin, begin + size};
  return operand;
}

DispatchDraft random_dispatch(Choice& choice, const RandomProgramOptions& options,
                              const Features& features) {
  AccessMode modes[4] = {AccessMode::kRead, AccessMode::kWrite};
  uint64_t mode_count = 2;
  if (features.updates) modes[mode_count++] = AccessMode::kUpdate;
  if (features.atomics) modes[mode_count++] = AccessMode::kAtomic;
  DispatchDraft dispatch;
  dispatch.kernel = "Work";
  bool has_atomic = false;
  bool has_write = false;
  for (uint64_t k = choice.below(options.operand_count_max + 1); k > 0; --k) {
    const AccessMode mode = modes[choice.below(mode_count)];
    has_atomic |= mode == AccessMode::kAtomic;
    has_write |= mode == AccessMode::kWrite || mode == AccessMode::kUpdate;
    dispatch.operands.push_back(random_operand(choice, options, mode));
  }
  std::stable_sort(dispatch.operands.begin(), dispatch.operands.end(),
                   [](const OperandDraft& a, const OperandDraft& b) { return a.mode < b.mode; });
  if (has_atomic) dispatch.attributes.emplace_back("atomic", kAtomicWords[choice.below(3)]);
  if (has_write && features.partial_writes) dispatch.is_partial = choice.chance(1, 4);
  return dispatch;
}

void add_outputs(Choice& choice, const RandomProgramOptions& options, ProgramDraft& draft) {
  OutputDraft output;
  for (uint64_t k = choice.below(3); k > 0; --k) {
    TensorDraft tensor;
    tensor.name = fmt::format("out{}", output.tensors.size());
    tensor.dtype = DType::kU8;
    const uint64_t size = 1 + choice.below(options.memory_bytes);
    tensor.shape = {size};
    tensor.base = fmt::format("m{}", choice.below(options.memory_count));
    tensor.offset_bytes = choice.below(options.memory_bytes - size + 1);
    output.tensors.push_back(tensor.name);
    draft.items.emplace_back(std::move(tensor));
  }
  if (!output.tensors.empty()) draft.items.emplace_back(std::move(output));
}

Program build_valid(const ProgramDraft& draft) {
  Result<Program> program = build(draft);
  if (!program) fmt::print(stderr, "{}\n", program.error().message);
  INTERLOCK_CHECK(program.has_value());
  return std::move(program).value();
}

}  // namespace

ProgramDraft random_draft(Choice& choice, const RandomProgramOptions& options) {
  ProgramDraft draft;
  for (uint64_t m = 0; m < options.memory_count; ++m) {
    draft.items.emplace_back(MemoryDraft{fmt::format("m{}", m), options.memory_bytes, false});
  }
  if (options.has_outputs) add_outputs(choice, options, draft);
  const Features features = {options.has_execution_barriers && choice.chance(1, 2),
                             options.has_updates && choice.chance(1, 2),
                             options.has_atomics && choice.chance(1, 2),
                             options.has_partial_writes && choice.chance(1, 2)};
  const uint64_t dispatch_count =
      options.dispatch_count_min +
      choice.below(options.dispatch_count_max - options.dispatch_count_min + 1);
  for (uint64_t d = 0; d < dispatch_count; ++d) {
    if (d > 0 && choice.chance(options.barrier_percent, 100)) {
      const bool is_execution = features.execution_barriers && choice.chance(1, 2);
      draft.items.emplace_back(
          BarrierDraft{"", is_execution ? BarrierKind::kExecution : BarrierKind::kFull});
    }
    draft.items.emplace_back(random_dispatch(choice, options, features));
  }
  return draft;
}

Program random_program(Choice& choice, const RandomProgramOptions& options) {
  return build_valid(random_draft(choice, options));
}

ProgramDraft tiny_draft(Choice& choice, const TinyProgramOptions& options) {
  constexpr AccessMode kModes[] = {AccessMode::kRead, AccessMode::kWrite, AccessMode::kUpdate,
                                   AccessMode::kAtomic};
  ProgramDraft draft;
  draft.items.emplace_back(MemoryDraft{"m", options.memory_bytes, false});
  if (options.live_bytes > 0) {
    TensorDraft tensor;
    tensor.name = "out";
    tensor.dtype = DType::kU8;
    tensor.shape = {options.live_bytes};
    tensor.base = "m";
    draft.items.emplace_back(std::move(tensor));
    draft.items.emplace_back(OutputDraft{{"out"}});
  }
  for (uint64_t d = 0; d < options.dispatch_count; ++d) {
    const uint64_t barrier = d == 0 ? 0 : choice.below(options.has_execution_barriers ? 3 : 2);
    if (barrier == 1) draft.items.emplace_back(BarrierDraft{"", BarrierKind::kFull});
    if (barrier == 2) draft.items.emplace_back(BarrierDraft{"", BarrierKind::kExecution});
    DispatchDraft dispatch;
    dispatch.kernel = "Work";
    for (uint64_t byte = 0; byte < options.memory_bytes; ++byte) {
      const uint64_t action = choice.below(options.mode_count);
      if (action == 0) continue;
      dispatch.operands.push_back({kModes[action - 1], "m", ByteRange{byte, byte + 1}});
      if (kModes[action - 1] == AccessMode::kAtomic && dispatch.attributes.empty()) {
        dispatch.attributes.emplace_back("atomic", "add");
      }
    }
    std::stable_sort(dispatch.operands.begin(), dispatch.operands.end(),
                     [](const OperandDraft& a, const OperandDraft& b) { return a.mode < b.mode; });
    draft.items.emplace_back(std::move(dispatch));
  }
  return draft;
}

Program tiny_program(Choice& choice, const TinyProgramOptions& options) {
  return build_valid(tiny_draft(choice, options));
}

}  // namespace interlock
