// The basic idea: a piece of sync is needed iff some conflict needs it (chain_cuts.h). Where there
// is no hazard, of the earlier accesses of one stage to a byte the latest is separated last, so
// conflicts with that one are enough. And of those few have to be asked. What separates a conflict
// separates every longer one of its sort, that begins no later and ends no earlier, by the same
// chain; so whatever the longer one needs, the shorter one needs. Where operands make a difference
// between bytes this holds byte by byte.
#include "simulator/barriers/needed_sync.h"

#include <algorithm>
#include <array>
#include <memory>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/chain_cuts.h"
#include "simulator/barriers/sync_words.h"
#include "simulator/bytes/access_history.h"
#include "simulator/bytes/range_parts.h"

namespace interlock {
namespace {

class NeedSearch {
 public:
  NeedSearch(const Program& program, const ScopedOrder& order, const ByteSegments& segments,
             uint64_t work_limit)
      : program_(program),
        order_(order),
        segments_(segments),
        work_left_(work_limit),
        chain_cuts_(program, order),
        issued_before_(order.command_count(), static_cast<uint32_t>(program.dispatches.size())) {
    for (size_t s = 0; s < kDispatchStageCount; ++s) {
      histories_.emplace_back(program, segments);
      order_floor_[s].fill(1);
      memory_floor_[s].fill(1);
    }
    for (uint32_t i = 0, command = 0; i < program.dispatches.size(); ++i) {
      const uint32_t end = order.commands_before(DispatchId(size_t{i}));
      for (; command < end; ++command) issued_before_[command] = i;
    }
    count_pieces();
  }

  NeededSync run() {
    for (size_t i = 0; i < program_.dispatches.size() && needed_.is_complete; ++i) {
      if (is_stopped()) break;
      const DispatchId id(i);
      if (order_.has_operands()) cover_before(id);
      find_conflicts_of(id);
      histories_[static_cast<size_t>(order_.stage_of(id))].record(id, id.index + 1);
    }
    return std::move(needed_);
  }

 private:
  void count_pieces() {
    uint32_t count = 0;
    for (const Barrier& barrier : program_.barriers) {
      needed_.first_piece.push_back(count);
      words_.clear();
      append_words(program_, barrier.statement, words_);
      count += 1 + static_cast<uint32_t>(words_.size());
    }
    needed_.first_piece.push_back(count);
    needed_.is_needed.resize(count);
  }

  // The operands of all commands before the dispatch.
  void cover_before(DispatchId id) {
    if (covered_ == nullptr) covered_ = std::make_unique<StampTree>(segments_.count());
    for (const uint32_t end = order_.commands_before(id); covered_count_ < end; ++covered_count_) {
      for (const ScopedDependency& dependency : order_.dependencies_of(covered_count_)) {
        for (uint32_t i = 0; i < dependency.operand_count; ++i) {
          const SegmentSpan span = segments_.span_of_operand(dependency.first_operand + i);
          if (!span.is_empty()) covered_->raise(span, covered_count_ + 1);
        }
      }
    }
  }

  void find_conflicts_of(DispatchId second) {
    const Dispatch& dispatch = program_.dispatch(second);
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      const Access& access = program_.accesses[dispatch.first_access + k];
      const SegmentSpan span = segments_.span_of(dispatch.first_access + k);
      const auto read_sort = read_sort_of(order_.stage_of(second), access);
      const auto write_sort = write_sort_of(order_.stage_of(second), access);
      for (size_t s = 0; s < kDispatchStageCount; ++s) {
        const Stage first = static_cast<Stage>(s);
        if (read_sort) judge_memory(second, access, span, first, *read_sort);
        if (!write_sort) continue;
        judge_memory(second, access, span, first, *write_sort);
        judge_order(second, access, span, first);
      }
    }
  }

  void find_latest(DispatchId second, const Access& access, SegmentSpan span, Stage first,
                   AccessSide side, Stamp floor) {
    histories_[static_cast<size_t>(first)].latest_runs(
        span, access, program_.dispatch(second).atomic_op, side, floor, latest_);
    charge(1 + latest_.size());
  }

  OrderedConflict conflict_of(DispatchId second, Stage first, Stamp stamp) const {
    return {.first = first,
            .second = order_.stage_of(second),
            .begin = order_.commands_before(DispatchId(size_t{stamp} - 1)),
            .end = order_.commands_before(second)};
  }

  // A write after reads in `first`, of which the latest is the shortest conflict.
  void judge_order(DispatchId second, const Access& access, SegmentSpan span, Stage first) {
    Stamp& floor =
        order_floor_[static_cast<size_t>(first)][static_cast<size_t>(order_.stage_of(second))];
    find_latest(second, access, span, first, AccessSide::kReads, floor);
    Stamp latest = 0;
    for (const StampRun& run : latest_) latest = std::max(latest, run.stamp);
    if (latest == 0) return;
    judge(conflict_of(second, first, latest));
    raise(floor, latest);
  }

  void judge_memory(DispatchId second, const Access& access, SegmentSpan span, Stage first,
                    StageAccess sort) {
    Stamp& floor = memory_floor_[static_cast<size_t>(first)][static_cast<size_t>(sort)];
    find_latest(second, access, span, first, AccessSide::kWrites, floor);
    if (latest_.empty()) return;
    if (order_.has_operands()) {
      judge_bytes(second, access.memory, span, first, sort);
      return;
    }
    Stamp latest = 0;
    for (const StampRun& run : latest_) latest = std::max(latest, run.stamp);
    OrderedConflict conflict = conflict_of(second, first, latest);
    conflict.is_of_memory = true;
    conflict.sort = sort;
    conflict.bytes.memory = access.memory;
    judge(conflict);
    raise(floor, latest);
  }

  // Conflicts that end later are asked only if they begin after the next command.
  void raise(Stamp& floor, Stamp judged) const {
    const uint32_t command = order_.commands_before(DispatchId(size_t{judged} - 1));
    floor = std::max(floor, issued_before_[command] + 1);
  }

  // The runs of latest_, byte by byte.
  void judge_bytes(DispatchId second, MemoryId memory, SegmentSpan span, Stage first,
                   StageAccess sort) {
    auto& judged = judged_[static_cast<size_t>(first)][static_cast<size_t>(sort)];
    if (judged == nullptr) judged = std::make_unique<StampTree>(segments_.count());
    judged_runs_.clear();
    judged->append_runs(span, 1, judged_runs_);
    charge(judged_runs_.size());
    zip_runs(latest_, judged_runs_, [&](SegmentSpan part, Stamp latest, Stamp before) {
      if (latest == 0 || !needed_.is_complete) return;
      OrderedConflict conflict = conflict_of(second, first, latest);
      if (conflict.begin + 1 <= before) return;
      conflict.is_of_memory = true;
      conflict.sort = sort;
      conflict.bytes = {memory, segments_.bytes_of(part)};
      conflict.covered_end = covered_->max(part);
      // Segments end where operands do.
      part.end - part.begin == 1 ? judge(conflict) : judge_pieces_of(conflict);
      judged->raise(part, conflict.begin + 1);
    });
  }

  // Cuts the bytes where operands begin or end.
  void judge_pieces_of(OrderedConflict conflict) {
    ends_.clear();
    charge(chain_cuts_.append_ends(conflict, ends_));
    visit_parts(conflict.bytes.range, ends_, [&](ByteRange part) {
      conflict.bytes.range = part;
      judge(conflict);
    });
  }

  void judge(const OrderedConflict& conflict) {
    if (!needed_.is_complete) return;
    if (!chain_cuts_.find(conflict, work_left_, cuts_)) {
      needed_.is_complete = false;
      return;
    }
    for (const ChainCut& cut : cuts_) mark(conflict, cut);
  }

  void mark(const OrderedConflict& conflict, const ChainCut& cut) {
    const uint32_t first = needed_.first_piece[cut.command];
    needed_.is_needed[first] = true;
    words_.clear();
    append_words(program_, program_.barriers[cut.command].statement, words_);
    charge(words_.size());
    for (size_t i = 0; i < words_.size(); ++i) {
      if (needed_.is_needed[first + 1 + i]) continue;
      const bool is_needed = chain_cuts_.needs(conflict, cut, words_[i]);
      needed_.is_needed[first + 1 + i] = is_needed;
    }
  }

  void charge(uint64_t work) {
    if (work > work_left_) needed_.is_complete = false;
    work_left_ -= std::min(work, work_left_);
  }

  const Program& program_;
  const ScopedOrder& order_;
  const ByteSegments& segments_;
  uint64_t work_left_;
  ChainCuts chain_cuts_;
  std::vector<uint32_t> issued_before_;   // By command: dispatches.
  std::vector<AccessHistory> histories_;  // By stage.
  // The least stamp that is to be asked, by the stage of the earlier dispatch, and by the stage of
  // the later one, or the sort of its access.
  std::array<std::array<Stamp, kDispatchStageCount>, kDispatchStageCount> order_floor_;
  std::array<std::array<Stamp, kDispatchSortCount>, kDispatchStageCount> memory_floor_;
  // Where operands make a difference, by segment: one more than the command at which the shortest
  // conflict so far begins.
  std::array<std::array<std::unique_ptr<StampTree>, kDispatchSortCount>, kDispatchStageCount>
      judged_;
  // Likewise, by segment: one more than the last command that has an operand there.
  std::unique_ptr<StampTree> covered_;
  uint32_t covered_count_ = 0;  // The commands that are in it.
  NeededSync needed_;
  std::vector<SyncPiece> words_;
  std::vector<StampRun> latest_;
  std::vector<StampRun> judged_runs_;
  std::vector<uint64_t> ends_;
  std::vector<ChainCut> cuts_;
};

}  // namespace

NeededSync find_needed_sync(const Program& program, const ScopedOrder& order,
                            const ByteSegments& segments, uint64_t work_limit) {
  return NeedSearch(program, order, segments, work_limit).run();
}

}  // namespace interlock
