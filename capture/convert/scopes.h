// Stages and accesses of Vulkan as scopes of the text format. Terms: Vulkan 1.3, 7.1.3 and 7.1.4.
#pragma once

#include <cstdint>

#include "encoder/program/scope.h"

namespace interlock {

enum class ScopeEnd : uint8_t { kFirst, kSecond };

// VkPipelineStageFlags2 as stages. TOP_OF_PIPE is empty in a first scope and everything in a second
// one, BOTTOM_OF_PIPE the other way round.
StageMask stages_of(uint64_t stages, ScopeEnd end);

// Whether it names stages that no command here executes in, such as those of ray tracing.
bool has_unknown_stages(uint64_t stages);

// Whether it names stages of graphics by themselves. The format has one stage for all of them, so
// that each counts as that: a dependency of one orders too much.
bool has_parts_of_graphics(uint64_t stages);

// With VkAccessFlags2: each access counts in those of the stages that have it.
// has_unknown_stages() are in no scope.
Scope scope_of(uint64_t stages, uint64_t accesses, ScopeEnd end);

}  // namespace interlock
