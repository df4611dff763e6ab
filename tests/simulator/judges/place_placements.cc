// The basic idea is to put signals and waits wherever they add no order by themselves, two of them
// in all orders in which they can stand in one place, and to close what is before what.
#include "tests/simulator/judges/place_placements.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace interlock {
namespace {

constexpr std::array<StageMask, 3> kMasks = {bit_of(Stage::kCompute), bit_of(Stage::kCopy),
                                             bit_of(Stage::kCompute) | bit_of(Stage::kCopy)};

bool is_blocking(QueueKind kind) { return kind == QueueKind::kSerialBlocking; }
bool is_joining(QueueKind kind) { return kind == QueueKind::kLegacyDefault; }

bool is_dispatch(const Placed& placed) { return placed.kind == PlacedKind::kDispatch; }
bool waits_for(const Placed& placed) {
  return placed.kind == PlacedKind::kBarrier || placed.kind == PlacedKind::kSignal;
}
bool holds_back(const Placed& placed) {
  return placed.kind == PlacedKind::kBarrier || placed.kind == PlacedKind::kWait;
}

// The later one of a text comes after the earlier one, by what the two are.
bool follows_at_once(const PlacedText& text, const Placed& a, const Placed& b) {
  const QueueKind first = text.queues[a.queue];
  const QueueKind second = text.queues[b.queue];
  if (is_blocking(first) && is_joining(second)) return true;
  if (is_joining(first) && is_blocking(second)) return true;
  if (a.queue != b.queue) return false;
  if (is_serial(first)) return true;
  if (is_dispatch(a)) return waits_for(b) && (a.source & b.source) != 0;
  if (is_dispatch(b)) return holds_back(a) && (a.destination & b.source) != 0;
  if (a.kind == PlacedKind::kSignal) return b.kind == PlacedKind::kSignal;
  return holds_back(a) && waits_for(b) && (a.destination & b.source) != 0;
}

struct PlacedArc {
  Placed signal;
  size_t signal_gap = 0;  // Before this statement.
  Placed wait;
  size_t wait_gap = 0;
};

class PlacedSearch {
 public:
  explicit PlacedSearch(const PlacedText& text) {
    wanted_ = dispatches_after(text, *order_of(text));
    bare_.queues = text.queues;
    for (const Placed& placed : text.statements) {
      const bool stays =
          placed.kind == PlacedKind::kDispatch || placed.kind == PlacedKind::kBarrier;
      if (stays) bare_.statements.push_back(placed);
    }
    find_arcs();
  }

  FewestPlaced run() {
    std::vector<size_t> nothings;
    const auto legacy = std::ranges::find_if(bare_.queues, is_joining);
    for (size_t gap = 0; gap <= bare_.statements.size() && legacy != bare_.queues.end(); ++gap) {
      if (is_own_gap(static_cast<uint32_t>(legacy - bare_.queues.begin()), gap)) {
        nothings.push_back(gap);
      }
    }
    for (uint32_t count = 0; count <= 2; ++count) {
      for (uint32_t chosen = 0; chosen < 1u << nothings.size(); ++chosen) {
        std::vector<size_t> here;
        for (size_t k = 0; k < nothings.size(); ++k) {
          if ((chosen >> k & 1) != 0) here.push_back(nothings[k]);
        }
        try_all(here, static_cast<uint32_t>(legacy - bare_.queues.begin()), count);
      }
    }
    return found_;
  }

 private:
  bool are_together(uint32_t a, uint32_t b) const {
    const QueueKind first = bare_.queues[a];
    const QueueKind second = bare_.queues[b];
    return a == b || (is_blocking(first) && is_joining(second)) ||
           (is_joining(first) && is_blocking(second));
  }
  // Other gaps are like one of these.
  bool is_own_gap(uint32_t queue, size_t gap) const {
    return gap == 0 || are_together(queue, bare_.statements[gap - 1].queue);
  }

  void find_arcs() {
    std::vector<std::pair<Placed, size_t>> ends;
    for (uint32_t queue = 0; queue < bare_.queues.size(); ++queue) {
      for (size_t gap = 0; gap <= bare_.statements.size(); ++gap) {
        if (!is_own_gap(queue, gap)) continue;
        for (const StageMask mask : kMasks) {
          if (is_serial(bare_.queues[queue]) && mask != kMasks.back()) continue;
          ends.push_back({{PlacedKind::kSignal, queue, mask, mask, 0}, gap});
        }
      }
    }
    for (const auto& [signal, signal_gap] : ends) {
      for (auto [wait, wait_gap] : ends) {
        if (wait.queue == signal.queue) continue;
        wait.kind = PlacedKind::kWait;
        const PlacedArc arc = {signal, signal_gap, wait, wait_gap};
        if (adds_none(with_arcs({arc}, {}, 0, {0, 1}))) arcs_.push_back(arc);
      }
    }
  }

  // `turns`: of the ends of arcs, two for each, that stand in one gap.
  PlacedText with_arcs(const std::vector<PlacedArc>& arcs, const std::vector<size_t>& nothings,
                       uint32_t legacy, const std::vector<size_t>& turns) const {
    PlacedText result;
    result.queues = bare_.queues;
    for (size_t gap = 0; gap <= bare_.statements.size(); ++gap) {
      if (std::ranges::find(nothings, gap) != nothings.end()) {
        result.statements.push_back({PlacedKind::kNothing, legacy});
      }
      for (const size_t turn : turns) {
        const PlacedArc& arc = arcs[turn / 2];
        if ((turn % 2 == 0 ? arc.signal_gap : arc.wait_gap) != gap) continue;
        Placed end = turn % 2 == 0 ? arc.signal : arc.wait;
        end.arc = static_cast<uint32_t>(turn / 2);
        result.statements.push_back(end);
      }
      if (gap < bare_.statements.size()) result.statements.push_back(bare_.statements[gap]);
    }
    return result;
  }

  bool adds_none(const PlacedText& text) const {
    const std::optional<std::vector<uint64_t>> order = order_of(text);
    if (!order) return false;
    const std::vector<uint64_t> after = dispatches_after(text, *order);
    for (size_t i = 0; i < after.size(); ++i) {
      if ((after[i] & ~wanted_[i]) != 0) return false;
    }
    return true;
  }

  void try_all(const std::vector<size_t>& nothings, uint32_t legacy, uint32_t count) {
    if (!adds_none(with_arcs({}, nothings, legacy, {}))) return;
    if (count == 0) return see({}, nothings, legacy);
    for (size_t i = 0; i < arcs_.size(); ++i) {
      if (count == 1) {
        see({arcs_[i]}, nothings, legacy);
        continue;
      }
      for (size_t k = i; k < arcs_.size(); ++k) see({arcs_[i], arcs_[k]}, nothings, legacy);
    }
  }

  void see(const std::vector<PlacedArc>& arcs, const std::vector<size_t>& nothings,
           uint32_t legacy) {
    if (found_.of_apart) return;
    std::vector<size_t> turns(2 * arcs.size());
    std::iota(turns.begin(), turns.end(), size_t{0});
    std::vector<size_t> gaps;
    for (const PlacedArc& arc : arcs) gaps.insert(gaps.end(), {arc.signal_gap, arc.wait_gap});
    std::ranges::sort(gaps);
    const bool has_turns = std::ranges::adjacent_find(gaps) != gaps.end();
    do {
      const PlacedText text = with_arcs(arcs, nothings, legacy, turns);
      const std::optional<std::vector<uint64_t>> order = order_of(text);
      if (!order || dispatches_after(text, *order) != wanted_) continue;
      const auto count = static_cast<uint32_t>(arcs.size());
      if (!found_.of_all) found_.of_all = count;
      if (!found_.of_apart && !passes_on(text, *order)) found_.of_apart = count;
    } while (has_turns && std::next_permutation(turns.begin(), turns.end()));
  }

  PlacedText bare_;
  std::vector<uint64_t> wanted_;
  std::vector<PlacedArc> arcs_;
  FewestPlaced found_;
};

}  // namespace

std::optional<std::vector<uint64_t>> order_of(const PlacedText& text) {
  const size_t count = text.statements.size();
  std::vector<uint64_t> order(count, 0);
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      const Placed& first = text.statements[a];
      const Placed& second = text.statements[b];
      if (follows_at_once(text, first, second)) order[a] |= uint64_t{1} << b;
      const bool has_signal =
          first.kind == PlacedKind::kSignal || second.kind == PlacedKind::kSignal;
      const bool has_wait = first.kind == PlacedKind::kWait || second.kind == PlacedKind::kWait;
      if (!has_signal || !has_wait || first.arc != second.arc) continue;
      const bool is_forward = first.kind == PlacedKind::kSignal;
      order[is_forward ? a : b] |= uint64_t{1} << (is_forward ? b : a);
    }
  }
  for (size_t by = 0; by < count; ++by) {
    for (size_t a = 0; a < count; ++a) {
      if ((order[a] >> by & 1) != 0) order[a] |= order[by];
    }
  }
  for (size_t a = 0; a < count; ++a) {
    if ((order[a] >> a & 1) != 0) return std::nullopt;
  }
  return order;
}

std::vector<uint64_t> dispatches_after(const PlacedText& text, const std::vector<uint64_t>& order) {
  std::vector<size_t> dispatches;
  for (size_t i = 0; i < text.statements.size(); ++i) {
    if (is_dispatch(text.statements[i])) dispatches.push_back(i);
  }
  std::vector<uint64_t> result;
  for (const size_t a : dispatches) {
    uint64_t after = 0;
    for (size_t k = 0; k < dispatches.size(); ++k) after |= (order[a] >> dispatches[k] & 1) << k;
    result.push_back(after);
  }
  return result;
}

bool passes_on(const PlacedText& text, const std::vector<uint64_t>& order) {
  const std::vector<Placed>& all = text.statements;
  for (size_t a = 0; a < all.size(); ++a) {
    for (size_t b = 0; b < all.size(); ++b) {
      if (all[a].kind != PlacedKind::kWait || all[b].kind != PlacedKind::kSignal) continue;
      if ((order[a] >> b & 1) == 0) continue;
      bool has_between = false;
      for (size_t o = 0; o < all.size(); ++o) {
        has_between |= is_dispatch(all[o]) && (order[a] >> o & 1) != 0 && (order[o] >> b & 1) != 0;
      }
      if (!has_between) return true;
    }
  }
  return false;
}

FewestPlaced fewest_placed(const PlacedText& text) { return PlacedSearch(text).run(); }

}  // namespace interlock
