#include "simulator/chains/chain_search.h"

#include <algorithm>
#include <limits>

#include "encoder/kernel/kernel_table.h"
#include "simulator/chains/counter_run.h"

namespace interlock {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

ChainSearch::ChainSearch(const Program& program)
    : program_(program),
      dependencies_(chain_dependencies_of(program)),
      run_(run_by_counters(program)) {
  find_chains();
}

void ChainSearch::find_chains() {
  next_.resize(dependencies_.size());
  for (size_t p = 0; p < dependencies_.size(); ++p) {
    for (size_t r = 0; r < dependencies_.size(); ++r) {
      if (chains(dependencies_[p].destination, dependencies_[r].source)) next_[p].push_back(r);
    }
  }
}

bool ChainSearch::chains(const ChainEnd& destination, const ChainEnd& source) const {
  if (destination.queue != source.queue) return false;
  if ((destination.stages & source.stages) == 0) return false;
  if (destination.operation.is_some() && source.operation.is_some()) {
    return destination.operation == source.operation;
  }
  if (destination.operation.is_some()) return position_of(destination.operation) < source.position;
  if (source.operation.is_some()) return destination.position < position_of(source.operation);
  return destination.position < source.position;
}

QueueIndex ChainSearch::queue_of(DispatchId dispatch) const {
  return program_.statements[program_.dispatch(dispatch).statement.index].queue;
}

int64_t ChainSearch::position_of(DispatchId dispatch) const {
  return position_of_statement(program_.dispatch(dispatch).statement.index);
}

bool ChainSearch::includes(const ChainEnd& end, DispatchId dispatch, Stage stage,
                           bool is_source) const {
  if (end.queue != queue_of(dispatch) || (end.stages & bit_of(stage)) == 0) return false;
  if (end.operation.is_some()) return end.operation == dispatch;
  const int64_t position = position_of(dispatch);
  return is_source ? position < end.position : end.position < position;
}

bool ChainSearch::covers(const ChainDependency& dependency, MemoryId memory, uint64_t byte) const {
  return dependency.operands.empty() ||
         std::ranges::any_of(dependency.operands, [&](const Access& operand) {
           return operand.memory == memory && operand.range.begin <= byte &&
                  byte < operand.range.end;
         });
}

// Of unified memory every end at the host names what the host does.
AccessMask ChainSearch::accesses_at(const ChainEnd& end, MemoryId memory) const {
  const bool is_implied = program_.memory(memory).is_unified && end.queue == kNoQueue;
  return is_implied ? static_cast<AccessMask>(end.accesses | kAccessesOfHost) : end.accesses;
}

bool ChainSearch::executes_before(DispatchId first, Stage first_stage, DispatchId second,
                                  Stage second_stage) const {
  if (queue_of(first) == kNoQueue && queue_of(second) == kNoQueue) {
    return position_of(first) < position_of(second);
  }
  const std::vector<bool> is_reached = reached_from(first, first_stage);
  for (size_t p = 0; p < dependencies_.size(); ++p) {
    if (is_reached[p] && includes(dependencies_[p].destination, second, second_stage, false)) {
      return true;
    }
  }
  return false;
}

std::vector<bool> ChainSearch::reached_from(DispatchId first, Stage first_stage) const {
  std::vector<bool> is_reached(dependencies_.size(), false);
  std::vector<size_t> pending;
  const auto reach = [&](size_t p) {
    if (is_reached[p]) return;
    is_reached[p] = true;
    pending.push_back(p);
  };
  for (size_t p = 0; p < dependencies_.size(); ++p) {
    if (includes(dependencies_[p].source, first, first_stage, true)) reach(p);
  }
  while (!pending.empty()) {
    const size_t p = pending.back();
    pending.pop_back();
    for (const size_t r : next_[p]) reach(r);
  }
  return is_reached;
}

// As a statement of its queue would, which legacy-default and blocking queues join.
bool ChainSearch::is_over_at(DispatchId first, Stage first_stage, StatementId at) const {
  const int64_t end = position_of_statement(at.index);
  const QueueIndex queue = program_.statements[at.index].queue;
  // The host goes on after what it does, and what it submits then comes after that.
  const int64_t submission = position_of_statement(submission_of(program_, at.index));
  if (queue_of(first) == kNoQueue && position_of(first) <= submission) return true;
  const auto comes_to = [&](QueueIndex other) {
    if (other == queue || other == kNoQueue || queue == kNoQueue) return other == queue;
    const QueueKind kind = program_.kind_of(queue);
    const QueueKind other_kind = program_.kind_of(other);
    return (kind == QueueKind::kLegacyDefault && other_kind == QueueKind::kSerialBlocking) ||
           (kind == QueueKind::kSerialBlocking && other_kind == QueueKind::kLegacyDefault);
  };
  const bool is_concurrent = queue != kNoQueue && program_.kind_of(queue) == QueueKind::kConcurrent;
  if (comes_to(queue_of(first)) && !is_concurrent && position_of(first) < end) return true;
  const std::vector<bool> is_reached = reached_from(first, first_stage);
  for (size_t p = 0; p < dependencies_.size(); ++p) {
    if (!is_reached[p]) continue;
    const ChainEnd& destination = dependencies_[p].destination;
    const int64_t position =
        destination.operation.is_some() ? position_of(destination.operation) : destination.position;
    if (comes_to(destination.queue) && position < end) return true;
    if (destination.queue == kNoQueue && position < submission) return true;
  }
  return false;
}

// The position of the first flush, or invalidation, of this byte by the host after that; kNever if
// none is.
int64_t ChainSearch::first_move(SyncKind kind, MemoryId memory, uint64_t byte,
                                int64_t after) const {
  for (const SyncStep& step : program_.syncs) {
    const int64_t position = position_of_statement(step.statement.index);
    if (position > after && step.kind == kind && moves(step, memory, byte)) return position;
  }
  return kNever;
}

bool ChainSearch::moves(const SyncStep& step, MemoryId memory, uint64_t byte) const {
  const uint64_t atom = program_.memory(memory).atom_bytes;
  return std::ranges::any_of(program_.operands_of(step), [&](const Access& operand) {
    return operand.memory == memory && !operand.range.is_empty() &&
           operand.range.begin / atom <= byte / atom &&
           byte / atom <= (operand.range.end - 1) / atom;
  });
}

bool ChainSearch::is_lost(DispatchId write, MemoryId memory, uint64_t byte,
                          DispatchId reader) const {
  if (queue_of(write) != kNoQueue || program_.memory(memory).atom_bytes == 0) return false;
  const auto has_byte = [&](const Access& access) {
    return access.memory == memory && access.range.begin <= byte && byte < access.range.end;
  };
  // Beside the bytes that it writes nothing is lost, and who reads beside those does not care.
  const bool is_written = std::ranges::any_of(
      program_.accesses_of(write),
      [&](const Access& access) { return access.writes_plainly() && has_byte(access); });
  if (!is_written || std::ranges::none_of(program_.accesses_of(reader), has_byte)) return false;
  enum class State { kBefore, kCached, kLost, kGone } state = State::kBefore;
  for (const StatementId id : run_) {
    const Statement& statement = program_.statements[id.index];
    if (id == program_.dispatch(reader).statement) break;
    if (id == program_.dispatch(write).statement) {
      state = State::kCached;
    } else if (state != State::kBefore && statement.kind == StatementKind::kDispatch) {
      const Dispatch& dispatch = program_.dispatches[statement.index];
      const bool overwrites =
          !dispatch.is_partial &&
          std::ranges::any_of(program_.accesses_of(dispatch), [&](const Access& access) {
            return access.writes_plainly() && has_byte(access);
          });
      if (overwrites) state = State::kGone;
    } else if (state == State::kCached && statement.kind == StatementKind::kSync) {
      const SyncStep& step = program_.syncs[statement.index];
      const bool drops = step.kind == SyncKind::kHostInvalidates;
      if (!drops && step.kind != SyncKind::kHostFlushes) continue;
      if (moves(step, memory, byte)) state = drops ? State::kLost : State::kGone;
    }
  }
  return state == State::kLost;
}

ByteRange ChainSearch::bytes_of(DispatchId dispatch, const Access& access) const {
  const Memory& memory = program_.memory(access.memory);
  if (queue_of(dispatch) != kNoQueue || memory.atom_bytes == 0 || access.range.is_empty()) {
    return access.range;
  }
  const uint64_t atom = memory.atom_bytes;
  return {access.range.begin / atom * atom,
          std::min((access.range.end + atom - 1) / atom * atom, memory.size_bytes)};
}

ChainSearch::Spread ChainSearch::spread_of(DispatchId write, MemoryId memory, uint64_t byte) const {
  const size_t count = dependencies_.size();
  Spread spread = {write, memory, byte, std::vector<bool>(count), std::vector<bool>(count)};
  const bool is_host = queue_of(write) == kNoQueue;
  const Stage stage = stage_of(program_.dispatch(write));
  const StageAccess sort = write_sort_of(stage);
  // What the host writes in memory that is not coherent leaves its cache with a flush, or an
  // invalidation, which loses it (is_lost()): then it is not in the way any more.
  int64_t left_host = is_host ? position_of(write) : 0;
  if (is_host && program_.memory(memory).atom_bytes != 0) {
    left_host = std::min(first_move(SyncKind::kHostInvalidates, memory, byte, left_host),
                         first_move(SyncKind::kHostFlushes, memory, byte, left_host));
  }
  // Where the host's write executes before, and not yet is available.
  std::vector<bool> is_reached(count, false);
  bool has_changed = true;
  const auto set = [&](std::vector<bool>& states, size_t p) {
    if (states[p]) return;
    states[p] = true;
    has_changed = true;
  };
  const auto is_source_of = [&](const ChainDependency& p) {
    if (!includes(p.source, write, stage, true)) return false;
    return !is_host || left_host < p.source.position;
  };
  const auto names = [&](const ChainEnd& end, AccessMask accesses) {
    return (accesses_at(end, memory) & accesses) != 0;
  };
  for (size_t p = 0; p < count; ++p) {
    if (is_source_of(dependencies_[p])) set(is_reached, p);
  }
  while (has_changed) {
    has_changed = false;
    for (size_t p = 0; p < count; ++p) {
      const ChainDependency& dependency = dependencies_[p];
      const bool covers_it = covers(dependency, memory, byte);
      // What a transition writes is available as soon as it is done.
      const bool is_named =
          stage == Stage::kTransition || (covers_it && names(dependency.source, bit_of(sort)));
      if (is_reached[p] && is_source_of(dependency) && is_named) {
        set(spread.is_available, p);
      }
      if (spread.is_available[p] && covers_it && names(dependency.destination, kAccessesOfHost)) {
        set(spread.is_in_host_domain, p);
      }
      for (const size_t r : next_[p]) {
        const ChainDependency& next = dependencies_[r];
        if (spread.is_available[p]) set(spread.is_available, r);
        if (spread.is_in_host_domain[p]) set(spread.is_in_host_domain, r);
        if (!is_host || !is_reached[p]) continue;
        set(is_reached, r);
        // A dependency that names the host's writes makes it available, too, wherever it stands.
        if (covers(next, memory, byte) && names(next.source, bit_of(sort))) {
          set(spread.is_available, r);
        }
      }
    }
  }
  return spread;
}

bool ChainSearch::is_visible(const Spread& spread, DispatchId reader, StageAccess sort) const {
  const bool is_host = queue_of(reader) == kNoQueue;
  // Who overwrites all of it does not care.
  const bool looks = !is_write(sort) || program_.dispatch(reader).is_partial;
  if (looks && is_lost(spread.write, spread.memory, spread.byte, reader)) return false;
  if (is_host && queue_of(spread.write) == kNoQueue) {
    return position_of(spread.write) < position_of(reader);
  }
  for (size_t p = 0; p < dependencies_.size(); ++p) {
    const ChainEnd& end = dependencies_[p].destination;
    if (!includes(end, reader, stage_of(sort), false)) continue;
    if (is_of_transition(sort)) {
      // Whatever is available is visible to it.
      if (spread.is_available[p]) return true;
      continue;
    }
    if (!is_host) {
      if (spread.is_available[p] && (end.accesses & bit_of(sort)) != 0 &&
          covers(dependencies_[p], spread.memory, spread.byte)) {
        return true;
      }
      continue;
    }
    if (!spread.is_in_host_domain[p]) continue;
    if (program_.memory(spread.memory).atom_bytes == 0) return true;
    // The host's cache may hold what was there before.
    const int64_t moved =
        first_move(SyncKind::kHostInvalidates, spread.memory, spread.byte, end.position);
    if (moved < position_of(reader)) return true;
  }
  return false;
}

}  // namespace interlock
