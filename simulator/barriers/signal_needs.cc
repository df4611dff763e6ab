// The basic idea: all that a chain from one signal to the next of its semaphore consists of stands
// between the two, and so do all such chains of one semaphore one after another. So one piece can
// be left out between any two signals at once, and each pair says of its own piece whether that is
// needed.
#include "simulator/barriers/signal_needs.h"

#include <algorithm>
#include <optional>

#include "encoder/program/stop.h"
#include "simulator/order/signal_order.h"

namespace interlock {
namespace {

class SignalNeedSearch {
 public:
  SignalNeedSearch(const Program& program, std::span<const SyncPiece> pieces,
                   std::span<const size_t> asked, uint64_t pass_work, uint64_t& work_left)
      : program_(program),
        pieces_(pieces),
        pass_work_(pass_work),
        work_left_(work_left),
        crossing_(crossing_signals_of(program)),
        open_(asked.begin(), asked.end()) {}

  SignalNeeds run() {
    if (open_.empty()) return {};
    std::vector<SemaphoreId> timelines;
    for (size_t s = 0; s < crossing_.size(); ++s) {
      if (!crossing_[s].empty()) timelines.emplace_back(s);
    }
    const auto without_all = out_of_order_without(open_, timelines);
    if (!without_all) return {};
    is_needed_.assign(pieces_.size(), false);
    is_left_.assign(pieces_.size(), false);
    for (size_t begin = 0, end = 0; begin < without_all->size(); begin = end) {
      const SemaphoreId semaphore = (*without_all)[begin].semaphore;
      while (end < without_all->size() && (*without_all)[end].semaphore == semaphore) ++end;
      judge(semaphore, std::span(*without_all).subspan(begin, end - begin));
    }
    SignalNeeds needs;
    for (const size_t piece : open_) {
      if (is_needed_[piece]) {
        needs.needed.push_back(piece);
      } else if (!is_left_[piece]) {
        needs.can_go.push_back(piece);
      }
    }
    return needs;
  }

 private:
  // Of these timelines, by semaphore, then by rank; nothing if the work is too much.
  std::optional<std::vector<RankedSignal>> out_of_order_without(
      const std::vector<size_t>& which, std::span<const SemaphoreId> timelines) {
    const uint64_t pass_count = (timelines.size() + kSemaphoresAtOnce - 1) / kSemaphoresAtOnce;
    if (pass_work_ * pass_count > work_left_ || is_stopped()) return std::nullopt;
    work_left_ -= pass_work_ * pass_count;
    std::vector<SyncPiece> left_out;
    for (const size_t piece : which) left_out.push_back(pieces_[piece]);
    std::vector<RankedSignal> found =
        find_signals_out_of_order(without_pieces(program_, left_out), timelines);
    if (is_stopped()) return std::nullopt;
    std::ranges::sort(found);
    return found;
  }

  // The signal of the semaphore that comes next after the statement, by its rank: chains to it may
  // lead by there. 0: none do.
  uint32_t rank_after(SemaphoreId semaphore, StatementId statement) const {
    const std::vector<StatementId>& signals = crossing_[semaphore.index];
    const auto next = std::ranges::upper_bound(signals, statement);
    if (next == signals.begin() || next == signals.end()) return 0;
    return static_cast<uint32_t>(next - signals.begin()) + 1;
  }

  // `suspects`: the signals that something among all that is asked keeps in order.
  void judge(SemaphoreId semaphore, std::span<const RankedSignal> suspects) {
    const auto is_suspect = [&](uint32_t rank) {
      return std::ranges::binary_search(suspects, RankedSignal{semaphore, rank});
    };
    // Of each class no two are before the same signal.
    std::vector<std::vector<size_t>> classes;
    std::vector<uint32_t> count(crossing_[semaphore.index].size() + 1, 0);  // By rank.
    for (const size_t piece : open_) {
      if (is_needed_[piece]) continue;
      const uint32_t rank = rank_after(semaphore, pieces_[piece].statement);
      const StatementId partner = pieces_[piece].partner;
      const uint32_t other = partner.is_some() ? rank_after(semaphore, partner) : rank;
      if (!is_suspect(rank) && !is_suspect(other)) continue;
      if (rank != other) {
        is_left_[piece] = true;
        continue;
      }
      const uint32_t place = count[rank]++;
      if (place == classes.size()) classes.emplace_back();
      classes[place].push_back(piece);
    }
    for (const std::vector<size_t>& pieces : classes) {
      const auto found = out_of_order_without(pieces, {&semaphore, 1});
      for (const size_t piece : pieces) {
        if (!found) {
          is_left_[piece] = true;
          continue;
        }
        const RankedSignal next{semaphore, rank_after(semaphore, pieces_[piece].statement)};
        if (std::ranges::binary_search(*found, next)) is_needed_[piece] = true;
      }
    }
  }

  const Program& program_;
  const std::span<const SyncPiece> pieces_;
  const uint64_t pass_work_;
  uint64_t& work_left_;
  const std::vector<std::vector<StatementId>> crossing_;  // By semaphore: its signals, rising.
  const std::vector<size_t> open_;
  std::vector<bool> is_needed_;  // By piece.
  std::vector<bool> is_left_;    // By piece: it stays open, unless it is needed.
};

}  // namespace

std::vector<bool> is_of_crossing_signal(const Program& program, std::span<const SyncPiece> pieces) {
  std::vector<bool> is_crossing(program.statements.size(), false);  // By statement.
  for (const std::vector<StatementId>& signals : crossing_signals_of(program)) {
    for (const StatementId signal : signals) is_crossing[signal.index] = true;
  }
  std::vector<bool> is_of_one(pieces.size(), false);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const SyncPiece& piece = pieces[i];
    is_of_one[i] = (piece.statement.is_some() && is_crossing[piece.statement.index]) ||
                   (piece.partner.is_some() && is_crossing[piece.partner.index]);
  }
  return is_of_one;
}

SignalNeeds find_signal_needs(const Program& program, std::span<const SyncPiece> pieces,
                              std::span<const size_t> asked, uint64_t pass_work,
                              uint64_t& work_left) {
  return SignalNeedSearch(program, pieces, asked, pass_work, work_left).run();
}

}  // namespace interlock
