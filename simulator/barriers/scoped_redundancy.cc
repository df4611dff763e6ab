// The basic idea is that a barrier that orders everything, as far as this program goes, cuts the
// program in two: whatever is removed on one side changes nothing about pairs that it separates. So
// a removal is checked again between two such walls, not in the whole program.
#include "simulator/barriers/scoped_redundancy.h"

#include <algorithm>
#include <map>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/barrier_removal.h"

namespace interlock {
namespace {

// What the dispatches of a program do at all.
struct UsedSorts {
  StageMask stages = 0;
  AccessMask reads = 0;
  AccessMask writes = 0;
};

UsedSorts used_sorts(const Program& program) {
  UsedSorts used;
  for (const Dispatch& dispatch : program.dispatches) {
    const Stage stage = stage_of(dispatch);
    used.stages |= bit_of(stage);
    for (const Access& access : program.accesses_of(dispatch)) {
      if (const auto sort = read_sort_of(stage, access)) used.reads |= bit_of(*sort);
      if (const auto sort = write_sort_of(stage, access)) used.writes |= bit_of(*sort);
    }
  }
  return used;
}

bool covers(unsigned mask, unsigned wanted) { return (mask & wanted) == wanted; }

// The barrier alone orders all that it separates, and makes it visible.
bool is_wall(const Program& program, const Barrier& barrier, const UsedSorts& used) {
  if (barrier.kind != BarrierKind::kScoped) return barrier.kind == BarrierKind::kFull;
  const auto dependencies = program.dependencies_of(barrier);
  return std::any_of(dependencies.begin(), dependencies.end(), [&](const Dependency& dependency) {
    return dependency.operand_count == 0 && covers(dependency.source.stages, used.stages) &&
           covers(dependency.source.accesses, used.writes) &&
           covers(dependency.destination.stages, used.stages) &&
           covers(dependency.destination.accesses, used.reads | used.writes);
  });
}

// A run of statements of a program as a program of its own. Memories are numbered anew, so that it
// costs what it contains; it has no names, no tensors and no order.
class Window {
 public:
  Window(const Program& source, size_t begin, size_t end, StatementId left_out) {
    for (size_t i = begin; i < end; ++i) {
      const bool is_kept =
          StatementId(i) != left_out && source.statements[i].kind != StatementKind::kLifetime;
      if (is_kept) append(source, source.statements[i]);
    }
  }

  const Program& program() const { return program_; }

 private:
  void append(const Program& source, const Statement& statement) {
    const StatementId id(program_.statements.size());
    if (statement.kind == StatementKind::kDispatch) {
      Dispatch dispatch = source.dispatches[statement.index];
      const auto accesses = source.accesses_of(dispatch);
      dispatch.statement = id;
      dispatch.first_access = static_cast<uint32_t>(program_.accesses.size());
      dispatch.attribute_count = 0;
      append_accesses(source, accesses, program_.accesses);
      program_.statements.push_back(
          {statement.kind, static_cast<uint32_t>(program_.dispatches.size()), {}});
      program_.dispatches.push_back(dispatch);
      return;
    }
    Barrier barrier = source.barriers[statement.index];
    const auto dependencies = source.dependencies_of(barrier);
    barrier.statement = id;
    barrier.first_dependency = static_cast<uint32_t>(program_.dependencies.size());
    for (Dependency dependency : dependencies) {
      const auto operands = source.operands_of(dependency);
      dependency.first_operand = static_cast<uint32_t>(program_.barrier_operands.size());
      append_accesses(source, operands, program_.barrier_operands);
      program_.dependencies.push_back(dependency);
    }
    program_.statements.push_back(
        {statement.kind, static_cast<uint32_t>(program_.barriers.size()), {}});
    program_.barriers.push_back(barrier);
  }

  void append_accesses(const Program& source, std::span<const Access> accesses,
                       std::vector<Access>& target) {
    for (Access access : accesses) {
      const auto [found, is_new] =
          memories_.try_emplace(access.memory, MemoryId(program_.memories.size()));
      if (is_new) program_.memories.push_back(source.memory(access.memory));
      access.memory = found->second;
      access.tensor = TensorId();
      target.push_back(access);
    }
  }

  Program program_;
  std::map<MemoryId, MemoryId> memories_;
};

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
    const auto behind = std::upper_bound(walls_.begin(), walls_.end(), at);
    auto before = std::lower_bound(walls_.begin(), walls_.end(), at);
    const size_t begin = before == walls_.begin() ? 0 : (--before)->index;
    const size_t end = behind == walls_.end() ? program_.statements.size() : behind->index + 1;
    // Twice the window, and something for each check.
    const uint64_t work = 2 * (work_of(begin, end) + 64);
    if (work > work_left_) {
      ++result.unjudged_count;
      return;
    }
    work_left_ -= work;
    const Window with(program_, begin, end, StatementId());
    const Window without(program_, begin, end, at);
    uint32_t barriers_before = 0;
    uint32_t dispatches_before = 0;
    for (size_t i = begin; i < at.index; ++i) {
      const StatementKind kind = program_.statements[i].kind;
      barriers_before += kind == StatementKind::kBarrier;
      dispatches_before += kind == StatementKind::kDispatch;
    }
    const BarrierRemoval removal{with.program(), without.program(), BarrierId(barriers_before),
                                 dispatches_before};
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
      visit_count += std::any_of(dependencies.begin(), dependencies.end(),
                                 [](const Dependency& d) { return d.operand_count > 0; });
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
