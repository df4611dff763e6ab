// Lowers mix, whose operands are of any number, size and alignment: to one launch where they fit
// into one workgroup, else to one launch for each window of each operand.
#pragma once

#include <span>

#include "backends/vulkan/dispatch_lowering.h"

namespace interlock {

// Up to these a dispatch of mix is one launch, so that no barrier of ours stands inside it.
inline constexpr uint64_t kMixGroupBytesMax = 1ull << 20;  // Of all operands.
inline constexpr uint64_t kMixRoundsMax = kRoundsMax / 2;  // Of an invocation.

// Requires: the dispatch has the kernel mix.
Result<Success> lower_mix(const VulkanLowering& lowering, const DispatchPiece& piece,
                          std::span<const PlacedOperand> operands);

// Whether a uniform operand of the dispatch is bound as a storage buffer: it is too large for
// another, or the dispatch is several launches. Requires: the dispatch has the kernel mix.
bool has_uniform_in_storage(const VulkanLowering& lowering, const DispatchPiece& piece,
                            std::span<const PlacedOperand> operands);

// Applies the staged operand of an atomic to `memory`. Requires: both have the same size and the
// same offset modulo DeviceLayout::kAlignmentBytes.
void lower_atomic_commit(const VulkanLowering& lowering, AtomicOp op, DeviceRange memory,
                         DeviceRange staged);

}  // namespace interlock
