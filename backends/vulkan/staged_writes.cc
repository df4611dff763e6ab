#include "backends/vulkan/staged_writes.h"

#include <fmt/format.h>

#include "backends/vulkan/mix_lowering.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

// Copies what the slices of the piece wrote, and no byte between: those may have changed since.
void commit_slices(const VulkanLowering& lowering, const DispatchPiece& piece, int operand,
                   ArenaRange staged) {
  const Dispatch& dispatch = lowering.program.dispatch(piece.dispatch);
  const Access& access = lowering.program.accesses_of(dispatch)[static_cast<size_t>(operand)];
  const uint64_t memory = lowering.layout.memory_offset_bytes(access.memory.index);
  BufferCopy copy;  // Grows while runs touch.
  for (uint64_t i = 0; i < piece.slice_count; ++i) {
    const StridedRange written =
        slice_range_of(lowering.program, dispatch, piece.params, piece.first_slice + i, operand);
    for (uint64_t k = 0; k < written.run_count; ++k) {
      const ByteRange run = written.run(k);
      const uint64_t destination = memory + run.begin;
      if (copy.size_bytes > 0 && destination == copy.destination_bytes + copy.size_bytes) {
        copy.size_bytes += run.size_bytes();
        continue;
      }
      lowering.list.add_copy(copy);
      copy = {staged.offset_bytes + (run.begin - access.range.begin), destination,
              run.size_bytes()};
    }
  }
  lowering.list.add_copy(copy);
}

}  // namespace

Result<Success> StagedWrites::run_late(const VulkanLowering& lowering, const DispatchPiece& piece) {
  StagedPiece late{piece, {}};
  std::vector<PlacedOperand> operands = place_operands(lowering, piece.dispatch);
  bool has_copies = false;
  for (PlacedOperand& operand : operands) {
    late.staged.emplace_back();
    const bool only_reads =
        operand.mode == AccessMode::kRead || operand.mode == AccessMode::kUniform;
    if (only_reads || operand.range.size_bytes == 0) continue;
    if (operand.range.size_bytes > limit_bytes_ - staged_bytes_) {
      return Error{fmt::format(
          "The late writes of this schedule need more than {} bytes, the execution limit, while "
          "{} commits late.",
          limit_bytes_, lowering.program.description_of(piece.dispatch))};
    }
    staged_bytes_ += operand.range.size_bytes;
    const ArenaRange memory = operand.range;
    operand.range = lowering.layout.take(memory.size_bytes, memory.offset_bytes);
    late.staged.back() = operand;
    if (operand.mode == AccessMode::kAtomic) {
      operand.mode = AccessMode::kWrite;  // The staged operand, which the commit applies.
    } else if (operand.mode == AccessMode::kUpdate || piece.params.is_partial) {
      lowering.list.add_copy({memory.offset_bytes, operand.range.offset_bytes, memory.size_bytes});
      has_copies = true;
    }
  }
  if (has_copies) lowering.list.add_full_barrier();
  auto lowered = lower_piece(lowering, piece, operands);
  if (!lowered) return lowered;
  waiting_[piece.dispatch].push_back(std::move(late));
  return Success{};
}

void StagedWrites::commit(const VulkanLowering& lowering, DispatchId dispatch) {
  const auto found = waiting_.find(dispatch);
  INTERLOCK_CHECK(found != waiting_.end());
  for (const StagedPiece& late : found->second) {
    for (size_t i = 0; i < late.staged.size(); ++i) {
      const PlacedOperand& staged = late.staged[i];
      if (staged.range.size_bytes == 0) continue;
      if (staged.mode != AccessMode::kAtomic) {
        commit_slices(lowering, late.piece, static_cast<int>(i), staged.range);
        continue;
      }
      const Access& access = lowering.program.accesses_of(dispatch)[i];
      lower_atomic_commit(lowering, lowering.program.dispatch(dispatch).atomic_op,
                          lowering.layout.range_of(access), staged.range);
    }
  }
  waiting_.erase(found);
}

}  // namespace interlock
