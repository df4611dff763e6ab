// The basic idea: what a statement waits for is a few edges from earlier statements, and an issue
// order is a topological order. `program` is one already, so edges lead forwards only.
#include "backends/interface/issue_order.h"

#include <cstddef>
#include <cstdint>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

// Numbers below a bound, of which any can be taken by its rank: a binary indexed tree, in which
// entry i counts the numbers in the (i & -i) positions that end with it (Fenwick 1994).
class RankedSet {
 public:
  explicit RankedSet(size_t bound) : counts_(bound + 1) {
    while (top_ <= bound / 2) top_ *= 2;
  }

  size_t size() const { return size_; }
  void insert(uint32_t number) { add(number, 1); }

  // Removes the number that `rank` smaller ones are in the set with. Requires: rank < size().
  // Cost: log of the bound. So insert().
  uint32_t take(size_t rank) {
    size_t at = 0;
    for (size_t step = top_; step > 0; step /= 2) {
      if (at + step < counts_.size() && counts_[at + step] <= rank) {
        at += step;
        rank -= counts_[at];
      }
    }
    const auto number = static_cast<uint32_t>(at);
    add(number, UINT32_MAX);
    return number;
  }

 private:
  void add(uint32_t number, uint32_t change) {
    size_ = change == 1 ? size_ + 1 : size_ - 1;
    for (size_t i = size_t{number} + 1; i < counts_.size(); i += i & (~i + 1)) counts_[i] += change;
  }

  std::vector<uint32_t> counts_;
  size_t top_ = 1;  // The largest power of two that is a position.
  size_t size_ = 0;
};

class IssueGraph {
 public:
  IssueGraph(const Program& program, const std::vector<StatementId>& fences)
      : program_(program),
        counts_(host_counts_at_submission(program)),
        queues_(program.queue_count()),
        followers_(program.statements.size()),
        wait_counts_(program.statements.size()) {
    signal_of_part_.assign(program.signal_parts.size(), kNone);
    size_t next_fence = 0;
    for (uint32_t i = 0; i < program.statements.size() && !is_stopped(); ++i) {
      add(i);
      const bool is_fence = next_fence < fences.size() && fences[next_fence].index == i;
      if (is_fence) ++next_fence;
      if (fence_ != kNone) add_edge(fence_, i);
      if (!is_fence) continue;
      for (uint32_t k = fence_ == kNone ? 0 : fence_; k < i; ++k) add_edge(k, i);
      fence_ = i;
    }
  }

  std::vector<StatementId> run(Choice* choice) && {
    RankedSet ready(wait_counts_.size());
    for (uint32_t i = 0; i < wait_counts_.size(); ++i) {
      if (wait_counts_[i] == 0) ready.insert(i);
    }
    std::vector<StatementId> order;
    while (ready.size() > 0) {
      if (is_stopped()) break;
      const uint32_t taken = ready.take(choice != nullptr ? choice->below(ready.size()) : 0);
      order.emplace_back(size_t{taken});
      for (const uint32_t follower : followers_[taken]) {
        if (--wait_counts_[follower] == 0) ready.insert(follower);
      }
    }
    INTERLOCK_CHECK(order.size() == wait_counts_.size() || is_stopped());
    return order;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct QueueState {
    uint32_t last = kNone;          // That is no dispatch of a queue whose dispatches may pass.
    std::vector<uint32_t> passing;  // Dispatches since then.
    size_t idled_count = 0;         // So many of these a `host idle` came after,
    uint32_t idle = kNone;          // this one.
  };

  void add_edge(uint32_t from, uint32_t to) {
    if (from == kNone) return;
    INTERLOCK_CHECK(from < to);
    followers_[from].push_back(to);
    ++wait_counts_[to];
  }

  void add(uint32_t i) {
    const Statement& statement = program_.statements[i];
    if (statement.kind == StatementKind::kSync) add_sync(program_.syncs[statement.index], i);
    const bool is_host = is_of_host(program_, statement);
    // What the host has done before: its own statements, or those before the submission.
    if (counts_[i] > 0) add_edge(hosts_[counts_[i] - 1], i);
    if (is_host) {
      hosts_.push_back(i);
    } else {
      add_on_queue(statement, i);
    }
  }

  void add_sync(const SyncStep& step, uint32_t i) {
    for (size_t k = 0; k < program_.parts_of(step).size(); ++k) {
      signal_of_part_[step.first + k] = i;
    }
    const bool is_wait = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
    if (is_wait && step.partner != SyncStep::kNoPartner) {
      add_edge(signal_of_part_[step.partner], i);
    }
    if (step.kind != SyncKind::kHostIdle) return;
    for (QueueIndex q = 0; q < queues_.size(); ++q) {
      if (step.idle_queue != kNoQueue && step.idle_queue != q) continue;
      // An idle before it came after the others, and the host is in order.
      QueueState& queue = queues_[q];
      const bool is_new = queue.last != kNone && (queue.idle == kNone || queue.idle < queue.last);
      if (is_new) add_edge(queue.last, i);
      for (; queue.idled_count < queue.passing.size(); ++queue.idled_count) {
        add_edge(queue.passing[queue.idled_count], i);
      }
      queue.idle = i;
    }
  }

  void add_on_queue(const Statement& statement, uint32_t i) {
    const QueueKind kind = program_.kind_of(statement.queue);
    QueueState& queue = queues_[statement.queue];
    const bool may_pass = statement.kind == StatementKind::kDispatch &&
                          (kind == QueueKind::kConcurrent || kind == QueueKind::kGraph);
    add_edge(queue.last, i);
    if (may_pass) {
      const DispatchId dispatch(size_t{statement.index});
      for (const Edge& edge : program_.edges_to(dispatch)) {
        add_edge(program_.dispatch(edge.from).statement.index, i);
      }
      queue.passing.push_back(i);
    } else {
      for (const uint32_t passing : queue.passing) add_edge(passing, i);
      queue.passing.clear();
      queue.idled_count = 0;
      queue.last = i;
    }
    if (!runs_on_its_queue(program_, statement)) return;
    if (kind == QueueKind::kLegacyDefault) join(QueueKind::kSerialBlocking, i);
    if (kind == QueueKind::kSerialBlocking) join(QueueKind::kLegacyDefault, i);
  }

  void join(QueueKind others, uint32_t i) {
    for (QueueIndex q = 0; q < queues_.size(); ++q) {
      if (program_.kind_of(q) == others) add_edge(queues_[q].last, i);
    }
  }

  const Program& program_;
  const std::vector<uint32_t> counts_;
  std::vector<uint32_t> hosts_;
  std::vector<uint32_t> signal_of_part_;  // Its statement, once there is one.
  std::vector<QueueState> queues_;
  std::vector<std::vector<uint32_t>> followers_;
  std::vector<uint32_t> wait_counts_;
  uint32_t fence_ = kNone;  // The last one.
};

}  // namespace

std::vector<StatementId> issue_order_of(const Program& program,
                                        const std::vector<StatementId>& fences, Choice* choice) {
  std::vector<StatementId> order = IssueGraph(program, fences).run(choice);
  if (!is_stopped()) return order;
  order.clear();
  for (size_t i = 0; i < program.statements.size(); ++i) order.emplace_back(i);
  return order;
}

Result<Program> executable_run(const Program& program) {
  if (program.text_order == nullptr && needs_queue_order(program)) {
    if (!find_reference_order(program).cycle.empty()) {
      return Error{"The program deadlocks: some of its waits wait for each other.",
                   ErrorKind::kRefused};
    }
  }
  return reference_run(program);
}

}  // namespace interlock
