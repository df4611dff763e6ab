// QueueOrder: happens-before of a program with several queues, with the host, or with indirect
// dispatches.
//
// The clocks of QueueClocks, kept for each dispatch. Where operands narrow dependencies to some
// bytes, or the host's writes must be flushed, they say only what holds for all bytes; a walk for
// one write and its bytes says the rest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/order/host_moves.h"
#include "simulator/order/places.h"
#include "simulator/order/queue_clocks.h"

namespace interlock {

// True iff ScopedOrder and epochs do not tell the order of the program: something is of another
// queue than the default one, of the host, or in a stage of its own. Cost: linear.
bool needs_queue_order(const Program& program);

class QueueOrder {
 public:
  // `exact`: `program` where its host accesses are whole atoms and those of `exact` are not
  // (host_atoms.h); null: itself. Requires: `program` is in reference order, and both outlive this.
  // `part`: what is asked of an earlier dispatch is asked of such that have places in that part;
  // none: there is one part, or is_too_wide().
  // Cost: linear, times the places and the sorts of access of a queue; and that of HostMoves.
  explicit QueueOrder(const Program& program, const Program* exact = nullptr,
                      std::optional<PathPart> part = std::nullopt);

  // What `first` does in this stage has finished before `second` starts in that one.
  // Requires: they do. Cost: constant.
  bool executes_before(DispatchId first, Stage first_stage, DispatchId second,
                       Stage second_stage) const {
    return first.index < unfinished_begin(place_of(first, first_stage), second, second_stage);
  }

  // Exactly the dispatches at `place` before this one have finished before `second` starts in
  // `stage`. Cost: constant.
  uint32_t unfinished_begin(PlaceIndex place, DispatchId second, Stage stage) const;

  // Likewise before a `free`, `destroy` or `unpin` takes place: in its queue, whatever the stage,
  // or in the order of the host. Of serial queues and graphs, all of it has come before.
  uint32_t unfinished_begin(PlaceIndex place, LifetimeId at) const;

  // What dispatches at `place` before this one write in `memory` is visible to accesses of sort
  // `sort` by `second`, on all bytes; what others write may be so on some. Cost: constant.
  uint32_t invisible_begin(PlaceIndex place, DispatchId second, StageAccess sort,
                           MemoryId memory) const;

  // Returns the first maximal run of `bytes` in which what `first` writes is not visible to
  // accesses of sort `sort` by `second`; none if it is visible in all of them. What the host lost
  // is visible to nobody who reads it, or leaves some of it. Adds to `step_count`, if given, the
  // statements and runs looked at. Requires: first < second, and `first` writes `bytes`;
  // of memory that is not coherent `second` accesses them.
  // Cost: constant if no dependency has operands and no memory must be flushed; where some must,
  // the runs of bytes that moves tell apart; with operands, the statements between the two, for
  // each run of bytes that they tell apart.
  std::optional<ByteRange> find_invisible(DispatchId first, DispatchId second, StageAccess sort,
                                          MemoryId memory, ByteRange bytes,
                                          uint64_t* step_count = nullptr) const;

  const HostMoves& host_moves() const { return host_moves_; }

  // What that access of the dispatch touches, and not whole atoms. Cost: constant.
  ByteRange exact_range_of(DispatchId dispatch, uint32_t access) const {
    return exact_.accesses_of(dispatch)[access].range;
  }

  // Graph queues have more paths than Places::kPathsMax, and no part was named: then nothing may be
  // asked but this, and how many paths there are.
  bool is_too_wide() const { return is_too_wide_; }

  const Places& places() const { return places_; }
  PlaceIndex place_of(DispatchId dispatch, Stage stage) const {
    return places_.of(dispatch, stage);
  }

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;

  // Where the rows of a queue lie in one of its points. Of the host: visible[kHostRead] is what has
  // got to its domain, visible[kHostWrite] what is available, for unified memory.
  struct RowPlan {
    std::array<uint32_t, kStageCount> executed;
    std::array<uint32_t, kStageAccessCount> visible;
    uint32_t count = 0;
  };

  void find_operand_ends();
  void plan_rows();
  void add_point(const QueueClocks& clocks, QueueIndex queue);
  void add_lifetime_point(const QueueClocks& clocks, QueueIndex queue);
  void add_invalidation(const QueueClocks& clocks);
  ClockRow row(DispatchId dispatch, uint32_t index) const;
  const RowPlan& plan_of(QueueIndex queue) const {
    return plans_[queue == kNoQueue ? plans_.size() - 1 : size_t{queue}];
  }
  bool needs_walk() const { return has_operands_ || host_moves_.is_cut(); }
  bool is_about_cache(DispatchId first, DispatchId second, MemoryId memory) const;
  // The parts of find_invisible(): by clocks and walks, by the moves of the host, and what is lost.
  std::optional<ByteRange> find_unseen(DispatchId first, DispatchId second, StageAccess sort,
                                       MemoryId memory, ByteRange bytes,
                                       uint64_t* step_count) const;
  std::optional<ByteRange> find_unmoved(DispatchId first, DispatchId second, StageAccess sort,
                                        MemoryId memory, ByteRange bytes,
                                        uint64_t* step_count) const;
  std::optional<ByteRange> find_lost(DispatchId first, DispatchId second, StageAccess sort,
                                     MemoryId memory, ByteRange bytes) const;
  bool is_invisible(const TrackedBytes& write, DispatchId second, StageAccess sort,
                    uint64_t* step_count) const;
  std::vector<uint64_t> ends_of_operands(MemoryId memory, ByteRange bytes) const;

  const Program& program_;
  const Program& exact_;
  const Places places_;
  const bool is_too_wide_;
  const SyncUses uses_;
  const HostMoves host_moves_;
  ClockColumns columns_;
  bool has_operands_ = false;  // Of dependencies.
  // By memory, if there are some: where they begin and end, rising.
  std::vector<std::vector<uint64_t>> operand_ends_;
  std::vector<RowPlan> plans_;    // By queue; the host's last.
  std::vector<size_t> point_of_;  // By dispatch: into numbers_.
  // By lifetime statement, if there is a `destroy`: into numbers_, of one row.
  std::vector<size_t> lifetime_point_;
  // Of the host, if memory has atoms: its invalidations, and where what was in its domain then lies
  // in numbers_.
  struct Invalidation {
    uint32_t statement;
    size_t point;
  };
  std::vector<Invalidation> invalidations_;
  std::vector<uint32_t> numbers_;
};

}  // namespace interlock
