// QueueClocks: what is ordered before each place, while the statements of a program with several
// queues go by in reference order.
//
// docs/theory.md, "Several queues", has the model: a dependency has two ends, each with a queue and
// stages; dependencies chain where the destination of one meets the source of a later one on the
// same queue. What is ordered before a place is a prefix of the operations of every place, and so
// is what is available there, and visible to a sort of access of a queue on bytes that no operand
// names. So the whole state is a few rows of numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/clock_rows.h"
#include "simulator/order/clock_snapshot.h"
#include "simulator/order/dependency_ends.h"
#include "simulator/order/graph_rows.h"
#include "simulator/order/places.h"
#include "simulator/order/sync_uses.h"

namespace interlock {

// Semaphores whose signals are watched: whether each fires after the one of the next lower value.
struct SignalWatch {
  struct Use {
    SemaphoreId semaphore;
    StatementId statement;
    uint32_t rank = 0;
  };

  std::vector<uint32_t> columns;   // By semaphore: from 0, or kNone.
  std::vector<uint32_t> ranks;     // By signal part: from 1, rising by value, of its semaphore.
  std::vector<bool> counts_waits;  // By semaphore: a signal fires, and a wait is come to, after the
                                   // wait for the signal of the rank before.
  uint32_t column_count = 0;
  // Signals and waits that need not, in the order of the run.
  std::vector<Use> unordered = {};

  static constexpr uint32_t kNone = UINT32_MAX;
};

class QueueClocks {
 public:
  // At the begin of `program`, which is in reference order. `uses` is of it. All outlive this.
  // `watch`: null, or what signals are added to.
  QueueClocks(const Program& program, const Places& places, const SyncUses& uses,
              SignalWatch* watch = nullptr);

  // Right before the statement of the tracked write, whose walk this is: numbers are 1 where they
  // hold for it, else 0, and operands of dependencies count, which the clocks of all bytes leave
  // out.
  QueueClocks(const Program& program, const Places& places, const SyncUses& uses,
              const TrackedBytes& tracked);

  // Goes on to right before the next statement has its effect: what its queue and its submission
  // order before it is there. Cost: for each statement the rows of its queue; of a legacy-default
  // queue, of all that it joins.
  void arrive();
  // Goes on to right after it. Requires: arrive() was the last call.
  void leave();

  // The statement of the last arrive().
  StatementId statement() const { return StatementId(size_t{next_}); }

  // As of now; of a graph queue, for the operation of the last arrive(). The queue of the host is
  // kNoQueue, and it has one stage.
  ClockRow executed(QueueIndex queue, Stage stage) const { return part(queue, stage, 0); }
  ClockRow available(QueueIndex queue, Stage stage) const { return part(queue, stage, 1); }
  // What has executed before a value ends in the queue now, but for queues that a statement there
  // would join (joined_ends.h): what is before any stage of it; of serial queues and graphs, all of
  // it so far. Cost: the rows of the queue.
  std::vector<uint32_t> executed_before_end_in(QueueIndex queue) const;
  // What is before the queue, and all of it so far. Cost: likewise.
  std::vector<uint32_t> executed_by(QueueIndex queue) const;
  // What has got to the host's domain, and is known at the place (Vulkan 1.3, 7.7.2 and memory
  // model, "Availability and Visibility").
  ClockRow in_host_domain(QueueIndex queue, Stage stage) const { return part(queue, stage, 2); }
  // To accesses of this sort by the queue. Requires: a queue, and a sort of devices.
  // To a transition: what is available.
  ClockRow visible(QueueIndex queue, StageAccess sort) const;

  // Grows whenever a row of the queue may have changed.
  uint32_t version(QueueIndex queue) const { return versions_[index_of(queue)]; }

  const ClockColumns& columns() const { return columns_; }

  // Whether the tracked bytes are there for the host to read or overwrite. Requires: tracked.
  bool is_visible_to_host() const { return is_visible_to_host_; }

 private:
  QueueClocks(const Program& program, const Places& places, const SyncUses& uses,
              std::optional<TrackedBytes> tracked, SignalWatch* watch);

  using Row = OrderRows;
  using SharedRow = std::shared_ptr<const Row>;
  using Snapshot = std::shared_ptr<const ClockSnapshot>;

  // What the host has done before a submission.
  struct HostMoment {
    uint32_t now = 0;
    uint32_t moved = 0;
    SharedRow row;
  };
  struct QueueState {
    bool has_statements = false;
    uint32_t host_count = 0;   // Of its latest submission.
    uint32_t last_step = 0;    // When it had its latest statement: of all statements.
    uint32_t joined_step = 0;  // Legacy-default: when it last joined others, or they it.
    Row signaled;              // What its signals cover; empty: none yet.
    Row come_to;               // What is over when it comes to its next wait; of a watch.
    ClockSnapshots snapshots;  // Of its signals.
  };

  size_t index_of(QueueIndex queue) const {
    return queue == kNoQueue ? queues_.size() : size_t{queue};
  }
  size_t row_begin(QueueIndex queue, Stage stage) const {
    const size_t station = queue == kNoQueue
                               ? queues_.size() * kStageCount
                               : size_t{queue} * kStageCount + static_cast<size_t>(stage);
    return station * 3 * columns_.count;
  }
  ClockRow part(QueueIndex queue, Stage stage, size_t which) const;
  ClockRow visible_to(QueueIndex queue, StageAccess sort) const;
  bool is_graph(QueueIndex queue) const {
    return queue != kNoQueue && program_.kind_of(queue) == QueueKind::kGraph;
  }

  void join(QueueIndex queue, QueueKind others);
  void full_barrier(QueueIndex from, QueueIndex to);
  void barrier(QueueIndex queue, const std::vector<DependencyEnds>& ends);
  bool is_transition_at(size_t statement) const {
    if (statement >= program_.statements.size()) return false;
    const Statement& at = program_.statements[statement];
    return at.kind == StatementKind::kDispatch && program_.dispatches[at.index].is_transition();
  }
  void end_dispatch(DispatchId dispatch);
  void end_sync(const SyncStep& step, QueueIndex queue);
  void signal(const SyncStep& step, QueueIndex queue);
  void set_event(const SyncStep& step, QueueIndex queue);
  void await_event(const SyncStep& step, QueueIndex queue);
  bool is_watched(SemaphoreId semaphore) const {
    return watch_ != nullptr && watch_->columns[semaphore.index] != SignalWatch::kNone;
  }

  uint32_t step_index(const SyncStep& step) const {
    return static_cast<uint32_t>(&step - program_.syncs.data());
  }
  // A flush or an invalidation moves the atoms of what is tracked.
  bool moves_tracked(const SyncStep& step) const;
  uint32_t now(PlaceIndex column) const;
  Row gather(QueueIndex queue, const DependencyEnds& ends) const;
  void deliver(const Row& row, QueueIndex queue, const DependencyDestination& destination);
  bool is_waited_for(uint32_t part) const;
  Snapshot use(uint32_t part);
  PlaceIndex own_column() const;  // Of what is tracked.

  // In queue_clocks_transitions.cc.
  void await_transitions(const Barrier& barrier, QueueIndex queue);
  void arrive_at_transition(const Dispatch& dispatch, QueueIndex queue);
  void end_transition(const Dispatch& dispatch, QueueIndex queue);

  // In queue_clocks_watch.cc.
  void watch_signal(uint32_t part_index, StatementId statement, Row& row);
  void watch_wait(const SyncStep& step, QueueIndex queue, Row& row);

  // In queue_clocks_host.cc.
  void submit_to(QueueIndex queue, uint32_t host_count);
  void host_signal(const SyncStep& step);
  void idle(QueueIndex queue);
  HostMoment host_moment() const;
  void refresh_host_row();
  void save_host();
  void add_host(Row& row, const HostMoment& moment, bool makes_available) const;
  void deliver_to_host(const Row& row);
  void see_host();

  const Program& program_;
  const Places& places_;
  const SyncUses& uses_;
  const std::optional<TrackedBytes> tracked_;
  SignalWatch* const watch_;
  const ClockColumns columns_;
  GraphRows graph_;
  bool is_written_ = false;  // What is tracked has been written.
  bool is_moved_ = false;    // And has left the host's cache since, be it to memory or to nowhere.
  bool is_visible_to_host_ = false;
  std::vector<uint32_t> waits_;   // SyncUses::waits that are still to come; not of a tracked walk.
  std::vector<uint32_t> awaits_;  // Likewise.
  uint32_t next_ = UINT32_MAX;    // The statement of the last arrive().
  uint32_t dispatch_count_ = 0;
  Row rows_;     // By queue and stage; the host's last.
  Row visible_;  // By queue and sort.
  std::vector<QueueState> queues_;
  std::vector<uint32_t> versions_;              // By queue; the host's last.
  uint32_t first_moment_ = 0;                   // Host statements before the walk.
  std::vector<HostMoment> host_moments_;        // By host statements since.
  SharedRow host_row_;                          // The host's, if it has not changed since.
  std::map<uint32_t, Snapshot> signals_;        // By signal part.
  ClockSnapshots host_snapshots_;               // Of the signals of the host.
  std::map<uint32_t, std::vector<Row>> sets_;   // By sync step; by dependency.
  std::map<uint32_t, Row> before_transitions_;  // By dependency: what is before the one to come.
  // What comes after the last transition of the current barrier, of other transitions.
  Row after_transitions_;
};

}  // namespace interlock
