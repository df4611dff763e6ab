// Redundancy beside scoped barriers where there are hazards, by the definition itself: remove and
// check again. Which of them stay the same says no single chain.
//
// The basic idea is that a barrier that orders everything, as far as this program goes, cuts the
// program in two: whatever is removed on one side changes nothing about pairs that it separates. So
// a removal is checked again between two such walls, not in the whole program.
#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/barrier_removal.h"
#include "simulator/barriers/redundancy.h"
#include "simulator/barriers/sync_words.h"
#include "simulator/hazards/hazards.h"
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

// The dispatches and barriers in [begin, end) of a program, as a program of their own; it has no
// names, no tensors and no order. What else there is orders nothing on one queue.
Program window_of(const Program& source, size_t begin, size_t end) {
  Program window;
  std::map<MemoryId, MemoryId> memories;
  for (size_t i = begin; i < end; ++i) {
    const Statement& statement = source.statements[i];
    const bool is_dispatch = statement.kind == StatementKind::kDispatch;
    const bool is_barrier = statement.kind == StatementKind::kBarrier;
    if (!is_dispatch && !is_barrier) continue;
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

// The dispatches and barriers between two walls, with one barrier at which something may go.
struct Window {
  Program program;
  BarrierId barrier;  // In `program`.
  uint32_t slot;      // Dispatches of `program` before it.
  uint64_t work;      // Of two checks.
};

class RedundancySearch {
 public:
  RedundancySearch(const Program& program, uint64_t work_limit, const DestroyNeeds& destroys)
      : program_(program), work_left_(work_limit), destroys_(destroys) {
    const UsedSorts used = used_sorts(program);
    for (const Barrier& barrier : program.barriers) {
      if (is_wall(program, barrier, used)) walls_.push_back(barrier.statement);
    }
  }

  BarrierRedundancy run() {
    uint32_t slot = 0;
    for (const Statement& statement : program_.statements) {
      if (is_stopped()) return {};
      if (statement.kind == StatementKind::kDispatch) ++slot;
      if (statement.kind == StatementKind::kBarrier) judge(BarrierId(statement.index), slot);
    }
    return std::move(result_);
  }

 private:
  void judge(BarrierId id, uint32_t slot) {
    words_.clear();
    append_words(program_, program_.barriers[id.index].statement, words_);
    const uint32_t piece = next_piece_;
    next_piece_ += 1 + static_cast<uint32_t>(words_.size());
    const StageMask destroyed = destroys_.stages_of(id);
    const bool is_idle = slot == 0 || slot == program_.dispatches.size();
    if (is_idle && destroyed == 0) {
      result_.redundant.push_back(
          {id,
           slot == 0 ? RedundancyReason::kNothingBefore : RedundancyReason::kNothingBehind,
           {},
           slot});
      return;
    }
    const Window window = window_at(program_.barriers[id.index].statement);
    if (destroyed == 0) {
      switch (judge_without(window, {})) {
        case RemovalVerdict::kRedundant:
          result_.redundant.push_back({id, RedundancyReason::kNoDifference, {}, slot});
          return;
        case RemovalVerdict::kUnknown:
          ++result_.unjudged_count;
          return;
        case RemovalVerdict::kNeeded:
          break;
      }
    }
    judge_words(id, piece, window, destroyed);
  }

  void judge_words(BarrierId id, uint32_t piece, const Window& window, StageMask destroyed) {
    std::vector<SyncPiece> in_window;
    append_words(window.program, window.program.barriers[window.barrier.index].statement,
                 in_window);
    std::vector<bool> goes(words_.size());
    for (size_t i = 0; i < words_.size() && !is_stopped(); ++i) {
      SyncPiece word = words_[i];
      const bool has_outer = word.within != SyncPiece::kNone;
      goes[i] = has_outer && goes[word.within];
      const StageMask left = source_stages_without(program_, program_.barriers[id.index], word);
      if (goes[i] || (destroyed & ~left) != 0) continue;
      const RemovalVerdict verdict = judge_without(window, {&in_window[i], 1});
      if (verdict == RemovalVerdict::kNeeded) continue;
      goes[i] = true;
      if (verdict == RemovalVerdict::kUnknown) {
        ++result_.unjudged_word_count;
        continue;
      }
      word.within = has_outer ? piece + 1 + word.within : piece;
      result_.words.push_back(word);
    }
  }

  // What is between the walls next to the barrier, themselves included.
  Window window_at(StatementId at) const {
    const auto behind = std::ranges::upper_bound(walls_, at);
    auto before = std::ranges::lower_bound(walls_, at);
    const size_t begin = before == walls_.begin() ? 0 : (--before)->index;
    const size_t end = behind == walls_.end() ? program_.statements.size() : behind->index + 1;
    // Twice the window, and something for each check.
    const uint64_t work = 2 * (work_of(begin, end) + 64);
    Window window{{}, BarrierId(uint32_t{0}), 0, work};
    if (work > work_left_) return window;
    window.program = window_of(program_, begin, end);
    for (size_t i = begin; i < at.index; ++i) {
      const StatementKind kind = program_.statements[i].kind;
      window.barrier.index += kind == StatementKind::kBarrier;
      window.slot += kind == StatementKind::kDispatch;
    }
    return window;
  }

  // Without the barrier, or without these words of it.
  RemovalVerdict judge_without(const Window& window, std::span<const SyncPiece> words) {
    if (window.work > work_left_) return RemovalVerdict::kUnknown;
    work_left_ -= window.work;
    const SyncPiece barrier{.kind = SyncPieceKind::kBarrier,
                            .statement = window.program.barriers[window.barrier.index].statement};
    const Program without =
        without_pieces(window.program, words.empty() ? std::span(&barrier, 1) : words);
    return judge_removal({window.program, without, window.barrier, window.slot}, work_left_);
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
  const DestroyNeeds& destroys_;
  std::vector<StatementId> walls_;  // Rising.
  std::vector<SyncPiece> words_;    // Of the barrier at hand.
  uint32_t next_piece_ = 0;         // In the list of sync_pieces_of().
  BarrierRedundancy result_;
};

// Nobody knows what destroys need.
BarrierRedundancy unjudged(const Program& program) {
  BarrierRedundancy result;
  result.unjudged_count = program.barriers.size();
  return result;
}

}  // namespace

BarrierRedundancy find_scoped_redundant(const Program& program, uint64_t work_limit,
                                        const DestroyNeeds& destroys) {
  if (!destroys.is_complete) return unjudged(program);
  const HappensBefore order(program);
  const ByteSegments segments(program);
  const bool is_clean = find_hazards(program, order, segments, {.limit = 0}).is_complete();
  if (is_clean && order.has_scopes()) {
    return find_redundant_of_clean(program, order, segments, work_limit, destroys);
  }
  return RedundancySearch(program, work_limit, destroys).run();
}

}  // namespace interlock
