#include "encoder/plan/ordered_fit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// A chain that has its bytes. In an array of its own, for the scan that decides the speed.
struct Placed {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint32_t first_step = 0;
  uint32_t last_step = 0;
  uint32_t chain = 0;
};

class OrderedFit {
 public:
  OrderedFit(const PlacementProblem& problem, std::span<const ValueChain> chains)
      : problem_(problem), chains_(chains) {}

  ValuePlacement run(std::span<const uint32_t> order);

 private:
  bool excludes(const Placed& placed, uint32_t chain) const;
  uint64_t lowest_offset(uint32_t chain) const;

  const PlacementProblem& problem_;
  std::span<const ValueChain> chains_;
  std::vector<Placed> placed_;  // By begin.
};

// True iff the chain may have no byte of `placed`.
bool OrderedFit::excludes(const Placed& placed, uint32_t chain) const {
  const ValueLife& life = chains_[chain].life;
  const bool is_before = placed.last_step < life.first_step;
  const bool is_behind = life.last_step < placed.first_step;
  if (!is_before && !is_behind) return true;
  if (problem_.rule == nullptr) return false;
  const ValueChain& earlier = chains_[is_before ? placed.chain : chain];
  const ValueChain& later = chains_[is_before ? chain : placed.chain];
  return !problem_.rule->allows(earlier.values.back(), later.values.front());
}

uint64_t OrderedFit::lowest_offset(uint32_t chain) const {
  const uint64_t size_bytes = chains_[chain].life.size_bytes;
  uint64_t offset = 0;
  for (const Placed& placed : placed_) {
    if (placed.begin >= offset + size_bytes) break;  // Later ones begin no lower.
    if (placed.end > offset && excludes(placed, chain)) offset = placed.end;
  }
  return offset;
}

ValuePlacement OrderedFit::run(std::span<const uint32_t> order) {
  ValuePlacement placement;
  placement.offsets_bytes.assign(problem_.values.size(), 0);
  placed_.clear();
  placed_.reserve(order.size());
  for (const uint32_t chain : order) {
    if (is_stopped()) return placement;
    const ValueLife& life = chains_[chain].life;
    const uint64_t begin = lowest_offset(chain);
    for (const uint32_t value : chains_[chain].values) placement.offsets_bytes[value] = begin;
    const auto place =
        std::upper_bound(placed_.begin(), placed_.end(), begin,
                         [](uint64_t offset, const Placed& other) { return offset < other.begin; });
    placed_.insert(place, {begin, begin + life.size_bytes, life.first_step, life.last_step, chain});
  }
  placement.size_bytes = size_bytes_of(problem_, placement.offsets_bytes);
  return placement;
}

std::vector<uint32_t> all_chains(std::span<const ValueChain> chains) {
  std::vector<uint32_t> order(chains.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// A greater key comes first.
std::pair<uint64_t, uint64_t> key_of(const ValueLife& life, FitOrder order) {
  const uint64_t steps = life.last_step - life.first_step + 1;
  switch (order) {
    case FitOrder::kLargestFirst:
      return {life.size_bytes, steps};
    case FitOrder::kLongestFirst:
      return {steps, life.size_bytes};
    case FitOrder::kLargestAreaFirst: {
      uint64_t area = 0;
      if (__builtin_mul_overflow(steps, life.size_bytes, &area)) area = UINT64_MAX;
      return {area, life.size_bytes};
    }
    case FitOrder::kEarliestFirst:
      return {UINT32_MAX - life.first_step, life.size_bytes};
  }
  INTERLOCK_CHECK(false);
}

// The choices of `set`, a bit for each.
std::vector<InPlaceChoice> subset_of(const std::vector<InPlaceChoice>& choices, uint64_t set) {
  std::vector<InPlaceChoice> chosen;
  for (size_t i = 0; i < choices.size(); ++i) {
    if ((set >> i & 1) != 0) chosen.push_back(choices[i]);
  }
  return chosen;
}

}  // namespace

std::vector<ValueChain> chains_of(const PlacementProblem& problem,
                                  std::span<const InPlaceChoice> choices) {
  std::vector<uint32_t> next(problem.values.size(), kNone);
  std::vector<bool> has_previous(problem.values.size(), false);
  for (const InPlaceChoice& choice : choices) {
    if (next[choice.input] != kNone || has_previous[choice.output]) continue;
    next[choice.input] = choice.output;
    has_previous[choice.output] = true;
  }
  std::vector<ValueChain> chains;
  for (uint32_t i = 0; i < problem.values.size(); ++i) {
    if (!problem.values[i].is_used() || has_previous[i]) continue;
    ValueChain chain{{}, problem.values[i]};
    for (uint32_t value = i; value != kNone; value = next[value]) {
      chain.values.push_back(value);
      chain.life.last_step = std::max(chain.life.last_step, problem.values[value].last_step);
    }
    chains.push_back(std::move(chain));
  }
  return chains;
}

ValuePlacement place_ordered(const PlacementProblem& problem, std::span<const ValueChain> chains,
                             FitOrder order) {
  std::vector<uint32_t> sequence = all_chains(chains);
  std::stable_sort(sequence.begin(), sequence.end(), [&](uint32_t a, uint32_t b) {
    return key_of(chains[a].life, order) > key_of(chains[b].life, order);
  });
  return OrderedFit(problem, chains).run(sequence);
}

ValuePlacement place_exactly(const PlacementProblem& problem) {
  constexpr size_t kChoiceCountMax = 6;  // Further ones are left out.
  const size_t choice_count = std::min(problem.in_place.size(), kChoiceCountMax);
  const uint64_t bound_bytes = lower_bound_bytes(problem);
  ValuePlacement best;
  best.size_bytes = UINT64_MAX;
  for (uint64_t set = 0; set < uint64_t{1} << choice_count; ++set) {
    const std::vector<ValueChain> chains = chains_of(problem, subset_of(problem.in_place, set));
    std::vector<uint32_t> order = all_chains(chains);
    OrderedFit fit(problem, chains);
    do {
      ValuePlacement placement = fit.run(order);
      if (placement.size_bytes < best.size_bytes) best = std::move(placement);
      if (best.size_bytes == bound_bytes || is_stopped()) return best;
    } while (std::next_permutation(order.begin(), order.end()));
  }
  return best;
}

}  // namespace interlock
