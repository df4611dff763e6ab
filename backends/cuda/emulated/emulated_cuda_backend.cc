// A step is launched with its operands in place. A piece that commits late has staging copies of
// what it writes; the commit copies what its slices wrote, and applies atomics.
#include "backends/cuda/emulated/emulated_cuda_backend.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/cuda/emulated/kernels.h"
#include "backends/interface/dispatch_params.h"
#include "backends/interface/guarded_buffer.h"
#include "backends/interface/poison.h"
#include "backends/interface/whole_steps.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

struct LatePiece {
  Step step;
  KernelParams params;
  std::vector<GuardedBuffer> staged;  // By access; empty for those that only read.
};

class EmulatedRun {
 public:
  EmulatedRun(const Program& program, MemoryImage image, const EmulatedCudaOptions& options,
              EmulatedDevice& device)
      : program_(program),
        poison_(program),
        options_(options),
        choice_(options.seed),
        launches_{device, choice_, options.block_thread_count} {
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
        return run_piece(step, dispatch_params_of(program_, step.dispatch),
                         place_operands(step.dispatch));
      case StepKind::kRunLate:
        return run_late(step);
      case StepKind::kCommit:
        return commit(step.dispatch);
      case StepKind::kFetch:
        break;
    }
    INTERLOCK_CHECK(false);
  }

  // Requires: every late piece was committed.
  Result<MemoryImage> finish() && {
    INTERLOCK_CHECK(late_pieces_.empty());
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

  Result<Success> run_piece(const Step& step, const KernelParams& params,
                            const std::vector<LaunchOperand>& operands) {
    INTERLOCK_CHECK(uint64_t{step.first_slice} + step.slice_count <=
                    slice_count_of(program_, program_.dispatch(step.dispatch)));
    LaunchArguments arguments;
    arguments.operands = operands.data();
    arguments.operand_count = static_cast<uint32_t>(operands.size());
    arguments.params = params;
    const KernelId kernel = program_.dispatch(step.dispatch).kernel;
    if (kernel == mix_kernel()) {
      uint64_t size_bytes = 0;
      for (const LaunchOperand& operand : operands) size_bytes += operand.size_bytes;
      if (size_bytes > options_.mix_block_bytes_max) {
        return judge(step.dispatch,
                     launch_mix_phases(launches_, grid_block_count(size_bytes), arguments));
      }
    }
    for (uint32_t done = 0; done < step.slice_count;) {
      const uint32_t count = std::min(step.slice_count - done, options_.grid_block_count_max);
      arguments.first_slice = uint64_t{step.first_slice} + done;
      auto ran = judge(step.dispatch, launch_slices(launches_, kernel, count, arguments));
      if (!ran) return ran;
      done += count;
    }
    return Success{};
  }

  Result<Success> run_late(const Step& step) {
    LatePiece piece{step, dispatch_params_of(program_, step.dispatch), {}};
    std::vector<LaunchOperand> operands = place_operands(step.dispatch);
    for (LaunchOperand& operand : operands) {
      const bool only_reads =
          operand.mode == AccessMode::kRead || operand.mode == AccessMode::kUniform;
      const uint64_t size_bytes = only_reads ? 0 : operand.size_bytes;
      if (size_bytes > options_.limit_bytes - staged_bytes_) {
        return Error{fmt::format(
            "The late writes of this schedule need more than {} bytes, the execution limit, while "
            "{} commits late.",
            options_.limit_bytes, program_.description_of(step.dispatch))};
      }
      staged_bytes_ += size_bytes;
      // Updates and partial writes find the old bytes in their staging copy.
      piece.staged.emplace_back(std::vector(operand.data, operand.data + size_bytes));
      if (only_reads) continue;
      operand.data = piece.staged.back().data();
      operand.is_staged = true;
    }
    auto ran = run_piece(step, piece.params, operands);
    if (!ran) return ran;
    late_pieces_[step.dispatch].push_back(std::move(piece));
    return Success{};
  }

  Result<Success> commit(DispatchId id) {
    const auto found = late_pieces_.find(id);
    INTERLOCK_CHECK(found != late_pieces_.end());
    const std::span<const Access> accesses = program_.accesses_of(id);
    for (LatePiece& piece : found->second) {
      for (size_t i = 0; i < accesses.size(); ++i) {
        const uint64_t size_bytes = piece.staged[i].size_bytes();
        staged_bytes_ -= size_bytes;
        if (size_bytes == 0) continue;
        if (piece.staged[i].stray_offset()) {
          return Error{fmt::format("The kernel of {} wrote bytes around operand {}.",
                                   program_.description_of(id), i),
                       ErrorKind::kFault};
        }
        if (!accesses[i].is_atomic()) {
          commit_slices(piece, i);
          continue;
        }
        const CommitArguments arguments{place_operands(id)[i].data, piece.staged[i].data(),
                                        size_bytes, program_.dispatch(id).atomic_op};
        auto committed =
            judge(id, launch_commit(launches_, grid_block_count(size_bytes), arguments));
        if (!committed) return committed;
      }
    }
    late_pieces_.erase(found);
    return Success{};
  }

  // Copies what the slices of the piece wrote, and no byte between: those may have changed since.
  void commit_slices(const LatePiece& piece, size_t access_position) {
    const Dispatch& dispatch = program_.dispatch(piece.step.dispatch);
    const Access& access = program_.accesses_of(dispatch)[access_position];
    const uint8_t* const staged = piece.staged[access_position].data();
    uint8_t* const memory = starts_[access.memory.index];
    for (uint64_t i = 0; i < piece.step.slice_count; ++i) {
      const StridedRange written =
          slice_range_of(program_, dispatch, piece.params, piece.step.first_slice + i,
                         static_cast<int>(access_position));
      for (uint64_t k = 0; k < written.run_count; ++k) {
        const ByteRange run = written.run(k);
        std::copy_n(staged + (run.begin - access.range.begin), run.size_bytes(),
                    memory + run.begin);
      }
    }
  }

  const Program& program_;
  Poison poison_;
  const EmulatedCudaOptions& options_;
  SeededChoice choice_;
  EmulatedLaunches launches_;
  std::vector<GuardedBuffer> memories_;
  std::vector<uint8_t*> starts_;  // Of the memories.
  uint64_t staged_bytes_ = 0;     // Of all late pieces that wait.
  std::map<DispatchId, std::vector<LatePiece>> late_pieces_;
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
        "The cuda-emulated backend launches one kernel at a time and has no overlap mode; use "
        "witness mode."};
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
