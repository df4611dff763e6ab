#include "tests/simulator/judges/split_model.h"

#include <algorithm>
#include <string_view>

namespace interlock {

bool covers(const Access& access, Byte byte) {
  return access.memory.index == byte.memory && access.range.begin <= byte.offset &&
         byte.offset < access.range.end;
}

Stage stage_by_name(const Program& program, const Dispatch& dispatch) {
  const std::string_view kernel = program.name(dispatch.kernel_name);
  return kernel == "copy" || kernel == "fill" ? Stage::kCopy : Stage::kCompute;
}

StageAccess reading_sort(Stage stage, const Access& access) {
  if (access.mode == AccessMode::kUniform) return StageAccess::kComputeUniform;
  return stage == Stage::kCopy ? StageAccess::kCopyRead : StageAccess::kComputeRead;
}

StageAccess writing_sort(Stage stage) {
  return stage == Stage::kCopy ? StageAccess::kCopyWrite : StageAccess::kComputeWrite;
}

bool is_read(const Access& access) {
  return access.mode == AccessMode::kRead || access.mode == AccessMode::kUniform ||
         access.mode == AccessMode::kUpdate;
}

bool is_plain_write(const Access& access) {
  return access.mode == AccessMode::kWrite || access.mode == AccessMode::kUpdate;
}

SplitEffect effect_on(const Program& program, const Dispatch& dispatch, Byte byte) {
  SplitEffect effect = SplitEffect::kNone;
  for (const Access& access : program.accesses_of(dispatch)) {
    if (!covers(access, byte)) continue;
    if (is_plain_write(access))
      return dispatch.is_partial ? SplitEffect::kPartial : SplitEffect::kOverwrite;
    if (access.mode == AccessMode::kAtomic) effect = SplitEffect::kAtomic;
  }
  return effect;
}

std::set<Byte> bytes_of(const Program& program) {
  std::set<Byte> bytes;
  for (uint32_t m = 0; m < program.memories.size(); ++m) {
    for (uint64_t i = 0; i < program.memories[m].size_bytes; ++i) bytes.insert({m, i});
  }
  return bytes;
}

std::set<Byte> output_bytes(const Program& program) {
  if (program.outputs.empty()) return bytes_of(program);
  std::set<Byte> bytes;
  for (const TensorId output : program.outputs) {
    const Tensor& tensor = program.tensor(output);
    for (uint64_t i = tensor.range.begin; i < tensor.range.end; ++i) {
      bytes.insert({tensor.memory.index, i});
    }
  }
  return bytes;
}

bool SplitEvent::covers(Byte byte) const {
  return operands.empty() || std::any_of(operands.begin(), operands.end(), [&](const Access& a) {
           return interlock::covers(a, byte);
         });
}

std::vector<SplitEvent> split_events_of(const Program& program) {
  std::vector<SplitEvent> events;
  const auto add = [&](size_t command, Scope source, Scope destination) {
    SplitEvent event{command,         source.stages,        destination.stages,
                     source.accesses, destination.accesses, {}};
    if ((event.waits_for >> static_cast<int>(Stage::kCompute) & 1) != 0) {
      event.waits_for |= bit_of(Stage::kIndirect);
    }
    if ((event.holds_back >> static_cast<int>(Stage::kIndirect) & 1) != 0) {
      event.holds_back |= bit_of(Stage::kCompute);
    }
    events.push_back(event);
  };
  for (const Barrier& barrier : program.barriers) {
    const size_t command = barrier.statement.index;
    if (barrier.kind == BarrierKind::kFull) add(command, kEverything, kEverything);
    if (barrier.kind == BarrierKind::kExecution) add(command, {kAllStages, 0}, {kAllStages, 0});
    for (const Dependency& dependency : program.dependencies_of(barrier)) {
      add(command, dependency.source, dependency.destination);
      const auto operands = program.operands_of(dependency);
      events.back().operands.assign(operands.begin(), operands.end());
    }
  }
  return events;
}

bool leads_on(const SplitEvent& first, const SplitEvent& second) {
  return first.command < second.command && (first.holds_back & second.waits_for) != 0;
}

}  // namespace interlock
