// The basic idea: what a statement waits for is a few edges, so the reference run is the
// topological order that always takes the first of the text. If no edge leads to a later statement,
// that is the text itself.
#include "simulator/order/reference_order.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/deadlock.h"
#include "simulator/order/edge_cursor.h"
#include "simulator/order/signal_statements.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

// Statements are nodes, and so are joins: all statements of the blocking queues up to one of them,
// or of the legacy-default ones.
class RunGraph {
 public:
  explicit RunGraph(const Program& program)
      : program_(program),
        counts_(host_counts_at_submission(program)),
        signal_of_part_(signal_statements_of(program)),
        edges_to_(program),
        last_of_queue_(program.queue_count(), kNone),
        unsettled_(program.queue_count()),
        node_count_(static_cast<uint32_t>(program.statements.size())) {
    for (uint32_t i = 0; i < program.statements.size(); ++i) {
      if (interlock::is_of_host(program, program.statements[i])) hosts_.push_back(i);
    }
    for (uint32_t i = 0; i < program.statements.size(); ++i) add(i);
  }

  // Whether each statement follows what it waits for in the text.
  bool follows_text() const { return follows_text_; }

  std::vector<StatementId> run() const {
    std::vector<uint32_t> first_edge(node_count_ + 1, 0);
    std::vector<uint32_t> waits(node_count_, 0);
    for (const auto& [from, to] : edges_) {
      ++first_edge[from + 1];
      ++waits[to];
    }
    std::partial_sum(first_edge.begin(), first_edge.end(), first_edge.begin());
    std::vector<uint32_t> targets(edges_.size());
    std::vector<uint32_t> next = first_edge;
    for (const auto& [from, to] : edges_) targets[next[from]++] = to;

    const size_t statement_count = program_.statements.size();
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    std::vector<uint32_t> done;  // And not yet told to those that wait for it.
    std::vector<StatementId> order;
    const auto free = [&](uint32_t node) {
      node < statement_count ? ready.push(node) : done.push_back(node);
    };
    for (uint32_t node = 0; node < node_count_; ++node) {
      if (waits[node] == 0) free(node);
    }
    while (!(ready.empty() && done.empty()) && !is_stopped_at(order.size())) {
      if (done.empty()) {
        done.push_back(ready.top());
        order.push_back(StatementId(size_t{ready.top()}));
        ready.pop();
      }
      const uint32_t node = done.back();
      done.pop_back();
      for (uint32_t e = first_edge[node]; e < first_edge[node + 1]; ++e) {
        if (--waits[targets[e]] == 0) free(targets[e]);
      }
    }
    return order;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void add_edge(uint32_t from, uint32_t to) {
    if (from == kNone) return;
    edges_.emplace_back(from, to);
    follows_text_ = follows_text_ && (from < to || from >= program_.statements.size());
  }

  void add(uint32_t i) {
    const Statement& statement = program_.statements[i];
    const SyncStep* const step =
        statement.kind == StatementKind::kSync ? &program_.syncs[statement.index] : nullptr;
    const bool is_a_wait =
        step != nullptr && (step->kind == SyncKind::kWait || step->kind == SyncKind::kHostWaits);
    if (is_a_wait && step->partner != SyncStep::kNoPartner) {
      add_edge(signal_of_part_[step->partner].index, i);
    }
    // What the host has done before: its own statements, or those before the submission.
    if (counts_[i] > 0) add_edge(hosts_[counts_[i] - 1], i);
    if (interlock::is_of_host(program_, statement)) {
      if (step != nullptr && step->kind == SyncKind::kHostIdle) add_idle(*step, i);
      return;
    }
    if (statement.kind == StatementKind::kDispatch) {
      for (const Edge& edge : edges_to_.to(DispatchId(size_t{statement.index}))) {
        add_edge(program_.dispatch(edge.from).statement.index, i);
      }
    }
    add_edge(last_of_queue_[statement.queue], i);
    last_of_queue_[statement.queue] = i;
    unsettled_[statement.queue].push_back(i);
    if (statement.kind == StatementKind::kLifetime) follow_joined(statement.queue, i);
    if (!runs_on_its_queue(program_, statement)) return;
    const QueueKind kind = program_.kind_of(statement.queue);
    if (kind == QueueKind::kLegacyDefault) join(blocking_, legacy_, i);
    if (kind == QueueKind::kSerialBlocking) join(legacy_, blocking_, i);
  }

  // The statement waits for all of the other side, and is one of its own.
  void join(uint32_t& others, uint32_t& own, uint32_t statement) {
    add_edge(others, statement);
    const uint32_t joined = node_count_++;
    add_edge(own, joined);
    add_edge(statement, joined);
    own = joined;
  }

  // A value ends where a statement of the queue would stand, and none of the other side waits for
  // that.
  void follow_joined(QueueIndex queue, uint32_t end) {
    const QueueKind kind = program_.kind_of(queue);
    if (kind == QueueKind::kLegacyDefault) add_edge(blocking_, end);
    if (kind == QueueKind::kSerialBlocking) add_edge(legacy_, end);
  }

  // The latest of each queue that is submitted by then; it follows the others.
  void add_idle(const SyncStep& idle, uint32_t i) {
    for (size_t q = 0; q < unsettled_.size(); ++q) {
      if (idle.idle_queue != kNoQueue && idle.idle_queue != q) continue;
      std::deque<uint32_t>& statements = unsettled_[q];
      const auto pending = std::ranges::find_if(
          statements, [&](uint32_t statement) { return counts_[statement] > counts_[i]; });
      if (pending == statements.begin()) continue;
      add_edge(*(pending - 1), i);
      // The later ones of the host follow this one.
      statements.erase(statements.begin(), pending);
    }
  }

  const Program& program_;
  const std::vector<uint32_t> counts_;  // host_counts_at_submission().
  std::vector<uint32_t> hosts_;         // The host statements.
  const std::vector<StatementId> signal_of_part_;
  EdgeCursor edges_to_;
  std::vector<uint32_t> last_of_queue_;
  std::vector<std::deque<uint32_t>> unsettled_;  // By queue: those that no idle has waited for.
  uint32_t blocking_ = kNone;                    // The latest join of each side.
  uint32_t legacy_ = kNone;
  uint32_t node_count_;
  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // From what comes first.
  bool follows_text_ = true;
};

}  // namespace

ReferenceOrder find_reference_order(const Program& program) {
  INTERLOCK_CHECK(program.text_order == nullptr);
  ReferenceOrder order;
  const RunGraph graph(program);
  order.is_text_order = graph.follows_text();
  if (order.is_text_order) {
    order.statements.resize(program.statements.size());
    for (size_t i = 0; i < order.statements.size(); ++i) order.statements[i] = StatementId(i);
    return order;
  }
  order.statements = graph.run();
  if (order.statements.size() < program.statements.size() && !is_stopped()) {
    order.cycle = find_deadlock(program, order.statements);
  }
  return order;
}

}  // namespace interlock
