// Redundancy beside scoped barriers, by the definition itself: remove and check again.
//
// The basic idea is that a barrier that orders everything, as far as this program goes, cuts the
// program in two: whatever is removed on one side changes nothing about pairs that it separates. So
// a removal is checked again between two such walls, not in the whole program.
#include <algorithm>
#include <map>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/barrier_removal.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/order/scoped_order.h"

namespace interlock {
namespace {

// What the dispatches of a program do at all.
struct UsedSorts {
  StageMask stages = 0;
  AccessMask sorts = 0;
};

UsedSorts used_sorts(const Program& program) {
  UsedSorts used;
  for (const Dispatch& dispatch : program.dispatches) {
    used.stages |= bit_of(stage_of(dispatch));
    used.sorts |= sorts_of(program, dispatch);
  }
  return used;
}

bool covers(unsigned mask, unsigned wanted) { return (mask & wanted) == wanted; }

// The barrier alone orders all that it separates, and makes it visible.
bool is_wall(const Program& program, const Barrier& barrier, const UsedSorts& used) {
  if (barrier.kind != BarrierKind::kScoped) return barrier.kind == BarrierKind::kFull;
  return std::ranges::any_of(program.dependencies_of(barrier), [&](const Dependency& dependency) {
    return dependency.operand_count == 0 && covers(dependency.source.stages, used.stages) &&
           covers(dependency.source.accesses, used.sorts & kWriteSorts) &&
           covers(dependency.destination.stages, used.stages) &&
           covers(dependency.destination.accesses, used.sorts);
  });
}

// Adds accesses to a window. Its memories are numbered anew, in `memories`, so that it costs what
// it contains.
void append_accesses(const Program& source, std::span<const Access> accesses, Program& window,
                     std::map<MemoryId, MemoryId>& memories, std::vector<Access>& target) {
  for (Access access : accesses) {
    const auto [found, is_new] =
        memories.try_emplace(access.memory, MemoryId(window.memories.size()));
    if (is_new) window.memories.push_back(source.memory(access.memory));
    access.memory = found->second;
    access.tensor = TensorId();
    target.push_back(access);
  }
}

// The dispatches and barriers in [begin, end) of a program but one, as a program of their own; it
// has no names, no tensors and no order. What else there is orders nothing on one queue.
Program window_of(const Program& source, size_t begin, size_t end, StatementId left_out) {
  Program window;
  std::map<MemoryId, MemoryId> memories;
  for (size_t i = begin; i < end; ++i) {
    const Statement& statement = source.statements[i];
    const bool is_dispatch = statement.kind == StatementKind::kDispatch;
    const bool is_barrier = statement.kind == StatementKind::kBarrier;
    if (StatementId(i) == left_out || (!is_dispatch && !is_barrier)) continue;
    const StatementId id(window.statements.size());
    const size_t index = is_dispatch ? window.dispatches.size() : window.barriers.size();
    window.statements.push_back({.kind = statement.kind, .index = static_cast<uint32_t>(index)});
    if (is_dispatch) {
      Dispatch dispatch = source.dispatches[statement.index];
      const auto accesses = source.accesses_of(dispatch);
      dispatch.statement = id;
      dispatch.first_access = static_cast<uint32_t>(window.accesses.size());
      dispatch.attribute_count = 0;
      append_accesses(source, accesses, window, memories, window.accesses);
      window.dispatches.push_back(dispatch);
      continue;
    }
    Barrier barrier = source.barriers[statement.index];
    const auto dependencies = source.dependencies_of(barrier);
    barrier.statement = id;
    barrier.first_dependency = static_cast<uint32_t>(window.dependencies.size());
    for (Dependency dependency : dependencies) {
      const auto operands = source.operands_of(dependency);
      dependency.first_operand = static_cast<uint32_t>(window.barrier_operands.size());
      append_accesses(source, operands, window, memories, window.barrier_operands);
      window.dependencies.push_back(dependency);
    }
    window.barriers.push_back(barrier);
  }
  return window;
}

class RedundancySearch {
 public:
  RedundancySearch(const Program& program, uint64_t work_limit)
      : program_(program), work_left_(work_limit) {
    const UsedSorts used = used_sorts(program);
    for (const Barrier& barrier : program.barriers) {
      if (is_wall(program, barrier, used)) walls_.push_back(barrier.statement);
    }
  }

  ScopedRedundancy run() {
    ScopedRedundancy result;
    uint32_t slot = 0;
    for (const Statement& statement : program_.statements) {
      if (is_stopped()) return result;
      if (statement.kind == StatementKind::kDispatch) {
        ++slot;
        continue;
      }
      if (statement.kind != StatementKind::kBarrier) continue;
      const BarrierId id(statement.index);
      if (slot == 0) {
        result.redundant.push_back({id, RedundancyReason::kNothingBefore, {}, slot});
      } else if (slot == program_.dispatches.size()) {
        result.redundant.push_back({id, RedundancyReason::kNothingBehind, {}, slot});
      } else {
        judge(id, slot, result);
      }
    }
    return result;
  }

 private:
  void judge(BarrierId id, uint32_t slot, ScopedRedundancy& result) {
    const StatementId at = program_.barriers[id.index].statement;
    // The walls next to the barrier, themselves included.
    const auto behind = std::ranges::upper_bound(walls_, at);
    auto before = std::ranges::lower_bound(walls_, at);
    const size_t begin = before == walls_.begin() ? 0 : (--before)->index;
    const size_t end = behind == walls_.end() ? program_.statements.size() : behind->index + 1;
    // Twice the window, and something for each check.
    const uint64_t work = 2 * (work_of(begin, end) + 64);
    if (work > work_left_) {
      ++result.unjudged_count;
      return;
    }
    work_left_ -= work;
    const Program with = window_of(program_, begin, end, StatementId());
    const Program without = window_of(program_, begin, end, at);
    uint32_t barriers_before = 0;
    uint32_t dispatches_before = 0;
    for (size_t i = begin; i < at.index; ++i) {
      const StatementKind kind = program_.statements[i].kind;
      barriers_before += kind == StatementKind::kBarrier;
      dispatches_before += kind == StatementKind::kDispatch;
    }
    const BarrierRemoval removal{with, without, BarrierId(barriers_before), dispatches_before};
    switch (judge_removal(removal, work_left_)) {
      case RemovalVerdict::kRedundant:
        result.redundant.push_back({id, RedundancyReason::kNoDifference, {}, slot});
        break;
      case RemovalVerdict::kUnknown:
        ++result.unjudged_count;
        break;
      case RemovalVerdict::kNeeded:
        break;
    }
  }

  // A barrier with operands can visit every range that an access has left.
  uint64_t work_of(size_t begin, size_t end) const {
    uint64_t access_count = 0;
    uint64_t visit_count = 1;
    for (size_t i = begin; i < end; ++i) {
      const Statement& statement = program_.statements[i];
      if (statement.kind == StatementKind::kDispatch) {
        access_count += program_.dispatches[statement.index].access_count;
        continue;
      }
      if (statement.kind != StatementKind::kBarrier) continue;
      const auto dependencies = program_.dependencies_of(program_.barriers[statement.index]);
      visit_count += std::ranges::any_of(dependencies, &Dependency::operand_count);
    }
    return end - begin + access_count * visit_count;
  }

  const Program& program_;
  uint64_t work_left_;
  std::vector<StatementId> walls_;  // Rising.
};

}  // namespace

ScopedRedundancy find_scoped_redundant(const Program& program, uint64_t work_limit) {
  return RedundancySearch(program, work_limit).run();
}

}  // namespace interlock
