// Lowers dispatches to launches of shaders: binds the operands, fills in the params, sets the grid.
#pragma once

#include <cstdint>
#include <span>

#include "backends/interface/device_layout.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/host_statements.h"
#include "backends/vulkan/command_list.h"
#include "backends/vulkan/device_limits.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"

namespace interlock {

// Of all loops of an invocation together: after these lavapipe ends every loop silently.
inline constexpr uint64_t kRoundsMax = 65'535;

inline constexpr uint64_t kWordBytes = 4;

inline constexpr uint32_t kExtentMax = 65'535;  // Of rows, columns, and what is contracted.

// What all parts of lowering a run share.
struct VulkanLowering {
  const Program& program;
  const DeviceLimits& limits;
  DeviceLayout& layout;
  CommandList& list;
  HostCopies& host;
};

// Appends the launches of the piece. Of rows (encoder/kernel/row_parts.h) each part is one, with a
// full barrier between two, which may hide that the program lacks one.
// Errors: an operand is larger than the device binds; the device lacks what its alignment needs;
// the loops of a table kernel have more than kRoundsMax rounds.
Result<Success> lower_piece(const VulkanLowering& lowering, const DispatchPiece& piece,
                            std::span<const PlacedOperand> operands);

// Appends the whole dispatch in the stage where the program has it: copy and fill become transfer
// commands. Where Vulkan has none that fits (operands of copy that overlap, fill at odd places),
// they are launches, and so compute.
// Errors: as lower_piece().
Result<Success> lower_dispatch(const VulkanLowering& lowering, DispatchId id);

// Whether lower_dispatch() runs a copy or fill as a launch; false for other kernels.
bool is_copy_in_compute(const VulkanLowering& lowering, DispatchId id);

// A binding, and where in it the range starts.
struct BoundRange {
  DeviceRange binding;
  uint32_t first_byte = 0;
};

// The smallest binding of an offset that is a multiple of `alignment`.
BoundRange bind_range(DeviceRange range, uint64_t alignment);

// The width that fits all of `ranges`.
// Errors: it is kBytes, and the device has no 8-bit storage.
Result<OperandWidth> width_of(const VulkanLowering& lowering, DispatchId id,
                              std::span<const PlacedOperand> operands, bool needs_whole_words);

// mix, whose operands are of any number, size and alignment (mix_lowering.cc): one launch where
// they fit into one workgroup, else one launch for each window of each operand.

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
