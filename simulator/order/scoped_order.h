// ScopedOrder: happens-before of a program with scoped barriers, on one queue. docs/theory.md has
// the model: execution dependencies chain from command to command, availability travels along such
// chains, and visibility reaches the bytes that a dependency covers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/ids.h"
#include "encoder/program/program.h"
#include "encoder/program/range.h"
#include "encoder/program/scope.h"

namespace interlock {

// How far the value that one write left in one byte has got.
struct Reach {
  StageMask available = 0;  // The stages that its availability has reached.
  AccessMask visible = 0;   // The sorts of access that see it.

  Reach& operator|=(Reach more) {
    available |= more.available;
    visible |= more.visible;
    return *this;
  }
  bool operator==(const Reach&) const = default;
};

// One dependency of a command, ready to apply.
struct ScopedDependency {
  StageMask from = 0;  // Source and destination stages for execution: with the stages that Vulkan
  StageMask to = 0;    // adds, the logically earlier and the logically later ones.
  AccessMask makes_available = 0;  // The write sorts among its source accesses.
  AccessMask makes_visible = 0;    // Its destination accesses.
  uint32_t first_operand = 0;      // Into ScopedOrder::operands, and Program::barrier_operands.
  uint32_t operand_count = 0;      // None: it covers all memory.

  // What the dependency adds to the reach of a write of sort `written_as`, on bytes that its
  // operands cover or do not. All dependencies of one command see the reach from before it.
  Reach added_to(Reach before, StageAccess written_as, bool covers) const {
    const bool applies =
        (covers && (makes_available & bit_of(written_as)) != 0) || (before.available & from) != 0;
    if (!applies) return {};
    return {to, covers ? makes_visible : AccessMask{0}};
  }
};

struct MemoryRange {
  MemoryId memory;
  ByteRange range;
};

// What one write left in some bytes.
struct ReachedBytes {
  MemoryRange bytes;
  Reach reach;
};

// The stages and the sorts of access that dispatches have.
inline constexpr size_t kDispatchStageCount = 2;
inline constexpr size_t kDispatchSortCount = 5;
static_assert(static_cast<size_t>(Stage::kCompute) < kDispatchStageCount);
static_assert(static_cast<size_t>(Stage::kCopy) < kDispatchStageCount);
static_assert(static_cast<size_t>(StageAccess::kCopyWrite) < kDispatchSortCount);

// All dispatches before `unfinished_begin` execute before a given one and all later ones, and what
// those before `invisible_begin` write is visible to them everywhere. So neither ever decreases.
struct OrderWindow {
  uint32_t unfinished_begin = 0;
  uint32_t invisible_begin = 0;
};

inline constexpr AccessMask kWriteSorts =
    bit_of(StageAccess::kComputeWrite) | bit_of(StageAccess::kCopyWrite);

// The sorts of access that the dispatch has. Cost: linear in its operands.
AccessMask sorts_of(const Program& program, const Dispatch& dispatch);

class ScopedOrder {
 public:
  // Keeps nothing of `program`. Cost: linear.
  explicit ScopedOrder(const Program& program);

  // `first` has finished before `second` starts. Cost: constant.
  bool executes_before(DispatchId first, DispatchId second) const {
    return first.index < unfinished_begin(stage_of(first), second);
  }

  // Exactly the dispatches of `stage` before this one execute before `second`. Cost: constant.
  uint32_t unfinished_begin(Stage stage, DispatchId second) const {
    return point(second).unfinished_begin[index_of(stage_of(second))][index_of(stage)];
  }

  // What dispatches of `stage` before this one write is visible to accesses of sort `sort` by
  // `second`: on all bytes; and what others write is not, on bytes that no operand of a dependency
  // covers. Cost: constant.
  uint32_t invisible_begin(Stage stage, StageAccess sort, DispatchId second) const {
    return point(second).invisible_begin[static_cast<size_t>(sort)][index_of(stage)];
  }

  // What exactly the dispatches of `stage` before this one write is available to the stage of
  // `second`, on bytes that no operand of a dependency covers; on all others, at least what they
  // write. Cost: constant.
  uint32_t unavailable_begin(Stage stage, DispatchId second) const {
    return point(second).unavailable_begin[index_of(stage_of(second))][index_of(stage)];
  }

  // Cost: constant.
  OrderWindow window_of(DispatchId second) const;

  // Returns the first maximal run of `bytes` in which what `first` writes is not visible to
  // accesses of sort `sort` by `second`; none if it is visible in all of them. Adds to
  // `step_count`, if given, the dependencies and operands looked at. Requires: first < second, and
  // `first` writes `bytes`. Cost: constant if no dependency has operands; else the commands between
  // the two, up to the one that makes everything visible.
  std::optional<ByteRange> find_invisible(DispatchId first, DispatchId second, StageAccess sort,
                                          MemoryId memory, ByteRange bytes,
                                          uint64_t* step_count = nullptr) const;

  bool has_operands() const { return !operands_.empty(); }
  Stage stage_of(DispatchId dispatch) const { return stages_[dispatch.index]; }

  // Commands are numbered in issue order, as Program::barriers are: all of them, of any kind.
  uint32_t command_count() const { return static_cast<uint32_t>(first_dependency_.size()) - 1; }
  uint32_t commands_before(DispatchId dispatch) const { return point(dispatch).command_count; }
  std::span<const ScopedDependency> dependencies_of(uint32_t command) const {
    return std::span(dependencies_)
        .subspan(first_dependency_[command],
                 first_dependency_[command + 1] - first_dependency_[command]);
  }
  std::span<const MemoryRange> operands_of(const ScopedDependency& dependency) const {
    return std::span(operands_).subspan(dependency.first_operand, dependency.operand_count);
  }

  // Whether the dependency covers some of the bytes. Cost: its operands.
  bool touches(const ScopedDependency& dependency, MemoryRange bytes) const;

  // What the command makes of the reach of a write of sort `written_as`, in bytes that each of its
  // dependencies covers wholly or not at all. Cost: its dependencies and operands.
  Reach reach_after(uint32_t command, StageAccess written_as, MemoryRange bytes,
                    Reach before) const;

  // The same for all of `runs`, which are disjoint; splits them where operands end. Returns the
  // dependencies and operands looked at, for each run.
  uint64_t apply(uint32_t command, StageAccess written_as, std::vector<ReachedBytes>& runs) const;

  // The sorts of access that the dispatches of the program have.
  AccessMask sorts() const { return sorts_; }

 private:
  // A place between two commands: what is true for the dispatches there.
  struct Point {
    uint32_t command_count = 0;
    // By the stage of the second dispatch, then of the first.
    std::array<std::array<uint32_t, kDispatchStageCount>, kDispatchStageCount> unfinished_begin{};
    std::array<std::array<uint32_t, kDispatchStageCount>, kDispatchStageCount> unavailable_begin{};
    // By the sort of the second access, then the stage of the first dispatch.
    std::array<std::array<uint32_t, kDispatchStageCount>, kDispatchSortCount> invisible_begin{};
  };
  class Clocks;

  const Point& point(DispatchId dispatch) const { return points_[point_of_[dispatch.index]]; }

  static constexpr size_t index_of(Stage stage) { return static_cast<size_t>(stage); }

  void add_command(const Program& program, const Barrier& barrier);

  std::vector<Stage> stages_;       // By dispatch.
  std::vector<uint32_t> point_of_;  // By dispatch.
  std::vector<Point> points_;
  std::vector<uint32_t> first_dependency_;  // By command, and one more.
  std::vector<ScopedDependency> dependencies_;
  std::vector<MemoryRange> operands_;
  AccessMask sorts_ = 0;  // Of the dispatches.
  StageMask dispatch_stages_ = 0;
};

}  // namespace interlock
