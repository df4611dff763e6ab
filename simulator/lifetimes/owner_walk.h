// OwnerWalk: the walk over the statements in reference order on which all questions of lifetimes
// rest: which value each byte holds when it is read, and who destroys bytes that are still
// accessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "encoder/program/interval_map.h"
#include "encoder/program/program.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/lifetimes/held_back.h"
#include "simulator/lifetimes/held_value.h"
#include "simulator/lifetimes/issued_destroys.h"
#include "simulator/lifetimes/late_accesses.h"
#include "simulator/lifetimes/pending_work.h"

namespace interlock {

using ValueRun = IntervalMap<HeldValue>::Run;

struct DestroyedAccess {
  AccessRef access;
  LifetimeId destroy;
  LifetimeId done_at;  // What carries it out.
  MemoryId memory;
  ByteRange bytes;
  bool is_pending = false;     // Nothing orders it before.
  BarrierId only_barrier;      // None: there are more, or none.
  uint32_t next_dispatch = 0;  // After the statement.
};

// What a statement finds on the bytes that it reads.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // `reader`: no dispatch at the end of the program. `root`: none for a raw range.
  virtual void see_read(AccessRef reader, TensorId root, MemoryId memory, const ValueRun& run) = 0;
  // The last access of its track (pending_work.h) to bytes that `done_at` destroys, and on one
  // queue, if that is pending, the last one that is not. With queues it may come after that
  // statement (late_accesses.h).
  virtual void see_destroyed(const DestroyedAccess& /*destroyed*/) {}
};

class OwnerWalk {
 public:
  // `queues`: null for a program of one queue; else `program` is in reference order. All outlive
  // this.
  OwnerWalk(const Program& program, const QueueOrder* queues, uint64_t work_limit,
            ReadObserver& observer);

  // Returns false if the work is over the limit. The observer may end the walk.
  bool run(const bool& is_ended);

  // As the run has them; what was issued counts as it executes.
  const IntervalMap<HeldValue>& values() const { return values_; }
  // Calls visit(memory, run) for what bytes hold at the end of the program; it may leave out what
  // nobody wrote. Returns false if the work is over the limit. Requires: run() returned true.
  bool for_each_at_end(const std::function<void(MemoryId, const ValueRun&)>& visit);
  const IntervalMap<AccessRef>& writers() const { return writers_; }
  const Holdings& holdings() const { return holdings_; }

 private:
  // Each statement pays for some runs itself.
  void charge(uint64_t run_count);
  void read(AccessRef reader, TensorId root, MemoryId memory, ByteRange bytes);
  // Where something is held back, by what was issued between the write and the read.
  void read_as_issued(AccessRef reader, TensorId root, MemoryId memory, const ValueRun& run);
  // Calls visit(run) for what the bytes hold; reader: none for the end.
  template <typename Visit>
  void see_as_issued(DispatchId reader, MemoryId memory, ByteRange bytes, const Visit& visit);
  TensorId root_of(const Access& access) const;
  HeldValue value_written_by(AccessRef writer) const;
  void run_dispatch(DispatchId id);
  void note_access(const Access& access, AccessRef ref);
  void run_lifetime(LifetimeId id);

  // Accesses of bytes that the statement destroys, or lets a destroy have at last.
  void find_destroyed(LifetimeId id, MemoryId memory, ByteRange bytes);
  // Nothing for no destroy.
  void find_destroyed(LifetimeId destroy, LifetimeId done_at, MemoryId memory, ByteRange bytes);
  void find_destroyed(size_t track, LifetimeId destroy, LifetimeId done_at, MemoryId memory,
                      ByteRange bytes);
  void find_destroyed(const IntervalMap<AccessRef>& accesses, size_t track, LifetimeId destroy,
                      LifetimeId done_at, MemoryId memory, ByteRange bytes);

  const Program& program_;
  ReadObserver& observer_;
  uint64_t work_left_;
  Holdings holdings_;
  std::vector<bool> is_tracked_;  // By memory: some tensor lies there, or it is reset.
  bool has_destroy_ = false;
  bool is_over_ = false;
  uint32_t dispatch_count_ = 0;
  PendingWork pending_;
  LateAccesses late_;
  IssuedDestroys issued_;
  HeldBack held_back_;
  IntervalMap<HeldValue> values_;
  IntervalMap<AccessRef> writers_;  // The last write through a tensor.
  // Where something is held back: how bytes were written last, and whether that was held back.
  IntervalMap<HeldBack::Write> writes_;
  IntervalMap<bool> is_written_late_;
  // By track of PendingWork: the last access of any sort, if there is a destroy.
  std::vector<IntervalMap<AccessRef>> latest_;
  // Likewise the last one before the last barrier that covers its track, where `latest_` is later.
  std::vector<IntervalMap<AccessRef>> latest_over_;
};

}  // namespace interlock
