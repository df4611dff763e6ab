// Late staging: a piece that commits late reads memory as it is and writes to staging copies, and
// its commit moves what it wrote. Backends differ in where a staging copy is and how it moves;
// which pieces wait, what of them is staged, how much that may be and in which order it commits
// stands here.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/interface/dispatch_params.h"
#include "encoder/program/check.h"
#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "simulator/schedules/schedule.h"

namespace interlock {

// Whether the staging copy has to begin with the bytes of memory: the piece reads them, or leaves
// some of them.
bool needs_old_bytes(const Access& access, const KernelParams& params);

// Calls `take` with what the slices of the piece write through an access, in its memory: no byte
// between, since those may have changed since; and runs that touch at once.
void for_each_written_run(const Program& program, const DispatchPiece& piece, int access,
                          const std::function<void(ByteRange)>& take);

// The error of staging copies that exceed the limit.
Error late_writes_error(const Program& program, DispatchId dispatch, uint64_t limit_bytes);

enum class StagingSpace : uint8_t {
  kIsFreedByCommits,
  kLastsForTheRun,  // All staging copies of a run have their own.
};

// The late pieces of a run. `Copy` is what the backend keeps of a staging copy.
template <class Copy>
class LateStaging {
 public:
  struct Operand {
    int access = 0;   // Its position in the dispatch.
    ByteRange range;  // In the memory of the access: what the copy stands for.
    Copy copy;
  };

  LateStaging(const Program& program, uint64_t limit_bytes, StagingSpace space)
      : program_(program), limit_bytes_(limit_bytes), space_(space) {}

  // Lets the piece wait, with staging copies of `ranges`, by access; of empty ones there is none.
  // `make_copy(access_position, range)` returns the copy. Errors: the copies exceed the limit.
  template <class MakeCopy>
  Result<Success> stage(const DispatchPiece& piece, std::span<const ByteRange> ranges,
                        const MakeCopy& make_copy) {
    LatePiece late{piece, {}};
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].is_empty()) continue;
      if (ranges[i].size_bytes() > limit_bytes_ - staged_bytes_) {
        return late_writes_error(program_, piece.dispatch, limit_bytes_);
      }
      staged_bytes_ += ranges[i].size_bytes();
      late.operands.push_back({static_cast<int>(i), ranges[i], make_copy(i, ranges[i])});
    }
    waiting_[piece.dispatch].push_back(std::move(late));
    return Success{};
  }

  // Calls `commit(piece, access, operand)` for each staging copy of the dispatch, in piece order
  // and then that of the accesses. Requires: a piece of the dispatch waits. Errors: the first of
  // `commit`, which ends it.
  template <class Commit>
  Result<Success> for_each_copy(DispatchId dispatch, const Commit& commit) const {
    const auto found = waiting_.find(dispatch);
    INTERLOCK_CHECK(found != waiting_.end());
    for (const LatePiece& late : found->second) {
      for (const Operand& operand : late.operands) {
        const Access& access = program_.accesses_of(dispatch)[static_cast<size_t>(operand.access)];
        Result<Success> committed = commit(late.piece, access, operand);
        if (!committed) return committed;
      }
    }
    return Success{};
  }

  // The pieces of the dispatch wait no more. Requires: one does.
  void forget(DispatchId dispatch) {
    const auto found = waiting_.find(dispatch);
    INTERLOCK_CHECK(found != waiting_.end());
    if (space_ == StagingSpace::kIsFreedByCommits) {
      for (const LatePiece& late : found->second) {
        for (const Operand& operand : late.operands) staged_bytes_ -= operand.range.size_bytes();
      }
    }
    waiting_.erase(found);
  }

  bool is_empty() const { return waiting_.empty(); }

 private:
  struct LatePiece {
    DispatchPiece piece;
    std::vector<Operand> operands;
  };

  const Program& program_;
  uint64_t limit_bytes_;
  StagingSpace space_;
  uint64_t staged_bytes_ = 0;
  std::map<DispatchId, std::vector<LatePiece>> waiting_;
};

}  // namespace interlock
