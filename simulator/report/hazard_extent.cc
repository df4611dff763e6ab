#include "simulator/report/hazard_extent.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "encoder/kernel/kernel_table.h"
#include "simulator/order/scoped_order.h"

namespace interlock {
namespace {

constexpr size_t kRunsMax = 16;

Scope joined_scopes(Scope a, Scope b) {
  return {static_cast<StageMask>(a.stages | b.stages),
          static_cast<AccessMask>(a.accesses | b.accesses)};
}

Scope scope_of_sort(StageAccess sort, bool is_about_memory) {
  // No narrower scope has what a barrier does to its operands; it sees what is available, and is
  // available at once.
  if (is_of_transition(sort)) return {kDeviceStages, 0};
  return {bit_of(stage_of(sort)), is_about_memory ? bit_of(sort) : AccessMask{0}};
}

Scope source_of_hazard(const ByteHazards& hazard) {
  if (hazard.first_stage == Stage::kTransition) return {kDeviceStages, 0};
  if (hazard.kind == FindingKind::kWriteAfterRead) return {bit_of(hazard.first_stage), 0};
  return scope_of_sort(write_sort_of(hazard.first_stage), true);
}

// What lies no further apart than `gap_max` becomes one.
std::vector<MemoryRange> joined_runs(const std::vector<MemoryRange>& runs, uint64_t gap_max) {
  std::vector<MemoryRange> result;
  for (const MemoryRange& run : runs) {
    const bool is_near = !result.empty() && result.back().memory == run.memory &&
                         (run.range.begin <= result.back().range.end ||
                          run.range.begin - result.back().range.end <= gap_max);
    if (is_near) {
      result.back().range.end = std::max(result.back().range.end, run.range.end);
    } else {
      result.push_back(run);
    }
  }
  return result;
}

// By the name that one of the two has for it.
Access operand_of(const Program& program, DispatchId first, DispatchId second,
                  const MemoryRange& run) {
  for (const DispatchId id : {first, second}) {
    for (const Access& access : program.accesses_of(id)) {
      const bool is_it = access.memory == run.memory && access.range == run.range;
      if (!is_it || access.stride != Access::kNotStrided) continue;
      return {.memory = access.memory,
              .tensor = access.tensor,
              .range = access.range,
              .is_sliced = access.is_sliced};
    }
  }
  return {.memory = run.memory, .range = run.range, .is_sliced = true};
}

}  // namespace

HazardExtent extent_of(const Program& program, FindingKind kind, DispatchId first,
                       DispatchId second, std::span<const ByteHazards> hazards) {
  HazardExtent extent;
  std::vector<MemoryRange> runs;
  for (const ByteHazards& hazard : hazards) {
    if (hazard.kind != kind || hazard.first != first) continue;
    extent.source = joined_scopes(extent.source, source_of_hazard(hazard));
    extent.destination = joined_scopes(
        extent.destination, scope_of_sort(hazard.sort, kind != FindingKind::kWriteAfterRead));
    runs.push_back({hazard.memory, {hazard.begin, hazard.end}});
  }
  std::ranges::sort(runs, {}, [](const MemoryRange& run) {
    return std::tuple(run.memory, run.range.begin, run.range.end);
  });
  runs = joined_runs(runs, 0);
  if (runs.size() > kRunsMax) runs = joined_runs(runs, UINT64_MAX);
  for (const MemoryRange& run : runs) {
    extent.bytes.push_back(operand_of(program, first, second, run));
  }
  return extent;
}

std::vector<Access> bytes_in_atoms(const Program& program, std::span<const Access> bytes) {
  std::vector<Access> in_atoms;
  for (const Access& access : bytes) {
    if (program.memory(access.memory).atom_bytes > 0) in_atoms.push_back(access);
  }
  return in_atoms;
}

std::string barrier_text_of(const Program& program, FindingKind kind, const HazardExtent& extent) {
  const std::string scopes =
      fmt::format("barrier {} -> {}", text_of(extent.source), text_of(extent.destination));
  const bool names_bytes = kind != FindingKind::kWriteAfterRead && !extent.bytes.empty();
  return names_bytes ? fmt::format("{} {}", scopes, text_of_operands(program, extent.bytes))
                     : scopes;
}

std::string text_of_operands(const Program& program, std::span<const Access> bytes) {
  std::string text;
  for (const Access& access : bytes) {
    text += (text.empty() ? "" : " ") + program.text_of(access);
  }
  return text;
}

}  // namespace interlock
