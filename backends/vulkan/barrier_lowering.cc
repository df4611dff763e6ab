#include "backends/vulkan/barrier_lowering.h"

#include <volk.h>

#include <array>
#include <span>
#include <vector>

namespace interlock {
namespace {

// In the order of Stage. Fills and copies are both of the stage `copy`. What executes in `graphics`
// does so as a compute shader here (RunsElsewhere), and transitions do nothing.
constexpr uint64_t kVulkanStages[] = {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                                      VK_PIPELINE_STAGE_2_COPY_BIT | VK_PIPELINE_STAGE_2_CLEAR_BIT,
                                      VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT,
                                      VK_PIPELINE_STAGE_2_ALL_GRAPHICS_BIT,
                                      VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
                                      VK_PIPELINE_STAGE_2_HOST_BIT};
static_assert(std::size(kVulkanStages) == kStageCount);

// In the order of StageAccess. Each belongs to one stage in Vulkan as well, so that a union of
// pairs needs one barrier; but for those of graphics, which are all, and cover more.
constexpr uint64_t kVulkanAccesses[] = {VK_ACCESS_2_SHADER_STORAGE_READ_BIT,
                                        VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT,
                                        VK_ACCESS_2_UNIFORM_READ_BIT,
                                        VK_ACCESS_2_TRANSFER_READ_BIT,
                                        VK_ACCESS_2_TRANSFER_WRITE_BIT,
                                        VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT,
                                        VK_ACCESS_2_MEMORY_READ_BIT,
                                        VK_ACCESS_2_MEMORY_WRITE_BIT,
                                        VK_ACCESS_2_MEMORY_READ_BIT,
                                        VK_ACCESS_2_HOST_READ_BIT,
                                        VK_ACCESS_2_HOST_WRITE_BIT,
                                        0,
                                        0};
static_assert(std::size(kVulkanAccesses) == kStageAccessCount);

constexpr uint64_t kEveryStage =
    VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT;

// What stands for the bits of `mask`, a StageMask or an AccessMask.
uint64_t device_mask_of(unsigned mask, std::span<const uint64_t> device_masks) {
  uint64_t device_mask = 0;
  for (size_t i = 0; i < device_masks.size(); ++i) {
    if ((mask >> i & 1) != 0) device_mask |= device_masks[i];
  }
  return device_mask;
}

bool has(AccessMask accesses, StageAccess access) { return (accesses & bit_of(access)) != 0; }

Scope widened(Scope scope, RunsElsewhere elsewhere) {
  if (elsewhere.copies_in_compute && (scope.stages & bit_of(Stage::kCopy)) != 0) {
    scope.stages |= bit_of(Stage::kCompute);
    if (has(scope.accesses, StageAccess::kCopyRead)) {
      scope.accesses |= bit_of(StageAccess::kComputeRead);
    }
    if (has(scope.accesses, StageAccess::kCopyWrite)) {
      scope.accesses |= bit_of(StageAccess::kComputeWrite);
    }
  }
  if (elsewhere.indirect_in_compute && (scope.stages & bit_of(Stage::kIndirect)) != 0) {
    scope.stages |= bit_of(Stage::kCompute);
    if (has(scope.accesses, StageAccess::kIndirectRead)) {
      scope.accesses |= bit_of(StageAccess::kComputeRead);
    }
  }
  if (elsewhere.graphics_in_compute && (scope.stages & bit_of(Stage::kGraphics)) != 0) {
    scope.stages |= bit_of(Stage::kCompute);
    if (has(scope.accesses, StageAccess::kGraphicsRead) ||
        has(scope.accesses, StageAccess::kGraphicsUniform)) {
      scope.accesses |= bit_of(StageAccess::kComputeRead);
      scope.accesses |= bit_of(StageAccess::kComputeUniform);
    }
    if (has(scope.accesses, StageAccess::kGraphicsWrite)) {
      scope.accesses |= bit_of(StageAccess::kComputeWrite);
    }
  }
  if (elsewhere.uniforms_in_storage && has(scope.accesses, StageAccess::kComputeUniform)) {
    scope.accesses |= bit_of(StageAccess::kComputeRead);
  }
  return scope;
}

DeviceDependency scoped_dependency(const Program& program, const Dependency& dependency,
                                   const DeviceLayout& layout, CommandList& list,
                                   RunsElsewhere elsewhere) {
  const Scope source = widened(dependency.source, elsewhere);
  const Scope destination = widened(dependency.destination, elsewhere);
  DeviceDependency lowered{device_mask_of(source.stages, kVulkanStages),
                           device_mask_of(source.accesses, kVulkanAccesses),
                           device_mask_of(destination.stages, kVulkanStages),
                           device_mask_of(destination.accesses, kVulkanAccesses)};
  if (dependency.operand_count == 0) return lowered;
  lowered.first_range = static_cast<uint32_t>(list.barrier_ranges.size());
  for (const Access& operand : program.operands_of(dependency)) {
    if (operand.range.is_empty()) continue;
    list.barrier_ranges.push_back(layout.range_of(operand));
    ++lowered.range_count;
  }
  // If no byte at all becomes visible, only the execution part is left.
  return lowered.range_count == 0 ? execution_part_of(lowered) : lowered;
}

std::vector<DeviceDependency> parts_of(const Program& program, BarrierKind kind,
                                       std::span<const Dependency> dependencies,
                                       const DeviceLayout& layout, CommandList& list,
                                       RunsElsewhere elsewhere) {
  if (kind == BarrierKind::kFull) return {full_dependency()};
  if (kind == BarrierKind::kExecution) return {{kEveryStage, 0, kEveryStage, 0}};
  std::vector<DeviceDependency> parts;
  for (const Dependency& dependency : dependencies) {
    parts.push_back(scoped_dependency(program, dependency, layout, list, elsewhere));
    if (parts.back().range_count > 0) parts.push_back(execution_part_of(parts.back()));
  }
  return parts;
}

// Returns whether some part named the host.
bool leave_host_out(std::vector<DeviceDependency>& parts) {
  constexpr uint64_t kAccesses = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT;
  bool names_host = false;
  for (DeviceDependency& part : parts) {
    names_host = names_host || ((part.source_stages | part.destination_stages) &
                                VK_PIPELINE_STAGE_2_HOST_BIT) != 0;
    part.source_stages &= ~uint64_t{VK_PIPELINE_STAGE_2_HOST_BIT};
    part.destination_stages &= ~uint64_t{VK_PIPELINE_STAGE_2_HOST_BIT};
    part.source_accesses &= ~kAccesses;
    part.destination_accesses &= ~kAccesses;
  }
  return names_host;
}

}  // namespace

DeviceDependency execution_part_of(const DeviceDependency& dependency) {
  return {.source_stages = dependency.source_stages,
          .destination_stages = dependency.destination_stages};
}

DeviceDependency full_dependency() {
  constexpr uint64_t kAll = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  constexpr uint64_t kHost = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT;
  return {kEveryStage, kAll | kHost, kEveryStage, kAll | kHost};
}

DeviceDependency compute_dependency() {
  constexpr uint64_t kStage = VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT;
  constexpr uint64_t kReadAndWrite =
      VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT;
  return {kStage, VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT, kStage, kReadAndWrite};
}

void lower_barrier(const Program& program, const Barrier& barrier, const DeviceLayout& layout,
                   CommandList& list, RunsElsewhere elsewhere) {
  list.add_barrier(
      parts_of(program, barrier.kind, program.dependencies_of(barrier), layout, list, elsewhere));
}

void lower_set(const Program& program, const SyncStep& set, uint32_t event,
               const DeviceLayout& layout, CommandList& list, RunsElsewhere elsewhere) {
  auto parts =
      parts_of(program, set.barrier_kind, program.dependencies_of(set), layout, list, elsewhere);
  leave_host_out(parts);
  list.add_event(event, false, parts);
}

void lower_await(const Program& program, const SyncStep& set, uint32_t event,
                 const DeviceLayout& layout, CommandList& list, RunsElsewhere elsewhere) {
  auto parts =
      parts_of(program, set.barrier_kind, program.dependencies_of(set), layout, list, elsewhere);
  const bool names_host = leave_host_out(parts);
  list.add_event(event, true, parts);
  if (!names_host) return;
  constexpr uint64_t kHostReadAndWrite = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_HOST_WRITE_BIT;
  constexpr uint64_t kAccesses = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  constexpr uint64_t kCommands = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  list.add_barrier(std::array{
      DeviceDependency{VK_PIPELINE_STAGE_2_HOST_BIT, kHostReadAndWrite, kCommands, kAccesses},
      DeviceDependency{kCommands, kAccesses, VK_PIPELINE_STAGE_2_HOST_BIT, kHostReadAndWrite}});
}

uint64_t device_stages_of(StageMask stages, RunsElsewhere elsewhere) {
  return device_mask_of(widened({stages, 0}, elsewhere).stages, kVulkanStages);
}

}  // namespace interlock
