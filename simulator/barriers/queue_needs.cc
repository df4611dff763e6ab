// The idea is that of needed_sync.cc, with places in the stead of stages, the host among them.
#include "simulator/barriers/queue_needs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/queue_cuts.h"
#include "simulator/barriers/separated_firsts.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/bytes/range_parts.h"
#include "simulator/bytes/stamp_tree.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/places.h"

namespace interlock {
namespace {

class QueueNeedSearch {
 public:
  QueueNeedSearch(const Program& program, std::span<const SyncPiece> pieces,
                  std::span<const ByteHazards> hazards, uint64_t& work_left)
      : program_(program),
        pieces_(pieces),
        work_left_(work_left),
        cuts_of_(program),
        places_(program),
        segments_(program),
        separated_(program, segments_, places_, hazards),
        stage_of_place_(places_.count()),
        latest_of_place_(places_.count()),
        floors_(size_t{places_.count()} * places_.count() * kGoalCount, 1) {
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
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      const bool has_signal = pieces[i].kind == SyncPieceKind::kWait && pieces[i].partner.is_some();
      if (has_signal) with_signals_.emplace_back(pieces[i].partner, i);
    }
    std::ranges::sort(with_signals_);
  }

  NeededPieces run() {
    for (size_t i = 0; i < program_.dispatches.size() && is_complete_; ++i) {
      if (is_stopped()) break;
      const DispatchId id(i);
      const Stage stage = stage_of(program_.dispatch(id));
      const PlaceIndex place = places_.of(id, stage);
      stage_of_place_[place] = stage;
      find_conflicts_of(id, stage);
      if (separated_.has(id)) find_order_beside_hazards(id, stage);
      histories_[place].record(id, id.index + 1);
      separated_.record(place, id);
      latest_of_place_[place] = id.index + 1;
    }
    needs_.can_go.resize(pieces_.size());
    const bool is_exact = is_complete_ && separated_.is_exact();
    for (size_t i = 0; i < pieces_.size() && is_exact; ++i) {
      const bool is_open = needs_.is_needed[i] || cuts_of_.implies_in_two_places(pieces_[i]);
      needs_.can_go[i] = !is_open;
    }
    return std::move(needs_);
  }

 private:
  // Order, or visibility to a sort of access, in memory or in unified memory.
  static constexpr size_t kGoalCount = 1 + 2 * kStageAccessCount;
  static constexpr uint64_t kSegmentsPerWork = 16;

  uint32_t steps_before(size_t dispatch) const {
    return cuts_of_.steps().before(DispatchId(dispatch));
  }

  void find_conflicts_of(DispatchId second, Stage stage) {
    const Dispatch& dispatch = program_.dispatch(second);
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      const Access& access = program_.accesses[dispatch.first_access + k];
      const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
      if (span.is_empty()) continue;
      const auto read_sort = read_sort_of(stage, access);
      const auto write_sort = write_sort_of(stage, access);
      for (PlaceIndex first = 0; first < places_.count(); ++first) {
        if (latest_of_place_[first] == 0) continue;
        const QueueIndex first_queue = places_.queue_of(first);
        const QueueIndex second_queue = program_.queue_of(dispatch);
        // The host does one after another, in one cache.
        if (first_queue == kNoQueue && second_queue == kNoQueue) continue;
        QueueConflict conflict{.first_queue = first_queue,
                               .second_queue = second_queue,
                               .first = stage_of_place_[first],
                               .second = stage,
                               .is_of_memory = true,
                               .bytes = {access.memory, access.range},
                               .end = cuts_of_.steps().before(second)};
        for (const auto& sort : {read_sort, write_sort}) {
          if (!sort) continue;
          conflict.sort = *sort;
          judge(second, access, span, first, conflict);
        }
        conflict.is_of_memory = false;
        if (write_sort) judge(second, access, span, first, conflict);
      }
    }
  }

  size_t goal_of(const QueueConflict& conflict) const {
    if (!conflict.is_of_memory) return 0;
    const bool is_unified = program_.memory(conflict.bytes.memory).is_unified;
    return 1 + static_cast<size_t>(conflict.sort) + (is_unified ? kStageAccessCount : 0);
  }

  // With the latest conflicting access of `first`, unless a shorter one stands for it.
  void judge(DispatchId second, const Access& access, SegmentSpan span, PlaceIndex first,
             QueueConflict& conflict) {
    const PlaceIndex place = places_.of(second, conflict.second);
    const size_t key = (first * places_.count() + place) * kGoalCount + goal_of(conflict);
    const bool is_by_bytes =
        conflict.is_of_memory && cuts_of_.steps().tells_bytes_apart(access.memory);
    if (separated_.has(second)) {
      judge_beside_hazards(second, access, first, {key, is_by_bytes}, conflict);
      return;
    }
    const AccessSide side = conflict.is_of_memory ? AccessSide::kWrites : AccessSide::kReads;
    const AtomicOp op = program_.dispatch(second).atomic_op;
    if (is_by_bytes) {
      charge(1);
      histories_[first].latest_runs(span, access, op, side, 1, latest_);
      charge(latest_.size());
      if (!latest_.empty() && is_complete_) judge_bytes(span, key, conflict);
      return;
    }
    const Stamp floor = floors_[key];
    if (latest_of_place_[first] < floor) return;
    charge(1);
    const Stamp latest = histories_[first].latest(span, access, op, side);
    if (latest < floor || !is_complete_) return;
    judge_from(latest, key, conflict);
  }

  // How shorter conflicts are found that stand for it.
  struct Shorter {
    size_t key;
    bool is_by_bytes;
  };

  // Likewise, with the latest one that has no hazard with `second`.
  void judge_beside_hazards(DispatchId second, const Access& access, PlaceIndex first,
                            Shorter shorter, QueueConflict conflict) {
    const Stamp threshold = shorter.is_by_bytes ? 1 : floors_[shorter.key];
    if (!is_complete_ || latest_of_place_[first] < threshold) return;
    const auto access_index = static_cast<size_t>(&access - program_.accesses.data());
    const auto read_sort = read_sort_of(conflict.second, access);
    FindingKind kind = FindingKind::kWriteAfterRead;
    if (conflict.is_of_memory) {
      const bool is_read = read_sort && *read_sort == conflict.sort;
      kind = is_read ? FindingKind::kReadAfterWrite : FindingKind::kWriteAfterWrite;
    }
    charge(separated_.find({.second = second,
                            .access = access_index,
                            .first = first,
                            .kind = kind,
                            .threshold = threshold},
                           latest_));
    if (latest_.empty() || !is_complete_) return;
    if (shorter.is_by_bytes) {
      judge_bytes(segments_.span_of(access_index), shorter.key, conflict);
      return;
    }
    Stamp latest = 0;
    for (const StampRun& run : latest_) latest = std::max(latest, run.stamp);
    judge_from(latest, shorter.key, conflict);
  }

  // What has a hazard for want of visibility must not lose the order that it has.
  void find_order_beside_hazards(DispatchId second, Stage stage) {
    const QueueIndex queue = program_.queue_of(program_.dispatch(second));
    const auto hazards = separated_.hazards_of(second);
    for (size_t i = hazards.size(); i-- > 0 && is_complete_;) {
      charge(1);
      if (!hazards[i].is_ordered) continue;
      const PlaceIndex first = places_.of(hazards[i].first, hazards[i].first_stage);
      const PlaceIndex place = places_.of(second, stage);
      const QueueConflict conflict{.first_queue = places_.queue_of(first),
                                   .second_queue = queue,
                                   .first = hazards[i].first_stage,
                                   .second = stage,
                                   .bytes = {},
                                   .end = cuts_of_.steps().before(second)};
      if (conflict.first_queue == kNoQueue && queue == kNoQueue) continue;
      const size_t key = (first * places_.count() + place) * kGoalCount + goal_of(conflict);
      const Stamp latest = hazards[i].first.index + Stamp{1};
      if (latest >= floors_[key]) judge_from(latest, key, conflict);
    }
  }

  void judge_from(Stamp latest, size_t key, QueueConflict conflict) {
    conflict.begin = steps_before(size_t{latest} - 1);
    floors_[key] = gap_end_[latest - 1] + 1;
    judge(conflict);
  }

  // The runs of latest_, byte by byte.
  void judge_bytes(SegmentSpan span, size_t key, QueueConflict conflict) {
    std::unique_ptr<StampTree>& judged = judged_[key];
    if (judged == nullptr) {
      charge(segments_.count() / kSegmentsPerWork);  // It is zeroed at once.
      if (!is_complete_) return;
      judged = std::make_unique<StampTree>(segments_.count());
    }
    judged_runs_.clear();
    judged->append_runs(span, 1, judged_runs_);
    charge(judged_runs_.size());
    zip_runs(latest_, judged_runs_, [&](SegmentSpan part, Stamp latest, Stamp before) {
      if (latest == 0 || !is_complete_) return;
      conflict.begin = steps_before(size_t{latest} - 1);
      if (conflict.begin + 1 <= before) return;
      conflict.bytes.range = segments_.bytes_of(part);
      // Segments end where operands do.
      part.end - part.begin == 1 ? judge(conflict) : judge_pieces_of(conflict);
      judged->raise(part, conflict.begin + 1);
    });
  }

  // Cuts the bytes where operands begin or end.
  void judge_pieces_of(QueueConflict conflict) {
    ends_.clear();
    charge(cuts_of_.steps().append_ends(conflict.begin, conflict.end, conflict.bytes, ends_));
    visit_parts(conflict.bytes.range, ends_, [&](ByteRange part) {
      conflict.bytes.range = part;
      judge(conflict);
    });
  }

  void judge(const QueueConflict& conflict) {
    if (!is_complete_) return;
    if (!cuts_of_.find(conflict, work_left_, cuts_)) {
      is_complete_ = false;
      return;
    }
    for (const QueueCut& cut : cuts_) {
      if (!is_complete_) return;
      mark(cut);
    }
  }

  void mark(const QueueCut& cut) {
    const StatementId statement = cuts_of_.statement_of(cut.step);
    if (!statement.is_some()) return;
    const uint32_t end = first_piece_[statement.index + 1];
    for (uint32_t i = first_piece_[statement.index]; i < end; ++i) mark(cut, i);
    auto with = std::ranges::lower_bound(with_signals_, std::pair(statement, 0u));
    for (; with != with_signals_.end() && with->first == statement; ++with) {
      mark(cut, with->second);
    }
  }

  void mark(const QueueCut& cut, uint32_t piece) {
    if (needs_.is_needed[piece]) return;
    uint64_t work = 0;
    const bool is_needed = cuts_of_.needs(cut, pieces_[piece], work);
    charge(work);
    needs_.is_needed[piece] = is_needed;
  }

  void charge(uint64_t work) {
    if (work > work_left_) is_complete_ = false;
    work_left_ -= std::min(work, work_left_);
  }

  const Program& program_;
  const std::span<const SyncPiece> pieces_;
  uint64_t& work_left_;
  QueueCuts cuts_of_;
  const Places places_;
  const ByteSegments segments_;
  SeparatedFirsts separated_;
  std::vector<AccessHistory> histories_;  // By place.
  std::vector<Stage> stage_of_place_;
  std::vector<Stamp> latest_of_place_;
  // The least stamp that is to be asked: by the place of the earlier dispatch, that of the later
  // one, and the goal.
  std::vector<Stamp> floors_;
  // Likewise, where operands make a difference, by segment: one more than the step at which the
  // shortest conflict so far begins.
  std::map<size_t, std::unique_ptr<StampTree>> judged_;
  std::vector<uint32_t> gap_end_;      // By dispatch: the first after it that has a step before it.
  std::vector<uint32_t> first_piece_;  // By statement, and one more.
  // Waits of binary semaphores, by the signal that goes along.
  std::vector<std::pair<StatementId, uint32_t>> with_signals_;
  NeededPieces needs_;
  bool is_complete_ = true;  // Else what is not needed by then is open.
  std::vector<StampRun> latest_;
  std::vector<StampRun> judged_runs_;
  std::vector<uint64_t> ends_;
  std::vector<QueueCut> cuts_;
};

}  // namespace

NeededPieces find_queue_needs(const Program& program, std::span<const SyncPiece> pieces,
                              std::span<const ByteHazards> hazards, uint64_t& work_left) {
  if (!has_host_atoms(program)) return QueueNeedSearch(program, pieces, hazards, work_left).run();
  return QueueNeedSearch(with_whole_atoms(program), pieces, hazards, work_left).run();
}

}  // namespace interlock
