// OwnerWalk: the walk over the statements in issue order on which all questions of lifetimes rest:
// which value each byte holds when it is read, and who destroys bytes that are still accessed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encoder/program/interval_map.h"
#include "encoder/program/program.h"
#include "encoder/program/scope.h"
#include "simulator/bytes/access_ref.h"
#include "simulator/lifetimes/held_value.h"

namespace interlock {

using ValueRun = IntervalMap<HeldValue>::Run;

struct DestroyedAccess {
  AccessRef access;
  LifetimeId destroy;
  LifetimeId done_at;  // What carries it out.
  MemoryId memory;
  ByteRange bytes;
  bool is_pending = false;     // No barrier stands between.
  BarrierId only_barrier;      // None: there are more, or none.
  uint32_t next_dispatch = 0;  // After the statement.
};

// What a statement finds on the bytes that it reads.
class ReadObserver {
 public:
  virtual ~ReadObserver() = default;
  // `reader`: no dispatch at the end of the program. `root`: none for a raw range.
  virtual void see_read(AccessRef reader, TensorId root, MemoryId memory, const ValueRun& run) = 0;
  // The last access of its stage to bytes that `done_at` destroys, and if that is pending, the last
  // one that is not.
  virtual void see_destroyed(const DestroyedAccess& /*destroyed*/) {}
};

// Which dispatches a destroy may not follow yet: by stage, those from this one on.
class PendingWork {
 public:
  void see_barrier(const Program& program, BarrierId id, uint32_t next_dispatch) {
    const Barrier& barrier = program.barriers[id.index];
    StageMask ordered = barrier.kind == BarrierKind::kScoped ? 0 : kAllStages;
    for (const Dependency& part : program.dependencies_of(barrier)) ordered |= part.source.stages;
    for (size_t i = 0; i < kStageCount; ++i) {
      if ((ordered & bit_of(static_cast<Stage>(i))) == 0) continue;
      last_but_one_[i] = last_[i];
      last_[i] = {next_dispatch, id};
    }
  }

  bool has(Stage stage, DispatchId id) const { return id.index >= last_[index_of(stage)].begin; }

  // The barrier that alone orders the dispatch; none if there is another, or none.
  BarrierId only_barrier(Stage stage, DispatchId id) const {
    const bool is_only = !has(stage, id) && id.index >= last_but_one_[index_of(stage)].begin;
    return is_only ? last_[index_of(stage)].barrier : BarrierId();
  }

 private:
  struct Cover {
    uint32_t begin = 0;  // The first dispatch after the barrier.
    BarrierId barrier;
  };

  static size_t index_of(Stage stage) { return static_cast<size_t>(stage); }

  std::array<Cover, kStageCount> last_{};
  std::array<Cover, kStageCount> last_but_one_{};
};

class OwnerWalk {
 public:
  OwnerWalk(const Program& program, uint64_t work_limit, ReadObserver& observer);

  // Returns false if the work is over the limit. The observer may end the walk.
  bool run(const bool& is_ended);

  const IntervalMap<HeldValue>& values() const { return values_; }
  const IntervalMap<AccessRef>& writers() const { return writers_; }
  const Holdings& holdings() const { return holdings_; }

 private:
  // Each statement pays for some runs itself.
  void charge(uint64_t run_count);
  void read(AccessRef reader, TensorId root, MemoryId memory, ByteRange bytes);
  TensorId root_of(const Access& access) const;
  void run_dispatch(DispatchId id);
  void note_access(size_t stage, const Access& access, AccessRef ref);
  void run_lifetime(LifetimeId id);

  // Accesses of bytes that the statement destroys, or lets a destroy have at last.
  void find_destroyed(LifetimeId id, MemoryId memory, ByteRange bytes);
  void find_destroyed(const IntervalMap<AccessRef>& accesses, Stage stage, LifetimeId destroy,
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
  IntervalMap<HeldValue> values_;
  IntervalMap<AccessRef> writers_;  // The last write through a tensor.
  // By stage: the last access of any sort, if there is a destroy. Barriers order stages apart.
  std::array<IntervalMap<AccessRef>, kStageCount> latest_;
  // Likewise the last one before the last barrier that covers its stage, where `latest_` is later.
  std::array<IntervalMap<AccessRef>, kStageCount> latest_over_;
};

}  // namespace interlock
