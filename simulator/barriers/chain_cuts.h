// Chain cuts: which commands between two dispatches every chain from the one to the other needs,
// and which of their words.
#pragma once

#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

// Two accesses that something has to separate, on bytes that each operand covers wholly or not at
// all.
struct OrderedConflict {
  Stage first = Stage::kCompute;  // Of the earlier dispatch.
  Stage second = Stage::kCompute;
  bool is_of_memory = false;  // What the first wrote has to be visible; else order is enough.
  StageAccess sort = StageAccess::kComputeRead;  // Of the second access; if is_of_memory.
  MemoryRange bytes;                             // If is_of_memory.
  uint32_t begin = 0;                            // The commands between the two.
  uint32_t end = 0;
  // One more than the last of them that has an operand on some of the bytes, or a later one.
  uint32_t covered_end = 0;
};

// What is between the two commands of a chain: the stages that it has reached, as in StageMask;
// whether the write is visible to the second access; and the first dispatch itself, from which any
// command may start.
using ChainMarks = uint8_t;
inline constexpr ChainMarks kSeenMark = 1u << 6;
inline constexpr ChainMarks kStartMark = 1u << 7;
static_assert(kStageCount <= 6);

// One command that no chain can do without, where all others are there.
struct ChainCut {
  uint32_t command;
  ChainMarks reached;  // Before it, without it.
  ChainMarks leading;  // From any of these, what comes after the command completes a chain.
};

class ChainCuts {
 public:
  // Requires: one queue; `order` was built from `program`; both outlive this.
  ChainCuts(const Program& program, const ScopedOrder& order);

  // Replaces `cuts` by those of the conflict, the latest first. Returns false if that takes more
  // than `work_left`, which it counts down; then they mean nothing.
  // Requires: the conflict is separated.
  bool find(const OrderedConflict& conflict, uint64_t& work_left, std::vector<ChainCut>& cuts);

  // Without `word`, which is one of the command of the cut, there is no chain any more.
  // Cost: the dependencies of the command, and their operands.
  bool needs(const OrderedConflict& conflict, const ChainCut& cut, const SyncPiece& word) const;

  // Appends where in the bytes of `conflict` operands of the commands between begin or end.
  // Cost: logarithmic, and these operands. Returns the operands looked at.
  uint64_t append_ends(const OrderedConflict& conflict, std::vector<uint64_t>& ends) const;

 private:
  // A dependency, as far as the conflict is concerned: it adds these marks wherever one of those
  // has been reached.
  struct Link {
    ChainMarks from = 0;
    ChainMarks adds = 0;
  };
  struct Operand {
    uint32_t command;
    ByteRange bytes;
  };

  static ChainMarks goal_of(const OrderedConflict& conflict);
  static Link link_of(const ScopedDependency& dependency, bool covers,
                      const OrderedConflict& conflict);
  bool covers(const ScopedDependency& dependency, const OrderedConflict& conflict) const;
  ChainMarks after(uint32_t command, ChainMarks reached, const OrderedConflict& conflict);
  ChainMarks before(uint32_t command, ChainMarks leading, const OrderedConflict& conflict);
  bool begins_within(const OrderedConflict& conflict, uint32_t& command) const;
  uint32_t completed_before_end(const OrderedConflict& conflict) const;
  bool covers_without(uint32_t first, uint32_t count, const SyncPiece& word,
                      const OrderedConflict& conflict) const;

  const Program& program_;
  const ScopedOrder& order_;
  // The commands, rising, that may be the first, or the last, of a chain: by stage where order is
  // enough; of memory by stage, or by sort, if no operand narrows them.
  std::vector<uint32_t> starts_[2][kDispatchStageCount];
  std::vector<uint32_t> ends_of_order_[kDispatchStageCount];
  std::vector<uint32_t> ends_of_memory_[kDispatchSortCount];
  std::vector<std::vector<Operand>> operands_;  // By memory; commands never fall.
  uint64_t steps_ = 0;                          // Since the last find().
  std::vector<ChainMarks> reached_;
};

}  // namespace interlock
