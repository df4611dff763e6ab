#include "encoder/queues/events_encoder.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "encoder/program/stop.h"
#include "encoder/queues/given_queues.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/encoder_dispatch.h"
#include "encoder/sync/interlock_events_encoder.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

namespace interlock {
namespace {

// Records commands, and statements about values where they stand among the dispatches, after what
// sync there is before the next one.
class PlacingSink final : public CommandSink {
 public:
  PlacingSink(const Program& program, RecordingSink& sink) : program_(program), sink_(sink) {}

  void issue_dispatch(DispatchId id) override {
    issue_lifetimes_before(program_.dispatch(id).statement);
    sink_.issue_dispatch(id);
  }
  void issue_barrier(BarrierKind kind) override { sink_.issue_barrier(kind); }
  void issue_scoped_barrier(const Scope& source, const Scope& destination) override {
    sink_.issue_scoped_barrier(source, destination);
  }
  void issue_split() override { sink_.issue_split(); }
  void issue_set(uint32_t event, const Scope& source, const Scope& destination) override {
    sink_.issue_set(event, source, destination);
  }
  void issue_await(uint32_t event) override { sink_.issue_await(event); }

  void issue_lifetimes_before(StatementId end) {
    for (; next_ < program_.lifetimes.size(); ++next_) {
      if (program_.lifetimes[next_].statement >= end) return;
      sink_.issue_lifetime(LifetimeId(next_));
    }
  }

 private:
  const Program& program_;
  RecordingSink& sink_;
  size_t next_ = 0;
};

class EventsOfProgram {
 public:
  explicit EventsOfProgram(const Program& program)
      : program_(program),
        hands_on_(host_has_copies(program)),
        keeps_splits_(!has_given_queues(program)),
        placing_(program, issued_) {}

  // False at a stop.
  bool run() {
    for (size_t i = 0; i < program_.statements.size(); ++i) {
      if (is_stopped()) return false;
      const Statement& statement = program_.statements[i];
      if (statement.kind == StatementKind::kDispatch) {
        add(DispatchId(size_t{statement.index}));
      } else if (statement.kind == StatementKind::kLifetime) {
        if (program_.lifetimes[statement.index].kind != LifetimeKind::kDestroy) continue;
        let_host_wait();
        placing_.issue_lifetimes_before(StatementId(i + 1));
      } else if (statement.kind == StatementKind::kSync) {
        const bool is_split = program_.syncs[statement.index].kind == SyncKind::kSplit;
        if (is_split && keeps_splits_) encoder_.end_command_buffer(placing_);
      }
    }
    encoder_.finish(placing_);
    placing_.issue_lifetimes_before(StatementId(program_.statements.size()));
    return true;
  }

  const RecordingSink& issued() const { return issued_; }

 private:
  void add(DispatchId id) {
    if (program_.dispatch(id).host != HostAccess::kNone) {
      let_host_wait();
      placing_.issue_dispatch(id);
      return;
    }
    encoder_.encode(encoder_dispatch_of(program_, id), placing_);
    is_awaited_ = false;
  }

  // For all that was submitted; what is submitted after that comes after it.
  void let_host_wait() {
    if (is_awaited_) return;
    is_awaited_ = true;
    encoder_.finish(placing_);
    encoder_.join_all();
    if (hands_on_) issued_.issue_barrier(BarrierKind::kFull);
    const SemaphorePoint all = {.semaphore = 0, .value = ++signal_count_};
    issued_.issue_signal(all);
    issued_.issue_sync({.kind = SyncKind::kHostWaits, .points = {all}});
  }

  const Program& program_;
  const bool hands_on_;
  const bool keeps_splits_;
  RecordingSink issued_;
  PlacingSink placing_;
  InterlockEventsEncoder encoder_;
  uint64_t signal_count_ = 0;
  bool is_awaited_ = true;  // By the host: all that was issued.
};

}  // namespace

Result<Program> encode_events(const Program& program, uint32_t /*queue_count*/) {
  if (auto checked = check_host_work_of_no_queue(program); !checked) return checked.error();
  EventsOfProgram events(program);
  if (!events.run()) return Program{};
  return program_on_queues(program, {{std::string(kDefaultQueueName), QueueKind::kConcurrent}},
                           events.issued());
}

}  // namespace interlock
