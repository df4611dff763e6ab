// Queue links: what a step does for a chain between two accesses in a program of several queues:
// which marks it adds to which.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/queue_marks.h"
#include "simulator/barriers/queue_steps.h"
#include "simulator/barriers/queue_ways.h"
#include "simulator/barriers/signal_marks.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/barriers/way_table.h"
#include "simulator/order/scoped_order.h"

namespace interlock {

// Two accesses that something has to separate, the earlier one first; not both of the host. A queue
// is kNoQueue if the host's.
struct QueueConflict {
  QueueIndex first_queue = 0;
  QueueIndex second_queue = 0;
  Stage first = Stage::kCompute;
  Stage second = Stage::kCompute;
  bool is_of_memory = false;  // What the first wrote has to be visible; else order is enough.
  StageAccess sort = StageAccess::kComputeRead;  // Of the second access; if is_of_memory.
  MemoryRange bytes;   // If is_of_memory: each operand in between covers all of them, or none.
  uint32_t begin = 0;  // The steps between the two.
  uint32_t end = 0;
};

// Adds these marks wherever one of those has been reached.
struct QueueLink {
  QueueMarks from;
  QueueMarks adds;
};

class QueueLinks {
 public:
  // With `finds_ways_once`, what steps do is found once if so many marks are enough for all signals
  // that are open at any time; else between any two accesses anew.
  // Requires: `steps` are of `program`; both outlive this. Cost: O(n log n) for the signals, and
  // linear.
  QueueLinks(const Program& program, const QueueSteps& steps, bool finds_ways_once);

  // Goes over to the conflict, `path` being its steps. Returns false if too many signals and events
  // are open at once among them. Cost: that of SignalMarks::begin().
  bool begin(const QueueConflict& conflict, std::span<const uint32_t> path);

  // None if ways are not found once. Else begin() needs no path.
  const std::optional<WayTable>& table() const { return table_; }
  // Marks have no upper ones.
  bool has_one_level() const { return levels_ == Levels::kOne; }

  // As SignalMarks: of a way forward the marks that are over before the step go, of one back those
  // that are made after it.
  void restart() { marks_.restart(); }
  void forget_over(uint32_t step, QueueMarks& marks) {
    marks.remove_signals(marks_.over_before(step));
  }
  void forget_unmade(uint32_t step, QueueMarks& marks) {
    marks.remove_signals(marks_.unmade_after(step));
  }

  // Of the conflict, as those of all that follows.
  static QueueMarks start() { return {kFirstAccess}; }
  QueueMarks goal() const;
  bool begins_at(QueueIndex queue) const { return conflict_.first_queue == queue; }
  bool ends_at(QueueIndex queue) const { return conflict_.second_queue == queue; }

  // What the step does; without that piece, if it is not null. Valid until the next call.
  // Cost: linear in the operands of the step.
  std::span<const QueueLink> of(uint32_t step, const SyncPiece* without);

  // Whether a way begins at the first access, or leads to the second one, as far as its operands
  // cover them: which they do, or not, of both at once.
  bool starts(const QueueWay& way) const {
    return way.first_queue == conflict_.first_queue &&
           ((way.first.stages & first_.stages) | (way.first.accesses & first_.accesses)) != 0;
  }
  bool shows(const QueueWay& way) const {
    return way.second_queue == conflict_.second_queue && (way.second & second_) != 0;
  }
  // Requires: the way has operands; the conflict is of memory, or neither matters.
  bool covers(const QueueWay& way, const SyncPiece* without);

  // The operands looked at since it was last asked.
  uint64_t take_work() { return std::exchange(visit_count_, 0); }

 private:
  enum class Levels : uint8_t {
    kOne,
    kHostWrites,  // The first is of the host: has executed, is available.
    kHostReads,   // The second is: is available, has got to the host's domain.
  };

  bool rises(const QueueWay& way) const;
  void append(const QueueWay& way, const SyncPiece* without);
  void append_move(const SyncStep& step, const SyncPiece* without);
  bool covers(std::span<const Access> operands, uint32_t first, const SyncPiece* without);
  bool is_unified() const {
    return conflict_.is_of_memory && program_.memory(conflict_.bytes.memory).is_unified;
  }
  bool has_atoms() const {
    return conflict_.is_of_memory && program_.memory(conflict_.bytes.memory).atom_bytes > 0;
  }

  const Program& program_;
  const QueueSteps& steps_;
  SignalMarks marks_;
  std::optional<WayTable> table_;
  QueueConflict conflict_;
  // What a way has to have to start or show: stages for order, accesses for memory.
  Scope first_;
  AccessMask second_ = 0;
  Levels levels_ = Levels::kOne;
  uint64_t start_place_ = 0;      // What a way begins with that starts.
  uint64_t visit_count_ = 0;      // Of operands, since the last take_work().
  std::vector<QueueWay> ways_;    // Of one step.
  std::vector<QueueLink> links_;  // Likewise.
};

}  // namespace interlock
