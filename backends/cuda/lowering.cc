#include "backends/cuda/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "backends/interface/dispatch_params.h"
#include "backends/interface/poison.h"
#include "backends/interface/whole_steps.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

// Of the launches that fill with poison: bytes of a block, and blocks of a grid.
constexpr uint64_t kPoisonBlockMin = 1024;
constexpr uint64_t kPoisonBlockCountMax = 1024;

// Slices [first_slice, first_slice + slice_count) of a dispatch.
struct DispatchPiece {
  DispatchId dispatch;
  KernelParams params;
  uint64_t first_slice = 0;
  uint64_t slice_count = 0;
};

std::vector<CudaOperand> place_operands(const Program& program, const DeviceLayout& layout,
                                        DispatchId id) {
  std::vector<CudaOperand> operands;
  for (const Access& access : program.accesses_of(id)) {
    operands.push_back({layout.range_of(access.memory, access.range), access.mode});
  }
  return operands;
}

void lower_slices(const Program& program, const DispatchPiece& piece,
                  std::span<const CudaOperand> operands, CudaCommandList& list) {
  for (uint64_t done = 0; done < piece.slice_count; done += kGridBlockCountMax) {
    CudaCommand& command = list.add_launch(DeviceFunction::kRunSlices, operands);
    command.launch.kernel = program.dispatch(piece.dispatch).kernel;
    command.launch.arguments.params = piece.params;
    command.launch.arguments.first_slice = piece.first_slice + done;
    command.launch.block_count =
        static_cast<uint32_t>(std::min(piece.slice_count - done, kGridBlockCountMax));
  }
}

void lower_large_mix(const DispatchPiece& piece, std::span<const CudaOperand> operands,
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
                 std::span<const CudaOperand> operands, LoweredProgram& lowered) {
  const bool is_mix = program.dispatch(piece.dispatch).kernel == mix_kernel();
  INTERLOCK_CHECK(is_mix || operands.size() <= kTableOperandCountMax);
  INTERLOCK_CHECK(piece.first_slice + piece.slice_count <=
                  slice_count_of(program, program.dispatch(piece.dispatch)));
  uint64_t size_bytes = 0;
  for (const CudaOperand& operand : operands) size_bytes += operand.range.size_bytes;
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
    CudaOperand operand;
    operand.range = lowered.layout.range_of(bytes.memory, bytes.bytes);
    operand.mode = AccessMode::kWrite;
    CudaCommand& command = lowered.list.add_launch(DeviceFunction::kRunSlices, {&operand, 1});
    command.launch.kernel = *fill;
    KernelParams& params = command.launch.arguments.params;
    params.element_count = operand.range.size_bytes;
    params.block = std::max<uint64_t>(params.element_count / kPoisonBlockCountMax, kPoisonBlockMin);
    params.byte = kPoisonByte;
    command.launch.block_count = static_cast<uint32_t>(slice_count_of(*fill, params));
  }
}

// The late writes of a schedule.
class StagedWrites {
 public:
  StagedWrites(const Program& program, LoweredProgram& lowered, uint64_t limit_bytes)
      : program_(program), lowered_(lowered), limit_bytes_(limit_bytes) {}

  Result<Success> run_late(const DispatchPiece& piece) {
    std::vector<CudaOperand> operands = place_operands(program_, lowered_.layout, piece.dispatch);
    StagedPiece late{piece, {}};
    for (CudaOperand& operand : operands) {
      late.staged.emplace_back();
      const bool only_reads =
          operand.mode == AccessMode::kRead || operand.mode == AccessMode::kUniform;
      if (only_reads || operand.range.size_bytes == 0) continue;
      if (operand.range.size_bytes > limit_bytes_ - staged_bytes_) {
        return Error{fmt::format(
            "The late writes of this schedule need more than {} bytes, the execution limit, while "
            "{} commits late.",
            limit_bytes_, program_.description_of(piece.dispatch))};
      }
      staged_bytes_ += operand.range.size_bytes;
      const DeviceRange memory = operand.range;
      operand.range = lowered_.layout.take(memory.size_bytes, memory.offset_bytes);
      operand.is_staged = operand.mode == AccessMode::kAtomic;
      late.staged.back() = operand;
      if (operand.mode == AccessMode::kUpdate ||
          (operand.mode == AccessMode::kWrite && piece.params.is_partial)) {
        lowered_.list.add_copy(memory, operand.range);  // The old bytes, which it reads.
      }
    }
    lower_piece(program_, piece, operands, lowered_);
    waiting_[piece.dispatch].push_back(std::move(late));
    return Success{};
  }

  void commit(DispatchId dispatch) {
    const auto found = waiting_.find(dispatch);
    INTERLOCK_CHECK(found != waiting_.end());
    for (const StagedPiece& late : found->second) {
      for (size_t i = 0; i < late.staged.size(); ++i) {
        const CudaOperand& staged = late.staged[i];
        const Access& access = program_.accesses_of(dispatch)[i];
        if (staged.range.size_bytes == 0) continue;
        if (staged.is_staged) {
          lowered_.list.add_commit(program_.dispatch(dispatch).atomic_op, staged.range,
                                   lowered_.layout.range_of(access.memory, access.range));
        } else {
          commit_slices(late.piece, static_cast<int>(i), access, staged.range);
        }
      }
    }
    waiting_.erase(found);
  }

  bool is_empty() const { return waiting_.empty(); }

 private:
  struct StagedPiece {
    DispatchPiece piece;
    std::vector<CudaOperand> staged;  // By operand; those that only read have no bytes.
  };

  // Copies what the slices of the piece wrote, and no byte between: those may have changed since.
  void commit_slices(const DispatchPiece& piece, int operand, const Access& access,
                     DeviceRange staged) {
    ByteRange pending;  // Of the memory; grows while runs touch.
    const auto flush = [&] {
      const DeviceRange source{staged.offset_bytes + (pending.begin - access.range.begin),
                               pending.size_bytes()};
      lowered_.list.add_copy(source, lowered_.layout.range_of(access.memory, pending));
    };
    for (uint64_t i = 0; i < piece.slice_count; ++i) {
      const StridedRange written = slice_range_of(program_, program_.dispatch(piece.dispatch),
                                                  piece.params, piece.first_slice + i, operand);
      for (uint64_t k = 0; k < written.run_count; ++k) {
        const ByteRange run = written.run(k);
        if (run.is_empty()) continue;
        if (!pending.is_empty() && run.begin == pending.end) {
          pending.end = run.end;
          continue;
        }
        if (!pending.is_empty()) flush();
        pending = run;
      }
    }
    if (!pending.is_empty()) flush();
  }

  const Program& program_;
  LoweredProgram& lowered_;
  uint64_t limit_bytes_;
  uint64_t staged_bytes_ = 0;
  std::map<DispatchId, std::vector<StagedPiece>> waiting_;
};

}  // namespace

LoweredProgram lower_dispatches(const Program& program, const Poison& poison) {
  LoweredProgram lowered(program);
  lowered.dispatches.reserve(program.dispatches.size());
  for (uint32_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId id(d);
    const size_t begin = lowered.list.commands().size();
    lower_poison(poison.ended_before(id), lowered);
    lower_piece(
        program,
        {id, dispatch_params_of(program, id), 0, slice_count_of(program, program.dispatch(id))},
        place_operands(program, lowered.layout, id), lowered);
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
  StagedWrites staged_writes(program, lowered, limit_bytes);
  for (const Step& step : schedule.steps) {
    INTERLOCK_CHECK(step.dispatch.index < program.dispatches.size());
    if (step.kind == StepKind::kCommit) {
      staged_writes.commit(step.dispatch);
      continue;
    }
    lower_poison(poison.take_before(step.dispatch), lowered);
    const DispatchPiece piece{step.dispatch, dispatch_params_of(program, step.dispatch),
                              step.first_slice, step.slice_count};
    if (step.kind == StepKind::kRunLate) {
      auto ran = staged_writes.run_late(piece);
      if (!ran) return ran.error();
    } else {
      lower_piece(program, piece, place_operands(program, lowered.layout, step.dispatch), lowered);
    }
  }
  INTERLOCK_CHECK(staged_writes.is_empty());
  lowered.list.place_table(lowered.layout);
  return lowered;
}

}  // namespace interlock
