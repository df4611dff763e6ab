#include "simulator/schedules/late_writes.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {

namespace {

// Disjoint, in order.
std::vector<MemoryRange> written_bytes(const Program& program, DispatchId dispatch) {
  std::vector<MemoryRange> bytes;
  for (const Access& access : program.accesses_of(dispatch)) {
    if (access.only_reads() || access.range.is_empty()) continue;
    bytes.push_back({access.memory, access.range});
  }
  std::sort(bytes.begin(), bytes.end(), [](const MemoryRange& a, const MemoryRange& b) {
    return std::tie(a.memory, a.range.begin) < std::tie(b.memory, b.range.begin);
  });
  std::vector<MemoryRange> merged;
  for (const MemoryRange& next : bytes) {
    if (!merged.empty() && merged.back().memory == next.memory &&
        next.range.begin <= merged.back().range.end) {
      merged.back().range.end = std::max(merged.back().range.end, next.range.end);
      continue;
    }
    merged.push_back(next);
  }
  return merged;
}

using Runs = std::vector<std::pair<MemoryRange, Reach>>;

void split_at(Runs& runs, MemoryId memory, uint64_t offset) {
  for (size_t i = 0; i < runs.size(); ++i) {
    const ByteRange range = runs[i].first.range;
    if (runs[i].first.memory != memory || offset <= range.begin || range.end <= offset) continue;
    auto right = runs[i];
    right.first.range.begin = offset;
    runs[i].first.range.end = offset;
    runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1, right);
    return;
  }
}

bool covers(const ScopedOrder& order, const ScopedDependency& dependency, MemoryRange run) {
  if (dependency.operand_count == 0) return true;
  const auto operands = order.operands_of(dependency);
  return std::any_of(operands.begin(), operands.end(), [&](const ScopedOperand& operand) {
    return operand.memory == run.memory && operand.range.contains(run.range);
  });
}

void apply(const ScopedOrder& order, uint32_t command, StageAccess written_as, Runs& runs) {
  for (const ScopedDependency& dependency : order.dependencies_of(command)) {
    for (const ScopedOperand& operand : order.operands_of(dependency)) {
      split_at(runs, operand.memory, operand.range.begin);
      split_at(runs, operand.memory, operand.range.end);
    }
  }
  for (auto& [run, reach] : runs) {
    const Reach before = reach;
    for (const ScopedDependency& dependency : order.dependencies_of(command)) {
      reach.available |=
          dependency.added_to(before, written_as, covers(order, dependency, run)).available;
    }
  }
}

}  // namespace

std::vector<LateWrites::Waiting>::iterator LateWrites::at(DispatchId dispatch) {
  return std::lower_bound(
      waiting_.begin(), waiting_.end(), dispatch,
      [](const Waiting& waiting, DispatchId wanted) { return waiting.dispatch < wanted; });
}

const LateWrites::Waiting* LateWrites::find(DispatchId dispatch) const {
  const auto place = std::lower_bound(
      waiting_.begin(), waiting_.end(), dispatch,
      [](const Waiting& waiting, DispatchId wanted) { return waiting.dispatch < wanted; });
  return place == waiting_.end() || place->dispatch != dispatch ? nullptr : &*place;
}

void LateWrites::add(DispatchId dispatch) {
  const auto place = at(dispatch);
  if (place != waiting_.end() && place->dispatch == dispatch) return;
  INTERLOCK_CHECK(!is_full());
  const auto index = place - waiting_.begin();
  waiting_.insert(place, {dispatch, written_bytes(program_, dispatch)});
  walks_.insert(walks_.begin() + index, Walk());
  restart(static_cast<size_t>(index));
}

void LateWrites::remove(DispatchId dispatch) {
  const auto place = at(dispatch);
  if (place == waiting_.end() || place->dispatch != dispatch) return;
  walks_.erase(walks_.begin() + (place - waiting_.begin()));
  waiting_.erase(place);
}

void LateWrites::restart(size_t place) {
  walks_[place] = Walk();
  walks_[place].command = order_.scopes().commands_before(waiting_[place].dispatch);
  for (const MemoryRange& bytes : waiting_[place].bytes) {
    walks_[place].runs.emplace_back(bytes, Reach());
  }
}

bool LateWrites::commit(DispatchId dispatch, MemoryRange bytes) {
  const auto place = at(dispatch);
  if (place == waiting_.end() || place->dispatch != dispatch) return false;
  std::vector<MemoryRange> rest;
  bool has_waited = false;
  for (const MemoryRange& waiting : place->bytes) {
    const ByteRange shared = intersection(waiting.range, bytes.range);
    if (waiting.memory != bytes.memory || shared.is_empty()) {
      rest.push_back(waiting);
      continue;
    }
    has_waited |= shared == bytes.range;
    const ByteRange left{waiting.range.begin, shared.begin};
    const ByteRange right{shared.end, waiting.range.end};
    if (!left.is_empty()) rest.push_back({waiting.memory, left});
    if (!right.is_empty()) rest.push_back({waiting.memory, right});
  }
  place->bytes = std::move(rest);
  restart(static_cast<size_t>(place - waiting_.begin()));
  return has_waited;
}

// Dispatches are asked about in the order of a schedule, which goes back and forth a little: what
// has been walked once need not be walked again.
bool LateWrites::is_forced(size_t place, DispatchId next) const {
  const DispatchId dispatch = waiting_[place].dispatch;
  const ScopedOrder& order = order_.scopes();
  const Stage stage = order.stage_of(next);
  const bool is_everywhere =
      dispatch.index < order.unavailable_begin(order.stage_of(dispatch), next);
  if (is_everywhere || !order.has_operands()) {
    return is_everywhere && !waiting_[place].bytes.empty();
  }
  Walk& walk = walks_[place];
  const uint32_t end = order.commands_before(next);
  for (; walk.command < end; ++walk.command) {
    apply(order, walk.command, write_sort_of(order.stage_of(dispatch)), walk.runs);
    for (const auto& [run, reach] : walk.runs) {
      for (size_t s = 0; s < kDispatchStageCount; ++s) {
        if ((reach.available & bit_of(static_cast<Stage>(s))) == 0) continue;
        walk.forced_from[s] = std::min(walk.forced_from[s], walk.command + 1);
      }
    }
  }
  return walk.forced_from[static_cast<size_t>(stage)] <= end;
}

std::optional<DispatchId> LateWrites::find_forced(DispatchId next) const {
  for (size_t i = 0; i < waiting_.size(); ++i) {
    // What is available has been ordered too.
    if (!(waiting_[i].dispatch < next)) break;
    if (is_forced(i, next)) return waiting_[i].dispatch;
  }
  return std::nullopt;
}

std::vector<MemoryRange> LateWrites::forced_bytes(const Waiting& waiting, DispatchId next) const {
  const SplitOrder split(order_.scopes());
  std::vector<MemoryRange> forced;
  for (const MemoryRange& bytes : waiting.bytes) {
    split.forces_commit(waiting.dispatch, bytes, next, &forced);
  }
  return forced;
}

}  // namespace interlock
