// Queue cuts: as chain_cuts.h, for programs of several queues and the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/queue_links.h"
#include "simulator/barriers/queue_marks.h"
#include "simulator/barriers/queue_steps.h"
#include "simulator/barriers/queue_ways.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// A step that no chain can do without, as ChainCut says.
struct QueueCut {
  uint32_t step;
  QueueMarks reached;
  QueueMarks leading;
  // Not without the step alone, but without what its statement implies besides.
  bool is_with_implied = false;
};

class QueueCuts {
 public:
  static bool can_judge(const Program& program) { return QueueSteps::can_judge(program); }

  // Without `finds_ways_once`, which the cuts do not depend on, what steps do is found anew for
  // each conflict: slower, and for tests. Requires: can_judge(); `program` has whole atoms, and
  // outlives this. Cost: that of QueueSteps, and of QueueLinks.
  explicit QueueCuts(const Program& program, bool finds_ways_once = true)
      : program_(program), steps_(program), links_(program, steps_, finds_ways_once) {}

  const QueueSteps& steps() const { return steps_; }
  // Which statement the step is of; none if it is what a statement implies.
  StatementId statement_of(uint32_t step) const;

  // Replaces `cuts` by those of the conflict. Returns false if that takes more than `work_left`,
  // which it counts down, or if too many signals are open at once in between.
  // Requires: the conflict is separated. Cost: the steps between the two, and the operands of those
  // that may begin or end a chain; each is visited at most once from either side.
  bool find(const QueueConflict& conflict, uint64_t& work_left, std::vector<QueueCut>& cuts);

  // Of the conflict that find() was last called for: without `piece`, which has a part in the step
  // of the cut, there is no chain any more. Cost: the links of the step; of pieces that have a part
  // in another step or imply one, the steps between the two accesses. Adds to `work` what it takes.
  bool needs(const QueueCut& cut, const SyncPiece& piece, uint64_t& work);

  // Two statements go, each of which implies steps: what needs both need not need either.
  bool implies_in_two_places(const SyncPiece& piece) const;

 private:
  // Of marks of one level; what takes these is in queue_cuts_by_table.cc.
  struct Reached {
    uint64_t places = 0;
    uint64_t signals = 0;
  };
  // What has been reached before a step, or leads on after it; the work so far.
  struct Walk {
    Reached marks;
    uint64_t work = 0;
  };

  void take_path(const QueueConflict& conflict);
  bool find_by_table(const QueueConflict& conflict, uint64_t& work_left,
                     std::vector<QueueCut>& cuts);
  void go_forward(std::span<const uint32_t> ways, Walk& walk);
  void go_back(std::span<const uint32_t> ways, Walk& walk);
  bool is_covered(const QueueWay& way, uint64_t& work);
  uint32_t begin_of_implied_rows(uint32_t row, uint32_t begin) const;

  bool is_idle(const QueueStep& step, const QueueMarks& marks, bool is_forward) const;
  bool is_implied(uint32_t step) const { return steps_[step].is_implied(); }
  size_t begin_of_implied(size_t at) const;
  bool implies_steps(StatementId statement) const;
  bool takes_away(const SyncPiece& piece, StatementId statement) const;
  void take(std::span<const QueueLink> links, QueueMarks& reached) const;
  bool has_chain_without(const SyncPiece& piece, uint64_t& work);

  const Program& program_;
  QueueSteps steps_;
  QueueLinks links_;
  QueueConflict conflict_;      // That find() was last called for.
  bool has_path_ = false;       // Of it.
  std::vector<uint32_t> path_;  // The steps between the two accesses that may matter.
  std::vector<QueueMarks> reached_;
  std::vector<Reached> reached_rows_;  // By row of the table, from the first on.
  std::vector<uint32_t> left_over_;    // Steps that the next statement of a queue implies instead.
};

}  // namespace interlock
