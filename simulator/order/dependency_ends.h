// Dependency ends: what the two ends of a dependency cover, with the stages that Vulkan adds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"

namespace interlock {

inline constexpr AccessMask kHostAccesses =
    bit_of(StageAccess::kHostRead) | bit_of(StageAccess::kHostWrite);
inline constexpr AccessMask kDeviceAccesses =
    kAllAccesses & static_cast<AccessMask>(~kHostAccesses);
inline constexpr StageMask kStagesAfterIndirect =
    bit_of(Stage::kCompute) | bit_of(Stage::kGraphics);

constexpr bool has_stage(StageMask stages, Stage stage) { return (stages & bit_of(stage)) != 0; }

// Work in the indirect stage of a command comes before its compute work, or that of graphics: what
// waits for either so waits for the indirect one too, and what holds the latter back holds back
// both (Vulkan 1.3, 7.1, "Execution and Memory Dependencies", logically earlier and later stages).
StageMask with_earlier(StageMask stages);
StageMask with_later(StageMask stages);

// All accesses of devices in these stages.
AccessMask device_accesses_of(StageMask stages);

// One write and some of its bytes, all alike to every operand.
struct TrackedBytes {
  DispatchId writer;
  MemoryId memory;
  ByteRange bytes;
};

bool meets_operands(const TrackedBytes& tracked, std::span<const Access> operands);

struct DependencySource {
  StageMask stages = 0;
  AccessMask makes_available = 0;
  bool is_of_memory = false;  // It has accesses at either end.
};

struct DependencyDestination {
  StageMask stages = 0;
  AccessMask makes_visible = 0;
};

struct DependencyEnds {
  DependencySource source;
  DependencyDestination destination;
  bool covers = true;  // All bytes, or those tracked. Else it makes nothing available or visible.
};

inline constexpr DependencyEnds kFullEnds = {
    {kAllStages, kAllAccesses, true}, {kAllStages, kAllAccesses}, true};

// Of a barrier, or of an event's set. Cost: its dependencies, and with `tracked` their operands.
std::vector<DependencyEnds> dependency_ends_of(const Program& program, BarrierKind kind,
                                               std::span<const Dependency> dependencies,
                                               const std::optional<TrackedBytes>& tracked);

}  // namespace interlock
