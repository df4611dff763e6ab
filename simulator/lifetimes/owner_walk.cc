// The basic idea is to walk the statements in reference order over two maps: what each byte holds
// (held_value.h) in runs as long as they can be, and who wrote it. A clean read of a value that one
// tensor owns crosses one run, however many dispatches wrote it; writers are looked up for findings
// only. All reads of a dispatch come before its writes.
#include "simulator/lifetimes/owner_walk.h"

#include <algorithm>
#include <span>

#include "encoder/program/stop.h"

namespace interlock {
namespace {

// Those that are kept beside all destroys of a program.
constexpr uint64_t kLateRunsMax = 2'000'000;

}  // namespace

OwnerWalk::OwnerWalk(const Program& program, const QueueOrder* queues, uint64_t work_limit,
                     ReadObserver& observer)
    : program_(program),
      observer_(observer),
      work_left_(work_limit),
      holdings_(program),
      is_tracked_(program.memories.size(), false),
      pending_(program, queues),
      latest_(pending_.track_count()),
      latest_over_(pending_.track_count()) {
  for (const Tensor& tensor : program.tensors) is_tracked_[tensor.memory.index] = true;
  for (const Lifetime& lifetime : program.lifetimes) {
    if (lifetime.kind == LifetimeKind::kReset) is_tracked_[lifetime.memory.index] = true;
    has_destroy_ |= lifetime.kind == LifetimeKind::kDestroy;
  }
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const Tensor& tensor = program.tensors[i];
    if (tensor.initial.kind == InitialKind::kNone) continue;
    values_.assign(tensor.memory, tensor.range, written_value(TensorId(i)));
  }
  held_back_ = HeldBack(program);
  if (held_back_.is_any()) {
    values_.for_each_assigned([&](MemoryId memory, const ValueRun& run) {
      writes_.assign(memory, run.bytes, {run.value, LifetimeId(), LifetimeId()});
    });
  }
  const bool may_be_late = has_destroy_ && queues != nullptr && !queues->is_too_wide();
  if (may_be_late) late_ = LateAccesses(program, pending_, std::min(work_limit, kLateRunsMax));
  if (may_be_late) issued_ = IssuedDestroys(program, std::min(work_limit, kLateRunsMax));
  is_over_ = late_.is_cut() || issued_.is_cut();
}

bool OwnerWalk::run(const bool& is_ended) {
  for (const Statement& statement : program_.statements) {
    switch (statement.kind) {
      case StatementKind::kDispatch:
        run_dispatch(DispatchId(statement.index));
        break;
      case StatementKind::kBarrier:
        pending_.see_barrier(BarrierId(statement.index), dispatch_count_);
        break;
      case StatementKind::kLifetime:
        run_lifetime(LifetimeId(statement.index));
        break;
      case StatementKind::kSync:
        break;
    }
    if (is_over_ || is_ended || is_stopped()) return !is_over_;
  }
  for (const TensorId id : program_.outputs) {
    if (is_stopped()) break;
    const Tensor& tensor = program_.tensor(id);
    read(AccessRef{}, tensor.root, tensor.memory, tensor.range);
  }
  return !is_over_;
}

void OwnerWalk::charge(uint64_t run_count) {
  constexpr uint64_t kRunsFree = 8;
  const uint64_t work = run_count > kRunsFree ? run_count - kRunsFree : 0;
  is_over_ |= work > work_left_;
  work_left_ -= std::min(work, work_left_);
}

void OwnerWalk::read(AccessRef reader, TensorId root, MemoryId memory, ByteRange bytes) {
  uint64_t list_work = 0;
  const uint64_t run_count = values_.for_each(memory, bytes, [&](const ValueRun& run) {
    if (is_stopped()) return;
    list_work += holdings_.list_work(run.value);
    if (held_back_.is_any()) {
      read_as_issued(reader, root, memory, run);
    } else {
      observer_.see_read(reader, root, memory, run);
    }
  });
  charge(run_count + list_work);
}

void OwnerWalk::read_as_issued(AccessRef reader, TensorId root, MemoryId memory,
                               const ValueRun& run) {
  bool is_held_back = held_back_.has(reader.dispatch);
  if (!is_held_back) {
    charge(is_written_late_.for_each(memory, run.bytes, [&](const IntervalMap<bool>::Run& written) {
      is_held_back |= written.value;
    }));
  }
  if (!is_held_back) {
    observer_.see_read(reader, root, memory, run);
    return;
  }
  see_as_issued(reader.dispatch, memory, run.bytes,
                [&](const ValueRun& found) { observer_.see_read(reader, root, memory, found); });
}

template <typename Visit>
void OwnerWalk::see_as_issued(DispatchId reader, MemoryId memory, ByteRange bytes,
                              const Visit& visit) {
  charge(writes_.for_each(memory, bytes, [&](const IntervalMap<HeldBack::Write>::Run& written) {
    if (is_stopped() || is_over_) return;
    uint64_t work = 0;
    const IntervalMap<HeldValue> found = held_back_.value_at(
        reader, written.value, memory, written.bytes, holdings_, work, work_left_);
    charge(work);
    is_over_ |= holdings_.is_over_limit();
    if (!is_over_) found.for_each(memory, written.bytes, visit);
  }));
}

bool OwnerWalk::for_each_at_end(const std::function<void(MemoryId, const ValueRun&)>& visit) {
  if (!held_back_.is_any()) {
    values_.for_each_assigned(visit);
    return true;
  }
  // Whose value may have ended was written, or is there from the start.
  writes_.for_each_assigned([&](MemoryId memory, const IntervalMap<HeldBack::Write>::Run& run) {
    see_as_issued(DispatchId(), memory, run.bytes,
                  [&](const ValueRun& found) { visit(memory, found); });
  });
  return !is_over_;
}

TensorId OwnerWalk::root_of(const Access& access) const {
  return access.tensor.is_some() ? program_.tensor(access.tensor).root : TensorId();
}

HeldValue OwnerWalk::value_written_by(AccessRef writer) const {
  if (program_.dispatch(writer.dispatch).is_transition()) return {};
  return written_value(root_of(access_of(program_, writer)));
}

void OwnerWalk::run_dispatch(DispatchId id) {
  const std::span<const Access> accesses = program_.accesses_of(id);
  const bool is_transition = program_.dispatch(id).is_transition();
  for (uint32_t k = 0; k < accesses.size(); ++k) {
    const Access& access = accesses[k];
    const bool is_read = access.mode != AccessMode::kWrite && !is_transition;
    if (is_read && is_tracked_[access.memory.index]) {
      read({id, k}, root_of(access), access.memory, access.range);
    }
  }
  for (uint32_t k = 0; k < accesses.size(); ++k) {
    const Access& access = accesses[k];
    if (!is_tracked_[access.memory.index]) continue;
    if (has_destroy_) note_access(access, {id, k});
    if (access.only_reads()) continue;
    // What a transition keeps has the owner that it had, and what is lost has none.
    if (is_transition && access.reads_plainly()) continue;
    values_.assign(access.memory, access.range, value_written_by({id, k}));
    if (is_transition) {
      writers_.assign(access.memory, access.range, AccessRef{});
    } else if (access.tensor.is_some()) {
      writers_.assign(access.memory, access.range, {id, k});
    }
    if (held_back_.is_any()) {
      writes_.assign(
          access.memory, access.range,
          held_back_.write_of(id, access.memory, access.range, value_written_by({id, k})));
      is_written_late_.assign(access.memory, access.range, held_back_.has(id));
    }
  }
  dispatch_count_ = id.index + 1;
}

void OwnerWalk::note_access(const Access& access, AccessRef ref) {
  const size_t track = pending_.track_of(ref.dispatch, access);
  latest_[track].for_each(access.memory, access.range, [&](const IntervalMap<AccessRef>::Run& run) {
    const DispatchId dispatch = run.value.dispatch;
    const bool is_over = dispatch.is_some() && pending_.is_before_last_barrier(track, dispatch);
    if (is_over) latest_over_[track].assign(access.memory, run.bytes, run.value);
  });
  latest_[track].assign(access.memory, access.range, ref);
}

void OwnerWalk::run_lifetime(LifetimeId id) {
  const Lifetime& lifetime = program_.lifetimes[id.index];
  const ByteRange bytes = affected_by(program_, lifetime);
  holdings_.count_pin(lifetime);
  const bool may_destroy =
      lifetime.kind == LifetimeKind::kDestroy || lifetime.kind == LifetimeKind::kUnpin;
  if (has_destroy_ && may_destroy) find_destroyed(id, lifetime.memory, bytes);
  uint64_t list_work = 0;
  const uint64_t run_count = values_.change(lifetime.memory, bytes, [&](HeldValue& value) {
    list_work += holdings_.list_work(value);
    return holdings_.apply(id, value) != HeldChange::kNone;
  });
  charge(run_count + list_work);
  is_over_ |= holdings_.is_over_limit();
}

void OwnerWalk::find_destroyed(LifetimeId id, MemoryId memory, ByteRange bytes) {
  if (issued_.judges(id)) {
    const std::span<const IssuedDestroys::Run> runs = issued_.at(id);
    charge(runs.size());
    for (const IssuedDestroys::Run& run : runs) find_destroyed(run.destroy, id, memory, run.bytes);
    if (program_.lifetimes[id.index].kind == LifetimeKind::kDestroy) return;
  }
  charge(values_.for_each(memory, bytes, [&](const ValueRun& run) {
    charge(holdings_.list_work(run.value));
    const LifetimeId destroy = holdings_.destroy_done_by(id, run.value);
    if (!destroy.is_some()) return;
    if (!issued_.judges(id)) {
      find_destroyed(destroy, id, memory, run.bytes);
      return;
    }
    const std::vector<ByteRange> rest = issued_.never_done(destroy, run.bytes);
    charge(rest.size());
    for (const ByteRange part : rest) find_destroyed(destroy, id, memory, part);
  }));
}

void OwnerWalk::find_destroyed(LifetimeId destroy, LifetimeId done_at, MemoryId memory,
                               ByteRange bytes) {
  if (!destroy.is_some()) return;
  for (size_t track = 0; track < latest_.size() && !is_stopped(); ++track) {
    find_destroyed(track, destroy, done_at, memory, bytes);
  }
}

// Where something is late, it is the last of its track.
void OwnerWalk::find_destroyed(size_t track, LifetimeId destroy, LifetimeId done_at,
                               MemoryId memory, ByteRange bytes) {
  const std::vector<LateAccesses::Run> late = late_.at(done_at, track, bytes);
  charge(late.size());
  uint64_t begin = bytes.begin;
  for (const LateAccesses::Run& run : late) {
    find_destroyed(latest_[track], track, destroy, done_at, memory, {begin, run.bytes.begin});
    observer_.see_destroyed(
        {run.access, destroy, done_at, memory, run.bytes, true, BarrierId(), dispatch_count_});
    begin = run.bytes.end;
  }
  find_destroyed(latest_[track], track, destroy, done_at, memory, {begin, bytes.end});
}

void OwnerWalk::find_destroyed(const IntervalMap<AccessRef>& accesses, size_t track,
                               LifetimeId destroy, LifetimeId done_at, MemoryId memory,
                               ByteRange bytes) {
  charge(accesses.for_each(memory, bytes, [&](const IntervalMap<AccessRef>::Run& access) {
    const DispatchId dispatch = access.value.dispatch;
    if (!dispatch.is_some()) return;
    const bool is_pending = pending_.has(track, dispatch, done_at);
    observer_.see_destroyed({access.value, destroy, done_at, memory, access.bytes, is_pending,
                             pending_.only_barrier(track, dispatch), dispatch_count_});
    if (is_pending) {
      find_destroyed(latest_over_[track], track, destroy, done_at, memory, access.bytes);
    }
  }));
}

}  // namespace interlock
