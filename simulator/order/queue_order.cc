#include "simulator/order/queue_order.h"

#include <algorithm>
#include <span>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/joined_ends.h"

namespace interlock {

bool needs_queue_order(const Program& program) {
  if (!program.host_dispatches.empty()) return true;
  if (std::ranges::any_of(program.syncs, [](const SyncStep& step) {
        return step.kind != SyncKind::kSplit && step.kind != SyncKind::kSubmit;
      })) {
    return true;
  }
  // A queue that is declared may be unused.
  const bool has_other_kinds = std::ranges::any_of(
      program.queues, [](const Queue& queue) { return queue.kind != QueueKind::kConcurrent; });
  if ((has_other_kinds || program.queues.size() > 1) &&
      std::ranges::any_of(program.statements, [&](const Statement& statement) {
        return statement.queue != kNoQueue &&
               (statement.queue != kDefaultQueue ||
                program.kind_of(statement.queue) != QueueKind::kConcurrent);
      })) {
    return true;
  }
  return std::ranges::any_of(program.dispatches,
                             [](const Dispatch& dispatch) {
                               return dispatch.stage == Stage::kGraphics ||
                                      dispatch.stage == Stage::kTransition;
                             }) ||
         std::ranges::any_of(program.accesses, [](const Access& access) {
           return access.mode == AccessMode::kIndirect;
         });
}

QueueOrder::QueueOrder(const Program& program, const Program* exact, std::optional<PathPart> part)
    : program_(program),
      exact_(exact == nullptr ? program : *exact),
      places_(program, part.value_or(PathPart())),
      is_too_wide_(!part && places_.is_too_wide()),
      uses_(program),
      host_moves_(exact_) {
  for (const Dependency& dependency : program.dependencies) {
    has_operands_ = has_operands_ || dependency.operand_count > 0;
  }
  if (is_too_wide()) return;
  find_operand_ends();
  QueueClocks clocks(program, places_, uses_);
  columns_ = clocks.columns();
  plan_rows();
  point_of_.reserve(program.dispatches.size());
  std::vector<std::optional<uint32_t>> versions(plans_.size());  // Of the latest point.
  std::vector<size_t> latest(plans_.size());
  const bool has_destroy = program.has_any(LifetimeKind::kDestroy);
  JoinedEnds joined_ends(program);
  for (const Statement& statement : program.statements) {
    clocks.arrive();
    if (statement.kind == StatementKind::kDispatch) {
      const size_t queue = statement.queue == kNoQueue ? plans_.size() - 1 : statement.queue;
      const uint32_t version = clocks.version(statement.queue);
      if (versions[queue] != version) {
        latest[queue] = numbers_.size();
        add_point(clocks, statement.queue);
      }
      versions[queue] = version;
      point_of_.push_back(latest[queue]);
    }
    if (statement.kind == StatementKind::kLifetime && has_destroy) {
      add_lifetime_point(clocks, statement.queue);
      joined_ends.raise(clocks, std::span(numbers_).subspan(lifetime_point_.back()));
    }
    const bool invalidates = columns_.moved != Places::kNone &&
                             statement.kind == StatementKind::kSync &&
                             program.syncs[statement.index].kind == SyncKind::kHostInvalidates;
    if (invalidates) add_invalidation(clocks);
    clocks.leave();
    joined_ends.see(clocks);
    if (is_stopped()) break;
  }
  // Means nothing after a stop, and yet has a row for whoever asks.
  point_of_.resize(program.dispatches.size(), 0);
  if (has_destroy) lifetime_point_.resize(program.lifetimes.size(), 0);
}

void QueueOrder::find_operand_ends() {
  operand_ends_.resize(program_.memories.size());
  for (const Access& operand : program_.barrier_operands) {
    std::vector<uint64_t>& ends = operand_ends_[operand.memory.index];
    // Of a move of the host, in whole atoms; as of every operand, where that changes nothing.
    const ByteRange atoms = in_whole_atoms(program_.memory(operand.memory), operand.range);
    ends.insert(ends.end(), {operand.range.begin, operand.range.end, atoms.begin, atoms.end});
  }
  for (std::vector<uint64_t>& ends : operand_ends_) {
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  }
}

void QueueOrder::plan_rows() {
  RowPlan none;
  none.executed.fill(kNoRow);
  none.visible.fill(kNoRow);
  plans_.assign(program_.queue_count() + 1, none);
  for (size_t queue = 0; queue + 1 < plans_.size(); ++queue) {
    RowPlan& plan = plans_[queue];
    const QueueIndex index = static_cast<QueueIndex>(queue);
    if (program_.kind_of(index) == QueueKind::kGraph) {
      // An edge is about all stages and accesses.
      plan.executed.fill(0);
      plan.visible.fill(1);
      plan.count = 2;
      continue;
    }
    for (const Stage stage : kStages) {
      if ((places_.stages_of(index) & bit_of(stage)) == 0) continue;
      plan.executed[static_cast<size_t>(stage)] = plan.count++;
    }
    for (size_t sort = 0; sort < kStageAccessCount; ++sort) {
      if ((places_.sorts_of(index) >> sort & 1) != 0) plan.visible[sort] = plan.count++;
    }
  }
  if (places_.host() == Places::kNone) return;
  RowPlan& host = plans_.back();
  host.executed[static_cast<size_t>(Stage::kHost)] = host.count++;
  host.visible[static_cast<size_t>(StageAccess::kHostRead)] = host.count++;
  host.visible[static_cast<size_t>(StageAccess::kHostWrite)] = host.count++;
}

void QueueOrder::add_point(const QueueClocks& clocks, QueueIndex queue) {
  const auto append = [this](ClockRow row) {
    numbers_.insert(numbers_.end(), row.begin(), row.end());
  };
  if (queue == kNoQueue) {
    append(clocks.executed(kNoQueue, Stage::kHost));
    append(clocks.in_host_domain(kNoQueue, Stage::kHost));
    append(clocks.available(kNoQueue, Stage::kHost));
    return;
  }
  if (program_.kind_of(queue) == QueueKind::kGraph) {
    append(clocks.executed(queue, Stage::kCompute));
    append(clocks.visible(queue, StageAccess::kComputeRead));
    return;
  }
  const RowPlan& plan = plan_of(queue);
  for (const Stage stage : kStages) {
    if (plan.executed[static_cast<size_t>(stage)] != kNoRow) append(clocks.executed(queue, stage));
  }
  for (size_t sort = 0; sort < kStageAccessCount; ++sort) {
    if (plan.visible[sort] != kNoRow) append(clocks.visible(queue, static_cast<StageAccess>(sort)));
  }
}

void QueueOrder::add_lifetime_point(const QueueClocks& clocks, QueueIndex queue) {
  lifetime_point_.push_back(numbers_.size());
  const std::vector<uint32_t> row = clocks.executed_before_end_in(queue);
  numbers_.insert(numbers_.end(), row.begin(), row.end());
  // The host does one after another.
  const bool is_of_host = queue == kNoQueue && places_.host() != Places::kNone;
  if (is_of_host) numbers_[lifetime_point_.back() + places_.host()] = UINT32_MAX;
}

// Where nothing has come to the host since the last one, that one's numbers will do.
void QueueOrder::add_invalidation(const QueueClocks& clocks) {
  const ClockRow row = clocks.in_host_domain(kNoQueue, Stage::kHost);
  const uint32_t statement = clocks.statement().index;
  if (!invalidations_.empty()) {
    const size_t last = invalidations_.back().point;
    if (std::ranges::equal(row, ClockRow(numbers_).subspan(last, row.size()))) {
      invalidations_.push_back({statement, last});
      return;
    }
  }
  invalidations_.push_back({statement, numbers_.size()});
  numbers_.insert(numbers_.end(), row.begin(), row.end());
}

uint32_t QueueOrder::unfinished_begin(PlaceIndex place, LifetimeId at) const {
  return numbers_[lifetime_point_[at.index] + place];
}

ClockRow QueueOrder::row(DispatchId dispatch, uint32_t index) const {
  INTERLOCK_CHECK(index != kNoRow);
  return ClockRow(numbers_).subspan(point_of_[dispatch.index] + size_t{index} * columns_.count,
                                    columns_.count);
}

uint32_t QueueOrder::unfinished_begin(PlaceIndex place, DispatchId second, Stage stage) const {
  // The host does one after another.
  const QueueIndex queue = program_.queue_of(program_.dispatch(second));
  if (queue == kNoQueue && place == places_.host()) return second.index;
  return row(second, plan_of(queue).executed[static_cast<size_t>(stage)])[place];
}

uint32_t QueueOrder::invisible_begin(PlaceIndex place, DispatchId second, StageAccess sort,
                                     MemoryId memory) const {
  const QueueIndex queue = program_.queue_of(program_.dispatch(second));
  const Memory& of = program_.memory(memory);
  const bool is_by_host = place == places_.host();
  if (queue == kNoQueue) {
    if (is_by_host) return second.index;
    if (of.atom_bytes > 0) return 0;
    const StageAccess row_sort = of.is_unified ? StageAccess::kHostWrite : StageAccess::kHostRead;
    return row(second, plan_of(queue).visible[static_cast<size_t>(row_sort)])[place];
  }
  if (is_by_host && of.atom_bytes > 0) return 0;
  const PlaceIndex column = is_by_host && of.is_unified ? columns_.unified : place;
  return row(second, plan_of(queue).visible[static_cast<size_t>(sort)])[column];
}

// Whether it depends on what the host flushes or invalidates.
bool QueueOrder::is_about_cache(DispatchId first, DispatchId second, MemoryId memory) const {
  if (program_.memory(memory).atom_bytes == 0) return false;
  return program_.queue_of(program_.dispatch(first)) == kNoQueue ||
         program_.queue_of(program_.dispatch(second)) == kNoQueue;
}

std::optional<ByteRange> QueueOrder::find_invisible(DispatchId first, DispatchId second,
                                                    StageAccess sort, MemoryId memory,
                                                    ByteRange bytes, uint64_t* step_count) const {
  INTERLOCK_CHECK(first < second);
  if (host_moves_.lost().empty()) {
    return find_unseen(first, second, sort, memory, bytes, step_count);
  }
  const auto find_next = [&](ByteRange rest) {
    const auto unseen = find_unseen(first, second, sort, memory, rest, step_count);
    const auto lost = find_lost(first, second, sort, memory, rest);
    return !unseen || (lost && lost->begin < unseen->begin) ? lost : unseen;
  };
  std::optional<ByteRange> all = find_next(bytes);
  while (all && all->end < bytes.end && !is_stopped()) {
    const std::optional<ByteRange> next = find_next({all->end, bytes.end});
    if (!next || next->begin > all->end) break;
    all->end = next->end;
  }
  return all;
}

std::optional<ByteRange> QueueOrder::find_lost(DispatchId first, DispatchId second,
                                               StageAccess sort, MemoryId memory,
                                               ByteRange bytes) const {
  const Dispatch& reader = program_.dispatch(second);
  if (bytes.is_empty() || (is_write(sort) && !reader.is_partial)) return std::nullopt;
  // Of all accesses of the reader, each of which has a first run of its own.
  std::optional<ByteRange> first_run;
  for (const Access& access : exact_.accesses_of(second)) {
    if (access.memory != memory || !share_a_byte(access.range, bytes)) continue;
    const ByteRange read = intersection(access.range, bytes);
    for (const HostMoves::Lost& lost : host_moves_.lost_by(first, memory, read.begin)) {
      if (lost.bytes.begin >= read.end) break;
      const bool is_lost_then =
          lost.from < reader.statement.index && reader.statement.index <= lost.until;
      if (!is_lost_then) continue;
      const ByteRange run = intersection(lost.bytes, read);
      if (!first_run || run.begin < first_run->begin) first_run = run;
      break;
    }
  }
  return first_run;
}

std::optional<ByteRange> QueueOrder::find_unseen(DispatchId first, DispatchId second,
                                                 StageAccess sort, MemoryId memory, ByteRange bytes,
                                                 uint64_t* step_count) const {
  const PlaceIndex place = place_of(first, stage_of(program_.dispatch(first)));
  if (bytes.is_empty() || first.index < invisible_begin(place, second, sort, memory)) {
    return std::nullopt;
  }
  const bool is_of_cache = is_about_cache(first, second, memory);
  if (!has_operands_ && !is_of_cache) return bytes;
  // What is visible has been ordered too.
  if (first.index >= unfinished_begin(place, second, stage_of(sort))) return bytes;
  if (!needs_walk()) return find_unmoved(first, second, sort, memory, bytes, step_count);
  std::optional<ByteRange> invisible;
  ByteRange run = {bytes.begin, bytes.begin};
  for (const uint64_t end : ends_of_operands(memory, bytes)) {
    run = {run.end, end};
    if (is_stopped()) return bytes;  // Means nothing (stop.h).
    if (is_invisible({first, memory, run}, second, sort, step_count)) {
      if (!invisible) invisible = run;
      invisible->end = run.end;
    } else if (invisible) {
      break;
    }
  }
  return invisible;
}

// What the host writes is visible where its cache's move is; what a device writes, to the host,
// where it was in the host's domain when the host dropped what it had.
std::optional<ByteRange> QueueOrder::find_unmoved(DispatchId first, DispatchId second,
                                                  StageAccess sort, MemoryId memory,
                                                  ByteRange bytes, uint64_t* step_count) const {
  const bool is_by_host = program_.queue_of(program_.dispatch(first)) == kNoQueue;
  const auto is_visible = [&](uint32_t move) {
    if (move == HostMoves::kNever) return false;
    if (is_by_host) {
      const QueueIndex queue = program_.queue_of(program_.dispatch(second));
      const uint32_t index = plan_of(queue).visible[static_cast<size_t>(sort)];
      return move < row(second, index)[columns_.moved];
    }
    const auto at = std::ranges::lower_bound(invalidations_, move, {}, &Invalidation::statement);
    if (at == invalidations_.end()) return false;  // After a stop.
    const PlaceIndex place = place_of(first, stage_of(program_.dispatch(first)));
    return first.index < numbers_[at->point + place];
  };
  const auto moves =
      is_by_host ? host_moves_.first_after(first) : host_moves_.last_invalidation(second);
  if (moves.empty()) return bytes;  // Nothing moves anything.
  const auto begin = std::ranges::partition_point(moves, [&](const HostMoves::Move& move) {
    return std::pair(move.memory, move.bytes.end) <= std::pair(memory, bytes.begin);
  });
  std::optional<ByteRange> invisible;
  for (auto move = begin; move != moves.end() && move->memory == memory; ++move) {
    if (move->bytes.begin >= bytes.end) break;
    if (step_count != nullptr) ++*step_count;
    if (is_visible(move->at)) {
      if (invisible) break;
      continue;
    }
    const ByteRange shared = intersection(move->bytes, bytes);
    if (!invisible) invisible = shared;
    invisible->end = shared.end;
  }
  return invisible;
}

// Where the bytes that operands tell apart end, the last one of all included.
std::vector<uint64_t> QueueOrder::ends_of_operands(MemoryId memory, ByteRange bytes) const {
  const std::vector<uint64_t>& all = operand_ends_[memory.index];
  const auto begin = std::ranges::upper_bound(all, bytes.begin);
  std::vector<uint64_t> ends(begin, std::lower_bound(begin, all.end(), bytes.end));
  ends.push_back(bytes.end);
  return ends;
}

bool QueueOrder::is_invisible(const TrackedBytes& write, DispatchId second, StageAccess sort,
                              uint64_t* step_count) const {
  QueueClocks walk(program_, places_, uses_, write);
  const Dispatch& writer = program_.dispatch(write.writer);
  const Dispatch& seer = program_.dispatch(second);
  const QueueIndex queue = program_.queue_of(seer);
  for (uint32_t at = writer.statement.index; at < seer.statement.index; ++at) {
    walk.arrive();
    walk.leave();
  }
  walk.arrive();
  if (step_count != nullptr) *step_count += seer.statement.index - writer.statement.index + 1;
  if (queue == kNoQueue) return !walk.is_visible_to_host();
  PlaceIndex column = place_of(write.writer, stage_of(writer));
  if (program_.queue_of(writer) == kNoQueue) {
    const Memory& memory = program_.memory(write.memory);
    if (memory.is_unified) column = walk.columns().unified;
    if (memory.atom_bytes > 0) column = walk.columns().moved;
  }
  return walk.visible(queue, sort)[column] == 0;
}

}  // namespace interlock
