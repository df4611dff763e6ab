// Queue links: what a step does for a chain between two accesses in a program of several queues:
// which marks it adds to which.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/barriers/open_marks.h"
#include "simulator/barriers/queue_steps.h"
#include "simulator/barriers/sync_pieces.h"
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

// Where a chain may have got to: stages of queues, the host, what the signals of a queue cover, and
// signals and events. Of memory that the host accesses the upper ones say, beside the others, that
// what it wrote has been made available, or that what it reads has got to its domain.
struct QueueMarks {
  uint64_t places = 0;
  uint64_t signals = 0;
  uint64_t upper_places = 0;
  uint64_t upper_signals = 0;

  bool meets(const QueueMarks& other) const {
    return ((places & other.places) | (signals & other.signals) |
            (upper_places & other.upper_places) | (upper_signals & other.upper_signals)) != 0;
  }
  void remove_signals(uint64_t which) {
    signals &= ~which;
    upper_signals &= ~which;
  }
  void add(const QueueMarks& other) {
    places |= other.places;
    signals |= other.signals;
    upper_places |= other.upper_places;
    upper_signals |= other.upper_signals;
  }
  bool has_stage_of(QueueIndex queue) const;
};

// Adds these marks wherever one of those has been reached.
struct QueueLink {
  QueueMarks from;
  QueueMarks adds;
};

class QueueLinks {
 public:
  // Requires: `steps` are of `program`; both outlive this. Cost: O(n log n) for the signals.
  QueueLinks(const Program& program, const QueueSteps& steps);

  // Goes over to the conflict, `path` being its steps. Returns false if too many signals and events
  // are open at once among them. Cost: linear in the path, and that of OpenMarks.
  bool begin(const QueueConflict& conflict, std::span<const uint32_t> path);

  // As OpenMarks: of a way forward the marks that are over before the step go, of one back those
  // that are made after it.
  void restart() { marks_.restart(); }
  void forget_over(uint32_t step, QueueMarks& marks) {
    marks.remove_signals(marks_.over_before(step));
  }
  void forget_unmade(uint32_t step, QueueMarks& marks) {
    marks.remove_signals(marks_.unmade_after(step));
  }

  // Of the conflict, as those of all that follows.
  static QueueMarks start();
  QueueMarks goal() const;
  bool begins_at(QueueIndex queue) const { return conflict_.first_queue == queue; }
  bool ends_at(QueueIndex queue) const { return conflict_.second_queue == queue; }

  // What the step does; without that piece, if it is not null. Valid until the next call.
  // Cost: linear in the operands of the step.
  std::span<const QueueLink> of(uint32_t step, const SyncPiece* without);
  // The operands looked at since it was last asked.
  uint64_t take_work() { return std::exchange(visit_count_, 0); }

 private:
  enum class Levels : uint8_t {
    kOne,
    kHostWrites,  // The first is of the host: has executed, is available.
    kHostReads,   // The second is: is available, has got to the host's domain.
  };
  // A way from some places to others.
  struct Way {
    QueueMarks from;
    QueueMarks to;
    bool starts = false;  // From the first access itself, too.
    bool shows = false;   // To the second access.
    bool rises = false;   // To the upper level.
  };

  void append(const Way& way);
  Way way_of(const Dependency& dependency, QueueIndex queue) const;
  static Dependency cut(Dependency dependency, const SyncPiece* without);
  std::optional<Way> way_without(uint32_t index, QueueIndex queue, const SyncPiece* without) const;
  bool covers(std::span<const Access> operands, uint32_t first, const SyncPiece* without) const;
  void append_join(const QueueStep& step);
  void append_submission(QueueIndex queue);
  void append_barrier(const Statement& statement, const SyncPiece* without);
  void append_signal(const SyncStep& step, QueueIndex queue, const SyncPiece* without);
  void append_wait(const SyncStep& step, QueueIndex queue, const SyncPiece* without);
  void append_event(const SyncStep& set, bool is_await, QueueIndex queue, const SyncPiece* without);
  void append_idle(const SyncStep& step, const SyncPiece* without);
  void append_move(const SyncStep& step, const SyncPiece* without);
  void append_sync(uint32_t index, QueueIndex queue, const SyncPiece* without);
  bool is_without(const SyncPiece& piece, uint32_t statement) const;

  // Signal parts, dependencies of sets and sets without any, numbered one after another.
  uint32_t token_of_dependency(uint32_t index) const {
    return static_cast<uint32_t>(program_.signal_parts.size()) + index;
  }
  uint32_t token_of_set(uint32_t sync) const {
    return token_of_dependency(static_cast<uint32_t>(program_.dependencies.size()) + sync);
  }
  uint32_t token_count() const {
    return token_of_set(static_cast<uint32_t>(program_.syncs.size()));
  }
  void open(uint32_t token, uint32_t made, uint32_t waited);
  QueueMarks mark_of(uint32_t token) const { return {0, marks_.of(token)}; }
  bool is_unified() const {
    return conflict_.is_of_memory && program_.memory(conflict_.bytes.memory).is_unified;
  }
  bool has_atoms() const {
    return conflict_.is_of_memory && program_.memory(conflict_.bytes.memory).atom_bytes > 0;
  }

  const Program& program_;
  const QueueSteps& steps_;
  const std::vector<uint32_t> lower_;  // By signal part: see lower_signals_of().
  QueueConflict conflict_;
  Levels levels_ = Levels::kOne;
  uint64_t start_place_ = 0;  // What a way begins with that starts.
  OpenMarks marks_;
  mutable uint64_t visit_count_ = 0;  // Of operands, since the last take_work().
  std::vector<QueueLink> links_;      // Of one step.
};

}  // namespace interlock
