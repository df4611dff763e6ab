// Witness mode: the steps of a schedule one after another, with a full barrier after each.
#include <optional>
#include <span>
#include <vector>

#include "backends/interface/beside_bytes.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/host_cache.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/partial_steps.h"
#include "backends/interface/poison.h"
#include "backends/vulkan/dispatch_lowering.h"
#include "backends/vulkan/poison_lowering.h"
#include "backends/vulkan/program_lowering.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

class ScheduleLowering {
 public:
  ScheduleLowering(const VulkanLowering& lowering, const Schedule& schedule, uint64_t limit_bytes)
      : lowering_(lowering),
        program_(lowering.program),
        schedule_(schedule),
        poison_(lowering.program),
        late_(lowering.program, limit_bytes, StagingSpace::kLastsForTheRun),
        partial_(lowering.program),
        cached_(lowering.program, late_, partial_) {}

  Result<Success> lower(const Step& step) {
    INTERLOCK_CHECK(step.dispatch.index < program_.dispatches.size());
    lowering_.list.statement = program_.dispatch(step.dispatch).statement.index;
    const bool runs = step.kind == StepKind::kRun || step.kind == StepKind::kRunLate;
    if (runs) {
      lower_poison(lowering_, poison_.take_before(step.dispatch));
      find_beside(step.dispatch);
    }
    Result<Success> lowered = Success{};
    switch (step.kind) {
      case StepKind::kRun:
        lowered = run(step);
        break;
      case StepKind::kRunLate:
        lowered = run_late(piece_of(program_, step));
        break;
      case StepKind::kCommit:
        commit(step.dispatch, schedule_.bytes_of(step));
        break;
      case StepKind::kDrop:
        cached_.note_end(step.dispatch, schedule_.bytes_of(step));
        beside_.drop(step.dispatch, schedule_.bytes_of(step));
        break;
      case StepKind::kFetch:
        lowered = check_one_content(program_, step.dispatch, schedule_.bytes_of(step));
        for (const StepBytes& place : schedule_.bytes_of(step)) fetch(step.dispatch, place);
        break;
    }
    if (step.kind == StepKind::kRun) put_back_beside(step.dispatch, {});
    lowering_.list.add_full_barrier();
    return lowered;
  }

  // Every late piece was committed.
  bool is_over() const { return late_.is_empty(); }

 private:
  using Staging = LateStaging<DeviceRange>;

  Result<Success> run(const Step& step) {
    if (is_host_transfer(program_, step.dispatch)) {
      // Through memory of the device that the host fills before the run, or reads after it.
      const auto copies = lowering_.host.lower(step.dispatch, lowering_.layout);
      for (const HostCopies::Copy& copy : copies) {
        lowering_.list.add_copy(
            {copy.source.offset_bytes, copy.destination.offset_bytes, copy.source.size_bytes});
      }
      if (program_.dispatch(step.dispatch).host == HostAccess::kReads) {
        overlay_read(step.dispatch, copies);
      }
      return Success{};
    }
    const DispatchPiece piece = piece_of(program_, step);
    if (!partial_.has_fetched(step.dispatch)) {
      return lower_piece(lowering_, piece,
                         lowering_.layout.place_operands(program_, step.dispatch));
    }
    auto ran = run_late(piece);
    if (!ran) return ran;
    lowering_.list.add_full_barrier();
    commit(step.dispatch, {});
    return Success{};
  }

  Result<Success> run_late(const DispatchPiece& piece) {
    std::vector<PlacedOperand> operands = lowering_.layout.place_operands(program_, piece.dispatch);
    const std::span<const Access> accesses = program_.accesses_of(piece.dispatch);
    const std::vector<ByteRange> ranges = partial_.staged_operands(piece.dispatch);
    bool has_copies = false;
    auto staged = late_.stage(piece, ranges, [&](size_t i, ByteRange /*range*/) {
      const DeviceRange memory = operands[i].range;
      const DeviceRange copy = lowering_.layout.take(memory.size_bytes, memory.offset_bytes);
      operands[i].range = copy;
      // The operand of an atomic is stored, for the commit to apply.
      if (accesses[i].is_atomic()) operands[i].mode = AccessMode::kWrite;
      if (accesses[i].only_reads() || needs_old_bytes(accesses[i], piece.params)) {
        lowering_.list.add_copy({memory.offset_bytes, copy.offset_bytes, copy.size_bytes});
        has_copies = true;
      }
      return copy;
    });
    if (!staged) return staged;
    if (has_copies) lowering_.list.add_full_barrier();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!ranges[i].is_empty()) overlay_fetched(piece.dispatch, accesses[i], operands[i].range);
    }
    cached_.add(piece.dispatch);
    if (!is_host_transfer(program_, piece.dispatch)) {
      return lower_piece(lowering_, piece, operands);
    }
    for (const HostCopies::Copy& copy : lowering_.host.lower(piece.dispatch, lowering_.layout)) {
      lowering_.list.add_copy(
          {copy.source.offset_bytes, operands.front().range.offset_bytes, copy.source.size_bytes});
    }
    return Success{};
  }

  // The host finds what it has written and not committed, and what it fetched before.
  void overlay_read(DispatchId id, const std::vector<HostCopies::Copy>& copies) {
    size_t index = 0;
    for (const Access& access : program_.accesses_of(id)) {
      if (access.range.is_empty()) continue;
      const DeviceRange room = copies[index++].destination;
      overlay_cached(access.memory, access.range, room);
      overlay_fetched(id, access, room);
    }
  }

  // `copy`: of `range`.
  void overlay_cached(MemoryId memory, ByteRange range, DeviceRange copy) {
    for (const DispatchId writer : cached_.writers()) {
      lowering_.list.add_full_barrier();
      cached_.for_each_part(
          writer, memory, range, [&](ByteRange part, const Staging::Operand& staged) {
            lowering_.list.add_copy({staged.copy.offset_bytes + (part.begin - staged.range.begin),
                                     copy.offset_bytes + (part.begin - range.begin),
                                     part.size_bytes()});
          });
    }
    if (!cached_.writers().empty()) lowering_.list.add_full_barrier();
  }

  // `copy`: the staging copy of the access.
  void overlay_fetched(DispatchId id, const Access& access, DeviceRange copy) {
    partial_.for_each_fetched(
        id, access, access.range,
        [&](ByteRange shared, const DeviceRange& fetched, uint64_t offset_bytes) {
          lowering_.list.add_full_barrier();
          lowering_.list.add_copy({fetched.offset_bytes + offset_bytes,
                                   copy.offset_bytes + (shared.begin - access.range.begin),
                                   shared.size_bytes()});
          lowering_.list.add_full_barrier();
        });
  }

  // What the cache of the host takes along beside a write: as it holds it, or has fetched it.
  void find_beside(DispatchId id) {
    for_each_beside(program_, id, [&](const MemoryRange& bytes) {
      const DeviceRange memory = lowering_.layout.range_of(bytes.memory, bytes.range);
      const DeviceRange copy = lowering_.layout.take(memory.size_bytes, memory.offset_bytes);
      lowering_.list.add_copy({memory.offset_bytes, copy.offset_bytes, copy.size_bytes});
      overlay_cached(bytes.memory, bytes.range, copy);
      for_each_fetched_beside(
          partial_, id, bytes,
          [&](ByteRange shared, const DeviceRange& fetched, uint64_t offset_bytes) {
            lowering_.list.add_full_barrier();
            lowering_.list.add_copy({fetched.offset_bytes + offset_bytes,
                                     copy.offset_bytes + (shared.begin - bytes.range.begin),
                                     shared.size_bytes()});
          });
      beside_.add(id, {bytes, copy});
      lowering_.list.add_full_barrier();
    });
  }

  // A kernel that has written next to these bytes has written whole words.
  void put_back_beside(DispatchId id, std::span<const StepBytes> places) {
    beside_.take(id, places, [&](const auto& found, ByteRange part) {
      lowering_.list.add_full_barrier();
      const DeviceRange to = lowering_.layout.range_of(found.bytes.memory, part);
      lowering_.list.add_copy({found.content.offset_bytes + (part.begin - found.bytes.range.begin),
                               to.offset_bytes, to.size_bytes});
    });
  }

  void fetch(DispatchId id, const StepBytes& place) {
    const DeviceRange memory = lowering_.layout.range_of(place.memory, place.range);
    const DeviceRange copy = lowering_.layout.take(memory.size_bytes, memory.offset_bytes);
    lowering_.list.add_copy({memory.offset_bytes, copy.offset_bytes, copy.size_bytes});
    if (program_.dispatch(id).host != HostAccess::kNone) {
      overlay_cached(place.memory, place.range, copy);
    }
    partial_.fetch(id, place, copy);
  }

  // An atomic replaces whole words, and a copy before or after it may write other bytes of them.
  void commit(DispatchId id, std::span<const StepBytes> places) {
    std::optional<bool> was_atomic;
    const auto lower = [&](const DispatchPiece& piece, const Access& access,
                           const Staging::Operand& staged) -> Result<Success> {
      if (access.only_reads()) return Success{};
      if (was_atomic && *was_atomic != access.is_atomic()) lowering_.list.add_full_barrier();
      was_atomic = access.is_atomic();
      for_each_written_run(program_, piece, staged.access, [&](ByteRange run) {
        partial_.for_each_part(id, access.memory, run, places,
                               [&](ByteRange part) { commit_part(id, access, staged, part); });
      });
      return Success{};
    };
    INTERLOCK_CHECK(late_.for_each_copy(id, lower).has_value());
    cached_.note_end(id, places);
    put_back_beside(id, places);
  }

  void commit_part(DispatchId id, const Access& access, const Staging::Operand& staged,
                   ByteRange part) {
    const DeviceRange from{staged.copy.offset_bytes + (part.begin - staged.range.begin),
                           part.size_bytes()};
    const DeviceRange to = lowering_.layout.range_of(access.memory, part);
    if (access.is_atomic()) {
      lower_atomic_commit(lowering_, program_.dispatch(id).atomic_op, to, from);
    } else {
      lowering_.list.add_copy({from.offset_bytes, to.offset_bytes, to.size_bytes});
    }
  }

  const VulkanLowering& lowering_;
  const Program& program_;
  const Schedule& schedule_;
  Poison poison_;
  Staging late_;
  PartialSteps<DeviceRange> partial_;
  CachedWrites<DeviceRange, DeviceRange> cached_;
  BesideContents<DeviceRange> beside_;
};

}  // namespace

Result<Success> lower_schedule(const VulkanLowering& lowering, const Schedule& schedule,
                               uint64_t limit_bytes) {
  ScheduleLowering steps(lowering, schedule, limit_bytes);
  for (const Step& step : schedule.steps) {
    auto lowered = steps.lower(step);
    if (!lowered) return lowered;
  }
  INTERLOCK_CHECK(steps.is_over());
  return Success{};
}

}  // namespace interlock
