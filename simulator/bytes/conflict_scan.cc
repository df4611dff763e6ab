// The basic idea is that a short program is a list. In a longer one, ranges that come again and
// again are numbered once, and asked for by number. Where they do not, most of what a program did
// to its bytes is hidden by what it wrote later, so that a tree of runs is small and stays in the
// cache, where segments are as many as the program has endpoints. Neither knows which accesses are
// hidden, nor sorts of atomics. Where somebody asks for that, or where so much is visible that
// segments take less memory, a history by segments takes over: it records again what came before,
// and asks nothing of it.
#include "simulator/bytes/conflict_scan.h"

#include <algorithm>

#include "encoder/program/stop.h"
#include "simulator/bytes/access_list.h"

namespace interlock {
namespace {

// What runs may take: for each access of the program a third of what its segments take, and the
// size of a cache.
constexpr size_t kRunBytesPerAccess = 16;
constexpr size_t kRunBytesMin = size_t{1} << 20;

}  // namespace

ConflictScan::ConflictScan(const Program& program, const ByteSegments& segments)
    : program_(program), segments_(segments) {
  uint64_t begin = 0;
  bool fits = true;
  memory_begins_.reserve(program.memories.size());
  for (const Memory& memory : program.memories) {
    memory_begins_.push_back(begin);
    // Lists add the sizes of two ranges.
    fits = fits && memory.size_bytes < UINT64_MAX / 2 - begin;
    begin += memory.size_bytes;
  }
  if (!fits) {
    history_.emplace(program, segments);
    return;
  }
  if (program.accesses.size() <= AccessList::kAccessesMax) {
    list_ = std::make_unique<AccessList>(program, memory_begins_);
    return;
  }
  recurring_ = RecurringRanges::of(program, memory_begins_);
  if (!recurring_.has_value()) runs_.emplace();
}

ConflictScan::~ConflictScan() = default;

bool ConflictScan::has_atomics(const Dispatch& dispatch) const {
  return std::ranges::any_of(program_.accesses_of(dispatch), &Access::is_atomic);
}

bool ConflictScan::can_use_runs(const Dispatch& dispatch) const {
  const size_t bytes_max = kRunBytesMin + kRunBytesPerAccess * program_.accesses.size();
  return runs_->size_bytes() <= bytes_max && !has_atomics(dispatch);
}

ByteRange ConflictScan::in_all_bytes(const Access& access) const {
  const uint64_t begin = memory_begins_[access.memory.index];
  return {begin + access.range.begin, begin + access.range.end};
}

ScannedConflicts ConflictScan::find_anyhow(DispatchId id) {
  const Dispatch& dispatch = program_.dispatch(id);
  if (recurring_.has_value()) {
    if (recurring_->has_atomics() && has_atomics(dispatch)) history();
  } else if (runs_.has_value() && !can_use_runs(dispatch)) {
    history();
  }
  ScannedConflicts found;
  if (list_ != nullptr) {
    found = list_->find(dispatch);
  } else if (recurring_.has_value()) {
    found = recurring_->find(dispatch);
  } else if (runs_.has_value()) {
    found = find_in_runs(dispatch);
  } else {
    static_cast<LatestConflicts&>(found) = history_->latest(id);
  }
  level_ = found.level;
  return found;
}

ScannedConflicts ConflictScan::find_in_runs(const Dispatch& dispatch) {
  if (places_.size() < dispatch.access_count) places_.resize(dispatch.access_count);
  ScannedConflicts found;
  size_t place = 0;
  for (const Access& access : program_.accesses_of(dispatch)) {
    if (access.range.is_empty()) continue;
    const RunStamps stamps = runs_->max(in_all_bytes(access), places_[place++]);
    const bool writes = access.has_write_side();
    found.write = std::max(found.write, stamps.write);
    found.any = std::max(found.any, writes ? stamps.any : stamps.write);
    found.level = std::max(found.level, writes ? stamps.any_level : stamps.write_level);
  }
  ++found.level;
  return found;
}

void ConflictScan::record_anyhow(DispatchId id) {
  ++next_.index;
  if (list_ != nullptr) {
    list_->record(program_.dispatch(id), id.index + 1, level_);
  } else if (runs_.has_value()) {
    record_in_runs(id);
  } else {
    history_->record(id, id.index + 1);
    history_->prefetch_ahead(id);
  }
}

void ConflictScan::record_in_runs(DispatchId id) {
  size_t place = 0;
  for (const Access& access : program_.accesses_of(id)) {
    if (access.range.is_empty()) continue;
    if (access.has_write_side()) {
      runs_->write(in_all_bytes(access), id.index + 1, level_, places_[place++]);
    } else {
      runs_->read(in_all_bytes(access), id.index + 1, level_, places_[place++]);
    }
  }
}

const AccessHistory& ConflictScan::history() {
  if (history_.has_value()) return *history_;
  list_.reset();
  recurring_.reset();
  runs_.reset();
  history_.emplace(program_, segments_);
  for (DispatchId id(0); id < next_ && !is_stopped(); ++id.index) {
    history_->record(id, id.index + 1);
    history_->prefetch_ahead(id);
  }
  return *history_;
}

void scan_conflicts(const Program& program, const ByteSegments& segments,
                    std::span<ConflictObserver* const> observers) {
  ConflictScan scan(program, segments);
  for (size_t i = 0; i < program.dispatches.size() && !is_stopped(); ++i) {
    const DispatchId id(i);
    const ScannedConflicts latest = scan.find(id);
    for (ConflictObserver* const observer : observers) observer->see(id, latest);
    scan.record(id);
  }
}

}  // namespace interlock
