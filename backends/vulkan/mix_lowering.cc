// The idea: the digest is a sum over words, so windows of operands add to it in any order; and each
// output word depends on the digest and its own place only. The two phases need a barrier between
// them, which is more sync than the program says. So dispatches that are small enough run both
// phases in one workgroup, with operands in groups by how they are accessed (shaders/mix.comp).
#include "backends/vulkan/dispatch_lowering.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "backends/vulkan/barrier_lowering.h"

namespace interlock {
namespace {

constexpr uint64_t kUniformBytesMax = 16 << 10;  // Of one binding: shaders/mix.comp.
constexpr uint64_t kWordsPerLane = 128;          // shaders/mix_window.glsl

// Flags of a place: shaders/mix.comp.
constexpr uint32_t kPositionShift = 12;
constexpr uint32_t kIsDigested = 1u << 20;
constexpr uint32_t kIsPartial = 1u << 21;

struct BindingGroup {
  uint32_t begin = 0;
  uint32_t end = 0;
};

constexpr BindingGroup kUniforms{0, 2};
constexpr BindingGroup kReadBuffers{2, 7};
constexpr BindingGroup kWrites{7, 10};
constexpr BindingGroup kUpdates{10, 12};
constexpr BindingGroup kAtomics{12, 14};
static_assert(kAtomics.end == kBindingCountMax);

bool fits_uniform(const VulkanLowering& lowering, DeviceRange range) {
  return range.offset_bytes % lowering.limits.uniform_alignment + range.size_bytes <=
         kUniformBytesMax;
}

BindingGroup group_of(const VulkanLowering& lowering, const DispatchPiece& piece,
                      const PlacedOperand& operand) {
  switch (operand.mode) {
    case AccessMode::kUniform:
      return fits_uniform(lowering, operand.range) ? kUniforms : kReadBuffers;
    case AccessMode::kIndirect:
    case AccessMode::kRead:
      return kReadBuffers;
    case AccessMode::kWrite:
      return piece.params.is_partial ? kUpdates : kWrites;
    case AccessMode::kUpdate:
      return kUpdates;
    case AccessMode::kAtomic:
      return kAtomics;
  }
  return kReadBuffers;
}

bool is_digested(AccessMode mode) {
  return mode != AccessMode::kWrite && mode != AccessMode::kAtomic;
}

// The words that hold the range.
DeviceRange whole_words(DeviceRange range) {
  const uint64_t begin = range.offset_bytes / kWordBytes * kWordBytes;
  const uint64_t end = range.offset_bytes + range.size_bytes;
  return {begin, (end + kWordBytes - 1) / kWordBytes * kWordBytes - begin};
}

BoundRange bind_whole_words(DeviceRange range, uint64_t alignment) {
  BoundRange bound = bind_range(whole_words(range), alignment);
  bound.first_byte += static_cast<uint32_t>(range.offset_bytes % kWordBytes);
  return bound;
}

// The width for the operands of the piece that are neither atomic nor uniform.
Result<OperandWidth> plain_width_of(const VulkanLowering& lowering, const DispatchPiece& piece,
                                    std::span<const PlacedOperand> operands) {
  std::vector<PlacedOperand> plain;
  for (const PlacedOperand& operand : operands) {
    if (operand.mode != AccessMode::kAtomic && operand.range.size_bytes > 0) {
      plain.push_back(operand);
    }
  }
  return width_of(lowering, piece.dispatch, plain, true);
}

// At most as many rounds of loops as the one launch takes an invocation for the operand: one for
// each word that it digests or writes. An atomic may have to try again, and acts byte by byte.
uint64_t operand_round_count(const PlacedOperand& operand, uint32_t lane_count) {
  constexpr uint64_t kAtomicRounds = 8;
  const uint64_t words = whole_words(operand.range).size_bytes / kWordBytes;
  const uint64_t rounds = (words + lane_count - 1) / lane_count;
  if (operand.mode == AccessMode::kAtomic) return kAtomicRounds * rounds;
  return operand.mode == AccessMode::kUpdate ? 2 * rounds : rounds;
}

// The binding of each operand in the shader of one launch; none if they do not fit.
std::optional<std::vector<uint32_t>> slots_of(const VulkanLowering& lowering,
                                              const DispatchPiece& piece,
                                              std::span<const PlacedOperand> operands) {
  std::vector<uint32_t> slots;
  std::array<uint32_t, kBindingCountMax> used{};  // By the begin of a group.
  uint64_t size_bytes = 0;
  uint64_t round_count = 0;
  for (const PlacedOperand& operand : operands) {
    const BindingGroup group = group_of(lowering, piece, operand);
    const uint32_t slot = group.begin + used[group.begin]++;
    if (slot >= group.end) return std::nullopt;
    slots.push_back(slot);
    size_bytes += operand.range.size_bytes;
    round_count += operand_round_count(operand, lowering.limits.lane_count);
  }
  if (size_bytes > kMixGroupBytesMax || round_count > kMixRoundsMax) return std::nullopt;
  return slots;
}

void lower_to_one_launch(const VulkanLowering& lowering, const DispatchPiece& piece,
                         std::span<const PlacedOperand> operands, OperandWidth width,
                         std::span<const uint32_t> slots) {
  const DeviceLimits& limits = lowering.limits;
  std::array<DeviceRange, kBindingCountMax> bindings{};
  std::array<uint32_t, 2 * kBindingCountMax + 2> words{};  // Places, sizes, identity, operation.
  for (size_t i = 0; i < operands.size(); ++i) {
    const PlacedOperand& operand = operands[i];
    if (operand.range.size_bytes == 0) continue;
    const uint32_t slot = slots[i];
    const bool is_in_words = slot < kUniforms.end || slot >= kAtomics.begin;
    const uint64_t alignment =
        slot < kUniforms.end ? limits.uniform_alignment : limits.storage_alignment;
    const BoundRange bound = is_in_words ? bind_whole_words(operand.range, alignment)
                                         : bind_range(operand.range, alignment);
    const bool is_partial = piece.params.is_partial && (operand.mode == AccessMode::kUpdate ||
                                                        operand.mode == AccessMode::kWrite);
    bindings[slot] = bound.binding;
    words[slot] = bound.first_byte | static_cast<uint32_t>(i) << kPositionShift |
                  (is_digested(operand.mode) ? kIsDigested : 0) | (is_partial ? kIsPartial : 0);
    words[kBindingCountMax + slot] = static_cast<uint32_t>(operand.range.size_bytes);
  }
  for (uint32_t slot = 0; slot < kBindingCountMax; ++slot) {
    if (bindings[slot].size_bytes > 0) continue;
    bindings[slot] = lowering.layout.take_unused(slot < kUniforms.end ? limits.uniform_alignment
                                                                      : limits.storage_alignment);
  }
  words[2 * kBindingCountMax] = piece.params.identity;
  words[2 * kBindingCountMax + 1] = static_cast<uint32_t>(piece.params.atomic_op);
  lowering.list.add_launch({.shader = shader_index("mix", width)}, bindings, words);
}

// Launches `shader` on each window of the operand: as large as a binding and the grid allow.
void launch_on_windows(const VulkanLowering& lowering, std::string_view shader, OperandWidth width,
                       DeviceRange operand, uint32_t position, const KernelParams& params,
                       DeviceRange other) {
  const DeviceLimits& limits = lowering.limits;
  const bool is_atomic = shader == "mix_atomic" || shader == "commit_atomic";
  const uint64_t group_bytes = kWordsPerLane * limits.lane_count * kWordBytes;
  // Less an alignment, because a binding starts before its window.
  const uint64_t window_bytes =
      std::min((limits.group_count_max - 1) * group_bytes,
               limits.storage_bytes_max - DeviceLayout::kAlignmentBytes - 2 * kWordBytes) /
      DeviceLayout::kAlignmentBytes * DeviceLayout::kAlignmentBytes;
  for (uint64_t done = 0; done < operand.size_bytes; done += window_bytes) {
    const DeviceRange window{operand.offset_bytes + done,
                             std::min(window_bytes, operand.size_bytes - done)};
    const BoundRange bound = is_atomic ? bind_whole_words(window, limits.storage_alignment)
                                       : bind_range(window, limits.storage_alignment);
    // The digest, or the part of the staging copy that stands for this window.
    DeviceRange second = other;
    if (shader == "commit_atomic") {
      second =
          bind_whole_words({other.offset_bytes + done, window.size_bytes}, limits.storage_alignment)
              .binding;
    }
    const std::array<uint32_t, 7> words{bound.first_byte,
                                        static_cast<uint32_t>(window.size_bytes),
                                        static_cast<uint32_t>(done / kWordBytes),
                                        position,
                                        params.identity,
                                        static_cast<uint32_t>(params.atomic_op),
                                        0};
    ShaderLaunch launch;
    launch.shader = shader_index(shader, width);
    const uint64_t touched_bytes = bound.binding.size_bytes;
    launch.group_count_x = static_cast<uint32_t>((touched_bytes + group_bytes - 1) / group_bytes);
    lowering.list.add_launch(launch, std::array{bound.binding, second}, words);
  }
}

std::string_view phase_of(AccessMode mode, bool is_partial) {
  if (mode == AccessMode::kAtomic) return "mix_atomic";
  return is_partial ? "mix_partial" : "mix_write";
}

void lower_to_phases(const VulkanLowering& lowering, const DispatchPiece& piece,
                     std::span<const PlacedOperand> operands, OperandWidth width) {
  const DeviceRange digest = lowering.layout.take(kWordBytes);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_digested(operands[i].mode)) continue;
    launch_on_windows(lowering, "mix_digest", width, operands[i].range, static_cast<uint32_t>(i),
                      piece.params, digest);
  }
  DeviceDependency between = compute_dependency();
  between.first_range = static_cast<uint32_t>(lowering.list.barrier_ranges.size());
  between.range_count = 1;
  lowering.list.barrier_ranges.push_back(digest);
  lowering.list.add_barrier(std::array{between, execution_part_of(between)});
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].mode <= AccessMode::kRead) continue;
    launch_on_windows(lowering, phase_of(operands[i].mode, piece.params.is_partial), width,
                      operands[i].range, static_cast<uint32_t>(i), piece.params, digest);
  }
}

}  // namespace

Result<Success> lower_mix(const VulkanLowering& lowering, const DispatchPiece& piece,
                          std::span<const PlacedOperand> operands) {
  const auto width = plain_width_of(lowering, piece, operands);
  if (!width) return width.error();
  if (const auto slots = slots_of(lowering, piece, operands)) {
    lower_to_one_launch(lowering, piece, operands, *width, *slots);
  } else {
    lower_to_phases(lowering, piece, operands, *width);
  }
  return Success{};
}

bool has_uniform_in_storage(const VulkanLowering& lowering, const DispatchPiece& piece,
                            std::span<const PlacedOperand> operands) {
  const auto is_uniform = [](const PlacedOperand& o) { return o.mode == AccessMode::kUniform; };
  if (std::none_of(operands.begin(), operands.end(), is_uniform)) return false;
  if (!slots_of(lowering, piece, operands)) return true;
  return std::any_of(operands.begin(), operands.end(), [&](const PlacedOperand& operand) {
    return is_uniform(operand) && !fits_uniform(lowering, operand.range);
  });
}

void lower_atomic_commit(const VulkanLowering& lowering, AtomicOp op, DeviceRange memory,
                         DeviceRange staged) {
  KernelParams params;
  params.atomic_op = op;
  launch_on_windows(lowering, "commit_atomic", OperandWidth::kWords, memory, 0, params, staged);
}

}  // namespace interlock
