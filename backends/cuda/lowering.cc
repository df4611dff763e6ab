#include "backends/cuda/lowering.h"

#include <algorithm>
#include <optional>
#include <span>

#include "backends/interface/beside_bytes.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/host_cache.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/partial_steps.h"
#include "backends/interface/poison.h"
#include "backends/interface/row_operands.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/kernel/row_parts.h"
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

// A launch for each part.
void lower_rows(const Program& program, const DispatchPiece& piece,
                std::span<const PlacedOperand> operands, CudaCommandList& list) {
  for_each_row_part(program, program.dispatch(piece.dispatch), [&](const RowPart& part) {
    DispatchPiece of_part = piece;
    of_part.params = params_of(part, piece.params);
    lower_slices(program, of_part, operands_of(part, operands), list);
  });
}

void lower_launch(const Program& program, const DispatchPiece& piece,
                  std::span<const PlacedOperand> operands, LoweredProgram& lowered) {
  if (has_rows(program, program.dispatch(piece.dispatch))) {
    lower_rows(program, piece, operands, lowered.list);
    return;
  }
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
void lower_poison_fill(std::span<const EndedBytes> ended, LoweredProgram& lowered) {
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

// Lowers the steps of a schedule.
class CudaScheduleLowering {
 public:
  CudaScheduleLowering(const Program& program, const Schedule& schedule, uint64_t limit_bytes,
                       LoweredProgram& lowered)
      : program_(program),
        schedule_(schedule),
        lowered_(lowered),
        poison_(program),
        late_(program, limit_bytes, StagingSpace::kLastsForTheRun),
        partial_(program),
        cached_(program, late_, partial_) {}

  Result<Success> lower(const Step& step) {
    INTERLOCK_CHECK(step.dispatch.index < program_.dispatches.size());
    const bool runs = step.kind == StepKind::kRun || step.kind == StepKind::kRunLate;
    if (runs) {
      lower_poison_fill(poison_.take_before(step.dispatch), lowered_);
      find_beside(step.dispatch);
    }
    switch (step.kind) {
      case StepKind::kRun: {
        auto ran = run(step);
        put_back_beside(step.dispatch, {});
        return ran;
      }
      case StepKind::kRunLate:
        return run_late(piece_of(program_, step));
      case StepKind::kCommit:
        commit(step.dispatch, schedule_.bytes_of(step));
        break;
      case StepKind::kDrop:
        cached_.note_end(step.dispatch, schedule_.bytes_of(step));
        beside_.drop(step.dispatch, schedule_.bytes_of(step));
        break;
      case StepKind::kFetch:
        for (const StepBytes& place : schedule_.bytes_of(step)) fetch(step.dispatch, place);
        return check_one_content(program_, step.dispatch, schedule_.bytes_of(step));
    }
    return Success{};
  }

  // Every late piece was committed.
  bool is_over() const { return late_.is_empty(); }

 private:
  using Staging = LateStaging<DeviceRange>;

  Result<Success> run(const Step& step) {
    if (is_host_transfer(program_, step.dispatch)) {
      const auto copies = lowered_.host.lower(step.dispatch, lowered_.layout);
      for (const HostCopies::Copy& copy : copies) {
        lowered_.list.add_copy(copy.source, copy.destination);
      }
      if (program_.dispatch(step.dispatch).host == HostAccess::kReads) {
        overlay_read(step.dispatch, copies);
      }
      return Success{};
    }
    const DispatchPiece piece = piece_of(program_, step);
    if (!partial_.has_fetched(step.dispatch)) {
      lower_launch(program_, piece, lowered_.layout.place_operands(program_, step.dispatch),
                   lowered_);
      return Success{};
    }
    auto ran = run_late(piece);
    if (ran) commit(step.dispatch, {});
    return ran;
  }

  Result<Success> run_late(const DispatchPiece& piece) {
    std::vector<PlacedOperand> operands = lowered_.layout.place_operands(program_, piece.dispatch);
    const std::span<const Access> accesses = program_.accesses_of(piece.dispatch);
    auto staged = late_.stage(
        piece, partial_.staged_operands(piece.dispatch), [&](size_t i, ByteRange range) {
          const DeviceRange memory = operands[i].range;
          const DeviceRange copy = lowered_.layout.take(memory.size_bytes, memory.offset_bytes);
          operands[i].range = copy;
          operands[i].is_staged = accesses[i].is_atomic();
          if (accesses[i].only_reads() || needs_old_bytes(accesses[i], piece.params)) {
            lowered_.list.add_copy(memory, copy);
          }
          overlay_fetched(piece.dispatch, accesses[i], range, copy);
          return copy;
        });
    if (!staged) return staged;
    cached_.add(piece.dispatch);
    if (!is_host_transfer(program_, piece.dispatch)) {
      lower_launch(program_, piece, operands, lowered_);
      return staged;
    }
    for (const HostCopies::Copy& copy : lowered_.host.lower(piece.dispatch, lowered_.layout)) {
      lowered_.list.add_copy(copy.source, operands.front().range);
    }
    return staged;
  }

  // The host finds what it has written and not committed, and what it fetched before.
  void overlay_read(DispatchId id, const std::vector<HostCopies::Copy>& copies) {
    size_t index = 0;
    for (const Access& access : program_.accesses_of(id)) {
      if (access.range.is_empty()) continue;
      overlay_cached(access.memory, access.range, copies[index].destination);
      overlay_fetched(id, access, access.range, copies[index].destination);
      ++index;
    }
  }

  // `copy`: of `range`.
  void overlay_cached(MemoryId memory, ByteRange range, DeviceRange copy) {
    for (const DispatchId writer : cached_.writers()) {
      cached_.for_each_part(
          writer, memory, range, [&](ByteRange part, const Staging::Operand& staged) {
            const uint64_t size_bytes = part.size_bytes();
            lowered_.list.add_copy(
                {staged.copy.offset_bytes + (part.begin - staged.range.begin), size_bytes},
                {copy.offset_bytes + (part.begin - range.begin), size_bytes});
          });
    }
  }

  void overlay_fetched(DispatchId id, const Access& access, ByteRange range, DeviceRange copy) {
    partial_.for_each_fetched(
        id, access, range,
        [&](ByteRange shared, const DeviceRange& fetched, uint64_t offset_bytes) {
          const uint64_t size_bytes = shared.size_bytes();
          lowered_.list.add_copy({fetched.offset_bytes + offset_bytes, size_bytes},
                                 {copy.offset_bytes + (shared.begin - range.begin), size_bytes});
        });
  }

  // What the cache of the host takes along beside a write: as it holds it, or has fetched it.
  void find_beside(DispatchId id) {
    for_each_beside(program_, id, [&](const MemoryRange& bytes) {
      const DeviceRange memory = lowered_.layout.range_of(bytes.memory, bytes.range);
      const DeviceRange copy = lowered_.layout.take(memory.size_bytes, memory.offset_bytes);
      lowered_.list.add_copy(memory, copy);
      overlay_cached(bytes.memory, bytes.range, copy);
      for_each_fetched_beside(
          partial_, id, bytes,
          [&](ByteRange shared, const DeviceRange& fetched, uint64_t offset_bytes) {
            const uint64_t size_bytes = shared.size_bytes();
            lowered_.list.add_copy(
                {fetched.offset_bytes + offset_bytes, size_bytes},
                {copy.offset_bytes + (shared.begin - bytes.range.begin), size_bytes});
          });
      beside_.add(id, {bytes, copy});
    });
  }

  void put_back_beside(DispatchId id, std::span<const StepBytes> places) {
    beside_.take(id, places, [&](const auto& found, ByteRange part) {
      const uint64_t begin = part.begin - found.bytes.range.begin;
      lowered_.list.add_copy({found.content.offset_bytes + begin, part.size_bytes()},
                             lowered_.layout.range_of(found.bytes.memory, part));
    });
  }

  void fetch(DispatchId id, const StepBytes& place) {
    const DeviceRange memory = lowered_.layout.range_of(place.memory, place.range);
    const DeviceRange copy = lowered_.layout.take(memory.size_bytes, memory.offset_bytes);
    lowered_.list.add_copy(memory, copy);
    if (program_.dispatch(id).host != HostAccess::kNone) {
      overlay_cached(place.memory, place.range, copy);
    }
    partial_.fetch(id, place, copy);
  }

  void commit(DispatchId id, std::span<const StepBytes> places) {
    const auto lower = [&](const DispatchPiece& piece, const Access& access,
                           const Staging::Operand& staged) -> Result<Success> {
      if (access.only_reads()) return Success{};
      for_each_written_run(program_, piece, staged.access, [&](ByteRange run) {
        partial_.for_each_part(id, access.memory, run, places, [&](ByteRange part) {
          const DeviceRange from{staged.copy.offset_bytes + (part.begin - staged.range.begin),
                                 part.size_bytes()};
          const DeviceRange to = lowered_.layout.range_of(access.memory, part);
          if (access.is_atomic()) {
            lowered_.list.add_commit(program_.dispatch(id).atomic_op, from, to);
          } else {
            lowered_.list.add_copy(from, to);
          }
        });
      });
      return Success{};
    };
    INTERLOCK_CHECK(late_.for_each_copy(id, lower).has_value());
    cached_.note_end(id, places);
    put_back_beside(id, places);
  }

  const Program& program_;
  const Schedule& schedule_;
  LoweredProgram& lowered_;
  Poison poison_;
  Staging late_;
  PartialSteps<DeviceRange> partial_;
  CachedWrites<DeviceRange, DeviceRange> cached_;
  BesideContents<DeviceRange> beside_;
};

}  // namespace

LoweredProgram lower_dispatches(const Program& program, const Poison& poison) {
  LoweredProgram lowered(program);
  lowered.dispatches.reserve(program.dispatches.size());
  for (uint32_t d = 0; d < program.dispatches.size(); ++d) {
    const DispatchId id(d);
    const size_t begin = lowered.list.commands().size();
    if (program.dispatch(id).host != HostAccess::kNone) {
      lowered.dispatches.push_back({begin, begin});
      continue;
    }
    lower_poison_fill(poison.ended_before(id), lowered);
    lower_launch(program, whole_piece_of(program, id), lowered.layout.place_operands(program, id),
                 lowered);
    lowered.dispatches.push_back({begin, lowered.list.commands().size()});
  }
  lowered.list.place_table(lowered.layout);
  return lowered;
}

Result<LoweredProgram> lower_schedule(const Program& program, const Schedule& schedule,
                                      uint64_t limit_bytes) {
  LoweredProgram lowered(program);
  CudaScheduleLowering lowering(program, schedule, limit_bytes, lowered);
  for (const Step& step : schedule.steps) {
    auto done = lowering.lower(step);
    if (!done) return done.error();
  }
  INTERLOCK_CHECK(lowering.is_over());
  lowered.list.place_table(lowered.layout);
  return lowered;
}

}  // namespace interlock
