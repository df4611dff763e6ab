// A step is launched with its operands in place. A piece that commits late has staging copies of
// what it writes; the commit copies what its slices wrote, and applies atomics.
#include "backends/cuda/emulated/emulated_cuda_backend.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/cuda/emulated/kernels.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/guarded_buffer.h"
#include "backends/interface/late_staging.h"
#include "backends/interface/poison.h"
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
        late_(program, options.limit_bytes, StagingSpace::kIsFreedByCommits) {
    for (std::vector<uint8_t>& memory : image.memories) {
      memories_.emplace_back(std::move(memory));
      starts_.push_back(memories_.back().data());
    }
  }

  Result<Success> execute(const Step& step) {
    INTERLOCK_CHECK(step.dispatch.index < program_.dispatches.size());
    if (step.kind != StepKind::kCommit) poison_.fill_before(step.dispatch, starts_);
    switch (step.kind) {
      case StepKind::kRun:
        return run_piece(piece_of(program_, step), place_operands(step.dispatch));
      case StepKind::kRunLate:
        return run_late(piece_of(program_, step));
      case StepKind::kCommit:
        return commit(step.dispatch);
      case StepKind::kFetch:
        break;
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

  Result<Success> run_late(const DispatchPiece& piece) {
    std::vector<LaunchOperand> operands = place_operands(piece.dispatch);
    auto staged = late_.stage(
        piece, written_operands(program_, piece.dispatch), [&](size_t i, ByteRange /*range*/) {
          // Updates and partial writes find the old bytes in their staging copy.
          LaunchOperand& operand = operands[i];
          GuardedBuffer copy({operand.data, operand.data + operand.size_bytes});
          operand.data = copy.data();
          operand.is_staged = true;
          return copy;
        });
    return staged ? run_piece(piece, operands) : staged;
  }

  Result<Success> commit(DispatchId id) {
    auto committed = late_.for_each_copy(
        id, [&](const DispatchPiece& piece, const Access& access, const Staging::Operand& staged) {
          return commit(piece, access, staged);
        });
    if (committed) late_.forget(id);
    return committed;
  }

  Result<Success> commit(const DispatchPiece& piece, const Access& access,
                         const Staging::Operand& staged) {
    if (staged.copy.stray_offset()) {
      return Error{fmt::format("The kernel of {} wrote bytes around operand {}.",
                               program_.description_of(piece.dispatch), staged.access),
                   ErrorKind::kFault};
    }
    uint8_t* const memory = starts_[access.memory.index];
    if (access.is_atomic()) {
      const uint64_t size_bytes = staged.copy.size_bytes();
      const CommitArguments arguments{memory + access.range.begin, staged.copy.data(), size_bytes,
                                      program_.dispatch(piece.dispatch).atomic_op};
      return judge(piece.dispatch,
                   launch_commit(launches_, grid_block_count(size_bytes), arguments));
    }
    for_each_written_run(program_, piece, staged.access, [&](ByteRange run) {
      std::copy_n(staged.copy.data() + (run.begin - staged.range.begin), run.size_bytes(),
                  memory + run.begin);
    });
    return Success{};
  }

  const Program& program_;
  Poison poison_;
  const EmulatedCudaOptions& options_;
  SeededChoice choice_;
  EmulatedLaunches launches_;
  std::vector<GuardedBuffer> memories_;
  std::vector<uint8_t*> starts_;  // Of the memories.
  Staging late_;
};

}  // namespace

Capabilities EmulatedCudaBackend::capabilities() const {
  return {.device = "the kernels of CUDA on the host, its threads as fibers",
          .has_byte_access = true,
          .rounds_correctly = true};
}

Result<MemoryImage> EmulatedCudaBackend::run(const Program& program, const Schedule& schedule,
                                             ExecutionMode mode) {
  if (!supports(mode)) {
    return Error{
        "The cuda-emulated backend launches one kernel at a time and has no overlap mode; use witness mode."};
  }
  auto whole = expect_whole_steps(program, schedule, name());
  if (!whole) return whole.error();
  const std::lock_guard lock(mutex_);
  auto image = initial_image(program, options_.limit_bytes);
  if (!image) return image.error();
  EmulatedRun run(program, std::move(*image), options_, device_);
  for (const Step& step : schedule.steps) {
    if (is_stopped()) return Error{"The run was stopped."};
    auto executed = run.execute(step);
    if (!executed) return executed.error();
  }
  return std::move(run).finish();
}

}  // namespace interlock
