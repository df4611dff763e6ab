// RecordingSink: the commands that an encoder issued, as a list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/program.h"
#include "encoder/program/result.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/sync_command.h"

namespace interlock {

// A dispatch, a barrier, other sync, or a statement about a value.
struct Command {
  StatementKind kind = StatementKind::kDispatch;
  BarrierKind barrier = BarrierKind::kFull;  // Of kBarrier.
  SyncKind sync = SyncKind::kSplit;          // Of kSync.
  bool is_whole = false;                     // A SyncCommand: into syncs() instead of details().
  QueueIndex queue = kDefaultQueue;
  DispatchId dispatch;  // Of kDispatch.
  // Of scoped barriers and of sync but splits: into details(). Of kLifetime its number.
  uint32_t detail = kNone;

  static constexpr uint32_t kNone = UINT32_MAX;

  bool operator==(const Command&) const = default;
};

struct CommandDetail {
  Scope source;  // Of a scoped barrier and of a set.
  Scope destination;
  SemaphorePoint point;  // Of a signal and a wait.
  uint32_t event = 0;    // Of a set and an await.

  bool operator==(const CommandDetail&) const = default;
};

// `to` comes after `from` on a graph queue.
struct CommandEdge {
  DispatchId from;
  DispatchId to;
  bool is_programmatic = false;
};

class RecordingSink final : public CommandSink {
 public:
  void issue_dispatch(DispatchId id) override {
    commands_.push_back({.kind = StatementKind::kDispatch, .queue = queue_, .dispatch = id});
  }
  void issue_barrier(BarrierKind kind) override {
    commands_.push_back({.kind = StatementKind::kBarrier, .barrier = kind, .queue = queue_});
  }
  void issue_scoped_barrier(const Scope& source, const Scope& destination) override {
    issue_barrier(BarrierKind::kScoped);
    add_detail({.source = source, .destination = destination});
  }
  void issue_split() override { add_sync(SyncKind::kSplit); }
  void use_queue(QueueIndex queue) override { queue_ = queue; }
  void issue_signal(const SemaphorePoint& point) override {
    add_sync(SyncKind::kSignal);
    add_detail({.point = point});
  }
  void issue_wait(const SemaphorePoint& point) override {
    add_sync(SyncKind::kWait);
    add_detail({.point = point});
  }
  void issue_set(uint32_t event, const Scope& source, const Scope& destination) override {
    add_sync(SyncKind::kSet);
    add_detail({.source = source, .destination = destination, .event = event});
  }
  void issue_await(uint32_t event) override {
    add_sync(SyncKind::kAwait);
    add_detail({.event = event});
  }
  void issue_edge(DispatchId from, DispatchId to) override { edges_.push_back({from, to}); }
  void issue_programmatic_edge(DispatchId from, DispatchId to) override {
    edges_.push_back({from, to, true});
  }
  void issue_sync(const SyncCommand& command) override;
  void issue_lifetime(LifetimeId id) override {
    commands_.push_back({.kind = StatementKind::kLifetime, .queue = queue_, .detail = id.index});
  }

  // Makes room for so many commands.
  void reserve(size_t count) { commands_.reserve(count); }

  const std::vector<Command>& commands() const { return commands_; }
  const std::vector<CommandDetail>& details() const { return details_; }
  const std::vector<SyncCommand>& syncs() const { return syncs_; }
  const std::vector<CommandEdge>& edges() const { return edges_; }  // As they were issued.

  // Issues all of it again, edges right before the dispatches that they lead to.
  void issue_again(CommandSink& sink) const;

 private:
  void add_sync(SyncKind kind) {
    commands_.push_back({.kind = StatementKind::kSync, .sync = kind, .queue = queue_});
  }
  void add_detail(const CommandDetail& detail) {
    commands_.back().detail = static_cast<uint32_t>(details_.size());
    details_.push_back(detail);
  }

  std::vector<Command> commands_;
  std::vector<CommandDetail> details_;
  std::vector<SyncCommand> syncs_;
  std::vector<CommandEdge> edges_;
  QueueIndex queue_ = kDefaultQueue;
};

// Errors: a dispatch is dropped, issued twice, or not there; a scoped barrier has no scopes.
// Cost: linear.
Result<Success> check_issued_once(const Program& program, const RecordingSink& issued);

}  // namespace interlock
