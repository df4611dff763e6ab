// The basic idea is a list of the free ranges by offset, each with who used it last. Bytes past
// the list's end are fresh: the pool grows.
//
// To know what costs a barrier, the walk over the steps places barriers as the encoder will, one
// before each step that conflicts with the current epoch, for its data or for its bytes.
//
// For example, where each dispatch is the step of its number, and nothing is written in place:
//
//   1  dispatch Make writes a b         a: 128 bytes, steps 1 to 2
//   2  dispatch UseA reads a            b:  64 bytes, steps 1 to 3
//   3  dispatch MakeC reads b writes c  c:  64 bytes, steps 3 to 4
//   4  dispatch MakeD reads c writes d  d:  64 bytes, steps 4 to 5
//   5  dispatch Last reads d writes last
//
// In step 1 nothing is free: a is at 0, b at 128, and the pool has 192 bytes. In step 3 the bytes
// [0:128) are free, as a was last used in step 2. c may go there, or to fresh bytes at 192.
// - By default it goes to 0: the pool does not grow. In step 4, b has died as well, and [64:192) is
//   one free range; d goes to 64. The pool stays at 192 bytes.
// - With avoids_barriers: UseA needs the data of Make, so there is a barrier before step 2, where
//   an epoch begins. MakeC needs no other barrier for its data: b was made before that one. But at
//   0 it would overwrite what UseA, of the same epoch, reads: a barrier more. So [0:128), whose
//   last step is 2, costs a barrier, and if the budget is 256 bytes or more, c goes to 192. Step 4
//   begins an epoch for its data. All that is free by then was used before it and costs nothing;
//   two free ranges side by side need not be told apart any more, and are one, [0:192). d goes to
//   0.
// The first has 192 bytes and 4 barriers, the second 256 bytes and 3.
//
// This is why a free range remembers its last step, and why ranges that touch stay apart while
// their last steps matter: a value may reach over several, and costs a barrier if one of them does.
#include "encoder/plan/best_fit.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/range.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

struct FreeRange {
  ByteRange bytes;
  uint32_t last_user = kNobody;  // A value.
  uint32_t last_step = 0;        // Of that value.
};

// Where a value could go.
struct Candidate {
  bool costs_a_barrier = false;
  bool is_at_end = false;  // Of the pool, and to be spared.
  uint64_t growth_bytes = 0;
  uint64_t left_bytes = 0;  // Of the free bytes that it is cut from.
  uint64_t begin = 0;
};

class BestFit {
 public:
  BestFit(const PlacementProblem& problem, const BestFitOptions& options)
      : problem_(problem), options_(options), is_taken_over_(problem.values.size(), false) {
    placement_.offsets_bytes.assign(problem.values.size(), 0);
  }

  ValuePlacement run();

 private:
  void place(uint32_t value);
  const InPlaceChoice* in_place_choice(uint32_t value) const;
  std::optional<Candidate> best_candidate(uint32_t value) const;
  std::optional<Candidate> candidate_at(size_t first, uint32_t value) const;
  bool is_preferred(const Candidate& a, const Candidate& b) const;
  uint64_t run_end_at(size_t first) const;
  void take(ByteRange bytes);
  void give_back(uint32_t value);
  void begin_step(uint32_t step);
  bool costs_a_barrier(uint32_t last_step) const {
    return options_.avoids_barriers && step_ >= options_.first_avoiding_step &&
           step_ < options_.last_avoiding_step && last_step > 0 && last_step >= epoch_step_ &&
           step_ != epoch_step_;
  }

  const PlacementProblem& problem_;
  const BestFitOptions options_;
  ValuePlacement placement_;
  std::vector<bool> is_taken_over_;  // By value: another one took its bytes in place.
  std::vector<FreeRange> free_;  // By offset, disjoint. A range ends where another user's begins.
  // Placed values by last step, the first to die on top.
  std::priority_queue<std::pair<uint32_t, uint32_t>, std::vector<std::pair<uint32_t, uint32_t>>,
                      std::greater<>>
      dying_;
  uint32_t step_ = 0;
  uint32_t epoch_step_ = 0;  // The first step after the last barrier.
  size_t next_choice_ = 0;   // Into problem_.in_place: the first of the current step.
};

ValuePlacement BestFit::run() {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < problem_.values.size(); ++i) {
    if (problem_.values[i].is_used()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const ValueLife& left = problem_.values[a];
    const ValueLife& right = problem_.values[b];
    if (left.first_step != right.first_step) return left.first_step < right.first_step;
    return options_.takes_largest_first && left.size_bytes > right.size_bytes;
  });
  size_t next = 0;
  for (uint32_t step = 0; step < problem_.step_count && next < order.size(); ++step) {
    begin_step(step);
    for (; next < order.size() && problem_.values[order[next]].first_step == step; ++next) {
      if (is_stopped()) return std::move(placement_);
      place(order[next]);
    }
  }
  placement_.size_bytes =
      std::max(placement_.size_bytes, size_bytes_of(problem_, placement_.offsets_bytes));
  return std::move(placement_);
}

void BestFit::begin_step(uint32_t step) {
  step_ = step;
  if (step < problem_.latest_conflicts.size() && problem_.latest_conflicts[step] > 0 &&
      problem_.latest_conflicts[step] >= epoch_step_) {
    epoch_step_ = step;
  }
  while (!dying_.empty() && dying_.top().first < step) {
    const uint32_t value = dying_.top().second;
    dying_.pop();
    if (!is_taken_over_[value]) give_back(value);
  }
  while (next_choice_ < problem_.in_place.size() &&
         problem_.values[problem_.in_place[next_choice_].output].first_step < step) {
    ++next_choice_;
  }
}

// The input to replace: one that costs no barrier if there is one.
const InPlaceChoice* BestFit::in_place_choice(uint32_t value) const {
  const InPlaceChoice* best = nullptr;
  for (size_t i = next_choice_; i < problem_.in_place.size(); ++i) {
    const InPlaceChoice& choice = problem_.in_place[i];
    if (problem_.values[choice.output].first_step != step_) break;
    if (choice.output != value || is_taken_over_[choice.input]) continue;
    const bool is_better = best == nullptr || (costs_a_barrier(best->other_step) &&
                                               !costs_a_barrier(choice.other_step));
    if (is_better) best = &choice;
  }
  return best;
}

void BestFit::place(uint32_t value) {
  const InPlaceChoice* const in_place = in_place_choice(value);
  const std::optional<Candidate> candidate = best_candidate(value);
  INTERLOCK_CHECK(candidate.has_value());
  const bool is_in_place =
      in_place != nullptr &&
      (!costs_a_barrier(in_place->other_step) || candidate->costs_a_barrier ||
       placement_.size_bytes + candidate->growth_bytes > options_.budget_bytes);
  if (is_in_place) {
    if (costs_a_barrier(in_place->other_step)) epoch_step_ = step_;
    is_taken_over_[in_place->input] = true;
    placement_.offsets_bytes[value] = placement_.offsets_bytes[in_place->input];
  } else {
    if (candidate->costs_a_barrier) epoch_step_ = step_;
    placement_.offsets_bytes[value] = candidate->begin;
    take({candidate->begin, candidate->begin + problem_.values[value].size_bytes});
  }
  dying_.emplace(problem_.values[value].last_step, value);
}

// Where the free bytes end that begin with range `first`.
uint64_t BestFit::run_end_at(size_t first) const {
  uint64_t end = free_[first].bytes.end;
  for (size_t i = first + 1; i < free_.size() && free_[i].bytes.begin == end; ++i) {
    end = free_[i].bytes.end;
  }
  return end;
}

// At the start of free range number `first`, or of the fresh bytes for free_.size().
std::optional<Candidate> BestFit::candidate_at(size_t first, uint32_t value) const {
  const uint64_t size_bytes = problem_.values[value].size_bytes;
  Candidate candidate;
  candidate.begin = first < free_.size() ? free_[first].bytes.begin : placement_.size_bytes;
  const uint64_t end = candidate.begin + size_bytes;
  uint64_t reached = candidate.begin;
  for (size_t i = first; i < free_.size() && reached < end; ++i) {
    const FreeRange& range = free_[i];
    if (range.bytes.begin != reached) return std::nullopt;
    if (problem_.rule != nullptr && range.last_user != kNobody &&
        !problem_.rule->allows(range.last_user, value)) {
      return std::nullopt;
    }
    candidate.costs_a_barrier |= costs_a_barrier(range.last_step);
    reached = range.bytes.end;
  }
  if (reached < end) {
    if (reached != placement_.size_bytes) return std::nullopt;
    candidate.growth_bytes = end - reached;
  } else if (first < free_.size()) {
    const uint64_t run_end = run_end_at(first);
    candidate.left_bytes = run_end - end;
    candidate.is_at_end = options_.spares_the_end && run_end == placement_.size_bytes;
  }
  return candidate;
}

bool BestFit::is_preferred(const Candidate& a, const Candidate& b) const {
  const auto rank = [&](const Candidate& candidate) {
    const bool fits = candidate.growth_bytes == 0;
    const bool is_affordable =
        placement_.size_bytes + candidate.growth_bytes <= options_.budget_bytes;
    // Free and without cost, then fresh within the budget, then free at a cost, then fresh.
    const int sort = fits ? (candidate.costs_a_barrier ? 2 : 0)
                          : (is_affordable && !candidate.costs_a_barrier ? 1 : 3);
    return std::tuple(sort, candidate.is_at_end, candidate.growth_bytes, candidate.left_bytes,
                      candidate.begin);
  };
  return rank(a) < rank(b);
}

std::optional<Candidate> BestFit::best_candidate(uint32_t value) const {
  std::optional<Candidate> best;
  for (size_t i = 0; i <= free_.size(); ++i) {
    const std::optional<Candidate> candidate = candidate_at(i, value);
    if (candidate && (!best || is_preferred(*candidate, *best))) best = candidate;
  }
  return best;
}

void BestFit::take(ByteRange bytes) {
  placement_.size_bytes = std::max(placement_.size_bytes, bytes.end);
  std::vector<FreeRange> rest;
  for (const FreeRange& range : free_) {
    if (!share_a_byte(range.bytes, bytes)) {
      rest.push_back(range);
      continue;
    }
    // A value starts where a range does, so that only the last one is cut.
    if (range.bytes.end > bytes.end) {
      rest.push_back(range);
      rest.back().bytes.begin = bytes.end;
    }
  }
  free_ = std::move(rest);
}

void BestFit::give_back(uint32_t value) {
  const uint64_t begin = placement_.offsets_bytes[value];
  const FreeRange range{
      {begin, begin + problem_.values[value].size_bytes}, value, problem_.values[value].last_step};
  auto place = std::lower_bound(
      free_.begin(), free_.end(), begin,
      [](const FreeRange& other, uint64_t offset) { return other.bytes.begin < offset; });
  place = free_.insert(place, range);
  // Nobody needs to know who used the bytes of two ranges if their use costs the same.
  const auto is_same_to_all = [&](const FreeRange& a, const FreeRange& b) {
    return a.bytes.end == b.bytes.begin && problem_.rule == nullptr &&
           (!options_.avoids_barriers || a.last_step == b.last_step ||
            std::max(a.last_step, b.last_step) < epoch_step_);
  };
  const auto merge_with_next = [&](std::vector<FreeRange>::iterator first) {
    const auto second = first + 1;
    first->bytes.end = second->bytes.end;
    first->last_step = std::max(first->last_step, second->last_step);
    free_.erase(second);
  };
  if (place + 1 != free_.end() && is_same_to_all(*place, *(place + 1))) merge_with_next(place);
  if (place != free_.begin() && is_same_to_all(*(place - 1), *place)) merge_with_next(place - 1);
}

}  // namespace

ValuePlacement place_best_fit(const PlacementProblem& problem, const BestFitOptions& options) {
  return BestFit(problem, options).run();
}

}  // namespace interlock
