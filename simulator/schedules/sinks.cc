// The idea: the smallest legal change that makes the second of two unordered dispatches come first
// is to move the first, and whatever must follow it, after it. That is one sink, whatever the
// bytes.
//
// A pair in the order of scoped barriers can only miss a write: either the write commits late,
// after the second dispatch, or, where a barrier makes it available to that one, the second
// dispatch has fetched early. Which of the two, and what has to move along, depends on the byte, so
// that each run of bytes that dependencies treat alike has a sink of its own.
#include "simulator/schedules/sinks.h"

#include <algorithm>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/split_order.h"
#include "simulator/schedules/queue_schedule.h"

namespace interlock {
namespace {

class OrderedPairSinks {
 public:
  OrderedPairSinks(const Program& program, const ScopedOrder& order, const Hazard& hazard)
      : program_(program),
        order_(order),
        kind_(hazard.kind),
        first_(hazard.first.dispatch),
        second_(hazard.second.dispatch) {}

  // Of `steps_left` it takes what it looks at, and ends when that is too little.
  std::vector<Sink> find(uint64_t& steps_left) {
    const uint64_t walk_steps = 1 + steps_between(order_, first_, second_);
    const AtomicOp first_op = program_.dispatch(first_).atomic_op;
    const AtomicOp second_op = program_.dispatch(second_).atomic_op;
    for (const Access& write : program_.accesses_of(first_)) {
      for (const Access& access : program_.accesses_of(second_)) {
        const MemoryRange shared{write.memory, intersection(write.range, access.range)};
        if (write.memory != access.memory || shared.range.is_empty()) continue;
        if (!conflict_kinds(write, first_op, access, second_op).has(kind_)) continue;
        for (const MemoryRange& bytes : split_alike(order_, first_, second_, shared)) {
          steps_left -= std::min(steps_left, walk_steps);
          if (steps_left == 0 || is_stopped()) return std::move(sinks_);
          add(bytes, fetched_as(access));
        }
      }
    }
    return std::move(sinks_);
  }

 private:
  // The sort of the fetch that the hazard is about. Atomics fetch as they commit; what a full write
  // finds reaches nothing.
  std::optional<StageAccess> fetched_as(const Access& access) const {
    const Dispatch& dispatch = program_.dispatch(second_);
    const Stage stage = stage_of(dispatch);
    if (kind_ == FindingKind::kReadAfterWrite && access.reads_plainly())
      return read_sort_of(stage, access);
    const bool leaves_bytes = dispatch.is_partial && access.writes_plainly();
    if (kind_ == FindingKind::kWriteAfterWrite && leaves_bytes) return write_sort_of(stage, access);
    return std::nullopt;
  }

  void add(MemoryRange bytes, std::optional<StageAccess> sort) {
    const Followers followers = after_commit(order_, first_, bytes, second_);
    Sink sink;
    if (!followers.second_runs) {
      sink.displacements = late_commit(followers);
    } else if (sort.has_value() && (followers.fetches & bit_of(*sort)) == 0) {
      sink.displacements = early_fetch(followers, bytes, *sort);
      sink.wanted = {bytes.memory, bytes.range, *sort};
    } else {
      return;
    }
    if (std::ranges::find(sinks_, sink) == sinks_.end()) {
      sinks_.push_back(std::move(sink));
    }
  }

  // The first dispatch commits right after the second one, and all that follows its commit after
  // that.
  std::vector<Displacement> late_commit(const Followers& followers) const {
    std::vector<Displacement> sink = moved_after(second_, followers.runs);
    sink.push_back({first_, second_, DisplacementKind::kCommitsAfter});
    return sink;
  }

  // The second dispatch fetches as soon as all has run that leads to the fetch; then the first one
  // commits, and what follows its commit comes next.
  std::vector<Displacement> early_fetch(const Followers& followers, MemoryRange bytes,
                                        StageAccess sort) const {
    const FetchNeeds needs(order_, first_, second_, bytes, sort);
    DispatchId last = first_;
    for (DispatchId between(size_t{first_.index} + 1); between < second_; ++between.index) {
      if (needs.needs_run(between)) last = between;
    }
    std::vector<Displacement> sink;
    if (last != first_) {
      std::vector<DispatchId> moved = followers.runs;
      moved.erase(std::ranges::lower_bound(moved, last), moved.end());
      sink = moved_after(last, moved);
      sink.push_back({first_, last, DisplacementKind::kCommitsAfter});
    }
    sink.push_back({second_, first_, DisplacementKind::kFetchesBefore});
    return sink;
  }

  static std::vector<Displacement> moved_after(DispatchId anchor,
                                               const std::vector<DispatchId>& moved) {
    std::vector<Displacement> sink;
    for (const DispatchId next : moved) {
      sink.push_back({next, anchor, DisplacementKind::kAfter});
      anchor = next;
    }
    return sink;
  }

  const Program& program_;
  const ScopedOrder& order_;
  FindingKind kind_;
  DispatchId first_;
  DispatchId second_;
  std::vector<Sink> sinks_;
};

}  // namespace

std::vector<Displacement> sink_of(const HappensBefore& order, const Hazard& hazard) {
  const DispatchId first = hazard.first.dispatch;
  const DispatchId second = hazard.second.dispatch;
  INTERLOCK_CHECK(first < second);
  if (hazard.is_ordered) return {{first, second, DisplacementKind::kCommitsAfter}};
  std::vector<Displacement> sink = {{first, second, DisplacementKind::kAfter}};
  // The order is transitive, so the descendants of descendants are descendants. None of them comes
  // before `second`: then `first` would, and the pair would be no hazard.
  for (DispatchId between(first.index + 1); between < second; ++between.index) {
    if (!order.executes_before(first, between)) continue;
    sink.push_back({between, sink.back().moved, DisplacementKind::kAfter});
  }
  return sink;
}

std::vector<Sink> sinks_of(const Program& program, const HappensBefore& order, const Hazard& hazard,
                           uint64_t* steps_left) {
  if (order.has_queues()) {
    std::vector<Sink> sinks;
    for (std::vector<Displacement>& lines : queue_witnesses_of(hazard)) {
      sinks.push_back({std::move(lines)});
    }
    return sinks;
  }
  if (!order.has_scopes() || !hazard.is_ordered) return {{sink_of(order, hazard)}};
  INTERLOCK_CHECK(hazard.kind != FindingKind::kWriteAfterRead);
  uint64_t unlimited = UINT64_MAX;
  return OrderedPairSinks(program, order.scopes(), hazard)
      .find(steps_left == nullptr ? unlimited : *steps_left);
}

}  // namespace interlock
