// The basic idea is the definition: leave a piece out and check again. Of a plain program chains
// say at once what is needed (queue_needs.h), and of edges without a hazard mostly the operations
// at their ends (edge_needs.h). Of others without one two facts save most of it (docs/theory.md,
// "Sync that can go").
//
// Every chain from one access to a later one consists of sync that stands between the two in the
// reference run. So if many pieces are left out at once and a hazard comes of it between whose
// accesses only one of them stands, that one is needed: alone, it leaves the same hazard. Of what
// the host flushes and invalidates, only what moves their atoms counts.
//
// Sync only ever adds order. So if many are left out at once and no hazard comes of it, each of
// them can go. What saves host writes from an invalidation, or invalidates, is not like that, and
// judged one by one. Nor are signals where several queues signal one semaphore: left out with what
// orders one after another, one hides that nothing else does (signal_needs.h knows it of the other
// pieces). Nor are a wait and a signal of a binary semaphore that is used again, nor a `host idle`
// that could be for one queue or for another.
#include "simulator/barriers/sync_redundancy.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "encoder/program/stop.h"
#include "simulator/barriers/edge_needs.h"
#include "simulator/barriers/failing_sync.h"
#include "simulator/barriers/moved_atoms.h"
#include "simulator/barriers/order_findings.h"
#include "simulator/barriers/queue_cuts.h"
#include "simulator/barriers/queue_needs.h"
#include "simulator/barriers/signal_needs.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"

namespace interlock {
namespace {

enum class PieceVerdict : uint8_t { kOpen, kNeeded, kRedundant };

// Hazards looked at where many pieces are left out at once.
constexpr uint64_t kPairsMax = 250'000;

class SyncSearch {
 public:
  SyncSearch(const Program& program, const SyncRedundancyOptions& options)
      : program_(program),
        options_(options),
        work_left_(options.work_limit),
        pieces_(sync_pieces_of(program)),
        saves_nothing_(find_flushes_that_save_nothing(program)),
        has_crossing_signals_(finds_crossing_signals()),
        verdicts_(pieces_.size(), PieceVerdict::kOpen) {}

  SyncRedundancy run() {
    if (pieces_.empty()) return {};
    // That signals come in the order of their values takes no check of its own where one place
    // signals each semaphore.
    const bool is_clean = options_.is_clean && !has_crossing_signals_;
    if (is_clean && find_unordered_signals(program_)) return {};
    if (!is_clean) {
      // The first check alone says nothing.
      if (work_left_ < 2 * check_work() || !charge_check()) return unjudged();
    }
    const ReferenceOrder reference = find_reference_order(program_);
    if (!reference.cycle.empty()) return {};
    if (!is_clean) {
      with_ = find_order_findings(program_, HazardsListed::kAll, work_left_);
      if (!with_.is_known) return unjudged();
      if (!with_.runs || is_stopped()) return {};
    }
    place(reference);
    const FailingSync failing(program_, reference, with_);
    if (asks_chains(reference)) judge_by_chains(failing);
    if (asks_edges(reference)) judge_by_edges();
    // A word of what can go is no advice.
    for (const bool are_words : {false, true}) {
      are_words_ = are_words;
      if (with_.hazards.empty() && open_pieces().size() > options_.alone_max) judge_many();
      for (size_t i = 0; i < pieces_.size(); ++i) {
        if (is_stopped()) return {};
        if (is_open(i)) judge_alone(i, failing);
      }
    }
    return result();
  }

 private:
  bool charge(uint64_t work) {
    if (work > work_left_) return false;
    work_left_ -= work;
    return true;
  }
  bool charge_check() { return charge(check_work()); }

  // Found when it is first asked for.
  uint64_t check_work() {
    if (!check_work_) check_work_ = work_of_order_findings(program_);
    return *check_work_;
  }

  SyncRedundancy unjudged() const { return result(); }

  SyncRedundancy result() const {
    SyncRedundancy result;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (goes_with_another(i)) continue;
      if (verdicts_[i] == PieceVerdict::kRedundant) result.redundant.push_back(pieces_[i]);
      const uint32_t outer = pieces_[i].within;
      const bool is_counted = outer != SyncPiece::kNone && verdicts_[outer] == PieceVerdict::kOpen;
      result.unjudged_count += verdicts_[i] == PieceVerdict::kOpen && !is_counted;
    }
    return result;
  }

  // It is a word of what can go.
  bool goes_with_another(size_t index) const {
    uint32_t outer = pieces_[index].within;
    while (outer != SyncPiece::kNone && verdicts_[outer] != PieceVerdict::kRedundant) {
      outer = pieces_[outer].within;
    }
    return outer != SyncPiece::kNone;
  }

  // To be judged now.
  bool is_open(size_t index) const {
    return verdicts_[index] == PieceVerdict::kOpen && pieces_[index].is_word() == are_words_ &&
           !goes_with_another(index);
  }

  void place(const ReferenceOrder& reference) {
    position_.resize(program_.statements.size());
    for (uint32_t i = 0; i < reference.statements.size(); ++i) {
      position_[reference.statements[i].index] = i;
    }
  }

  void judge_alone(size_t index, const FailingSync& failing) {
    if (!charge_check() || !charge(with_.hazards.size())) return;
    if (failing.has(pieces_[index])) {
      verdicts_[index] = PieceVerdict::kNeeded;
      return;
    }
    const Program without = without_pieces(program_, {&pieces_[index], 1});
    const HazardsListed listed =
        with_.hazards.empty() ? HazardsListed::kOfOnePair : HazardsListed::kAll;
    const OrderFindings findings = find_order_findings(without, listed, work_left_);
    if (!findings.is_known || is_stopped()) return;
    const bool can_go = adds_nothing(with_, findings);
    verdicts_[index] = can_go ? PieceVerdict::kRedundant : PieceVerdict::kNeeded;
  }

  bool asks_chains(const ReferenceOrder& reference) const {
    return options_.asks_chains && pieces_.size() > options_.alone_max && reference.is_text_order &&
           QueueCuts::can_judge(program_);
  }

  void judge_by_chains(const FailingSync& failing) {
    const NeededPieces needs = find_queue_needs(program_, pieces_, with_.hazards, work_left_);
    const std::vector<bool> is_of_signal = is_of_crossing_signal(program_, pieces_);
    std::vector<size_t> unasked;  // Neither an access asks for them nor a hazard.
    for (size_t i = 0; i < pieces_.size() && !is_stopped(); ++i) {
      if (is_of_signal[i]) continue;
      if (needs.is_needed[i]) verdicts_[i] = PieceVerdict::kNeeded;
      if (!needs.can_go[i] || !only_orders(i) || !charge(with_.hazards.size())) continue;
      if (failing.has(pieces_[i])) {
        verdicts_[i] = PieceVerdict::kNeeded;
      } else {
        unasked.push_back(i);
      }
    }
    if (has_crossing_signals_) return judge_by_signals(unasked);
    for (const size_t i : unasked) verdicts_[i] = PieceVerdict::kRedundant;
  }

  // Of these, first the statements, as a word of what can go is no advice.
  void judge_by_signals(const std::vector<size_t>& pieces) {
    for (const bool are_words : {false, true}) {
      are_words_ = are_words;
      std::vector<size_t> asked;
      for (const size_t i : pieces) {
        if (is_open(i) && pieces_[i].kind != SyncPieceKind::kQueue) asked.push_back(i);
      }
      const SignalNeeds needs =
          find_signal_needs(program_, pieces_, asked, check_work(), work_left_);
      for (const size_t i : needs.needed) verdicts_[i] = PieceVerdict::kNeeded;
      for (const size_t i : needs.can_go) verdicts_[i] = PieceVerdict::kRedundant;
    }
  }

  bool asks_edges(const ReferenceOrder& reference) const {
    return options_.asks_chains && pieces_.size() > options_.alone_max && with_.hazards.empty() &&
           reference.is_text_order && can_judge_edges(program_);
  }

  // Requires: there is no hazard.
  void judge_by_edges() {
    const EdgeNeeds needs = find_edge_needs(program_, pieces_, work_left_);
    if (is_stopped()) return;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (needs.is_needed[i]) verdicts_[i] = PieceVerdict::kNeeded;
      if (needs.can_go[i]) verdicts_[i] = PieceVerdict::kRedundant;
    }
  }

  // Those that can be left out with others.
  std::vector<size_t> open_pieces() const {
    std::vector<size_t> open;
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const bool is_one_of_some = pieces_[i].kind == SyncPieceKind::kQueue;
      const bool may_hide = is_one_of_some || (has_crossing_signals_ && takes_a_signal(pieces_[i]));
      if (is_open(i) && !may_hide) open.push_back(i);
    }
    return open;
  }

  static bool takes_a_signal(const SyncPiece& piece) {
    return piece.kind == SyncPieceKind::kSignal ||
           (piece.kind == SyncPieceKind::kWait && piece.partner.is_some());
  }

  bool finds_crossing_signals() const {
    const std::vector<bool> is_reused = reused_binary_semaphores(program_);
    if (std::ranges::find(is_reused, true) != is_reused.end()) return true;
    constexpr QueueIndex kNowhere = kNoQueue - 1;
    std::vector<QueueIndex> place(program_.semaphores.size(), kNowhere);
    for (const SyncStep& step : program_.syncs) {
      const QueueIndex queue = program_.statements[step.statement.index].queue;
      for (const SignalPart& part : program_.parts_of(step)) {
        QueueIndex& first = place[part.semaphore.index];
        if (first != kNowhere && first != queue) return true;
        first = queue;
      }
    }
    return false;
  }

  // Requires: there is no hazard.
  void judge_many() {
    for (const size_t stride : {options_.stride, 4 * options_.stride}) {
      const std::vector<size_t> open = open_pieces();
      for (size_t first = 0; first < std::min(stride, open.size()); ++first) {
        std::vector<size_t> group;
        for (size_t i = first; i < open.size(); i += stride) group.push_back(open[i]);
        if (is_stopped() || !judge_group(group)) return;
      }
    }
    judge_halves(open_pieces());
  }

  void judge_halves(const std::vector<size_t>& group) {
    if (group.size() < 2 || is_stopped() || !judge_group(group)) return;
    std::vector<size_t> left;
    for (const size_t i : group) {
      if (is_open(i)) left.push_back(i);
    }
    const auto middle = left.begin() + static_cast<std::ptrdiff_t>(left.size() / 2);
    judge_halves({left.begin(), middle});
    judge_halves({middle, left.end()});
  }

  // Leaves all of them out. Returns false if the work is too much.
  bool judge_group(const std::vector<size_t>& group) {
    if (!charge_check()) return false;
    std::vector<SyncPiece> left_out;
    for (const size_t i : group) left_out.push_back(pieces_[i]);
    const auto pairs = find_hazardous_pairs(without_pieces(program_, left_out), kPairsMax);
    if (!pairs || is_stopped()) return true;
    if (pairs->empty()) {
      if (decides_by_hazards()) mark_redundant(group);
    } else {
      mark_needed(group, *pairs);
    }
    return true;
  }

  // Where nothing is free, destroyed or reordered, whatever has no hazard has no other finding.
  bool decides_by_hazards() const {
    return program_.lifetimes.empty() && !program_.has_program_order;
  }

  void mark_redundant(const std::vector<size_t>& group) {
    for (const size_t i : group) {
      if (only_orders(i)) verdicts_[i] = PieceVerdict::kRedundant;
    }
  }

  // Whatever the host has written is lost without it as it is with it.
  bool only_orders(size_t index) const {
    return !pieces_[index].is_of_host_move() || saves_nothing_[pieces_[index].statement.index];
  }

  void mark_needed(const std::vector<size_t>& group, const std::vector<HazardousPair>& pairs) {
    std::vector<std::pair<uint32_t, size_t>> places;  // In the run; the piece there.
    std::vector<MovedAtoms::Move> moves;
    for (const size_t i : group) {
      if (pieces_[i].is_of_host_move()) {
        const StatementId statement = pieces_[i].statement;
        moves.push_back({statement, position_[statement.index], i});
        continue;
      }
      places.emplace_back(position_[pieces_[i].statement.index], i);
      const bool has_two = pieces_[i].partner.is_some() && pieces_[i].edge == SyncPiece::kNone;
      if (has_two) places.emplace_back(position_[pieces_[i].partner.index], i);
    }
    std::ranges::sort(places);
    const MovedAtoms moved(program_, moves);
    const auto position = [&](DispatchId id) {
      return position_[program_.dispatch(id).statement.index];
    };
    for (const HazardousPair& pair : pairs) {
      const uint32_t begin = std::min(position(pair.first), position(pair.second));
      const uint32_t end = std::max(position(pair.first), position(pair.second));
      auto at = std::ranges::lower_bound(places, std::pair<uint32_t, size_t>(begin, 0));
      std::optional<size_t> only;
      bool is_only = true;
      const auto add = [&](size_t piece) {
        is_only = !only || *only == piece;
        only = piece;
        return is_only;
      };
      for (; is_only && at != places.end() && at->first <= end; ++at) add(at->second);
      if (is_only) moved.for_each_between(pair.first, begin, end, add);
      if (only && is_only) verdicts_[*only] = PieceVerdict::kNeeded;
    }
  }

  const Program& program_;
  const SyncRedundancyOptions options_;
  uint64_t work_left_;
  std::optional<uint64_t> check_work_;
  const std::vector<SyncPiece> pieces_;
  const std::vector<bool> saves_nothing_;  // By statement.
  // Several queues signal one semaphore, or the host does too; or a binary one is used again.
  const bool has_crossing_signals_;
  std::vector<PieceVerdict> verdicts_;  // By piece.
  bool are_words_ = false;              // Those that are judged now; first those that are none.
  OrderFindings with_;
  std::vector<uint32_t> position_;  // By statement: in the reference run.
};

}  // namespace

SyncRedundancy find_redundant_sync(const Program& program, const SyncRedundancyOptions& options) {
  return SyncSearch(program, options).run();
}

}  // namespace interlock
