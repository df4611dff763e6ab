#include "backends/vulkan/dispatch_lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "backends/interface/row_operands.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

constexpr size_t kOperandCountMax = 5;  // Of a table kernel: shaders/kernel.glsl.

constexpr uint64_t kPartialCount = 32;  // shaders/reduction.glsl

uint32_t divide_up(uint64_t n, uint64_t divisor) {
  return static_cast<uint32_t>((n + divisor - 1) / divisor);
}

// An invocation has one column of a row, and loops over the inner extent.
bool is_by_column(const KernelEntry& entry) {
  return entry.name.starts_with("matmul") || entry.name == "embedding_vjp";
}

// Workgroups in the second extent of the grid: those shaders give an invocation one column each.
uint32_t column_group_count(const KernelEntry& entry, const KernelParams& params,
                            const DeviceLimits& limits) {
  if (entry.name == "col_sum") {
    return divide_up(std::min<uint64_t>(params.block, params.cols), limits.lane_count);
  }
  return is_by_column(entry) ? divide_up(params.cols, limits.lane_count) : 1;
}

// Reductions over a row, and whether a pass over its elements comes after them.
uint64_t pass_count_of(std::string_view kernel) {
  if (kernel == "rms_norm_vjp_stream") return 7;
  if (kernel == "layer_norm_vjp") return 5;
  if (kernel == "softmax_vjp_stream") return 4;
  if (kernel == "layer_norm" || kernel == "rms_norm_vjp" || kernel == "softmax" ||
      kernel == "cross_entropy_vjp") {
    return 3;
  }
  return kernel == "rms_norm" || kernel == "cross_entropy" || kernel == "softmax_vjp" ? 2 : 1;
}

// At least the rounds that the loops of an invocation have together.
uint64_t round_count_of(const KernelEntry& entry, const KernelParams& params, OperandWidth width,
                        uint64_t lane_count) {
  if (entry.name == "col_sum") return params.rows;
  if (is_by_column(entry)) return params.inner;
  if (entry.name == "transpose") return divide_up(params.rows, lane_count);
  if (entry.name == "concat" || entry.name == "split") {
    return divide_up(params.inner, lane_count) + divide_up(params.cols, lane_count);
  }
  const uint64_t element_bytes = entry.is_bytewise && width == OperandWidth::kWords ? 4 : 1;
  if (params.element_count > 0) return divide_up(params.block, lane_count * element_bytes);
  // A pass has the terms of some of the partial results, their own loop, and a tree.
  const uint64_t partials = divide_up(kPartialCount, lane_count);
  return pass_count_of(entry.name) *
         (partials * (divide_up(params.cols, kPartialCount) + 1) + 2 * partials + 5);
}

// As shaders/kernel.glsl has them.
std::vector<uint32_t> push_words_of(const KernelParams& params) {
  return {0,
          static_cast<uint32_t>(params.element_count),
          static_cast<uint32_t>(params.block),
          params.rows,
          params.cols,
          params.inner,
          params.byte,
          std::bit_cast<uint32_t>(params.factor),
          std::bit_cast<uint32_t>(params.eps),
          std::bit_cast<uint32_t>(params.beta1),
          std::bit_cast<uint32_t>(params.beta2),
          std::bit_cast<uint32_t>(params.weight_decay),
          params.step,
          std::bit_cast<uint32_t>(params.base),
          params.start};
}

Result<Success> lower_table_piece(const VulkanLowering& lowering, const DispatchPiece& piece,
                                  std::span<const PlacedOperand> operands) {
  const KernelId kernel = lowering.program.dispatch(piece.dispatch).kernel;
  const KernelEntry& entry = kernel_entry(kernel);
  const KernelParams& params = piece.params;
  if (std::max({params.rows, params.cols, params.inner}) > kExtentMax) {
    return Error{fmt::format("{} has an extent above {}, the most that a Vulkan device runs.",
                             lowering.program.description_of(piece.dispatch), kExtentMax),
                 ErrorKind::kRefused};
  }
  auto width = width_of(lowering, piece.dispatch, operands, entry.is_bytewise);
  if (!width) return width.error();
  const uint64_t rounds = round_count_of(entry, params, *width, lowering.limits.lane_count);
  if (rounds > kRoundsMax) {
    return error_of("{} takes {} rounds of its loops; a Vulkan device runs at most {}.",
                    lowering.program.description_of(piece.dispatch), rounds, kRoundsMax);
  }
  INTERLOCK_CHECK(operands.size() <= kOperandCountMax);
  std::vector<uint32_t> words = push_words_of(params);
  std::array<DeviceRange, kOperandCountMax> bindings;
  for (size_t i = 0; i < operands.size(); ++i) {
    const DeviceRange range = operands[i].range;
    const BoundRange bound =
        range.size_bytes == 0
            ? BoundRange{lowering.layout.take_unused(lowering.limits.storage_alignment)}
            : bind_range(range, lowering.limits.storage_alignment);
    if (bound.binding.size_bytes > lowering.limits.storage_bytes_max) {
      return Error{
          fmt::format(
              "Operand '{}' of {} has {} bytes; the Vulkan device binds at most {} at once.",
              entry.operands[i].name, lowering.program.description_of(piece.dispatch),
              range.size_bytes, lowering.limits.storage_bytes_max),
          ErrorKind::kRefused};
    }
    bindings[i] = bound.binding;
    words.push_back(bound.first_byte);
  }
  ShaderLaunch launch;
  launch.shader = shader_of(kernel, *width);
  launch.group_count_y = column_group_count(entry, params, lowering.limits);
  for (uint64_t done = 0; done < piece.slice_count; done += launch.group_count_x) {
    words[0] = static_cast<uint32_t>(piece.first_slice + done);
    launch.group_count_x = static_cast<uint32_t>(
        std::min<uint64_t>(piece.slice_count - done, lowering.limits.group_count_max));
    lowering.list.add_launch(launch, std::span(bindings).first(operands.size()), words);
  }
  return Success{};
}

bool overlap(DeviceRange a, DeviceRange b) {
  return a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

// Whether a transfer command does what the kernel does.
bool is_transfer(const KernelEntry& entry, std::span<const PlacedOperand> operands) {
  if (entry.name == "copy") return !overlap(operands[0].range, operands[1].range);
  if (entry.name != "fill") return false;
  const DeviceRange range = operands[0].range;
  return range.offset_bytes % kWordBytes == 0 && range.size_bytes % kWordBytes == 0;
}

// What is one transfer command each, if it is any: the dispatch, or each part of its rows.
std::vector<std::vector<PlacedOperand>> transfer_parts_of(const VulkanLowering& lowering,
                                                          DispatchId id) {
  const Dispatch& dispatch = lowering.program.dispatch(id);
  std::vector<PlacedOperand> operands = lowering.layout.place_operands(lowering.program, id);
  if (!has_rows(lowering.program, dispatch)) return {std::move(operands)};
  std::vector<std::vector<PlacedOperand>> parts;
  for_each_row_part(lowering.program, dispatch,
                    [&](const RowPart& part) { parts.push_back(operands_of(part, operands)); });
  return parts;
}

bool are_transfers(const KernelEntry& entry, const std::vector<std::vector<PlacedOperand>>& parts) {
  return std::ranges::all_of(
      parts, [&](const std::vector<PlacedOperand>& part) { return is_transfer(entry, part); });
}

}  // namespace

BoundRange bind_range(DeviceRange range, uint64_t alignment) {
  const uint64_t first_byte = range.offset_bytes % alignment;
  return {{range.offset_bytes - first_byte, first_byte + range.size_bytes},
          static_cast<uint32_t>(first_byte)};
}

Result<OperandWidth> width_of(const VulkanLowering& lowering, DispatchId id,
                              std::span<const PlacedOperand> operands, bool needs_whole_words) {
  const bool is_in_words =
      std::all_of(operands.begin(), operands.end(), [&](const PlacedOperand& operand) {
        return operand.range.offset_bytes % kWordBytes == 0 &&
               (!needs_whole_words || operand.range.size_bytes % kWordBytes == 0);
      });
  if (is_in_words) return OperandWidth::kWords;
  if (lowering.limits.has_byte_access) return OperandWidth::kBytes;
  return Error{
      fmt::format(
          "{} has an operand that does not consist of aligned words, and the Vulkan device has no 8-bit storage.",
          lowering.program.description_of(id)),
      ErrorKind::kRefused};
}

Result<Success> lower_piece(const VulkanLowering& lowering, const DispatchPiece& piece,
                            std::span<const PlacedOperand> operands) {
  const Dispatch& dispatch = lowering.program.dispatch(piece.dispatch);
  if (has_rows(lowering.program, dispatch)) {
    Result<Success> lowered = Success{};
    bool is_first = true;
    for_each_row_part(lowering.program, dispatch, [&](const RowPart& part) {
      if (!lowered) return;
      // Rows share no byte; their bindings begin at multiples of an alignment, and may.
      if (!std::exchange(is_first, false)) lowering.list.add_full_barrier();
      DispatchPiece of_part = piece;
      of_part.params = params_of(part, piece.params);
      lowered = lower_table_piece(lowering, of_part, operands_of(part, operands));
    });
    return lowered;
  }
  return lowering.program.dispatch(piece.dispatch).kernel == mix_kernel()
             ? lower_mix(lowering, piece, operands)
             : lower_table_piece(lowering, piece, operands);
}

Result<Success> lower_dispatch(const VulkanLowering& lowering, DispatchId id) {
  const DispatchPiece piece = whole_piece_of(lowering.program, id);
  const KernelEntry& entry = kernel_entry(lowering.program.dispatch(id).kernel);
  const auto parts = transfer_parts_of(lowering, id);
  if (!are_transfers(entry, parts)) {
    return lower_piece(lowering, piece, lowering.layout.place_operands(lowering.program, id));
  }
  for (const std::vector<PlacedOperand>& operands : parts) {
    const DeviceRange range = operands[0].range;
    if (entry.name == "copy") {
      lowering.list.add_copy(
          {range.offset_bytes, operands[1].range.offset_bytes, range.size_bytes});
    } else {
      lowering.list.add_fill({range, piece.params.byte * 0x01010101u});
    }
  }
  return Success{};
}

bool is_copy_in_compute(const VulkanLowering& lowering, DispatchId id) {
  const Dispatch& dispatch = lowering.program.dispatch(id);
  return stage_of(dispatch) == Stage::kCopy &&
         !are_transfers(kernel_entry(dispatch.kernel), transfer_parts_of(lowering, id));
}

}  // namespace interlock
