// Queue cuts: as chain_cuts.h, for programs of several queues with barriers, signals and waits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/sync_pieces.h"

namespace interlock {

// Two accesses that something has to separate, the earlier one first.
struct QueueConflict {
  QueueIndex first_queue = 0;
  QueueIndex second_queue = 0;
  Stage first = Stage::kCompute;
  Stage second = Stage::kCompute;
  bool is_of_memory = false;  // What the first wrote has to be visible; else order is enough.
  StageAccess sort = StageAccess::kComputeRead;  // Of the second access; if is_of_memory.
  uint32_t begin = 0;                            // The steps between the two.
  uint32_t end = 0;
};

// Where a chain may have got to: stages of queues, what the signals of a queue cover, and signals.
struct QueueMarks {
  uint64_t places = 0;
  uint64_t signals = 0;

  bool meets(QueueMarks other) const {
    return (places & other.places) != 0 || (signals & other.signals) != 0;
  }
  void add(QueueMarks other) {
    places |= other.places;
    signals |= other.signals;
  }
};

// A step that no chain can do without, as ChainCut says.
struct QueueCut {
  uint32_t step;
  QueueMarks reached;
  QueueMarks leading;
};

class QueueCuts {
 public:
  // What it can judge: concurrent and serial queues, not too many, in the order of the text, with
  // full, execution and scoped barriers without operands, signals and waits that count up, and
  // dispatches of two stages. No host, events, edges, indirect arguments or ends of values.
  static bool can_judge(const Program& program);

  // Requires: can_judge(). `program` outlives this. Cost: linear.
  explicit QueueCuts(const Program& program);

  // The steps before the dispatch.
  uint32_t steps_before(DispatchId dispatch) const { return steps_before_[dispatch.index]; }
  // Which statement the step is of; none if it is what a serial queue implies between two.
  StatementId statement_of(uint32_t step) const {
    return steps_[step].is_implied ? StatementId() : StatementId(size_t{steps_[step].statement});
  }

  // Replaces `cuts` by those of the conflict. Returns false if that takes more than `work_left`,
  // which it counts down, or if too many signals are waited for in between.
  // Requires: the conflict is separated.
  bool find(const QueueConflict& conflict, uint64_t& work_left, std::vector<QueueCut>& cuts);

  // Without `piece`, which is of the statement of the cut, there is no chain any more.
  bool needs(const QueueConflict& conflict, const QueueCut& cut, const SyncPiece& piece) const;

 private:
  struct Step {
    uint32_t statement;
    QueueIndex queue;
    bool is_implied;  // The full barrier between two statements of a serial queue.
    bool is_sync;     // A signal or a wait.
  };
  // Adds these marks wherever one of those has been reached.
  struct Link {
    QueueMarks from;
    QueueMarks adds;
  };

  void append_barrier(const QueueConflict& conflict, const Statement& statement,
                      const SyncPiece* without) const;
  void append_signal(const QueueConflict& conflict, const SyncStep& step, QueueIndex queue,
                     const SyncPiece* without) const;
  Link link(const QueueConflict& conflict, QueueIndex queue, Scope source, Scope destination) const;
  bool name_part(uint32_t part, const QueueConflict& conflict, uint32_t& part_count);
  QueueMarks part_mark(uint32_t part) const;
  void links_of(const QueueConflict& conflict, uint32_t step, const SyncPiece* without) const;

  const Program& program_;
  std::vector<Step> steps_;
  std::vector<uint32_t> steps_before_;  // By dispatch.
  std::vector<uint32_t> signal_steps_;  // By signal part.
  std::vector<uint32_t> lower_;         // By signal part: see lower_signals_of().
  std::vector<uint32_t> numbers_;       // By signal part: its mark, if named_in_ is this conflict.
  std::vector<uint32_t> named_in_;      // By signal part.
  uint32_t conflict_count_ = 0;
  mutable std::vector<Link> links_;  // Of one step.
  std::vector<QueueMarks> reached_;
};

}  // namespace interlock
