#include "encoder/queues/events_encoder.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "encoder/queues/given_queues.h"
#include "encoder/queues/host_work.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/sync/encoder_dispatch.h"
#include "encoder/sync/interlock_events_encoder.h"
#include "encoder/sync/queue_tracker.h"
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

// What the host has to wait for: the device and the host are two queues to trackers, of all that is
// done, and of what the device writes and has to hand on to the host, which a wait alone does not.
class HostNeeds {
 public:
  enum class Need : uint8_t { kNothing, kWait, kWaitAndVisibility };

  explicit HostNeeds(const Program& program)
      : program_(program), is_needed_(has_host_work_of_no_queue(program)) {}

  void add_dispatch(std::span<const Access> accesses, AtomicOp op) {
    if (!is_needed_) return;
    if (std::exchange(host_is_ahead_, false)) {
      all_.join(kDevice, kHost);
      written_.join(kDevice, kHost);
    }
    all_.add(kDevice, accesses, op);
    writes_.clear();
    for (const Access& access : accesses) {
      const bool is_write = access.mode >= AccessMode::kWrite;
      if (!is_write || program_.memory(access.memory).is_unified) continue;
      writes_.push_back(access);
      writes_.back().mode = AccessMode::kWrite;
    }
    written_.add(kDevice, writes_);
  }

  // What has to stand before a statement of the host, which accesses the bytes or ends their value.
  Need add_of_host(std::span<const Access> accesses, bool is_access) {
    host_is_ahead_ = true;
    const bool is_pending = !all_.add(kHost, accesses).empty();
    if (is_access && !written_.add(kHost, accesses).empty()) return Need::kWaitAndVisibility;
    return is_pending ? Need::kWait : Need::kNothing;
  }

  // The host has waited for all that was issued.
  void wait(bool is_handed_on) {
    all_.join(kHost, kDevice);
    if (is_handed_on) written_.join(kHost, kDevice);
  }

 private:
  static constexpr uint32_t kDevice = 0;
  static constexpr uint32_t kHost = 1;

  const Program& program_;
  const bool is_needed_;
  bool host_is_ahead_ = false;  // It has done something since the last dispatch.
  QueueTracker all_{2};
  QueueTracker written_{2};
  std::vector<Access> writes_;
};

class EventsOfProgram {
 public:
  explicit EventsOfProgram(const Program& program)
      : program_(program),
        needs_(program),
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
        if (destroy(program_.lifetimes[statement.index])) {
          placing_.issue_lifetimes_before(StatementId(i + 1));
        }
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
    const Dispatch& dispatch = program_.dispatch(id);
    const std::span<const Access> accesses = program_.declared_accesses_of(id);
    if (dispatch.host != HostAccess::kNone) {
      if (let_host_wait(needs_.add_of_host(accesses, true))) return placing_.issue_dispatch(id);
      // Where it stands: the encoder holds back some of what came before.
      return encoder_.encode({.id = id}, placing_);
    }
    needs_.add_dispatch(accesses, dispatch.atomic_op);
    encoder_.encode(encoder_dispatch_of(program_, id), placing_);
  }

  // All accesses must be over, and nobody looks at the bytes. Returns whether the host waits.
  bool destroy(const Lifetime& lifetime) {
    const Access bytes = {.memory = lifetime.memory,
                          .tensor = {},
                          .range = program_.tensor(lifetime.tensor).range,
                          .mode = AccessMode::kWrite};
    return let_host_wait(needs_.add_of_host({&bytes, 1}, false));
  }

  // For all that was submitted; what is submitted after that comes after it. Returns whether it has
  // to.
  bool let_host_wait(HostNeeds::Need need) {
    if (need == HostNeeds::Need::kNothing) return false;
    const bool is_handed_on = need == HostNeeds::Need::kWaitAndVisibility;
    encoder_.finish(placing_);
    encoder_.join_all();
    needs_.wait(is_handed_on);
    if (is_handed_on) issued_.issue_barrier(BarrierKind::kFull);
    const SemaphorePoint all = {.semaphore = 0, .value = ++signal_count_};
    issued_.issue_signal(all);
    issued_.issue_sync({.kind = SyncKind::kHostWaits, .points = {all}});
    return true;
  }

  const Program& program_;
  HostNeeds needs_;
  const bool keeps_splits_;
  RecordingSink issued_;
  PlacingSink placing_;
  InterlockEventsEncoder encoder_;
  uint64_t signal_count_ = 0;
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
