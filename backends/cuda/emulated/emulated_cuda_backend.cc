// A step is launched with its operands in place. A piece that commits late has staging copies of
// what it writes; the commit copies what its slices wrote, and applies atomics.
#include "backends/cuda/emulated/emulated_cuda_backend.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/emulated/host_cuda_runtime.h"
#include "backends/cuda/emulated/kernels.h"
#include "backends/interface/beside_bytes.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/guarded_buffer.h"
#include "backends/interface/host_cache.h"
#include "backends/interface/host_statements.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/partial_steps.h"
#include "backends/interface/poison.h"
#include "backends/interface/transitions.h"
#include "encoder/kernel/row_parts.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

class EmulatedRun {
 public:
  EmulatedRun(const Program& program, MemoryImage image, const EmulatedCudaOptions& options,
              EmulatedDevice& device)
      : program_(program),
        poison_(program),
        options_(options),
        choice_(options.seed),
        launches_{device, choice_, options.block_thread_count},
        late_(program, options.limit_bytes, StagingSpace::kIsFreedByCommits),
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
      case StepKind::kRun:
        if (program_.dispatch(step.dispatch).host == HostAccess::kReads) {
          cache_.read(step.dispatch, host_reads_);
          return Success{};
        }
        if (is_host_transfer(program_, step.dispatch)) {
          run_host_transfer(program_, step.dispatch, starts_, host_reads_);
          beside_.put_back(step.dispatch, {});
          return Success{};
        }
        if (partial_.has_fetched(step.dispatch)) {
          auto ran = run_late(piece_of(program_, step));
          return ran ? commit(step.dispatch, {}) : ran;
        }
        return run_piece(piece_of(program_, step), place_operands(step.dispatch));
      case StepKind::kRunLate:
        return run_late(piece_of(program_, step));
      case StepKind::kCommit:
        return commit(step.dispatch, schedule.bytes_of(step));
      case StepKind::kDrop:
        cache_.note_end(step.dispatch, schedule.bytes_of(step));
        beside_.drop(step.dispatch, schedule.bytes_of(step));
        return Success{};
      case StepKind::kFetch:
        for (const StepBytes& place : schedule.bytes_of(step)) {
          partial_.fetch(step.dispatch, place,
                         cache_.bytes_for(step.dispatch, place.memory, place.range));
        }
        return check_one_content(program_, step.dispatch, schedule.bytes_of(step));
    }
    INTERLOCK_CHECK(false);
  }

  // Requires: every late piece was committed.
  Result<MemoryImage> finish() && {
    INTERLOCK_CHECK(late_.is_empty());
    MemoryImage image;
    for (size_t m = 0; m < memories_.size(); ++m) {
      if (memories_[m].stray_offset()) {
        return Error{fmt::format("A kernel of CUDA wrote bytes around memory '{}'.",
                                 program_.name(program_.memories[m].name)),
                     ErrorKind::kFault};
      }
      image.memories.push_back(std::move(memories_[m]).release());
    }
    poison_.fill_at_end(image);
    image.host_reads = std::move(host_reads_);
    return image;
  }

 private:
  using Staging = LateStaging<GuardedBuffer>;

  std::vector<LaunchOperand> place_operands(DispatchId id) {
    std::vector<LaunchOperand> operands;
    for (const Access& access : program_.accesses_of(id)) {
      operands.push_back({starts_[access.memory.index] + access.range.begin,
                          access.range.size_bytes(), access.mode, false});
    }
    return operands;
  }

  Result<Success> judge(DispatchId id, const LaunchResult& launched) const {
    if (!launched) return launched.error();
    if (!*launched) return Success{};
    return Error{fmt::format("The kernel of {} is wrong. {}", program_.description_of(id),
                             text_of(**launched)),
                 ErrorKind::kFault};
  }

  Result<Success> run_piece(const DispatchPiece& piece,
                            const std::vector<LaunchOperand>& operands) {
    if (has_rows(program_, program_.dispatch(piece.dispatch))) return run_rows(piece, operands);
    LaunchArguments arguments;
    arguments.operands = operands.data();
    arguments.operand_count = static_cast<uint32_t>(operands.size());
    arguments.params = piece.params;
    const KernelId kernel = program_.dispatch(piece.dispatch).kernel;
    if (kernel == mix_kernel()) {
      uint64_t size_bytes = 0;
      for (const LaunchOperand& operand : operands) size_bytes += operand.size_bytes;
      if (size_bytes > options_.mix_block_bytes_max) {
        return judge(piece.dispatch,
                     launch_mix_phases(launches_, grid_block_count(size_bytes), arguments));
      }
    }
    for (uint64_t done = 0; done < piece.slice_count;) {
      const auto count = static_cast<uint32_t>(
          std::min<uint64_t>(piece.slice_count - done, options_.grid_block_count_max));
      arguments.first_slice = piece.first_slice + done;
      auto ran = judge(piece.dispatch, launch_slices(launches_, kernel, count, arguments));
      if (!ran) return ran;
      done += count;
    }
    return Success{};
  }

  // A launch for each part.
  Result<Success> run_rows(const DispatchPiece& piece, const std::vector<LaunchOperand>& operands) {
    const Dispatch& dispatch = program_.dispatch(piece.dispatch);
    Result<Success> ran = Success{};
    for_each_row_part(program_, dispatch, [&](const RowPart& part) {
      if (!ran) return;
      std::vector<LaunchOperand> of_part;
      for (const RowPart::Operand& place : std::span(part.operands).first(part.operand_count)) {
        LaunchOperand& operand = of_part.emplace_back(operands[place.access]);
        operand.data += place.offset_bytes;
        operand.size_bytes = part.size_bytes;
      }
      LaunchArguments arguments;
      arguments.operands = of_part.data();
      arguments.operand_count = static_cast<uint32_t>(of_part.size());
      arguments.params = params_of(part, piece.params);
      ran = judge(piece.dispatch, launch_slices(launches_, dispatch.kernel, 1, arguments));
    });
    return ran;
  }

  Result<Success> run_late(const DispatchPiece& piece) {
    std::vector<LaunchOperand> operands = place_operands(piece.dispatch);
    const std::span<const Access> accesses = program_.accesses_of(piece.dispatch);
    auto staged = late_.stage(
        piece, partial_.staged_operands(piece.dispatch), [&](size_t i, ByteRange range) {
          // Updates and partial writes find the old bytes in their staging copy.
          LaunchOperand& operand = operands[i];
          GuardedBuffer copy({operand.data, operand.data + operand.size_bytes});
          partial_.for_each_fetched(
              piece.dispatch, accesses[i], range,
              [&](ByteRange shared, const std::vector<uint8_t>& fetched, uint64_t offset_bytes) {
                std::copy_n(fetched.data() + offset_bytes, shared.size_bytes(),
                            copy.data() + (shared.begin - range.begin));
              });
          operand.data = copy.data();
          operand.is_staged = true;
          return copy;
        });
    if (!staged) return staged;
    cache_.add(piece.dispatch);
    if (!is_host_transfer(program_, piece.dispatch)) return run_piece(piece, operands);
    store_host_value(program_, piece.dispatch,
                     {operands.front().data, accesses.front().range.size_bytes()});
    return Success{};
  }

  Result<Success> commit(DispatchId id, std::span<const StepBytes> places) {
    auto committed = late_.for_each_copy(
        id, [&](const DispatchPiece& piece, const Access& access, const Staging::Operand& staged) {
          return commit(piece, access, staged, places);
        });
    if (committed) cache_.note_end(id, places);
    if (committed) beside_.put_back(id, places);
    return committed;
  }

  Result<Success> commit(const DispatchPiece& piece, const Access& access,
                         const Staging::Operand& staged, std::span<const StepBytes> places) {
    if (staged.copy.stray_offset()) {
      return Error{fmt::format("The kernel of {} wrote bytes around operand {}.",
                               program_.description_of(piece.dispatch), staged.access),
                   ErrorKind::kFault};
    }
    if (access.only_reads()) return Success{};
    Result<Success> done = Success{};
    for_each_written_run(program_, piece, staged.access, [&](ByteRange run) {
      partial_.for_each_part(piece.dispatch, access.memory, run, places, [&](ByteRange part) {
        if (done) done = commit_part(piece.dispatch, access, staged, part);
      });
    });
    return done;
  }

  Result<Success> commit_part(DispatchId id, const Access& access, const Staging::Operand& staged,
                              ByteRange part) {
    uint8_t* const memory = starts_[access.memory.index] + part.begin;
    const uint8_t* const bytes = staged.copy.data() + (part.begin - staged.range.begin);
    if (!access.is_atomic()) {
      std::copy_n(bytes, part.size_bytes(), memory);
      return Success{};
    }
    const CommitArguments arguments{memory, bytes, part.size_bytes(),
                                    program_.dispatch(id).atomic_op};
    return judge(id, launch_commit(launches_, grid_block_count(part.size_bytes()), arguments));
  }

  const Program& program_;
  Poison poison_;
  const EmulatedCudaOptions& options_;
  SeededChoice choice_;
  EmulatedLaunches launches_;
  std::vector<GuardedBuffer> memories_;
  std::vector<uint8_t*> starts_;  // Of the memories.
  Staging late_;
  PartialSteps<std::vector<uint8_t>> partial_;
  HostCache cache_;
  BesideBytes beside_;
  std::vector<std::vector<uint8_t>> host_reads_;  // As MemoryImage has them.
};

// A runtime and a backend for each run: a kernel that fails loses the device.
Result<MemoryImage> run_by_turns(const Program& program, const Schedule& schedule,
                                 const EmulatedCudaOptions& options, uint64_t seed) {
  HostCudaRuntime runtime(
      {.seed = seed, .block_thread_count_max = options.block_thread_count, .runs_ahead = true});
  CudaBackend backend({.limit_bytes = options.limit_bytes,
                       .overlap = {.lowering = CudaLowering::kStreams, .seed = seed},
                       .runtime = &runtime});
  auto image = backend.run(program, schedule, ExecutionMode::kOverlap);
  if (is_stopped()) return Error{"The run was stopped."};
  if (!image && runtime.kernel_error()) return *runtime.kernel_error();
  return image;
}

}  // namespace

Capabilities EmulatedCudaBackend::capabilities() const {
  return {.device = "the kernels of CUDA on the host, its threads as fibers",
          .queue_count = CudaRecordingOptions().stream_count,
          .has_byte_access = true,
          .rounds_correctly = true};
}

Result<MemoryImage> EmulatedCudaBackend::run(const Program& program, const Schedule& schedule,
                                             ExecutionMode mode) {
  const std::lock_guard lock(mutex_);
  if (auto refusal = transition_refusal(program)) return *std::move(refusal);
  if (mode == ExecutionMode::kOverlap) {
    return run_by_turns(program, schedule, options_, options_.seed + trial_count_++);
  }
  auto image = initial_image(program, options_.limit_bytes);
  if (!image) return image.error();
  EmulatedRun run(program, std::move(*image), options_, device_);
  for (const Step& step : schedule.steps) {
    if (is_stopped()) return Error{"The run was stopped."};
    auto executed = run.execute(schedule, step);
    if (!executed) return executed.error();
  }
  return std::move(run).finish();
}

}  // namespace interlock
