// The basic idea: each queue, and the host, is held by its first statement that has not run. What
// that waits for is of another one, which its own first statement holds. So following the waits
// from one holder to the next ends in a circle, and a breadth-first search finds a shortest one.
#include "simulator/order/deadlock.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/signal_statements.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Queues by index, then the host.
class Holders {
 public:
  struct Wait {
    uint32_t holder = kNone;  // Of what is waited for.
    StatementId waits_for;
    bool is_a_wait = false;
  };

  Holders(const Program& program, std::span<const StatementId> done)
      : program_(program),
        counts_(host_counts_at_submission(program)),
        signal_of_part_(signal_statements_of(program)),
        has_run_(program.statements.size(), false),
        host_(static_cast<uint32_t>(program.queue_count())),
        left_(program.queue_count() + 1) {
    for (const StatementId statement : done) has_run_[statement.index] = true;
    for (uint32_t i = 0; i < has_run_.size(); ++i) {
      if (!has_run_[i]) left_[holder_of(i)].push_back(i);
      if (is_of_host(program, program.statements[i])) hosts_.push_back(i);
    }
    for (uint32_t holder = 0; holder <= host_; ++holder) {
      if (left_[holder].empty()) continue;
      waits_.resize(host_ + 1);
      find_waits(holder);
    }
  }

  uint32_t count() const { return host_ + 1; }
  uint32_t front(uint32_t holder) const { return left_[holder].front(); }
  const std::vector<Wait>& waits(uint32_t holder) const { return waits_[holder]; }

 private:
  uint32_t holder_of(uint32_t statement) const {
    const Statement& s = program_.statements[statement];
    return is_of_host(program_, s) ? host_ : s.queue;
  }

  void find_waits(uint32_t holder) {
    const uint32_t i = front(holder);
    const Statement& statement = program_.statements[i];
    if (holder != host_ && counts_[i] > 0 && !has_run_[hosts_[counts_[i] - 1]]) {
      add(holder, hosts_[counts_[i] - 1], false);
      return;
    }
    if (statement.kind == StatementKind::kSync) {
      const SyncStep& step = program_.syncs[statement.index];
      const bool waits = step.kind == SyncKind::kWait || step.kind == SyncKind::kHostWaits;
      if (waits && step.partner != SyncStep::kNoPartner)
        add(holder, signal_of_part_[step.partner].index, true);
      if (step.kind == SyncKind::kHostIdle) add_idle(step, i);
    }
    if (statement.kind == StatementKind::kDispatch) {
      for (const Edge& edge : program_.edges_to(DispatchId(size_t{statement.index}))) {
        add(holder, program_.dispatch(edge.from).statement.index, true);
      }
    }
    const bool comes_after_joined =
        statement.kind == StatementKind::kLifetime || runs_on_its_queue(program_, statement);
    if (holder == host_ || !comes_after_joined) return;
    const QueueKind kind = program_.kind_of(statement.queue);
    if (kind == QueueKind::kLegacyDefault) add_joined(holder, QueueKind::kSerialBlocking);
    if (kind == QueueKind::kSerialBlocking) add_joined(holder, QueueKind::kLegacyDefault);
  }

  void add(uint32_t holder, uint32_t waits_for, bool is_a_wait) {
    if (has_run_[waits_for]) return;
    waits_[holder].push_back({holder_of(waits_for), StatementId(size_t{waits_for}), is_a_wait});
  }

  // The last of each queue that is submitted by then.
  void add_idle(const SyncStep& idle, uint32_t i) {
    for (uint32_t q = 0; q < host_; ++q) {
      if (idle.idle_queue != kNoQueue && idle.idle_queue != q) continue;
      const auto later = std::ranges::find_if(
          left_[q], [&](uint32_t statement) { return counts_[statement] > counts_[i]; });
      if (later != left_[q].begin()) add(host_, *(later - 1), true);
    }
  }

  // The last one before it of each queue that it joins.
  void add_joined(uint32_t holder, QueueKind kind) {
    for (uint32_t q = 0; q < host_; ++q) {
      if (program_.kind_of(static_cast<QueueIndex>(q)) != kind || left_[q].empty()) continue;
      auto later = std::ranges::upper_bound(left_[q], front(holder));
      while (later != left_[q].begin() &&
             !runs_on_its_queue(program_, program_.statements[*(later - 1)])) {
        --later;
      }
      if (later != left_[q].begin()) add(holder, *(later - 1), true);
    }
  }

  const Program& program_;
  const std::vector<uint32_t> counts_;  // host_counts_at_submission().
  const std::vector<StatementId> signal_of_part_;
  std::vector<bool> has_run_;
  uint32_t host_;
  std::vector<std::vector<uint32_t>> left_;  // By holder: what has not run, in order.
  std::vector<uint32_t> hosts_;              // The host statements.
  std::vector<std::vector<Wait>> waits_;     // By holder: of its first statement.
};

// A shortest circle through `start`, as the wait taken from each holder; empty if there is none of
// fewer than `length_max` holders.
std::vector<std::pair<uint32_t, const Holders::Wait*>> circle_through(const Holders& holders,
                                                                      uint32_t start,
                                                                      size_t length_max) {
  struct Reached {
    uint32_t from = kNone;
    const Holders::Wait* by = nullptr;
    size_t depth = 0;
  };
  std::vector<Reached> reached(holders.count());
  std::queue<uint32_t> next({start});
  while (!next.empty() && !is_stopped()) {
    const uint32_t holder = next.front();
    next.pop();
    if (reached[holder].depth + 1 >= length_max) break;
    for (const Holders::Wait& wait : holders.waits(holder)) {
      if (reached[wait.holder].by != nullptr) continue;
      reached[wait.holder] = {holder, &wait, reached[holder].depth + 1};
      if (wait.holder == start) {
        std::vector<std::pair<uint32_t, const Holders::Wait*>> circle;
        uint32_t at = start;
        do {
          circle.emplace_back(reached[at].from, reached[at].by);
          at = reached[at].from;
        } while (at != start);
        std::ranges::reverse(circle);
        return circle;
      }
      next.push(wait.holder);
    }
  }
  return {};
}

}  // namespace

std::vector<BlockedStatement> find_deadlock(const Program& program,
                                            std::span<const StatementId> done) {
  const Holders holders(program, done);
  std::vector<uint32_t> starts;
  for (uint32_t holder = 0; holder < holders.count(); ++holder) {
    if (!holders.waits(holder).empty()) starts.push_back(holder);
  }
  std::ranges::sort(starts, {}, [&](uint32_t holder) { return holders.front(holder); });
  std::vector<BlockedStatement> shortest;
  for (const uint32_t start : starts) {
    const size_t length_max = shortest.empty() ? SIZE_MAX : shortest.size();
    const auto circle = circle_through(holders, start, length_max);
    if (circle.empty()) continue;
    shortest.clear();
    for (const auto& [holder, wait] : circle) {
      shortest.push_back(
          {StatementId(size_t{holders.front(holder)}), wait->waits_for, wait->is_a_wait});
    }
  }
  // The circle was found from the first of its statements that stands in the text: a later one
  // would not be shorter.
  INTERLOCK_CHECK(!shortest.empty() || is_stopped());
  return shortest;
}

}  // namespace interlock
