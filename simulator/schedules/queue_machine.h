// QueueMachine: executes a program with several queues step by step, as devices do it: a program
// counter for the host and for each queue, semaphores that count, and for each queue the set of
// what it has taken and not finished.
//
// It is the second judge of the order of such programs: it shares nothing with the clocks of
// simulator/order/, so that a schedule that they get wrong is caught by a counter; for the host's
// cache it keeps lines of its own (machine_lines.h). What it knows of a dependency is the set of
// pending things that hold it: the operations that were pending when a front end came to a barrier,
// and the earlier barriers and waits that it chains to.
//
// The host, the front ends, barriers and signals go on as soon as they can; whoever drives the
// machine picks the operations. Nothing is lost by that: each such step only lets others go on, and
// takes nothing from anyone.
//
// Where memory is split, what the host writes leaves its cache in a part of its own, and what it
// reads was fetched in one: those that may come before the host gets there are early().
//
// The host and the front ends stand in queue_machine.cc, the parts of operations in
// queue_machine_parts.cc, what front ends take and what holds it in queue_machine_things.cc, that
// of transitions in queue_machine_transitions.cc, what need not be held twice, or is so by one
// thing for many, in queue_machine_pruning.cc, the host's cache in queue_machine_host.cc, the
// sentences in queue_machine_words.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/schedules/machine_lines.h"

namespace interlock {

// Some bytes of one access, all of which the operands of each dependency cover, or none of which.
struct AccessPiece {
  DispatchId dispatch;
  uint32_t access = 0;  // Of the dispatch.
  ByteRange bytes;      // In its memory.
  // By which it is fetched or committed. A write is fetched, too: what it overwrites counts.
  StageAccess sort = StageAccess::kComputeRead;
  // Not of the access: they stand beside it in an atom that the host writes. Its cache takes them
  // along, and puts back what it found there.
  bool is_beside = false;
};

enum class PartRole : uint8_t {
  kFetch,
  kRun,
  kCommit,
  // The host invalidates what it wrote and has not flushed: a commit that comes after it does
  // nothing.
  kDrop,
};

// What a dispatch does in one stage: the arguments of an indirect one are read in kIndirect, before
// the rest of it. Where memory is split, its fetches come before and its commits after, by pieces.
struct OperationPart {
  DispatchId dispatch;
  Stage stage = Stage::kCompute;
  PartRole role = PartRole::kRun;
  uint32_t piece = 0;  // Of a fetch and a commit: QueueMachine::pieces().

  auto operator<=>(const OperationPart&) const = default;
};

// How far a queue runs ahead of a semaphore that it waits for.
enum class FrontEnds : uint8_t {
  kRunAhead,     // `wait s=1 before copy` holds copies, and all else goes on: what is allowed.
  kStopAtWaits,  // A wait holds all that follows in its queue, as on many devices.
};

struct QueueMachineOptions {
  FrontEnds front_ends = FrontEnds::kRunAhead;
  // Operations fetch and commit each of their bytes by themselves, as caches do: a commit only
  // comes before what is held until it is available, and a fetch only after what holds it until it
  // is visible. Else all happens at once. So does what the host does with unified memory.
  bool splits_memory = false;
  // Notes which dependencies have taken things to the host's domain when the host comes to each of
  // its accesses and invalidations. Requires: memory is not split.
  bool follows_host_domain = false;
  // This signal never fires: whatever happens then need not come after it. A position in
  // Program::signal_parts.
  static constexpr uint32_t kNoPart = UINT32_MAX;
  uint32_t withheld = kNoPart;
  // Likewise a wait that is never over: a position in Program::syncs.
  uint32_t withheld_wait = kNoPart;
  // Where so many things hold back the same, or are waited for alike, one more stands for them.
  size_t joined_min = 32;
  // Of looking at what is pending: then the machine halts.
  uint64_t step_limit = UINT64_MAX;
};

class QueueMachine {
 public:
  // At the start of `program`, which stands as in its text or in reference order, and outlives
  // this. What happens is the same: the machine goes by the text. Parts of operations sort as the
  // dispatches do. Cost: linear; where memory is split, times the operands of its dependencies.
  explicit QueueMachine(const Program& program, const QueueMachineOptions& options = {});

  // What may run now, ascending, but for what is early(). Cost of each step, all in all: for each
  // barrier, signal and operation what its queue has pending; it is pruned where a later barrier
  // stands for it.
  const std::set<OperationPart>& enabled() const { return enabled_; }

  // What the host has not come to, and its cache may have fetched by now.
  const std::set<OperationPart>& early() const { return early_; }

  bool may_run(const OperationPart& part) const {
    return enabled_.contains(part) || early_.contains(part);
  }

  // Requires: may_run().
  void run(OperationPart part);

  // All of `dispatch`: what it fetches, runs and commits.
  std::vector<OperationPart> parts_of(DispatchId dispatch) const;

  // The next part of `dispatch` that has not run; none if all have.
  std::optional<OperationPart> next_part(DispatchId dispatch) const;

  // It has run. Requires: it is of this machine. Cost: the parts of its dispatch.
  bool is_over(const OperationPart& part) const { return things_[ticket_of(part)].is_over; }

  // Nothing goes on any more: it took more steps than it may, or a stop was asked for (stop.h).
  bool is_halted() const;
  uint64_t step_count() const { return step_count_; }

  // All statements have been carried out.
  bool is_done() const;

  // Why the next part of `dispatch` may not run now, as a sentence: which counter, barrier or
  // statement holds it. Requires: it has one, and it is not enabled.
  std::string why_held(DispatchId dispatch) const;

  // All that are fetched and committed. None unless memory is split.
  std::span<const AccessPiece> pieces() const { return pieces_; }

  // Pairs of things one of which holds the other now: what the machine remembers of dependencies.
  // Cost: linear in what there is.
  size_t hold_count() const;

  // What a semaphore has come to.
  uint64_t counter(SemaphoreId semaphore) const { return counters_[semaphore.index]; }

  // The host, or the queue, has come to this wait: it has been submitted, and no earlier wait that
  // holds back all of the queue is left. Requires: a kWait or kHostWaits. Cost: what was taken.
  bool has_come_to(const SyncStep& wait) const;

 private:
  using Ticket = uint32_t;

  enum class ThingKind : uint8_t {
    kPart,        // Of an operation.
    kGate,        // A dependency of a barrier, of an event, or a wait: it opens.
    kSignal,      // One part of a signal: it fires.
    kSubmission,  // It hands statements over to a queue.
    kMarker,      // A dependency that takes things to the host's domain is over.
  };
  // A dependency of a command, an edge to a dispatch, or what a serial queue implies after a
  // statement.
  struct DomainEvent {
    static constexpr uint32_t kImplied = UINT32_MAX;

    StatementId statement;
    uint32_t dependency = kImplied;

    auto operator<=>(const DomainEvent&) const = default;
  };
  // What chains that lead to something know of the host.
  struct Known {
    uint32_t host_count = 0;  // Its statements before this one, in text_.
    std::set<DomainEvent> events;

    bool is_empty() const { return host_count == 0 && events.empty(); }
    void add(const Known& other);
  };
  // One end of a dependency.
  struct End {
    StageMask stages = 0;
    AccessMask accesses = 0;
    std::span<const Access> operands = {};  // None: all bytes.
  };
  struct Ends {
    End source;
    End destination;
  };
  // What a front end has taken. It is over when it has run, opened or fired.
  struct Thing {
    ThingKind kind = ThingKind::kPart;
    bool is_taken = false;  // Operations are there before their front end comes to them.
    bool is_over = false;
    bool waits_for_counter = false;
    bool is_early = false;  // A fetch of the host, which has not come to it.
    bool is_joint = false;  // A gate that stands for several: queue_machine_pruning.cc.
    End holds_back;         // Of kGate.
    End takes;              // Of a dependency: its source.
    DomainEvent event;
    Known known;
    size_t handed_count = 0;  // Of kSubmission: of `queue_to`.
    QueueIndex queue_to = kNoQueue;
    QueueIndex queue = kNoQueue;
    StatementId statement;
    OperationPart part;         // Of kPart.
    SignalPart signal;          // Of kSignal.
    uint32_t signal_index = 0;  // Likewise: in Program::signal_parts.
    std::set<Ticket> held_by;   // Not over.
    std::vector<Ticket> holds;  // What has this in held_by.
  };
  struct Standing {
    std::vector<Ticket> tickets;
    size_t compact_at = 64;
    size_t join_at = 0;
  };
  struct QueueState {
    std::vector<uint32_t> positions;  // Of its statements, in text_.
    size_t submitted_count = 0;       // So many are submitted,
    size_t handed_count = 0;          // so many handed over, with what the host wrote before,
    size_t taken_count = 0;           // and so many taken by the front end.
    size_t pending_count = 0;         // Things that are not over.
    // What later things may have to wait for, as it was taken; some of it may be over.
    Standing parts;
    Standing gates;
    // As gates, for what asks for no bytes. What a gate here comes after need not be here, if it
    // holds back no stage that the gate does not.
    Standing orders;
    std::vector<Ticket> last_batch;  // Of its latest signal.
    Known known;                     // Of serial queues, by all that is over.
  };

  // The host's cache, in queue_machine_host.cc.
  void prepare_host();
  void follow_host_domain();
  void add_host_pieces(DispatchId dispatch);
  void add_host_pieces_in(ByteRange bytes, DispatchId dispatch, uint32_t access, bool is_beside);
  void hold_fetches(DispatchId dispatch, const QueueMachine& scout);
  void hold_after_own(DispatchId dispatch);
  bool reaches(const DomainEvent& event, MemoryId memory, ByteRange bytes) const;
  std::optional<DispatchId> source_of_edge(const DomainEvent& event) const;
  void arrive_at(DispatchId dispatch);
  bool drop_at(StatementId invalidation);
  void submit(QueueIndex queue);
  bool is_carried(Ticket commit, uint32_t host_count) const;
  bool hold_by_commits(Ticket gate);
  void pass_implied(QueueIndex queue);
  void end_implied(QueueIndex queue);
  Known known_by_joins(QueueIndex queue) const;
  bool waits_for_commits(QueueIndex queue) const;
  Known known_of_wait(const SyncStep& step) const;
  Known known_of_idle(QueueIndex queue) const;
  bool follows() const { return has_host_parts_ || options_.follows_host_domain; }

  void add_parts(DispatchId dispatch);
  void add_pieces(DispatchId dispatch, uint32_t access, Stage stage);
  void add_pieces_between(const std::set<uint64_t>& cuts, const AccessPiece& whole);
  std::set<uint64_t> cuts_by_operands(MemoryId memory, ByteRange bytes) const;
  // Cuts `whole` where `range` begins and ends.
  static void cut_at(std::set<uint64_t>& cuts, ByteRange whole, ByteRange range);

  // The host and the front ends: each goes one statement on, and returns whether it could.
  bool step_host();
  bool step_front_end(QueueIndex queue);
  void settle();  // As far as they can.
  bool can_pass(const SyncStep& step) const;
  // Of a wait: the counter has come to its value. What comes from outside is there.
  bool is_met(const SyncStep& step) const {
    if (static_cast<uint32_t>(&step - program_.syncs.data()) == options_.withheld_wait)
      return false;
    return step.is_from_outside || counters_[step.semaphore.index] >= step.value;
  }
  bool can_take(QueueIndex queue) const;
  bool is_idle(QueueIndex queue) const;
  bool is_serial(QueueIndex queue) const;
  bool is_transition(StatementId id) const {
    if (id.index >= program_.statements.size()) return false;
    const Statement& statement = program_.statements[id.index];
    return statement.kind == StatementKind::kDispatch &&
           program_.dispatches[statement.index].is_transition();
  }
  const Statement& statement_at(uint32_t position) const {
    return program_.statements[text_[position].index];
  }
  StatementId next_of(const QueueState& queue) const {
    return text_[queue.positions[queue.taken_count]];
  }
  // The gate of an edge.
  bool is_of_edge(const Thing& thing) const {
    if (thing.kind != ThingKind::kGate) return false;
    const Statement& statement = program_.statements[thing.statement.index];
    return statement.kind == StatementKind::kDispatch && !is_transition(thing.statement);
  }
  // Of a transition; none of other statements.
  StatementId barrier_of(StatementId id) const {
    if (!is_transition(id)) return {};
    while (program_.statements[id.index].kind != StatementKind::kBarrier) --id.index;
    return id;
  }
  std::optional<StatementId> joined_statement(QueueIndex queue) const;

  void take(QueueIndex queue, StatementId id);
  void take_dispatch(QueueIndex queue, DispatchId dispatch);
  void take_transition(QueueIndex queue, StatementId id, DispatchId dispatch);
  void take_transition_gates(QueueIndex queue, StatementId id, const Barrier& barrier);
  void hold_by_edge(const Edge& edge);
  void hold_by_edge_gate(QueueIndex queue, const Edge& edge, uint32_t number);
  void take_sync(QueueIndex queue, StatementId id, const SyncStep& step);
  void take_barrier(QueueIndex queue, StatementId id, const Barrier& barrier);
  std::vector<Ends> ends_of(BarrierKind kind, std::span<const Dependency> dependencies) const;
  std::vector<Ticket> take_gates(QueueIndex queue, StatementId id, const std::vector<Ends>& all);
  void take_signal(QueueIndex queue, StatementId id, const SyncStep& step);
  void take_wait(QueueIndex queue, StatementId id, const SyncStep& step);

  static StageMask as_source(StageMask stages);
  static StageMask as_destination(StageMask stages);
  Ticket add_thing(Thing thing);
  Ticket add_gate(QueueIndex queue, StatementId id, const End& holds);
  void name_gate(Ticket gate, const DomainEvent& event);
  Ticket ticket_of(const OperationPart& part) const;
  bool passes_on(const Thing& thing) const;
  void add_known(Ticket to, const Known& known);
  void keep_latest_event(Ticket ticket);
  void hold(Ticket held, Ticket holder);
  void drop_over(Standing& standing);
  void hold_by_gates(Ticket part);
  // But for parts before `covered`, if some.
  void hold_by_source(Ticket held, const End& source, StatementId covered = {});
  bool is_in(const Thing& thing, const End& source) const;
  bool covers(const End& end, const OperationPart& part) const;
  void prune(QueueIndex queue, const Ends& ends);
  void prune_by_event(QueueIndex queue, const SyncStep& await);
  void stand(QueueIndex queue, Ticket gate);
  void join_gates(QueueIndex queue);
  void join_alike(QueueIndex queue, Standing& standing, bool has_bytes);
  void join_runs(QueueIndex queue);
  void prune_waits(QueueIndex queue, const SyncStep& step, StageMask stages);
  // A dependency with these ends waits for the gate, and holds back all that it does.
  bool is_gate_within(const Thing& thing, const Ends& ends) const;
  // The front end is done with it: it may run, open or fire as soon as nothing holds it.
  void release(Ticket ticket);
  void end(Ticket ticket);
  void raise(SemaphoreId semaphore, uint64_t value, const Known& known);

  std::string why_not_taken(QueueIndex queue, StatementId id) const;
  std::string why_held(Ticket ticket) const;
  std::string why_host_waits() const;
  std::string text_of(StatementId id) const;
  std::string text_of_wait(const SyncStep& step) const;

  const Program& program_;
  const QueueMachineOptions options_;
  std::vector<StatementId> text_;       // The statements as they stand in the text.
  uint32_t host_next_ = 0;              // The one that the host is at, in text_.
  std::vector<bool> is_handed_at_end_;  // By position in text_: no `submit` of its queue follows.
  std::vector<QueueState> queues_;
  std::vector<uint64_t> counters_;                            // By semaphore.
  std::vector<std::set<std::pair<uint64_t, Ticket>>> waits_;  // By semaphore: values, gates.
  std::vector<Thing> things_;                                 // By ticket.
  std::vector<Ticket> first_parts_;  // By dispatch: its parts, in order; then one past the last.
  std::vector<AccessPiece> pieces_;
  std::vector<std::vector<Ticket>> event_gates_;  // By sync step, a set.
  std::map<uint32_t, Ticket> transition_gates_;   // By dependency: before what it does.
  std::vector<Ticket> free_;                      // Gates to open, and signals to fire.
  std::set<OperationPart> enabled_;
  std::set<OperationPart> early_;
  uint64_t step_count_ = 0;

  // Of the host's cache.
  bool has_host_parts_ = false;
  std::map<MemoryId, std::set<uint64_t>> host_cuts_;  // Where its writes begin and end.
  std::optional<MachineLines> lines_;                 // Of what is split.
  std::vector<uint32_t> positions_;                   // By statement: in text_.
  std::set<Ticket> cached_;                           // Commits of the host that are to come.
  std::map<StatementId, std::vector<Ticket>> drops_;  // By invalidation.
  std::map<Ticket, uint32_t> carried_from_;  // By commit of the host: none that is not flushed.
  std::map<DomainEvent, Ticket> markers_;
  std::vector<std::map<uint64_t, Known>> fired_;  // By semaphore and value.
  Known host_known_;
  std::map<StatementId, Known> known_at_;  // By statement of the host.
};

}  // namespace interlock
