// The basic idea is that order is a prefix property per stage: a command acts on all earlier work
// alike, so what is ordered before the work of a stage is always the earlier work up to some index.
// The same holds for availability, and for visibility on bytes that no operand names: whatever
// happens to a write happened to all earlier writes of its stage too. So the whole order is a few
// clocks, and a command is a maximum over them.
//
// For example, with the stage of each dispatch:
//
//   0  dispatch fill writes m[0:64] value=1                  copy
//   1  dispatch Use writes m[64:128]                         compute
//      barrier copy.write -> compute
//   2  dispatch fill writes m[128:192] value=2               copy
//      barrier compute -> compute.read
//   3  dispatch Late reads m[0:64] m[64:128] m[128:192]      compute
//
// Write executed[later][earlier] for the clocks of execution: dispatches of the stage `earlier`
// below this index have finished before any work of the stage `later` that comes now. All clocks
// begin at 0.
//
// - The first barrier comes when 2 dispatches have been issued. It raises executed[compute][copy]
//   to 2 and, as its source names copy.write, available[compute][copy] to 2. Its destination names
//   no access, so nothing becomes visible.
// - The second barrier comes when 3 have been issued. Its source is the compute stage, so that
//   executed[compute][compute] becomes 3. Whatever was before work of that stage already is now
//   before the work of its destination, too: executed[compute][copy] and available[compute][copy]
//   stay 2, for dispatch 2 is a copy, which this barrier does not name. What is available to the
//   source becomes visible: visible[compute.read][copy] is 2. No compute write is available, so
//   that visible[compute.read][compute] stays 0.
//
// Dispatch 3 asks three questions, each of which is one comparison. Is dispatch 0 visible to it?
// 0 < 2, by the chain of both barriers; neither is enough by itself. Dispatch 1? It has finished,
// 1 < 3, but its write is not visible, as 1 is not below 0: a hazard. Dispatch 2? It may still run,
// as 2 is not below 2: a hazard.
//
// A Point has these clocks as unfinished_begin, unavailable_begin and invisible_begin. What a
// dependency makes available or visible on the bytes of its operands alone is not in them:
// VisibilityMap and find_invisible know that.
#include "simulator/order/scoped_order.h"

#include <algorithm>
#include <map>
#include <span>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/dependency_ends.h"

namespace interlock {

namespace {

bool has(StageMask stages, size_t stage) { return (stages >> stage & 1) != 0; }

ScopedDependency compile(Scope source, Scope destination) {
  ScopedDependency dependency{
      .from = source.stages,
      .to = destination.stages,
      .makes_available = static_cast<AccessMask>(source.accesses & kWriteSorts),
      .makes_visible = destination.accesses};
  dependency.from = with_earlier(dependency.from);
  dependency.to = with_later(dependency.to);
  return dependency;
}

void split_at(std::vector<ReachedBytes>& runs, MemoryId memory, uint64_t offset) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const ByteRange range = runs[i].bytes.range;
    if (runs[i].bytes.memory != memory || offset <= range.begin || range.end <= offset) continue;
    ReachedBytes right = runs[i];
    right.bytes.range.begin = offset;
    runs[i].bytes.range.end = offset;
    runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1, right);
    return;
  }
}

// Drops what `sort` sees, and joins what has become alike. Requires: one memory, in order.
void drop_visible(std::vector<ReachedBytes>& runs, StageAccess sort) {
  size_t count = 0;
  for (const ReachedBytes& run : runs) {
    if ((run.reach.visible & bit_of(sort)) != 0) continue;
    ReachedBytes* const last = count > 0 ? &runs[count - 1] : nullptr;
    if (last != nullptr && last->bytes.range.end == run.bytes.range.begin &&
        last->reach == run.reach) {
      last->bytes.range.end = run.bytes.range.end;
    } else {
      runs[count++] = run;
    }
  }
  runs.resize(count);
}

// Whether the dependency touches some of the bytes. `operands` are all of its, or all that touch
// the bytes.
bool has_bytes_of(const ScopedDependency& dependency, std::span<const MemoryRange> operands,
                  MemoryRange bytes) {
  return dependency.operand_count == 0 ||
         std::ranges::any_of(operands, [&](const MemoryRange& operand) {
           return operand.memory == bytes.memory && share_a_byte(operand.range, bytes.range);
         });
}

// What the dependencies of one command make of `before`. They do not chain, so all see what was
// reached before the command. `is_touched` is asked by position.
template <typename IsTouched>
Reach reach_by(std::span<const ScopedDependency> dependencies, StageAccess written_as, Reach before,
               const IsTouched& is_touched) {
  Reach after = before;
  for (size_t d = 0; d < dependencies.size(); ++d) {
    after |= dependencies[d].added_to(before, written_as, is_touched(d));
  }
  return after;
}

}  // namespace

AccessMask sorts_of(const Program& program, const Dispatch& dispatch) {
  const Stage stage = stage_of(dispatch);
  AccessMask sorts = 0;
  for (const Access& access : program.accesses_of(dispatch)) {
    if (const auto sort = read_sort_of(stage, access)) sorts |= bit_of(*sort);
    if (const auto sort = write_sort_of(stage, access)) sorts |= bit_of(*sort);
  }
  return sorts;
}

// Each clock is the index of the first dispatch that it does not hold for.
class ScopedOrder::Clocks {
 public:
  // A command, when `now` dispatches have been issued.
  void apply(std::span<const ScopedDependency> dependencies, uint32_t now) {
    const PerStage executed_before = executed_;
    const PerStage available_before = available_;
    for (const ScopedDependency& dependency : dependencies) {
      for (size_t s = 0; s < kDispatchStageCount; ++s) {
        const bool makes_available =
            dependency.operand_count == 0 &&
            (dependency.makes_available & bit_of(write_sort_of(static_cast<Stage>(s)))) != 0;
        uint32_t executed = has(dependency.from, s) ? now : 0;
        uint32_t available = makes_available ? now : 0;
        for (size_t u = 0; u < kStageCount; ++u) {
          if (!has(dependency.from, u)) continue;
          executed = std::max(executed, executed_before[u][s]);
          available = std::max(available, available_before[u][s]);
        }
        raise(dependency, s, executed, available);
      }
    }
  }

  Point point(uint32_t command_count) const {
    Point point;
    point.command_count = command_count;
    for (size_t t = 0; t < kDispatchStageCount; ++t) {
      point.unfinished_begin[t] = executed_[t];
      point.unavailable_begin[t] = available_[t];
    }
    point.invisible_begin = visible_;
    return point;
  }

 private:
  using PerStage = std::array<std::array<uint32_t, kDispatchStageCount>, kStageCount>;

  void raise(const ScopedDependency& dependency, size_t s, uint32_t executed, uint32_t available) {
    for (size_t t = 0; t < kStageCount; ++t) {
      if (!has(dependency.to, t)) continue;
      executed_[t][s] = std::max(executed_[t][s], executed);
      available_[t][s] = std::max(available_[t][s], available);
    }
    if (dependency.operand_count > 0) return;
    for (size_t sort = 0; sort < kDispatchSortCount; ++sort) {
      if ((dependency.makes_visible >> sort & 1) == 0) continue;
      visible_[sort][s] = std::max(visible_[sort][s], available);
    }
  }

  // By the later stage or sort, then the stage of the earlier dispatch.
  PerStage executed_{};
  PerStage available_{};
  std::array<std::array<uint32_t, kDispatchStageCount>, kDispatchSortCount> visible_{};
};

ScopedOrder::ScopedOrder(const Program& program) {
  stages_.reserve(program.dispatches.size());
  point_of_.reserve(program.dispatches.size());
  operands_.reserve(program.barrier_operands.size());
  for (const Access& operand : program.barrier_operands) {
    operands_.push_back({operand.memory, operand.range});
  }
  Clocks clocks;
  bool has_moved = true;  // Since the last point.
  first_dependency_.push_back(0);
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kBarrier) {
      INTERLOCK_CHECK(statement.index == command_count());
      add_command(program, program.barriers[statement.index]);
      clocks.apply(dependencies_of(command_count() - 1), static_cast<uint32_t>(stages_.size()));
      has_moved = true;
      continue;
    }
    if (statement.kind != StatementKind::kDispatch) continue;
    const Dispatch& dispatch = program.dispatches[statement.index];
    if (has_moved) points_.push_back(clocks.point(command_count()));
    has_moved = false;
    const Stage stage = interlock::stage_of(dispatch);
    stages_.push_back(stage);
    point_of_.push_back(static_cast<uint32_t>(points_.size() - 1));
    sorts_ |= sorts_of(program, dispatch);
    dispatch_stages_ |= bit_of(stage);
  }
  INTERLOCK_CHECK(stages_.size() == program.dispatches.size());
}

OrderWindow ScopedOrder::window_of(DispatchId second) const {
  const Point& point = this->point(second);
  OrderWindow window{second.index, second.index};
  for (size_t s = 0; s < kDispatchStageCount; ++s) {
    if (!has(dispatch_stages_, s)) continue;
    for (size_t t = 0; t < kDispatchStageCount; ++t) {
      if (!has(dispatch_stages_, t)) continue;
      window.unfinished_begin = std::min(window.unfinished_begin, point.unfinished_begin[t][s]);
    }
    for (size_t sort = 0; sort < kDispatchSortCount; ++sort) {
      if ((sorts_ >> sort & 1) == 0) continue;
      window.invisible_begin = std::min(window.invisible_begin, point.invisible_begin[sort][s]);
    }
  }
  return window;
}

void ScopedOrder::add_command(const Program& program, const Barrier& barrier) {
  switch (barrier.kind) {
    case BarrierKind::kFull:
      dependencies_.push_back(compile(kEverything, kEverything));
      break;
    case BarrierKind::kExecution:
      dependencies_.push_back(compile({kAllStages, 0}, {kAllStages, 0}));
      break;
    case BarrierKind::kScoped:
      for (const Dependency& written : program.dependencies_of(barrier)) {
        ScopedDependency dependency = compile(written.source, written.destination);
        dependency.first_operand = written.first_operand;
        dependency.operand_count = written.operand_count;
        dependencies_.push_back(dependency);
      }
      break;
  }
  first_dependency_.push_back(static_cast<uint32_t>(dependencies_.size()));
}

bool ScopedOrder::touches(const ScopedDependency& dependency, MemoryRange bytes) const {
  return has_bytes_of(dependency, operands_of(dependency), bytes);
}

Reach ScopedOrder::reach_after(uint32_t command, StageAccess written_as, MemoryRange bytes,
                               Reach before) const {
  return reach_by(dependencies_of(command), written_as, before,
                  [&](size_t d) { return touches(dependencies_of(command)[d], bytes); });
}

uint64_t ScopedOrder::apply(uint32_t command, StageAccess written_as,
                            std::vector<ReachedBytes>& runs) const {
  // Operands elsewhere cost a comparison each, however many runs there are.
  std::map<MemoryId, ByteRange> hulls;
  for (const ReachedBytes& run : runs) {
    const auto [hull, is_new] = hulls.emplace(run.bytes.memory, run.bytes.range);
    hull->second.begin = std::min(hull->second.begin, run.bytes.range.begin);
    hull->second.end = std::max(hull->second.end, run.bytes.range.end);
  }
  uint64_t steps = 0;
  const std::span<const ScopedDependency> dependencies = dependencies_of(command);
  std::vector<std::vector<MemoryRange>> near;  // By dependency: those that may touch a run.
  for (const ScopedDependency& dependency : dependencies) {
    std::vector<MemoryRange>& operands = near.emplace_back();
    for (const MemoryRange& operand : operands_of(dependency)) {
      steps += runs.size();
      const auto hull = hulls.find(operand.memory);
      if (hull == hulls.end() || !share_a_byte(hull->second, operand.range)) continue;
      operands.push_back(operand);
      split_at(runs, operand.memory, operand.range.begin);
      split_at(runs, operand.memory, operand.range.end);
    }
    steps += 1 + runs.size();
  }
  for (ReachedBytes& run : runs) {
    if (is_stopped()) break;
    run.reach = reach_by(dependencies, written_as, run.reach, [&](size_t d) {
      return has_bytes_of(dependencies[d], near[d], run.bytes);
    });
  }
  return steps;
}

// From the definition. The idea is to carry the reach of the written bytes from command to command,
// in runs that end where operands do, and to drop a run as soon as it is visible.
std::optional<ByteRange> ScopedOrder::find_invisible(DispatchId first, DispatchId second,
                                                     StageAccess sort, MemoryId memory,
                                                     ByteRange bytes, uint64_t* step_count) const {
  INTERLOCK_CHECK(first < second);
  const Stage stage = stage_of(first);
  if (bytes.is_empty() || first.index < invisible_begin(stage, sort, second)) return std::nullopt;
  // What is visible has been ordered too.
  if (operands_.empty() || !executes_before(first, second)) return bytes;
  std::vector<ReachedBytes> runs = {{{memory, bytes}, {}}};
  uint64_t steps = 0;
  const uint32_t end = commands_before(second);
  for (uint32_t command = commands_before(first); command < end && !runs.empty(); ++command) {
    steps += apply(command, write_sort_of(stage), runs);
    drop_visible(runs, sort);
    if (is_stopped()) return bytes;  // Means nothing (stop.h).
  }
  if (step_count != nullptr) *step_count += steps;
  if (runs.empty()) return std::nullopt;
  ByteRange invisible = runs.front().bytes.range;
  for (const ReachedBytes& run : runs) {
    if (run.bytes.range.begin == invisible.end) invisible.end = run.bytes.range.end;
  }
  return invisible;
}

}  // namespace interlock
