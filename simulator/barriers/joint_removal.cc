// The basic idea: sync only ever adds order. So what cannot go beside some that are left out cannot
// go beside more, and one pass over the barriers leaves a set from which no other one can go. Runs
// of barriers are left out at once, twice as many each time, until one is needed; between the last
// two lengths lies the barrier that is.
//
// How few do at least: whatever orders two accesses stands between them in the reference run. So if
// all that may go is left out and a hazard comes of it, one of those that stand between its two is
// needed; hazards between which no common one stands need one each. Those are counted as intervals
// are, by their ends.
#include "simulator/barriers/joint_removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "encoder/program/stop.h"
#include "encoder/program/sync_step.h"
#include "simulator/barriers/failing_sync.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/barriers/sync_pieces.h"
#include "simulator/order/reference_order.h"

namespace interlock {
namespace {

// Hazards looked at where all that may go is left out.
constexpr uint64_t kJointPairsMax = 250'000;

class JointSearch {
 public:
  JointSearch(const Program& program, const JointBarriers& barriers, uint64_t work_limit)
      : program_(program),
        barriers_(barriers),
        check_work_(work_of_order_findings(program)),
        work_left_(work_limit) {}

  JointRemoval run() {
    result_.barrier_count = barriers_.barriers.size();
    result_.untried_count = barriers_.removable.size();
    const ReferenceOrder reference = find_reference_order(program_);
    if (!reference.cycle.empty() || !charge_check()) return std::move(result_);
    with_ = find_order_findings(program_, HazardsListed::kAll, work_left_);
    if (!with_.is_known || !with_.runs || is_stopped()) return std::move(result_);
    result_.untried_count = 0;
    place(reference);
    const FailingSync failing(program_, reference, with_);
    const auto fails = [&](BarrierId id) { return failing.has(piece_of(id)); };
    if (has_findings()) std::erase_if(open_, fails);
    count_disjoint_hazards();
    leave_out_in_turn();
    for (const BarrierId id : barriers_.needed) {
      // What fails to order a hazard stays for that, and may be needed for something else.
      const bool is_needed = does_more_than_order(program_, program_.barriers[id.index]) ||
                             !has_findings() || !fails(id) || is_needed_alone(id);
      result_.kept_min += is_needed ? 1 : 0;
    }
    // Where a flush may lose what a barrier orders, less need not be worse: no part of them is
    // known to be in every one that does.
    if (has_host_moves()) result_.kept_min = 0;
    std::ranges::sort(result_.removed, {}, &BarrierId::index);
    result_.removed_count = result_.removed.size();
    return std::move(result_);
  }

 private:
  bool has_host_moves() const {
    return std::ranges::any_of(program_.syncs, [](const SyncStep& step) {
      return step.kind == SyncKind::kHostFlushes || step.kind == SyncKind::kHostInvalidates;
    });
  }

  bool has_findings() const { return !with_.hazards.empty() || !with_.lifetimes.empty(); }

  bool charge_check() {
    if (check_work_ > work_left_) return false;
    work_left_ -= check_work_;
    return true;
  }

  SyncPiece piece_of(BarrierId id) const {
    return {.kind = SyncPieceKind::kBarrier, .statement = program_.barriers[id.index].statement};
  }

  uint32_t position_of(BarrierId id) const {
    return position_[program_.barriers[id.index].statement.index];
  }

  void place(const ReferenceOrder& reference) {
    position_.resize(program_.statements.size());
    for (uint32_t i = 0; i < reference.statements.size(); ++i) {
      position_[reference.statements[i].index] = i;
    }
    open_ = barriers_.removable;
    std::ranges::sort(open_, {}, [&](BarrierId id) { return position_of(id); });
  }

  Program without(std::span<const SyncPiece> pieces) const {
    return without_pieces(program_, pieces);
  }

  // Of what comes of it if all that may go is left out.
  void count_disjoint_hazards() {
    if (open_.empty() || !charge_check()) return;
    std::vector<SyncPiece> all;
    for (const BarrierId id : open_) all.push_back(piece_of(id));
    const auto pairs = find_hazardous_pairs(without(all), kJointPairsMax);
    if (!pairs || is_stopped()) return;
    std::set<std::pair<uint32_t, uint32_t>> known;  // Of pairs that are hazardous as it is.
    for (const ByteHazards& hazard : with_.hazards) {
      known.emplace(hazard.first.index, hazard.second.index);
    }
    std::vector<std::pair<size_t, size_t>> needs;  // The end and the begin of what stands between.
    for (const HazardousPair& pair : *pairs) {
      if (known.contains({pair.first.index, pair.second.index})) continue;
      const auto [begin, end] = between(pair);
      if (begin < end) needs.emplace_back(end, begin);
    }
    std::ranges::sort(needs);
    size_t served_end = 0;
    for (const auto& [end, begin] : needs) {
      if (begin < served_end) continue;
      ++result_.kept_min;
      served_end = end;
    }
  }

  // Of open_, what stands between the two in the reference run.
  std::pair<size_t, size_t> between(const HazardousPair& pair) const {
    const auto at = [&](DispatchId id) {
      const uint32_t position = position_[program_.dispatch(id).statement.index];
      const auto first = std::ranges::lower_bound(
          open_, position, {}, [&](BarrierId barrier) { return position_of(barrier); });
      return static_cast<size_t>(first - open_.begin());
    };
    return std::minmax(at(pair.first), at(pair.second));
  }

  void leave_out_in_turn() {
    for (size_t at = 0; at < open_.size();) {
      const size_t count = length_of_run(at);
      for (size_t i = at; i < at + count; ++i) left_out_.push_back(piece_of(open_[i]));
      result_.removed.insert(result_.removed.end(), open_.begin() + static_cast<ptrdiff_t>(at),
                             open_.begin() + static_cast<ptrdiff_t>(at + count));
      if (is_over_ || is_stopped()) {
        result_.untried_count = open_.size() - at - count;
        return;
      }
      at += count + 1;  // That one is needed.
    }
  }

  // How many from there on can go, one after another; as far as is known if is_over_ is set.
  size_t length_of_run(size_t at) {
    size_t can_go = 0;
    size_t cannot = open_.size() - at + 1;
    for (size_t step = 1; can_go + 1 < cannot; step *= 2) {
      const bool has_found = cannot <= open_.size() - at;
      const size_t next =
          has_found ? can_go + (cannot - can_go) / 2 : std::min(can_go + step, open_.size() - at);
      const bool goes = can_go_too(at, next);
      if (is_over_) return can_go;
      (goes ? can_go : cannot) = next;
    }
    return can_go;
  }

  bool can_go_too(size_t at, size_t count) {
    std::vector<SyncPiece> pieces = left_out_;
    for (size_t i = at; i < at + count; ++i) pieces.push_back(piece_of(open_[i]));
    return goes_without(pieces);
  }

  bool is_needed_alone(BarrierId id) {
    const SyncPiece piece = piece_of(id);
    return !is_over_ && !goes_without({&piece, 1}) && !is_over_;
  }

  bool goes_without(std::span<const SyncPiece> pieces) {
    if (!charge_check() || is_stopped()) {
      is_over_ = true;
      return false;
    }
    const HazardsListed listed =
        with_.hazards.empty() ? HazardsListed::kOfOnePair : HazardsListed::kAll;
    const OrderFindings findings = find_order_findings(without(pieces), listed, work_left_);
    if (!findings.is_known || is_stopped()) {
      is_over_ = true;
      return false;
    }
    return adds_nothing(with_, findings);
  }

  const Program& program_;
  const JointBarriers& barriers_;
  const uint64_t check_work_;
  uint64_t work_left_;
  OrderFindings with_;
  std::vector<uint32_t> position_;  // By statement: in the reference run.
  std::vector<BarrierId> open_;     // That may go, in the order of that run.
  std::vector<SyncPiece> left_out_;
  bool is_over_ = false;  // The work limit is reached.
  JointRemoval result_;
};

}  // namespace

JointRemoval find_joint_removal(const Program& program, const JointBarriers& barriers,
                                uint64_t work_limit) {
  return JointSearch(program, barriers, work_limit).run();
}

bool does_more_than_order(const Program& program, const Barrier& barrier) {
  return std::ranges::any_of(program.dependencies_of(barrier), [](const Dependency& dependency) {
    return dependency.transition != TransitionKind::kNone;
  });
}

bool names_host(const Program& program, const Barrier& barrier) {
  const StageMask host = bit_of(Stage::kHost);
  if (barrier.kind == BarrierKind::kFull) return true;
  return std::ranges::any_of(program.dependencies_of(barrier), [&](const Dependency& dependency) {
    return ((dependency.source.stages | dependency.destination.stages) & host) != 0;
  });
}

void JointCounts::add(const JointCounts& other) {
  barrier_count += other.barrier_count;
  removed_count += other.removed_count;
  untried_count += other.untried_count;
  kept_min += other.kept_min;
}

std::string text_of(const JointCounts& counts) {
  if (counts.barrier_count == 0) return {};
  std::string text = fmt::format("barriers: {}", counts.kept_count());
  if (counts.removed_count == 0) {
    text += counts.is_fewest() ? "; each is needed" : "; none is known to go";
  } else {
    text += fmt::format(" of {} do: the other {} can go{}", counts.barrier_count,
                        counts.removed_count, counts.removed_count == 1 ? "" : " together");
    if (counts.is_fewest()) text += ", and fewer do not";
  }
  if (!counts.is_fewest()) text += fmt::format(", and at least {} must stay", counts.kept_min);
  if (counts.untried_count > 0) {
    text += fmt::format("; {} more work than the limit",
                        counts.untried_count == 1 ? "1 was not tried, as that takes"
                                                  : fmt::format("{} were not tried, as that takes",
                                                                counts.untried_count));
  }
  return text + ".\n";
}

}  // namespace interlock
