#include "simulator/order/joined_ends.h"

#include <algorithm>

#include "simulator/order/clock_rows.h"
#include "simulator/order/submissions.h"

namespace interlock {
namespace {

// Whether statements of the one come after those of the other that stand before them.
bool joins(const Program& program, QueueIndex one, QueueIndex other) {
  const QueueKind kind = program.kind_of(one);
  const QueueKind other_kind = program.kind_of(other);
  return (kind == QueueKind::kLegacyDefault && other_kind == QueueKind::kSerialBlocking) ||
         (kind == QueueKind::kSerialBlocking && other_kind == QueueKind::kLegacyDefault);
}

}  // namespace

JoinedEnds::JoinedEnds(const Program& program) : program_(program) {
  if (program.text_order == nullptr || !program.has_any(LifetimeKind::kDestroy)) return;
  const std::vector<uint32_t>& text = program.text_order->statements;
  std::vector<std::vector<uint32_t>> of_queue(program.queue_count());
  for (uint32_t i = 0; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    if (is_of_host(program, statement)) continue;  // A submission, too.
    if (statement.kind != StatementKind::kLifetime) {
      if (runs_on_its_queue(program, statement)) of_queue[statement.queue].push_back(i);
      continue;
    }
    for (size_t q = 0; q < of_queue.size(); ++q) {
      const QueueIndex queue = static_cast<QueueIndex>(q);
      if (!joins(program, statement.queue, queue)) continue;
      // Statements of one queue run as they stand.
      const auto later = std::ranges::partition_point(
          of_queue[q], [&](uint32_t other) { return text[other] < text[i]; });
      if (later == of_queue[q].end()) continue;
      const uint32_t last = later == of_queue[q].begin() ? kNone : *(later - 1);
      cuts_.push_back({i, queue, last});
      if (last != kNone) kept_.try_emplace(last);
    }
  }
}

void JoinedEnds::see(const QueueClocks& clocks) {
  if (kept_.empty()) return;
  const auto kept = kept_.find(clocks.statement().index);
  if (kept == kept_.end()) return;
  kept->second = clocks.executed_by(program_.statements[kept->first].queue);
}

void JoinedEnds::raise(const QueueClocks& clocks, std::span<uint32_t> row) const {
  const uint32_t end = clocks.statement().index;
  const QueueIndex own = program_.statements[end].queue;
  if (own == kNoQueue) return;
  auto cut = std::ranges::lower_bound(cuts_, end, {}, &Cut::end);
  for (size_t q = 0; q < program_.queue_count(); ++q) {
    const QueueIndex queue = static_cast<QueueIndex>(q);
    if (!joins(program_, own, queue)) continue;
    const bool is_cut = cut != cuts_.end() && cut->end == end && cut->queue == queue;
    if (!is_cut) {
      raise_row(row, clocks.executed_by(queue));
      continue;
    }
    if (cut->last != kNone) raise_row(row, kept_.at(cut->last));
    ++cut;
  }
}

}  // namespace interlock
