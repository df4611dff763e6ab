#include "backends/cuda/lowering.h"

#include <algorithm>
#include <optional>
#include <span>

#include "backends/interface/dispatch_params.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/poison.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

// Of the launches that fill with poison: bytes of a block, and blocks of a grid.
constexpr uint64_t kPoisonBlockMin = 1024;
constexpr uint64_t kPoisonBlockCountMax = 1024;

void lower_slices(const Program& program, const DispatchPiece& piece,
                  std::span<const PlacedOperand> operands, CudaCommandList& list) {
  for (uint64_t done = 0; done < piece.slice_count; done += kGridBlockCountMax) {
    CudaCommand& command = list.add_launch(DeviceFunction::kRunSlices, operands);
    command.launch.kernel = program.dispatch(piece.dispatch).kernel;
    command.launch.arguments.params = piece.params;
    command.launch.arguments.first_slice = piece.first_slice + done;
    command.launch.block_count =
        static_cast<uint32_t>(std::min(piece.slice_count - done, kGridBlockCountMax));
  }
}

void lower_large_mix(const DispatchPiece& piece, std::span<const PlacedOperand> operands,
                     uint64_t size_bytes, LoweredProgram& lowered) {
  const DeviceRange digest = lowered.layout.take(sizeof(uint32_t));
  for (const DeviceFunction function : {DeviceFunction::kDigestMix, DeviceFunction::kApplyMix}) {
    CudaCommand& command = lowered.list.add_launch(function, operands);
    command.launch.arguments.params = piece.params;
    command.launch.block_count = grid_block_count(size_bytes);
    command.digest_offset_bytes = digest.offset_bytes;
  }
}

void lower_piece(const Program& program, const DispatchPiece& piece,
                 std::span<const PlacedOperand> operands, LoweredProgram& lowered) {
  const bool is_mix = program.dispatch(piece.dispatch).kernel == mix_kernel();
  INTERLOCK_CHECK(is_mix || operands.size() <= kTableOperandCountMax);
  uint64_t size_bytes = 0;
  for (const PlacedOperand& operand : operands) size_bytes += operand.range.size_bytes;
  if (is_mix && size_bytes > kMixBlockBytesMax) {
    lower_large_mix(piece, operands, size_bytes, lowered);
  } else {
    lower_slices(program, piece, operands, lowered.list);
  }
}

// A launch of the kernel fill for each.
void lower_poison(std::span<const EndedBytes> ended, LoweredProgram& lowered) {
  const std::optional<KernelId> fill = find_kernel("fill");
  INTERLOCK_CHECK(fill.has_value());
  for (const EndedBytes& bytes : ended) {
    const PlacedOperand operand{lowered.layout.range_of(bytes.memory, bytes.bytes),
                                AccessMode::kWrite};
    CudaCommand& command = lowered.list.add_launch(DeviceFunction::kRunSlices, {&operand, 1});
    command.launch.kernel = *fill;
    KernelParams& params = command.launch.arguments.params;
    params.element_count = operand.range.size_bytes;
    params.block = std::max<uint64_t>(params.element_count / kPoisonBlockCountMax, kPoisonBlockMin);
    params.byte = kPoisonByte;
    command.launch.block_count = static_cast<uint32_t>(slice_count_of(*fill, params));
  }
}

Result<Success> lower_late_piece(const Program& program, const DispatchPiece& piece,
                                 LateStaging<DeviceRange>& late, LoweredProgram& lowered) {
  std::vector<PlacedOperand> operands = lowered.layout.place_operands(program, piece.dispatch);
  const std::span<const Access> accesses = program.accesses_of(piece.dispatch);
  auto staged = late.stage(
      piece, written_operands(program, piece.dispatch), [&](size_t i, ByteRange /*range*/) {
        const DeviceRange memory = operands[i].range;
        operands[i].range = lowered.layout.take(memory.size_bytes, memory.offset_bytes);
        operands[i].is_staged = accesses[i].is_atomic();
        if (needs_old_bytes(accesses[i], piece.params)) {
          lowered.list.add_copy(memory, operands[i].range);
        }
        return operands[i].range;
      });
  if (staged) lower_piece(program, piece, operands, lowered);
  return staged;
}

void lower_commit(const Program& program, DispatchId id, LateStaging<DeviceRange>& late,
                  LoweredProgram& lowered) {
  const auto lower = [&](const DispatchPiece& piece, const Access& access,
                         const LateStaging<DeviceRange>::Operand& staged) -> Result<Success> {
    if (access.is_atomic()) {
      lowered.list.add_commit(program.dispatch(id).atomic_op, staged.copy,
                              lowered.layout.range_of(access));
      return Success{};
    }
    for_each_written_run(program, piece, staged.access, [&](ByteRange run) {
      lowered.list.add_copy(
          {staged.copy.offset_bytes + (run.begin - staged.range.begin), run.size_bytes()},
          lowered.layout.range_of(access.memory, run));
    });
    return Success{};
  };
  INTERLOCK_CHECK(late.for_each_copy(id, lower).has_value());
  late.forget(id);
}

}  // namespace

LoweredProgram lower_dispatches(const Program& program, const Poison& poison) {
  LoweredProgram lowered(program);
  lowered.dispatches.reserve(program.dispatches.size());
  for (uint32_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId id(d);
    const size_t begin = lowered.list.commands().size();
    lower_poison(poison.ended_before(id), lowered);
    lower_piece(program, whole_piece_of(program, id), lowered.layout.place_operands(program, id),
                lowered);
    lowered.dispatches.push_back({begin, lowered.list.commands().size()});
  }
  lowered.list.place_table(lowered.layout);
  return lowered;
}

Result<LoweredProgram> lower_schedule(const Program& program, const Schedule& schedule,
                                      uint64_t limit_bytes) {
  if (auto whole = expect_whole_steps(program, schedule, "cuda"); !whole) return whole.error();
  LoweredProgram lowered(program);
  Poison poison(program);
  LateStaging<DeviceRange> late(program, limit_bytes, StagingSpace::kLastsForTheRun);
  for (const Step& step : schedule.steps) {
    INTERLOCK_CHECK(step.dispatch.index < program.dispatches.size());
    if (step.kind == StepKind::kCommit) {
      lower_commit(program, step.dispatch, late, lowered);
      continue;
    }
    lower_poison(poison.take_before(step.dispatch), lowered);
    const DispatchPiece piece = piece_of(program, step);
    if (step.kind == StepKind::kRunLate) {
      auto lowered_late = lower_late_piece(program, piece, late, lowered);
      if (!lowered_late) return lowered_late.error();
    } else {
      lower_piece(program, piece, lowered.layout.place_operands(program, step.dispatch), lowered);
    }
  }
  INTERLOCK_CHECK(late.is_empty());
  lowered.list.place_table(lowered.layout);
  return lowered;
}

}  // namespace interlock
