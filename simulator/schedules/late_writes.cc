#include "simulator/schedules/late_writes.h"

#include <algorithm>
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
  std::ranges::sort(bytes, {}, [](const MemoryRange& range) {
    return std::pair(range.memory, range.range.begin);
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

}  // namespace

const LateWrites::Waiting* LateWrites::find(DispatchId dispatch) const {
  const auto place = std::ranges::lower_bound(waiting_, dispatch, {}, &Waiting::dispatch);
  return place == waiting_.end() || place->dispatch != dispatch ? nullptr : &*place;
}

void LateWrites::add(DispatchId dispatch) {
  const auto place = std::ranges::lower_bound(waiting_, dispatch, {}, &Waiting::dispatch);
  if (place != waiting_.end() && place->dispatch == dispatch) return;
  INTERLOCK_CHECK(!is_full());
  restart(*waiting_.insert(place, {dispatch, written_bytes(program_, dispatch), {}}));
}

void LateWrites::remove(DispatchId dispatch) {
  const auto place = std::ranges::lower_bound(waiting_, dispatch, {}, &Waiting::dispatch);
  if (place != waiting_.end() && place->dispatch == dispatch) waiting_.erase(place);
}

void LateWrites::restart(Waiting& waiting) const {
  waiting.walk = {.command = order_.scopes().commands_before(waiting.dispatch)};
  for (const MemoryRange& bytes : waiting.bytes) waiting.walk.runs.push_back({bytes, {}});
}

bool LateWrites::commit(DispatchId dispatch, MemoryRange bytes) {
  const auto place = std::ranges::lower_bound(waiting_, dispatch, {}, &Waiting::dispatch);
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
  restart(*place);
  return has_waited;
}

// Dispatches are asked about in the order of a schedule, which goes back and forth a little: what
// has been walked once need not be walked again.
bool LateWrites::is_forced(Waiting& waiting, DispatchId next) const {
  const ScopedOrder& order = order_.scopes();
  const Stage stage = order.stage_of(waiting.dispatch);
  const bool is_everywhere = waiting.dispatch.index < order.unavailable_begin(stage, next);
  if (is_everywhere || !order.has_operands()) return is_everywhere && !waiting.bytes.empty();
  Walk& walk = waiting.walk;
  const uint32_t end = order.commands_before(next);
  for (; walk.command < end; ++walk.command) {
    order.apply(walk.command, write_sort_of(stage), walk.runs);
    for (const ReachedBytes& run : walk.runs) {
      for (size_t s = 0; s < kDispatchStageCount; ++s) {
        if ((run.reach.available & bit_of(static_cast<Stage>(s))) == 0) continue;
        walk.forced_from[s] = std::min(walk.forced_from[s], walk.command + 1);
      }
    }
  }
  return walk.forced_from[static_cast<size_t>(order.stage_of(next))] <= end;
}

std::optional<DispatchId> LateWrites::find_forced(DispatchId next) {
  for (Waiting& waiting : waiting_) {
    // What is available has been ordered too.
    if (!(waiting.dispatch < next)) break;
    if (is_forced(waiting, next)) return waiting.dispatch;
  }
  return std::nullopt;
}

}  // namespace interlock
