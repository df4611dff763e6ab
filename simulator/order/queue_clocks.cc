// The basic idea: a dependency reads the rows at its source end, adds how far its queue has come,
// and raises the rows at its destination end. Between the two ends of a semaphore, of an event or
// of a submission the row waits in a snapshot.
#include "simulator/order/queue_clocks.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "simulator/order/scoped_order.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

ClockColumns columns_of(const Program& program, const Places& places,
                        const std::optional<TrackedBytes>& tracked, const SignalWatch* watch) {
  ClockColumns columns{.count = places.count(), .host = places.host()};
  if (watch != nullptr)
    columns.signals = std::exchange(columns.count, columns.count + watch->column_count);
  if (places.host() == Places::kNone) return columns;
  if (std::ranges::any_of(program.memories, &Memory::is_unified)) columns.unified = columns.count++;
  const bool has_atoms = [&] {
    if (tracked) return program.memory(tracked->memory).atom_bytes > 0;
    return std::ranges::any_of(program.memories, [](const Memory& m) { return m.atom_bytes > 0; });
  }();
  if (has_atoms) columns.moved = columns.count++;
  return columns;
}

}  // namespace

QueueClocks::QueueClocks(const Program& program, const Places& places, const SyncUses& uses,
                         SignalWatch* watch)
    : QueueClocks(program, places, uses, std::nullopt, watch) {
  waits_ = uses.waits;
  awaits_ = uses.awaits;
}

QueueClocks::QueueClocks(const Program& program, const Places& places, const SyncUses& uses,
                         const TrackedBytes& tracked)
    : QueueClocks(program, places, uses, std::optional(tracked), nullptr) {}

QueueClocks::QueueClocks(const Program& program, const Places& places, const SyncUses& uses,
                         std::optional<TrackedBytes> tracked, SignalWatch* watch)
    : program_(program),
      places_(places),
      uses_(uses),
      tracked_(tracked),
      watch_(watch),
      columns_(columns_of(program, places, tracked, watch)),
      graph_(program, places, uses, columns_),
      rows_((program.queue_count() * kStageCount + 1) * 3 * columns_.count),
      visible_(program.queue_count() * kDeviceSortCount * columns_.count),
      queues_(program.queue_count()),
      versions_(program.queue_count() + 1, 0) {
  if (tracked_) {
    // Whatever comes before knows nothing of the write.
    const StatementId begin = program.dispatch(tracked_->writer).statement;
    next_ = begin.index - 1;
    first_moment_ = uses.hosts_before[begin.index];
  }
  save_host();
}

ClockRow QueueClocks::part(QueueIndex queue, Stage stage, size_t which) const {
  const size_t count = columns_.count;
  if (is_graph(queue)) return ClockRow(graph_.current()).subspan(which * count, count);
  return ClockRow(rows_).subspan(row_begin(queue, stage) + which * count, count);
}

std::vector<uint32_t> QueueClocks::executed_before_end_in(QueueIndex queue) const {
  const auto executed_at = [&](Stage stage) {
    return ClockRow(rows_).subspan(row_begin(queue, stage), columns_.count);
  };
  std::vector<uint32_t> row(columns_.count);
  if (queue == kNoQueue) {
    raise_row(row, executed_at(Stage::kHost));
  } else if (program_.kind_of(queue) == QueueKind::kConcurrent) {
    for (const Stage stage : kStages) raise_row(row, executed_at(stage));
  } else {
    row = executed_by(queue);
  }
  if (queue != kNoQueue) {
    const HostMoment& moment = host_moments_[uses_.host_counts[next_] - first_moment_];
    raise_row(row, ClockRow(*moment.row).first(columns_.count));
    if (places_.host() != Places::kNone)
      row[places_.host()] = std::max(row[places_.host()], moment.now);
  }
  return row;
}

std::vector<uint32_t> QueueClocks::executed_by(QueueIndex queue) const {
  Row row = gather(queue, kFullEnds);
  row.resize(columns_.count);
  return row;
}

ClockRow QueueClocks::visible(QueueIndex queue, StageAccess sort) const {
  if (is_of_transition(sort) && !is_graph(queue)) return available(queue, Stage::kTransition);
  return is_graph(queue) ? graph_.visible() : visible_to(queue, sort);
}

ClockRow QueueClocks::visible_to(QueueIndex queue, StageAccess sort) const {
  const size_t at = size_t{queue} * kDeviceSortCount + static_cast<size_t>(sort);
  return ClockRow(visible_).subspan(at * columns_.count, columns_.count);
}

void QueueClocks::arrive() {
  ++next_;
  const Statement& statement = program_.statements[next_];
  if (is_of_host(program_, statement) || !runs_on_its_queue(program_, statement)) return;
  QueueState& queue = queues_[statement.queue];
  const QueueKind kind = program_.kind_of(statement.queue);
  // The barrier that is implied between two statements stands before what comes with the second.
  const bool is_serial = kind != QueueKind::kConcurrent && kind != QueueKind::kGraph;
  // A barrier and its transitions are one of the text.
  const bool is_first = !is_transition_at(next_);
  if (is_serial && is_first && queue.has_statements) full_barrier(statement.queue, statement.queue);
  submit_to(statement.queue, uses_.host_counts[next_]);
  if (kind == QueueKind::kLegacyDefault) join(statement.queue, QueueKind::kSerialBlocking);
  if (kind == QueueKind::kSerialBlocking) join(statement.queue, QueueKind::kLegacyDefault);
  if (kind == QueueKind::kGraph && statement.kind == StatementKind::kDispatch) {
    const ClockRow rows = ClockRow(rows_).subspan(row_begin(statement.queue, Stage::kCompute),
                                                  3 * size_t{columns_.count});
    graph_.arrive(DispatchId(size_t{statement.index}), rows,
                  visible_to(statement.queue, StageAccess::kComputeRead));
    ++versions_[statement.queue];
  }
  if (statement.kind == StatementKind::kDispatch) {
    const Dispatch& dispatch = program_.dispatches[statement.index];
    if (dispatch.is_transition()) arrive_at_transition(dispatch, statement.queue);
  }
}

void QueueClocks::leave() {
  const Statement& statement = program_.statements[next_];
  switch (statement.kind) {
    case StatementKind::kDispatch:
      end_dispatch(DispatchId(size_t{statement.index}));
      break;
    case StatementKind::kBarrier: {
      const Barrier& written = program_.barriers[statement.index];
      await_transitions(written, statement.queue);
      barrier(statement.queue, dependency_ends_of(program_, written.kind,
                                                  program_.dependencies_of(written), tracked_));
      break;
    }
    case StatementKind::kLifetime:
      break;
    case StatementKind::kSync:
      end_sync(program_.syncs[statement.index], statement.queue);
      break;
  }
  if (is_of_host(program_, statement)) {
    save_host();
  } else if (runs_on_its_queue(program_, statement)) {
    queues_[statement.queue].has_statements = true;
    queues_[statement.queue].last_step = next_ + 1;
  }
}

void QueueClocks::end_dispatch(DispatchId dispatch) {
  ++dispatch_count_;
  const bool is_tracked = tracked_ && tracked_->writer == dispatch;
  is_written_ = is_written_ || is_tracked;
  const Dispatch& ended = program_.dispatch(dispatch);
  if (ended.is_transition()) end_transition(ended, program_.queue_of(ended));
  if (!is_graph(program_.queue_of(program_.dispatch(dispatch)))) return;
  const uint32_t number = tracked_ ? uint32_t{is_tracked} : dispatch.index + 1;
  graph_.leave(dispatch, number);
}

void QueueClocks::end_sync(const SyncStep& step, QueueIndex queue) {
  switch (step.kind) {
    case SyncKind::kSignal:
      signal(step, queue);
      break;
    case SyncKind::kWait:
      if (const Snapshot snapshot = use(step.partner)) {
        const StageMask stages = is_graph(queue) ? kAllStages : with_later(step.stages);
        Row row = snapshot->rows();
        if (watch_ != nullptr) watch_wait(step, queue, row);
        deliver(row, queue, {stages, device_accesses_of(stages)});
      }
      break;
    case SyncKind::kSet:
      set_event(step, queue);
      break;
    case SyncKind::kAwait:
      await_event(step, queue);
      break;
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
      break;
    case SyncKind::kHostInvalidates:
      if (!moves_tracked(step)) break;
      see_host();
      is_moved_ = is_moved_ || is_written_;
      break;
    case SyncKind::kHostWaits:
      if (const Snapshot snapshot = use(step.partner)) {
        Row row = snapshot->rows();
        if (watch_ != nullptr) watch_wait(step, queue, row);
        deliver_to_host(row);
      }
      break;
    case SyncKind::kHostSignals:
      host_signal(step);
      break;
    case SyncKind::kHostIdle:
      idle(step.idle_queue);
      break;
    case SyncKind::kHostFlushes:
      is_moved_ = is_moved_ || (is_written_ && moves_tracked(step));
      break;
  }
}

// All earlier statements of the other queues are full dependencies of what comes now.
void QueueClocks::join(QueueIndex queue, QueueKind others) {
  const uint32_t joined_step = std::exchange(queues_[queue].joined_step, next_ + 1);
  for (size_t other = 0; other < queues_.size(); ++other) {
    const bool has_more = queues_[other].last_step > joined_step;
    const QueueIndex index = static_cast<QueueIndex>(other);
    if (has_more && program_.kind_of(index) == others) full_barrier(index, queue);
  }
}

void QueueClocks::full_barrier(QueueIndex from, QueueIndex to) {
  Row row = gather(from, kFullEnds);
  // The signals of a serial queue are among what comes one after another.
  if (watch_ != nullptr && !queues_[from].signaled.empty()) raise_row(row, queues_[from].signaled);
  deliver(row, to, kFullEnds.destination);
}

void QueueClocks::barrier(QueueIndex queue, const std::vector<DependencyEnds>& ends) {
  // The dependencies of one command do not chain.
  std::vector<Row> rows;
  rows.reserve(ends.size());
  for (const DependencyEnds& dependency : ends) rows.push_back(gather(queue, dependency));
  const bool has_transitions = is_transition_at(size_t{next_} + 1);
  after_transitions_.assign(has_transitions ? 3 * size_t{columns_.count} : 0, 0);
  for (size_t i = 0; i < ends.size(); ++i) {
    DependencyDestination destination = ends[i].destination;
    if (has_transitions && has_stage(destination.stages, Stage::kTransition)) {
      // Those of this command are not after it.
      destination.stages &= static_cast<StageMask>(~bit_of(Stage::kTransition));
      raise_row(after_transitions_, rows[i]);
    }
    deliver(rows[i], queue, destination);
  }
}

// The parts of one batch do not cover each other; each covers what earlier batches do (7.4.1).
void QueueClocks::signal(const SyncStep& step, QueueIndex queue) {
  Row& signaled = queues_[queue].signaled;
  Row covered;
  for (uint32_t k = 0; k < step.count; ++k) {
    const uint32_t part_index = step.first + k;
    const SignalPart& part = program_.signal_parts[part_index];
    const StageMask stages = is_graph(queue) ? kAllStages : with_earlier(part.stages);
    Row row = gather(queue, {{stages, device_accesses_of(stages), true}, {}, true});
    if (!signaled.empty()) raise_row(row, signaled);
    if (is_watched(part.semaphore)) watch_signal(part_index, step.statement, row);
    covered.resize(row.size());
    raise_row(covered, row);
    if (!is_waited_for(part_index)) continue;
    signals_.emplace(part_index, queues_[queue].snapshots.take(row));
  }
  signaled.resize(covered.size());
  raise_row(signaled, covered);
}

void QueueClocks::set_event(const SyncStep& step, QueueIndex queue) {
  if (uses_.awaits[step_index(step)] == 0) return;
  std::vector<Row> rows;
  for (const DependencyEnds& ends :
       dependency_ends_of(program_, step.barrier_kind, program_.dependencies_of(step), tracked_)) {
    rows.push_back(gather(queue, ends));
  }
  sets_.emplace(step_index(step), std::move(rows));
}

void QueueClocks::await_event(const SyncStep& step, QueueIndex queue) {
  const SyncStep& set = program_.syncs[step.partner];
  const auto found = sets_.find(step.partner);
  if (found == sets_.end()) return;  // It was set before the walk.
  const std::vector<Row>& rows = found->second;
  const std::vector<DependencyEnds> ends =
      dependency_ends_of(program_, set.barrier_kind, program_.dependencies_of(set), tracked_);
  for (size_t i = 0; i < ends.size(); ++i) deliver(rows[i], queue, ends[i].destination);
  if (!tracked_ && --awaits_[step.partner] == 0) sets_.erase(found);
}

// How far the operations of a column have come; of a tracked write, whether it is done.
uint32_t QueueClocks::now(PlaceIndex column) const {
  if (column == Places::kNone) return 0;
  if (!tracked_) return column == columns_.moved ? next_ + 1 : dispatch_count_;
  if (column == columns_.moved) return is_moved_ ? 1 : 0;
  const PlaceIndex own = own_column();
  const bool is_own = column == own || (own == places_.host() && column == columns_.unified);
  return is_own && is_written_ ? 1 : 0;
}

// What is before the destination of the dependency: what its source has, and all of the queue so
// far in its stages.
QueueClocks::Row QueueClocks::gather(QueueIndex queue, const DependencyEnds& ends) const {
  const size_t count = columns_.count;
  Row row(3 * count);
  for (const Stage stage : kStages) {
    if (!has_stage(ends.source.stages, stage)) continue;
    raise_row(row, ClockRow(rows_).subspan(row_begin(queue, stage), 3 * count));
  }
  if (is_graph(queue)) raise_row(row, graph_.of_all(queue));
  const std::span<uint32_t> executed = std::span(row).first(count);
  const std::span<uint32_t> available = std::span(row).subspan(count, count);
  for (const Stage stage : kStages) {
    const PlaceIndex column = places_.at(queue, stage);
    if (!has_stage(ends.source.stages, stage) || column == Places::kNone) continue;
    executed[column] = std::max(executed[column], now(column));
    const bool writes = stage != Stage::kIndirect && stage != Stage::kHost;
    // What a transition writes is available at once (7.1.1).
    const bool is_available =
        stage == Stage::kTransition ||
        (ends.covers && (ends.source.makes_available & bit_of(write_sort_of(stage))) != 0);
    if (!writes || !is_available) continue;
    available[column] = std::max(available[column], now(column));
  }
  const bool names_host_writes =
      (ends.source.makes_available & bit_of(StageAccess::kHostWrite)) != 0;
  take_host_writes(row, columns_, ends.covers && names_host_writes,
                   ends.covers && ends.source.is_of_memory);
  if ((ends.destination.makes_visible & kHostAccesses) != 0) {
    raise_row(std::span(row).subspan(2 * count, count), available);
  }
  return row;
}

void QueueClocks::deliver(const Row& row, QueueIndex queue,
                          const DependencyDestination& destination) {
  const size_t count = columns_.count;
  ++versions_[index_of(queue)];
  for (const Stage stage : kStages) {
    if (!has_stage(destination.stages, stage)) continue;
    raise_row(std::span(rows_).subspan(row_begin(queue, stage), 3 * count), row);
  }
  const ClockRow available = ClockRow(row).subspan(count, count);
  for (size_t sort = 0; sort < kDeviceSortCount; ++sort) {
    if ((destination.makes_visible >> sort & 1) == 0) continue;
    const size_t at = size_t{queue} * kDeviceSortCount + sort;
    raise_row(std::span(visible_).subspan(at * count, count), available);
  }
}

PlaceIndex QueueClocks::own_column() const {
  return places_.of(tracked_->writer, stage_of(program_.dispatch(tracked_->writer)));
}

bool QueueClocks::is_waited_for(uint32_t part) const { return uses_.waits[part] > 0; }

// The snapshot that the signal part left; none if that was before the walk. The last one who asks
// takes it along.
QueueClocks::Snapshot QueueClocks::use(uint32_t part) {
  const auto found = signals_.find(part);
  if (found == signals_.end()) return nullptr;
  Snapshot snapshot = found->second;
  if (!tracked_ && --waits_[part] == 0) signals_.erase(found);
  return snapshot;
}

}  // namespace interlock
