// A step runs its slices one after another. A piece that commits late reads memory as it is and
// writes to a staging copy; the commit moves the staged bytes, so until then all others see the old
// ones. A piece whose dispatch has fetched bytes before reads a copy of its operands that has those
// bytes in place; where it finds others of them as left in place, the result is moved to those. A
// legal schedule needs no more than these. Memories and staging copies have guards.
#include "backends/cpu/cpu_backend.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/execute.h"
#include "backends/interface/beside_bytes.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/guarded_buffer.h"
#include "backends/interface/host_cache.h"
#include "backends/interface/host_statements.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/partial_steps.h"
#include "backends/interface/poison.h"
#include "backends/kernels/mix.h"
#include "encoder/kernel/kernel_binding.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

class CpuRun {
 public:
  CpuRun(const Program& program, MemoryImage image, uint64_t limit_bytes,
         std::span<const CpuBody> bodies)
      : program_(program),
        poison_(program),
        bodies_(bodies),
        late_(program, limit_bytes, StagingSpace::kIsFreedByCommits),
        partial_(program),
        cache_(program, late_, partial_, starts_),
        beside_(program, cache_, partial_, starts_),
        host_reads_(program.host_dispatches.size()) {
    for (std::vector<uint8_t>& memory : image.memories) {
      memories_.emplace_back(std::move(memory));
      starts_.push_back(memories_.back().data());
    }
  }

  Result<Success> execute(const Schedule& schedule, const Step& step) {
    INTERLOCK_CHECK(step.dispatch.index < program_.dispatches.size());
    const bool runs = step.kind == StepKind::kRun || step.kind == StepKind::kRunLate;
    if (runs) poison_.fill_before(step.dispatch, starts_);
    if (step.kind == StepKind::kRunLate || partial_.has_fetched(step.dispatch)) {
      if (runs) beside_.find(step.dispatch);
    }
    switch (step.kind) {
      case StepKind::kRun: {
        if (program_.dispatch(step.dispatch).host == HostAccess::kReads) {
          cache_.read(step.dispatch, host_reads_);
          break;
        }
        if (is_host_transfer(program_, step.dispatch)) {
          run_host_transfer(program_, step.dispatch, starts_, host_reads_);
          break;
        }
        const DispatchPiece piece = piece_of(program_, step);
        if (!partial_.has_fetched(step.dispatch)) {
          execute_piece(program_, piece, bind_operands(program_, step.dispatch, starts_), bodies_);
          break;
        }
        auto ran = run_late(piece);
        return ran ? commit(step.dispatch, {}) : ran;
      }
      case StepKind::kRunLate:
        return run_late(piece_of(program_, step));
      case StepKind::kCommit:
        return commit(step.dispatch, schedule.bytes_of(step));
      case StepKind::kDrop:
        cache_.note_end(step.dispatch, schedule.bytes_of(step));
        beside_.drop(step.dispatch, schedule.bytes_of(step));
        break;
      case StepKind::kFetch:
        fetch(step.dispatch, schedule.bytes_of(step));
        break;
    }
    if (step.kind == StepKind::kRun) beside_.put_back(step.dispatch, {});
    return Success{};
  }

  // Requires: every late piece was committed.
  Result<MemoryImage> finish() && {
    INTERLOCK_CHECK(late_.is_empty());
    MemoryImage image;
    for (size_t m = 0; m < memories_.size(); ++m) {
      auto intact = expect_intact(memories_[m], MemoryId{m}, "memory");
      if (!intact) return intact.error();
      image.memories.push_back(std::move(memories_[m]).release());
    }
    poison_.fill_at_end(image);
    image.host_reads = std::move(host_reads_);
    return image;
  }

 private:
  using Staging = LateStaging<GuardedBuffer>;

  // `place`: "memory", or what of it the bytes stand for.
  Result<Success> expect_intact(const GuardedBuffer& bytes, MemoryId memory,
                                std::string_view place) const {
    const std::optional<int64_t> stray = bytes.stray_offset();
    if (!stray) return Success{};
    return Error{
        fmt::format(
            "A kernel wrote byte {} of {} '{}', which has {} bytes: its body on the CPU is wrong.",
            *stray, place, program_.name(program_.memory(memory).name), bytes.size_bytes()),
        ErrorKind::kFault};
  }

  // The smallest range that covers what the slices of the piece touch.
  ByteRange touched_range(const DispatchPiece& piece, int access) const {
    const Dispatch& dispatch = program_.dispatch(piece.dispatch);
    ByteRange hull;
    for (uint64_t i = 0; i < piece.slice_count; ++i) {
      const StridedRange touched =
          slice_range_of(program_, dispatch, piece.params, piece.first_slice + i, access);
      if (touched.run_bytes == 0 || touched.run_count == 0) continue;
      const ByteRange range{touched.begin, touched.run(touched.run_count - 1).end};
      hull = hull.is_empty()
                 ? range
                 : ByteRange{std::min(hull.begin, range.begin), std::max(hull.end, range.end)};
    }
    return hull;
  }

  // By access: what the piece writes, and what it reads of fetched bytes.
  std::vector<ByteRange> staged_ranges(const DispatchPiece& piece) const {
    std::vector<ByteRange> ranges;
    for (const Access& access : program_.accesses_of(piece.dispatch)) {
      const bool is_in_place = access.only_reads() && !partial_.has_fetched(piece.dispatch, access);
      const int position = static_cast<int>(ranges.size());
      ranges.push_back(is_in_place ? ByteRange{} : touched_range(piece, position));
    }
    return ranges;
  }

  Result<Success> run_late(const DispatchPiece& piece) {
    std::vector<CpuOperand> operands = bind_operands(program_, piece.dispatch, starts_);
    const std::span<const Access> accesses = program_.accesses_of(piece.dispatch);
    auto staged = late_.stage(piece, staged_ranges(piece), [&](size_t i, ByteRange range) {
      // Updates and partial writes find the old bytes in their staging copy.
      GuardedBuffer copy(accesses[i].reads_plainly()
                             ? bytes_as_read(piece.dispatch, accesses[i], range)
                             : bytes_as_left(piece.dispatch, accesses[i], range));
      operands[i].data = copy.data();
      operands[i].first_byte = range.begin - accesses[i].range.begin;
      operands[i].is_staged = true;
      return copy;
    });
    if (!staged) return staged;
    cache_.add(piece.dispatch);
    if (is_host_transfer(program_, piece.dispatch)) {
      store_host_value(program_, piece.dispatch,
                       {operands.front().data, accesses.front().range.size_bytes()});
      return staged;
    }
    execute_piece(program_, piece, operands, bodies_);
    for (size_t i = 0; i < operands.size(); ++i) {
      const Access& access = accesses[i];
      const bool finds_twice = program_.dispatch(piece.dispatch).is_partial &&
                               access.reads_plainly() && access.writes_plainly() &&
                               partial_.has_fetched(piece.dispatch, access);
      if (finds_twice) leave_old_bytes(piece.dispatch, access, operands[i].data);
    }
    return staged;
  }

  // `copy` holds what a partial update leaves over the bytes that it has read. Requires: it is of
  // an opaque kernel, as all that are partial, and so one slice.
  void leave_old_bytes(DispatchId id, const Access& access, uint8_t* copy) const {
    const std::vector<uint8_t> read = bytes_as_read(id, access, access.range);
    const std::vector<uint8_t> left = bytes_as_left(id, access, access.range);
    for (size_t i = 0; i < read.size(); ++i) {
      copy[i] = MixKernel::moved_to(left[i], read[i], copy[i]);
    }
  }

  void fetch(DispatchId id, std::span<const StepBytes> places) {
    for (const StepBytes& place : places) {
      partial_.fetch(id, place, cache_.bytes_for(id, place.memory, place.range));
    }
  }

  std::vector<uint8_t> bytes_as_read(DispatchId id, const Access& access, ByteRange range) const {
    return bytes_found(id, access, range, [&](const StepBytes& place) {
      return finds_as_read(program_, id, access, place);
    });
  }
  std::vector<uint8_t> bytes_as_left(DispatchId id, const Access& access, ByteRange range) const {
    return bytes_found(id, access, range, [&](const StepBytes& place) {
      return finds_as_left(program_, id, access, place);
    });
  }

  // What memory holds, and for what has been fetched that.
  template <class Finds>
  std::vector<uint8_t> bytes_found(DispatchId id, const Access& access, ByteRange range,
                                   const Finds& finds) const {
    const uint8_t* const memory = starts_[access.memory.index];
    std::vector<uint8_t> bytes(memory + range.begin, memory + range.end);
    partial_.for_each_found(
        id, range, finds,
        [&](ByteRange shared, const std::vector<uint8_t>& fetched, uint64_t offset_bytes) {
          std::copy_n(fetched.data() + offset_bytes, shared.size_bytes(),
                      bytes.data() + (shared.begin - range.begin));
        });
    return bytes;
  }

  // Of the bytes that wait those in `places`, or all of them if it names none.
  Result<Success> commit(DispatchId id, std::span<const StepBytes> places) {
    auto moved = late_.for_each_copy(
        id,
        [&](const DispatchPiece& piece, const Access& access,
            const Staging::Operand& staged) -> Result<Success> {
          auto intact = expect_intact(staged.copy, access.memory, "a staging copy of memory");
          if (!intact || access.only_reads()) return intact;
          for_each_written_run(program_, piece, staged.access, [&](ByteRange run) {
            partial_.for_each_part(id, access.memory, run, places,
                                   [&](ByteRange part) { commit_part(id, access, staged, part); });
          });
          return Success{};
        });
    if (moved) cache_.note_end(id, places);
    if (moved) beside_.put_back(id, places);
    return moved;
  }

  void commit_part(DispatchId id, const Access& access, const Staging::Operand& operand,
                   ByteRange part) {
    uint8_t* const memory = starts_[access.memory.index];
    const uint8_t* const staged = operand.copy.data() + (part.begin - operand.range.begin);
    if (!access.is_atomic()) {
      std::copy_n(staged, part.size_bytes(), memory + part.begin);
      return;
    }
    for (uint64_t i = 0; i < part.size_bytes(); ++i) {
      uint8_t& byte = memory[part.begin + i];
      byte = atomic_result(program_.dispatch(id).atomic_op, byte, staged[i]);
    }
  }

  const Program& program_;
  Poison poison_;
  std::vector<GuardedBuffer> memories_;
  std::vector<uint8_t*> starts_;  // Of the memories.
  std::span<const CpuBody> bodies_;
  Staging late_;
  PartialSteps<std::vector<uint8_t>> partial_;
  HostCache cache_;
  BesideBytes beside_;
  std::vector<std::vector<uint8_t>> host_reads_;  // As MemoryImage has them.
};

}  // namespace

Capabilities CpuBackend::capabilities() const {
  return {.device = "kernels on the host, one lane at a time",
          .has_byte_access = true,
          .rounds_correctly = true};
}

Result<MemoryImage> CpuBackend::run(const Program& program, const Schedule& schedule,
                                    ExecutionMode mode) {
  if (!supports(mode)) {
    return Error{
        "The cpu backend runs one slice at a time and has no overlap mode; use witness mode."};
  }
  auto image = initial_image(program, limit_bytes_);
  if (!image) return image.error();
  CpuRun run(program, std::move(*image), limit_bytes_, bodies_);
  for (const Step& step : schedule.steps) {
    if (is_stopped()) return Error{"The run was stopped."};
    auto executed = run.execute(schedule, step);
    if (!executed) return executed.error();
  }
  if (is_stopped()) return Error{"The run was stopped."};
  return std::move(run).finish();
}

}  // namespace interlock
