// The idea is that of needed_sync.cc, with places in the stead of stages.
#include "simulator/barriers/queue_needs.h"

#include <algorithm>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/queue_cuts.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/order/places.h"
#include "simulator/order/scoped_order.h"

namespace interlock {
namespace {

class QueueNeedSearch {
 public:
  QueueNeedSearch(const Program& program, std::span<const SyncPiece> pieces, uint64_t& work_left)
      : program_(program),
        pieces_(pieces),
        work_left_(work_left),
        cuts_of_(program),
        places_(program),
        segments_(program),
        stage_of_place_(places_.count()),
        latest_of_place_(places_.count()),
        floors_(places_.count() * places_.count() * kGoalCount, 1) {
    for (PlaceIndex i = 0; i < places_.count(); ++i) histories_.emplace_back(program, segments_);
    gap_end_.resize(program.dispatches.size());
    for (uint32_t i = static_cast<uint32_t>(gap_end_.size()); i-- > 0;) {
      const bool is_last =
          i + 1 == gap_end_.size() || steps_before(size_t{i} + 1) != steps_before(i);
      gap_end_[i] = is_last ? i + 1 : gap_end_[i + 1];
    }
    needs_.is_needed.resize(pieces.size());
    first_piece_.assign(program.statements.size() + 1, 0);
    for (const SyncPiece& piece : pieces) ++first_piece_[piece.statement.index + 1];
    for (size_t i = 1; i < first_piece_.size(); ++i) first_piece_[i] += first_piece_[i - 1];
  }

  NeededPieces run() {
    for (size_t i = 0; i < program_.dispatches.size() && needs_.is_complete; ++i) {
      if (is_stopped()) break;
      const DispatchId id(i);
      const Stage stage = stage_of(program_.dispatch(id));
      const PlaceIndex place = places_.of(id, stage);
      stage_of_place_[place] = stage;
      find_conflicts_of(id, stage);
      histories_[place].record(id, id.index + 1);
      latest_of_place_[place] = id.index + 1;
    }
    return std::move(needs_);
  }

 private:
  // Order, or visibility to a sort of access.
  static constexpr size_t kGoalCount = 1 + kDispatchSortCount;

  uint32_t steps_before(size_t dispatch) const {
    return cuts_of_.steps_before(DispatchId(dispatch));
  }

  void find_conflicts_of(DispatchId second, Stage stage) {
    const Dispatch& dispatch = program_.dispatch(second);
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      const Access& access = program_.accesses[dispatch.first_access + k];
      const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
      const auto read_sort = read_sort_of(stage, access);
      const auto write_sort = write_sort_of(stage, access);
      for (PlaceIndex first = 0; first < places_.count(); ++first) {
        QueueConflict conflict{.first_queue = places_.queue_of(first),
                               .second_queue = program_.queue_of(dispatch),
                               .first = stage_of_place_[first],
                               .second = stage,
                               .is_of_memory = true,
                               .end = cuts_of_.steps_before(second)};
        for (const auto sort : {read_sort, write_sort}) {
          if (!sort) continue;
          conflict.sort = *sort;
          judge(second, access, span, first, conflict);
        }
        conflict.is_of_memory = false;
        if (write_sort) judge(second, access, span, first, conflict);
      }
    }
  }

  // With the latest conflicting access of `first`, unless a shorter one stands for it.
  void judge(DispatchId second, const Access& access, SegmentSpan span, PlaceIndex first,
             QueueConflict conflict) {
    const PlaceIndex place = places_.of(second, conflict.second);
    const size_t goal = conflict.is_of_memory ? 1 + static_cast<size_t>(conflict.sort) : 0;
    Stamp& floor = floors_[(first * places_.count() + place) * kGoalCount + goal];
    if (latest_of_place_[first] < floor) return;
    const AccessSide side = conflict.is_of_memory ? AccessSide::kWrites : AccessSide::kReads;
    charge(1);
    histories_[first].latest_runs(span, access, program_.dispatch(second).atomic_op, side, floor,
                                  latest_);
    Stamp latest = 0;
    for (const StampRun& run : latest_) latest = std::max(latest, run.stamp);
    if (latest == 0 || !needs_.is_complete) return;
    charge(latest_.size());
    conflict.begin = steps_before(size_t{latest} - 1);
    floor = gap_end_[latest - 1] + 1;
    if (!cuts_of_.find(conflict, work_left_, cuts_)) {
      needs_.is_complete = false;
      return;
    }
    for (const QueueCut& cut : cuts_) mark(conflict, cut);
  }

  void mark(const QueueConflict& conflict, const QueueCut& cut) {
    const StatementId statement = cuts_of_.statement_of(cut.step);
    if (!statement.is_some()) return;
    const uint32_t end = first_piece_[statement.index + 1];
    for (uint32_t i = first_piece_[statement.index]; i < end; ++i) {
      charge(1);
      if (needs_.is_needed[i]) continue;
      const bool is_needed = cuts_of_.needs(conflict, cut, pieces_[i]);
      needs_.is_needed[i] = is_needed;
    }
  }

  void charge(uint64_t work) {
    if (work > work_left_) needs_.is_complete = false;
    work_left_ -= std::min(work, work_left_);
  }

  const Program& program_;
  const std::span<const SyncPiece> pieces_;
  uint64_t& work_left_;
  QueueCuts cuts_of_;
  const Places places_;
  const ByteSegments segments_;
  std::vector<AccessHistory> histories_;  // By place.
  std::vector<Stage> stage_of_place_;
  std::vector<Stamp> latest_of_place_;
  // The least stamp that is to be asked: by the place of the earlier dispatch, that of the later
  // one, and the goal.
  std::vector<Stamp> floors_;
  std::vector<uint32_t> gap_end_;      // By dispatch: the first after it that has a step before it.
  std::vector<uint32_t> first_piece_;  // By statement, and one more.
  NeededPieces needs_;
  std::vector<StampRun> latest_;
  std::vector<QueueCut> cuts_;
};

}  // namespace

NeededPieces find_queue_needs(const Program& program, std::span<const SyncPiece> pieces,
                              uint64_t& work_left) {
  return QueueNeedSearch(program, pieces, work_left).run();
}

}  // namespace interlock
