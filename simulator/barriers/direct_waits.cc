// The basic idea is to go through the statements with what each queue has waited for since its last
// dispatch: a signal takes that along, and the next dispatch comes after it.
#include "simulator/barriers/direct_waits.h"

#include <algorithm>
#include <utility>

#include "simulator/barriers/wait_certificate.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/edge_cursor.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

// How far some lines have come: one more than the place of a dispatch.
struct Reached {
  uint32_t line;
  uint32_t count;
};

// As much as waits are that pass nothing on.
constexpr size_t kPassedOnMax = size_t{1} << 24;

bool is_of_graphs(const Program& program) {
  return !program.dispatches.empty() &&
         std::ranges::all_of(program.dispatches, [&](const Dispatch& dispatch) {
           const QueueIndex queue = program.queue_of(dispatch);
           return queue != kNoQueue && program.kind_of(queue) == QueueKind::kGraph;
         });
}

// On a serial queue all is in order right before a signal and right after a wait: whatever stages
// of devices they name, they cover and hold back all.
bool is_for_all(StageMask stages) { return (stages & kDeviceStages) != 0; }

bool is_plain_sync(const Program& program, const SyncStep& step) {
  switch (step.kind) {
    case SyncKind::kSignal:
      return !step.is_of_launch &&
             std::ranges::all_of(program.parts_of(step),
                                 [](const SignalPart& part) { return is_for_all(part.stages); });
    case SyncKind::kWait:
      return !step.is_of_launch && !step.is_from_outside && is_for_all(step.stages);
    case SyncKind::kSet:
    case SyncKind::kAwait:  // All is in order on such a queue.
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kHostWaits:
    case SyncKind::kHostSignals:
    case SyncKind::kHostIdle:
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      return true;
  }
  return false;
}

// Of the queues that execute, signal or wait: each is serial, and none joins others.
bool are_plain_queues(const Program& program) {
  bool is_joined = false;
  bool joins = false;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kLifetime || statement.queue == kNoQueue) continue;
    const QueueKind kind = program.kind_of(statement.queue);
    if (!is_serial(kind)) return false;
    if (!program.queues.empty() && program.queues[statement.queue].launched_on != kNoQueue) {
      return false;
    }
    is_joined |= kind == QueueKind::kSerialBlocking;
    joins |= kind == QueueKind::kLegacyDefault;
  }
  return !(is_joined && joins);
}

bool has_exact_dispatches(const Program& program) {
  return std::ranges::none_of(program.dispatches, [](const Dispatch& dispatch) {
    return dispatch.is_transition() || dispatch.is_approximate;
  });
}

class QueueWalk {
 public:
  explicit QueueWalk(const Program& program)
      : program_(program),
        host_counts_(host_counts_at_submission(program)),
        queues_(program.queue_count()) {}

  // False if queues pass on too much, or the host passes on what it has waited for.
  bool run() {
    find_used_waits();
    signaled_.resize(program_.signal_parts.size());
    for (size_t i = 0; i < program_.statements.size(); ++i) {
      const Statement& statement = program_.statements[i];
      if (is_of_host(program_, statement)) {
        if (!add_of_host(statement)) return false;
        ++host_count_;
        continue;
      }
      const bool is_sync = statement.kind == StatementKind::kSync;
      const bool leads_on = statement.kind == StatementKind::kDispatch ||
                            (is_sync && program_.syncs[statement.index].kind == SyncKind::kSignal);
      // What is submitted after the host has waited comes after that.
      if (leads_on && host_counts_[i] > waited_at_) return false;
      if (statement.kind == StatementKind::kDispatch) {
        add_dispatch(statement);
      } else if (is_sync) {
        if (!add_sync(statement.index, queues_[statement.queue])) return false;
      }
    }
    result_.is_by_idle_queue = std::ranges::any_of(
        queues_, [](const OfQueue& queue) { return queue.passes_on && queue.line == UINT32_MAX; });
    return true;
  }

  DirectWaits result() && { return std::move(result_); }

 private:
  struct OfQueue {
    uint32_t line = UINT32_MAX;   // None before its first dispatch.
    std::vector<Reached> waited;  // Since its last dispatch.
    bool passes_on = false;       // Somebody waits for what it has waited for.
    bool follows_some = false;    // A dispatch comes before what it does next, by whatever waits.
  };
  // What a signal covers.
  struct Signaled {
    uint32_t line = UINT32_MAX;
    uint32_t count = 0;
    QueueIndex queue = kNoQueue;
    std::vector<Reached> passed_on;
    bool follows_some = false;
  };

  // False if it signals what it has waited for.
  bool add_of_host(const Statement& statement) {
    if (statement.kind == StatementKind::kDispatch) {
      result_.line_of.push_back(WaitCertificate::kNoLine);
      result_.position_of.push_back(0);
      result_.before_end.push_back(result_.before_of_all.size());
    }
    if (statement.kind != StatementKind::kSync) return true;
    const SyncStep& step = program_.syncs[statement.index];
    bool has_waited = step.kind == SyncKind::kHostIdle && !result_.lines.empty();
    if (step.kind == SyncKind::kHostWaits && step.partner != SyncStep::kNoPartner) {
      has_waited = signaled_[step.partner].follows_some;
    }
    if (has_waited) waited_at_ = std::min(waited_at_, host_count_);
    return step.kind != SyncKind::kHostSignals || waited_at_ == UINT32_MAX;
  }

  void add_dispatch(const Statement& statement) {
    OfQueue& queue = queues_[statement.queue];
    if (queue.line == UINT32_MAX) {
      queue.line = static_cast<uint32_t>(result_.lines.size());
      result_.lines.emplace_back();
    }
    std::vector<uint32_t>& line = result_.lines[queue.line];
    result_.line_of.push_back(queue.line);
    result_.position_of.push_back(static_cast<uint32_t>(line.size()));
    line.push_back(statement.index);
    for (const Reached& reached : queue.waited) {
      if (reached.line == queue.line) continue;
      result_.before_of_all.push_back(result_.lines[reached.line][reached.count - 1]);
    }
    result_.before_end.push_back(result_.before_of_all.size());
    queue.waited.clear();
    queue.follows_some = true;
  }

  // Going back: whatever a dispatch comes after, on its queue or by what that waits for.
  void find_used_waits() {
    is_used_.assign(program_.syncs.size(), false);
    std::vector<bool> has_use(queues_.size(), false);  // By queue: of what stands before here.
    std::vector<bool> is_awaited(program_.signal_parts.size(), false);
    for (size_t i = program_.statements.size(); i-- > 0;) {
      const Statement& statement = program_.statements[i];
      if (is_of_host(program_, statement)) continue;
      if (statement.kind == StatementKind::kDispatch) has_use[statement.queue] = true;
      if (statement.kind != StatementKind::kSync) continue;
      const SyncStep& step = program_.syncs[statement.index];
      if (step.kind == SyncKind::kSignal) {
        for (uint32_t k = step.first; k < step.first + step.count; ++k) {
          if (is_awaited[k]) has_use[statement.queue] = true;
        }
      } else if (step.kind == SyncKind::kWait && has_use[statement.queue]) {
        is_used_[statement.index] = true;
        if (step.partner != SyncStep::kNoPartner) is_awaited[step.partner] = true;
      }
    }
  }

  bool add_sync(uint32_t index, OfQueue& queue) {
    const SyncStep& step = program_.syncs[index];
    if (step.kind == SyncKind::kSignal) return add_signal(step, queue);
    if (step.kind != SyncKind::kWait) return true;
    const bool has_partner = step.partner != SyncStep::kNoPartner;
    const Signaled* const found = has_partner ? &signaled_[step.partner] : nullptr;
    // The host may wait for what no dispatch comes after here.
    queue.follows_some |= found != nullptr && found->follows_some;
    if (!is_used_[index]) return true;
    if (found != nullptr && found->queue == kNoQueue)
      return true;  // The host, which passes on nothing.
    ++result_.wait_count;
    if (found == nullptr) return true;
    const Signaled& signaled = *found;
    if (signaled.count > 0) wait_for({signaled.line, signaled.count}, queue);
    for (const Reached& reached : signaled.passed_on) wait_for(reached, queue);
    if (!signaled.passed_on.empty()) {
      result_.passes_on = true;
      queues_[signaled.queue].passes_on = true;
    }
    return spend(signaled.passed_on.size());
  }

  bool add_signal(const SyncStep& step, OfQueue& queue) {
    const bool has_line = queue.line != UINT32_MAX;
    const auto count = has_line ? static_cast<uint32_t>(result_.lines[queue.line].size()) : 0u;
    const QueueIndex index = program_.statements[step.statement.index].queue;
    for (uint32_t k = 0; k < step.count; ++k) {
      signaled_[step.first + k] = {queue.line, count, index, queue.waited, queue.follows_some};
    }
    return spend(step.count * queue.waited.size());
  }

  static void wait_for(Reached reached, OfQueue& queue) {
    const auto known = std::ranges::find(queue.waited, reached.line, &Reached::line);
    if (known == queue.waited.end()) {
      queue.waited.push_back(reached);
    } else {
      known->count = std::max(known->count, reached.count);
    }
  }

  bool spend(size_t count) {
    passed_on_count_ += count;
    return passed_on_count_ <= kPassedOnMax;
  }

  const Program& program_;
  const std::vector<uint32_t> host_counts_;  // By statement: at its submission.
  uint32_t host_count_ = 0;                  // Statements of the host so far.
  uint32_t waited_at_ = UINT32_MAX;          // The first of them that waits for a dispatch.
  std::vector<OfQueue> queues_;
  std::vector<bool> is_used_;       // By sync step: a wait that some dispatch comes after.
  std::vector<Signaled> signaled_;  // By part of a signal.
  size_t passed_on_count_ = 0;
  DirectWaits result_;
};

// Paths, begun with an edge from the last dispatch of one.
DirectWaits of_edges(const Program& program) {
  DirectWaits result;
  result.is_of_edges = true;
  result.wait_count = program.edges.size();
  EdgeCursor edges(program);
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    const DispatchId id(i);
    uint32_t line = static_cast<uint32_t>(result.lines.size());
    for (const Edge& edge : edges.to(id)) {
      const uint32_t from = edge.from.index;
      result.before_of_all.push_back(from);
      const uint32_t theirs = result.line_of[from];
      const bool is_new = line == result.lines.size();
      if (is_new && result.lines[theirs].back() == from &&
          share_conflicting_bytes(program, edge.from, id)) {
        line = theirs;
      }
    }
    result.before_end.push_back(result.before_of_all.size());
    if (line == result.lines.size()) result.lines.emplace_back();
    result.line_of.push_back(line);
    result.position_of.push_back(static_cast<uint32_t>(result.lines[line].size()));
    result.lines[line].push_back(static_cast<uint32_t>(i));
  }
  return result;
}

}  // namespace

std::optional<DirectWaits> find_direct_waits(const Program& program) {
  if (!has_exact_dispatches(program)) return {};
  if (is_of_graphs(program)) {
    const bool is_plain =
        std::ranges::none_of(program.edges, &Edge::is_programmatic) &&
        std::ranges::all_of(program.syncs,
                            [](const SyncStep& step) { return step.kind == SyncKind::kSplit; }) &&
        std::ranges::all_of(program.queues,
                            [](const Queue& queue) { return queue.launched_on == kNoQueue; });
    if (!is_plain) return {};
    return of_edges(program);
  }
  const bool is_plain =
      std::ranges::all_of(program.syncs,
                          [&](const SyncStep& step) { return is_plain_sync(program, step); }) &&
      are_plain_queues(program);
  if (!is_plain) return {};
  QueueWalk walk(program);
  if (!walk.run()) return {};
  return std::move(walk).result();
}

bool share_conflicting_bytes(const Program& program, DispatchId first, DispatchId second) {
  const Dispatch& a = program.dispatch(first);
  const Dispatch& b = program.dispatch(second);
  for (const Access& x : program.accesses_of(a)) {
    for (const Access& y : program.accesses_of(b)) {
      if (conflict_kinds(x, a.atomic_op, y, b.atomic_op).any()) return true;
    }
  }
  return false;
}

}  // namespace interlock
