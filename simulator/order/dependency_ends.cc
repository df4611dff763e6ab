#include "simulator/order/dependency_ends.h"

#include <algorithm>

namespace interlock {

StageMask with_earlier(StageMask stages) {
  const bool adds = (stages & kStagesAfterIndirect) != 0;
  return adds ? static_cast<StageMask>(stages | bit_of(Stage::kIndirect)) : stages;
}

StageMask with_later(StageMask stages) {
  const bool adds = has_stage(stages, Stage::kIndirect);
  return adds ? static_cast<StageMask>(stages | kStagesAfterIndirect) : stages;
}

AccessMask device_accesses_of(StageMask stages) {
  AccessMask accesses = 0;
  for (size_t sort = 0; sort < kDeviceSortCount; ++sort) {
    const StageAccess access = static_cast<StageAccess>(sort);
    if (!has_stage(stages, stage_of(access))) continue;
    accesses = static_cast<AccessMask>(accesses | bit_of(access));
  }
  return accesses;
}

bool meets_operands(const TrackedBytes& tracked, std::span<const Access> operands) {
  return std::ranges::any_of(operands, [&](const Access& operand) {
    return operand.memory == tracked.memory && share_a_byte(operand.range, tracked.bytes);
  });
}

std::vector<DependencyEnds> dependency_ends_of(const Program& program, BarrierKind kind,
                                               std::span<const Dependency> dependencies,
                                               const std::optional<TrackedBytes>& tracked) {
  if (kind == BarrierKind::kFull) return {kFullEnds};
  if (kind == BarrierKind::kExecution) return {{{kAllStages, 0, false}, {kAllStages, 0}, true}};
  std::vector<DependencyEnds> all;
  for (const Dependency& dependency : dependencies) {
    const Scope& source = dependency.source;
    const Scope& destination = dependency.destination;
    const auto operands = program.operands_of(dependency);
    DependencyEnds& ends = all.emplace_back();
    ends.source = {with_earlier(source.stages), source.accesses,
                   (source.accesses | destination.accesses) != 0};
    ends.destination = {with_later(destination.stages), destination.accesses};
    ends.covers = operands.empty() || (tracked && meets_operands(*tracked, operands));
    if (!ends.covers) ends.destination.makes_visible = 0;
  }
  return all;
}

}  // namespace interlock
