// The basic idea is that the host is one queue more to the tracker: it waits as queues do, and each
// queue comes after what the host has done when it is given its next statement.
#include "encoder/queues/host_work.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/queue_tracker.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

namespace interlock {
namespace {

class HostWorkWriter {
 public:
  HostWorkWriter(const Program& program, const QueuesOfDispatches& queues)
      : program_(program),
        queues_(queues),
        host_(static_cast<uint32_t>(queues.queues.size())),
        tracker_(host_ + 1),
        host_joined_(host_, 0) {}

  void run() {
    for (const Statement& statement : program_.statements) {
      if (is_stopped()) return;
      if (statement.kind == StatementKind::kDispatch) {
        const DispatchId id(size_t{statement.index});
        const Dispatch& dispatch = program_.dispatch(id);
        const uint32_t queue =
            dispatch.host == HostAccess::kNone ? queues_.queue_of[id.index] : host_;
        wait_for(queue, program_.declared_accesses_of(id), dispatch.atomic_op);
        operations_.back().dispatch = id;
      } else if (statement.kind == StatementKind::kLifetime) {
        add_lifetime(LifetimeId(size_t{statement.index}), queue_named(statement.queue));
      } else if (is_split(statement)) {
        const uint32_t queue = queue_named(statement.queue);
        if (queue != host_) operations_.push_back({.queue = queue, .is_split = true});
      }
    }
  }

  void issue(SignalPlaces signals, CommandSink& sink) const {
    const std::vector<std::vector<bool>> is_awaited = awaited_numbers();
    std::vector<std::vector<uint64_t>> values(host_);  // By queue, by number: that of its signal.
    for (size_t queue = 0; queue < values.size(); ++queue) {
      values[queue].assign(is_awaited[queue].size(), 0);
      uint64_t last = 0;
      for (size_t number = 1; number < values[queue].size(); ++number) {
        const bool has_signal = signals == SignalPlaces::kEverywhere || is_awaited[queue][number];
        if (has_signal) values[queue][number] = ++last;
      }
    }
    for (const Operation& operation : operations_) issue(operation, values, sink);
  }

 private:
  // A statement, with what it waits for.
  struct Operation {
    uint32_t queue = 0;
    uint64_t number = 0;  // On its queue, as the tracker counts; 0: it orders nothing.
    size_t first_wait = 0;
    size_t end_wait = 0;
    DispatchId dispatch;
    LifetimeId lifetime;
    bool is_split = false;
  };

  bool is_split(const Statement& statement) const {
    return statement.kind == StatementKind::kSync &&
           program_.syncs[statement.index].kind == SyncKind::kSplit;
  }

  // The host where it is none of these queues.
  uint32_t queue_named(QueueIndex queue) const {
    if (queue == kNoQueue) return host_;
    const auto place =
        std::ranges::find(queues_.queues, program_.name_of(queue), &QueueDraft::name);
    return static_cast<uint32_t>(place - queues_.queues.begin());
  }

  void wait_for(uint32_t queue, std::span<const Access> accesses, AtomicOp op) {
    if (queue != host_ && host_joined_[queue] < tracker_.dispatch_count(host_)) {
      tracker_.join(queue, host_);
      host_joined_[queue] = tracker_.dispatch_count(host_);
    }
    const size_t first = waits_.size();
    for (const QueuePoint& point : tracker_.add(queue, accesses, op)) waits_.push_back(point);
    operations_.push_back({.queue = queue,
                           .number = tracker_.dispatch_count(queue),
                           .first_wait = first,
                           .end_wait = waits_.size()});
  }

  // What is destroyed is as good as overwritten; all else about values orders nothing.
  void add_lifetime(LifetimeId id, uint32_t queue) {
    const Lifetime& lifetime = program_.lifetimes[id.index];
    if (lifetime.kind == LifetimeKind::kDestroy) {
      const Access bytes = {.memory = lifetime.memory,
                            .tensor = {},
                            .range = program_.tensor(lifetime.tensor).range,
                            .mode = AccessMode::kWrite};
      wait_for(queue, {&bytes, 1}, AtomicOp::kNone);
    } else {
      operations_.push_back({.queue = queue});
    }
    operations_.back().lifetime = id;
  }

  std::vector<std::vector<bool>> awaited_numbers() const {
    std::vector<std::vector<bool>> is_awaited(host_);
    for (uint32_t queue = 0; queue < host_; ++queue) {
      is_awaited[queue].assign(tracker_.dispatch_count(queue) + 1, false);
    }
    for (const QueuePoint& point : waits_) {
      if (point.queue != host_) is_awaited[point.queue][point.number] = true;
    }
    return is_awaited;
  }

  void issue(const Operation& operation, const std::vector<std::vector<uint64_t>>& values,
             CommandSink& sink) const {
    const bool is_of_host = operation.queue == host_;
    if (!is_of_host) sink.use_queue(static_cast<QueueIndex>(operation.queue));
    if (operation.is_split) return sink.issue_split();
    for (size_t i = operation.first_wait; i < operation.end_wait; ++i) {
      if (waits_[i].queue == host_) continue;
      const SemaphorePoint point = {.semaphore = waits_[i].queue,
                                    .value = values[waits_[i].queue][waits_[i].number]};
      if (is_of_host) {
        sink.issue_sync({.kind = SyncKind::kHostWaits, .points = {point}});
      } else {
        sink.issue_wait(point);
      }
    }
    if (operation.dispatch.is_some()) sink.issue_dispatch(operation.dispatch);
    if (operation.lifetime.is_some()) sink.issue_lifetime(operation.lifetime);
    if (is_of_host || operation.number == 0) return;
    const uint64_t value = values[operation.queue][operation.number];
    if (value > 0) sink.issue_signal({.semaphore = operation.queue, .value = value});
  }

  const Program& program_;
  const QueuesOfDispatches& queues_;
  const uint32_t host_;  // Its number among queues.
  QueueTracker tracker_;
  std::vector<uint64_t> host_joined_;  // By queue: what the host had done when it was joined last.
  std::vector<QueuePoint> waits_;      // Of all operations.
  std::vector<Operation> operations_;
};

}  // namespace

bool has_host_work(const Program& program) {
  return has_host_work_of_no_queue(program) ||
         (has_given_queues(program) && std::ranges::any_of(program.syncs, [](const SyncStep& step) {
            return step.kind == SyncKind::kSplit;
          }));
}

bool has_host_work_of_no_queue(const Program& program) {
  return !program.host_dispatches.empty() || !program.lifetimes.empty() ||
         std::ranges::any_of(program.syncs,
                             [](const SyncStep& step) { return is_of_host(step.kind); });
}

bool host_has_copies(const Program& program) {
  return std::ranges::any_of(program.host_dispatches, [&](DispatchId id) {
    return std::ranges::any_of(program.accesses_of(id), [&](const Access& access) {
      return !program.memory(access.memory).is_unified;
    });
  });
}

Result<Success> check_host_work(const Program& program) {
  if (std::ranges::any_of(program.dispatches, &Dispatch::is_transition)) {
    return Error{
        "a barrier of the program does something to its operands; encoders for several queues place "
        "no such barriers."};
  }
  for (const DispatchId id : program.host_dispatches) {
    for (const Access& access : program.accesses_of(id)) {
      const Memory& memory = program.memory(access.memory);
      if (memory.atom_bytes == 0) continue;
      return error_of(
          "the host accesses '{}', which is not coherent; encoders for several queues place no "
          "flushes and invalidations.",
          program.name(memory.name));
    }
  }
  if (program.has_any(LifetimeKind::kDestroy) && program.has_any(LifetimeKind::kPin)) {
    return Error{
        "the program pins and destroys values; encoders for several queues do not follow which pin "
        "a destroy waits for."};
  }
  return Success{};
}

Result<Success> check_host_work_of_no_queue(const Program& program) {
  for (const Lifetime& lifetime : program.lifetimes) {
    if (program.statements[lifetime.statement.index].queue == kNoQueue) continue;
    return error_of(
        "'{}' acts in the order of a queue, and the encoder chooses the queues. Give all dispatches "
        "queues, or leave that one out.",
        program.text_of(lifetime));
  }
  return check_host_work(program);
}

RecordingSink commands_beside_host(const Program& program, const QueuesOfDispatches& queues,
                                   SignalPlaces signals) {
  HostWorkWriter writer(program, queues);
  writer.run();
  RecordingSink issued;
  if (!is_stopped()) writer.issue(signals, issued);
  return issued;
}

Result<Program> encode_beside_host(const Program& program, const QueuesOfDispatches& queues,
                                   SignalPlaces signals) {
  const RecordingSink issued = commands_beside_host(program, queues, signals);
  if (is_stopped()) return Program{};
  return program_by_rules(program, queues.queues, issued);
}

}  // namespace interlock
