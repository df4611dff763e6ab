// The basic idea: what a step does is known (queue_ways.h) but for whether that is about the two
// accesses at hand; and of memory that the host accesses marks are of two levels.
#include "simulator/barriers/queue_links.h"

#include "simulator/order/dependency_ends.h"

namespace interlock {
namespace {

QueueMarks in_upper(const QueueMarks& marks) { return {0, 0, marks.places, marks.signals}; }

}  // namespace

QueueLinks::QueueLinks(const Program& program, const QueueSteps& steps, bool finds_ways_once)
    : program_(program), steps_(steps), marks_(program, steps, finds_ways_once) {
  if (marks_.are_of_program()) table_.emplace(program, steps, marks_);
}

bool QueueLinks::begin(const QueueConflict& conflict, std::span<const uint32_t> path) {
  conflict_ = conflict;
  levels_ = Levels::kOne;
  if (conflict.is_of_memory && conflict.first_queue == kNoQueue) levels_ = Levels::kHostWrites;
  const bool is_read_by_host = conflict.is_of_memory && conflict.second_queue == kNoQueue;
  if (is_read_by_host && !is_unified()) levels_ = Levels::kHostReads;
  start_place_ = levels_ == Levels::kHostWrites && has_atoms() ? kMoved : kFirstAccess;
  first_ = {};
  second_ = 0;
  if (conflict.is_of_memory) {
    first_.accesses = bit_of(write_sort_of(conflict.first));
    second_ = bit_of(conflict.sort);
  } else {
    first_.stages = bit_of(conflict.first);
  }
  return marks_.begin(conflict.begin, conflict.end, path);
}

QueueMarks QueueLinks::goal() const {
  if (conflict_.second_queue == kNoQueue) {
    if (!conflict_.is_of_memory || is_unified()) return {kAtHost};
    return has_atoms() ? QueueMarks{kSeen} : in_upper({kAtHost});
  }
  if (conflict_.is_of_memory) return {kSeen};
  return {stages_in(conflict_.second_queue, bit_of(conflict_.second))};
}

bool QueueLinks::rises(const QueueWay& way) const {
  if (levels_ == Levels::kHostReads) return way.rises_to_reads;
  return levels_ == Levels::kHostWrites &&
         (way.rises_from_writes || (way.rises_in_unified && is_unified()));
}

void QueueLinks::append(const QueueWay& way, const SyncPiece* without) {
  const bool is_narrow =
      conflict_.is_of_memory && way.dependency != QueueWay::kNone && !covers(way, without);
  const bool rises_here = !is_narrow && rises(way);
  QueueLink lower{{way.from_places, way.from_signals}, {way.to_places, way.to_signals}};
  if (!is_narrow && starts(way)) lower.from.places |= start_place_;
  QueueMarks shown;
  if (!is_narrow && shows(way)) shown.places = kSeen;
  if (levels_ == Levels::kHostWrites) {
    QueueLink upper{in_upper({way.from_places, way.from_signals}), in_upper(lower.adds)};
    upper.adds.add(shown);
    if (rises_here) upper.from.add(lower.from);
    links_.push_back(upper);
  } else {
    lower.adds.add(shown);
  }
  if (levels_ == Levels::kHostReads) {
    const QueueMarks to = in_upper({way.to_places, way.to_signals});
    links_.push_back({in_upper({way.from_places, way.from_signals}), to});
    if (rises_here) lower.adds.add(to);
  }
  links_.push_back(lower);
}

bool QueueLinks::covers(const QueueWay& way, const SyncPiece* without) {
  const Dependency& dependency = program_.dependencies[way.dependency];
  if (without != nullptr && without->dependency != way.dependency) without = nullptr;
  return covers(program_.operands_of(dependency), dependency.first_operand, without);
}

// `first`: where the operands begin in Program::barrier_operands.
bool QueueLinks::covers(std::span<const Access> operands, uint32_t first,
                        const SyncPiece* without) {
  uint32_t gone = SyncPiece::kNone;
  uint32_t stride = Access::kNotStrided;
  if (without != nullptr && without->kind == SyncPieceKind::kOperand) {
    gone = without->operand;
    stride = program_.barrier_operands[gone].stride;
  }
  for (const Access& operand : operands) {
    ++visit_count_;
    const bool is_row_of_it = stride != Access::kNotStrided && operand.stride == stride;
    if (first++ == gone || is_row_of_it) continue;
    const bool touches = operand.memory == conflict_.bytes.memory &&
                         share_a_byte(operand.range, conflict_.bytes.range);
    if (touches) return true;
  }
  return false;
}

void QueueLinks::append_move(const SyncStep& step, const SyncPiece* without) {
  const bool is_gone = without != nullptr && without->kind == SyncPieceKind::kHostMove;
  if (is_gone || !has_atoms()) return;
  if (!covers(program_.operands_of(step), step.first, without)) return;
  if (levels_ == Levels::kHostWrites) {
    links_.push_back({{kFirstAccess}, {kMoved}});
  } else if (levels_ == Levels::kHostReads && step.kind == SyncKind::kHostInvalidates) {
    links_.push_back({in_upper({kAtHost}), {kSeen}});
  }
}

std::span<const QueueLink> QueueLinks::of(uint32_t step, const SyncPiece* without) {
  links_.clear();
  const QueueStep& at = steps_[step];
  const bool takes =
      without != nullptr && !at.is_implied() && takes_from_ways(program_, *without, at.statement);
  if (!takes) without = nullptr;
  if (at.kind == QueueStepKind::kMove) {
    append_move(program_.syncs[program_.statements[at.statement].index], without);
  } else if (table_ && without == nullptr) {
    for (const uint32_t way : table_->ways_of(table_->row_from(step))) {
      append(table_->way(way), nullptr);
    }
  } else {
    ways_.clear();
    append_ways(program_, at, marks_, without, ways_);
    for (const QueueWay& way : ways_) append(way, without);
  }
  return links_;
}

}  // namespace interlock
