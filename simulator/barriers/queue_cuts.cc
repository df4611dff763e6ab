// The basic idea is that of chain_cuts.cc, with more marks (queue_links.h): a signal carries marks
// of its queue to its own, a wait from there to another queue.
#include "simulator/barriers/queue_cuts.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {

StatementId QueueCuts::statement_of(uint32_t step) const {
  return is_implied(step) ? StatementId() : StatementId(size_t{steps_[step].statement});
}

// Nothing has got to where it takes from, or what it adds leads nowhere.
bool QueueCuts::is_idle(const QueueStep& step, const QueueMarks& marks, bool is_forward) const {
  if (!step.is_of_queues()) return false;
  if (!is_forward) return !links_.ends_at(step.queue) && !marks.has_stage_of(step.queue);
  const QueueIndex from = step.kind == QueueStepKind::kJoin ? step.from : step.queue;
  return !links_.begins_at(from) && !marks.has_stage_of(from);
}

// Those of the conflict at hand.
void QueueCuts::take_path(const QueueConflict& conflict) {
  has_path_ = true;
  // The host's cache is between the two.
  const bool is_of_host = conflict.first_queue == kNoQueue || conflict.second_queue == kNoQueue;
  if (is_of_host && conflict.is_of_memory) {
    steps_.take_path(conflict.begin, conflict.end, conflict.bytes, path_);
  } else {
    steps_.take_path(conflict.begin, conflict.end, path_);
  }
}

bool QueueCuts::find(const QueueConflict& conflict, uint64_t& work_left,
                     std::vector<QueueCut>& cuts) {
  cuts.clear();
  conflict_ = conflict;
  has_path_ = false;
  if (links_.table()) {
    // What this needs of the path is in the table.
    INTERLOCK_CHECK(links_.begin(conflict, {}));
    if (links_.has_one_level()) return find_by_table(conflict, work_left, cuts);
  }
  reached_.clear();
  take_path(conflict);
  uint64_t work = 8 + path_.size();
  if (work > work_left || !links_.begin(conflict, path_)) return false;
  uint64_t poll = 0;
  const auto is_too_much = [&] { return work > work_left || is_stopped_at(++poll); };
  const QueueMarks goal = links_.goal();
  QueueMarks reached = QueueLinks::start();
  links_.restart();
  size_t last = 0;  // With it the goal is reached.
  for (;; ++last) {
    INTERLOCK_CHECK(last < path_.size());
    links_.forget_over(path_[last], reached);
    reached_.push_back(reached);
    ++work;
    if (is_too_much()) return false;
    if (is_idle(steps_[path_[last]], reached, true)) continue;
    const QueueMarks before = reached;
    for (const QueueLink& link : links_.of(path_[last], nullptr)) {
      ++work;
      if (link.from.meets(before)) reached.add(link.adds);
    }
    work += links_.take_work();
    if (reached.meets(goal)) break;
  }
  QueueMarks leading = goal;
  for (size_t i = path_.size(); i-- > 0;) {
    ++work;
    if (is_too_much()) return false;
    links_.forget_unmade(path_[i], leading);
    const size_t begin = begin_of_implied(i);
    if (i <= last && !reached_[i].meets(leading)) {
      cuts.push_back({path_[i], reached_[i], leading, false});
    } else if (begin < i && begin <= last && !reached_[begin].meets(leading)) {
      cuts.push_back({path_[i], reached_[begin], leading, true});
    }
    if (is_idle(steps_[path_[i]], leading, false)) continue;
    const QueueMarks after = leading;
    for (const QueueLink& link : links_.of(path_[i], nullptr)) {
      ++work;
      if (link.adds.meets(after)) leading.add(link.from);
    }
    work += links_.take_work();
    if (leading.meets(QueueLinks::start())) break;
  }
  work_left -= std::min(work, work_left);
  return true;
}

// Of a step of a statement the first one that it implies, which stand right before it.
size_t QueueCuts::begin_of_implied(size_t at) const {
  size_t begin = at;
  const uint32_t statement = steps_[path_[at]].statement;
  if (is_implied(path_[at])) return at;
  while (begin > 0 && is_implied(path_[begin - 1]) &&
         steps_[path_[begin - 1]].statement == statement) {
    --begin;
  }
  return begin;
}

// Beside a submission, which the next statement of the queue can do as well.
bool QueueCuts::implies_steps(StatementId statement) const {
  const QueueIndex queue = program_.statements[statement.index].queue;
  return queue != kNoQueue && program_.kind_of(queue) != QueueKind::kConcurrent;
}

bool QueueCuts::implies_in_two_places(const SyncPiece& piece) const {
  return !piece.is_word() && piece.partner.is_some() &&
         (implies_steps(piece.statement) || implies_steps(piece.partner));
}

bool QueueCuts::needs(const QueueCut& cut, const SyncPiece& piece, uint64_t& work) {
  ++work;
  const StatementId at = statement_of(cut.step);
  const Statement& statement = program_.statements[at.index];
  const bool is_of_set = statement.kind == StatementKind::kSync &&
                         program_.syncs[statement.index].kind == SyncKind::kSet;
  // Of a set the await does a part, and of a binary semaphore the wait.
  const bool has_more_steps = piece.is_word() ? is_of_set : implies_steps(at);
  if (piece.is_word() && cut.is_with_implied) return false;
  if (has_more_steps || piece.statement != at) return !has_chain_without(piece, work);
  if (cut.is_with_implied) return false;
  if (!piece.is_word() && piece.kind != SyncPieceKind::kSignal) return true;
  QueueMarks reached = cut.reached;
  for (const QueueLink& link : links_.of(cut.step, &piece)) {
    if (link.from.meets(cut.reached)) reached.add(link.adds);
  }
  work += links_.take_work();
  return !reached.meets(cut.leading);
}

// The whole statement goes.
bool QueueCuts::takes_away(const SyncPiece& piece, StatementId statement) const {
  if (piece.is_word() || !piece.takes_from(statement)) return false;
  const Statement& at = program_.statements[statement.index];
  const bool is_signal =
      at.kind == StatementKind::kSync && program_.syncs[at.index].kind == SyncKind::kSignal;
  return !is_signal || program_.syncs[at.index].count == 1;
}

void QueueCuts::take(std::span<const QueueLink> links, QueueMarks& reached) const {
  const QueueMarks before = reached;
  for (const QueueLink& link : links) {
    if (link.from.meets(before)) reached.add(link.adds);
  }
}

// What a statement that goes implies the next one of its queue does, after a barrier of its own.
bool QueueCuts::has_chain_without(const SyncPiece& piece, uint64_t& work) {
  if (!has_path_) take_path(conflict_);
  const QueueMarks goal = links_.goal();
  QueueMarks reached = QueueLinks::start();
  left_over_.clear();
  links_.restart();
  for (const uint32_t step : path_) {
    ++work;
    links_.forget_over(step, reached);
    const QueueStep& at = steps_[step];
    const bool is_own_join = at.kind == QueueStepKind::kJoin && at.from == at.queue;
    const StatementId statement(size_t{at.statement});
    const bool goes = is_implied(step) && implies_steps(statement) && takes_away(piece, statement);
    if (goes) {
      if (!is_own_join) left_over_.push_back(step);
      continue;
    }
    take(links_.of(step, &piece), reached);
    for (size_t i = 0; is_own_join && i < left_over_.size(); ++i) {
      if (steps_[left_over_[i]].queue == at.queue) take(links_.of(left_over_[i], nullptr), reached);
    }
    work += links_.take_work();
    if (reached.meets(goal)) return true;
  }
  return false;
}

}  // namespace interlock
