// Displacements: the short form of a schedule. The idea: a list of steps in which a displacement is
// one unlink and one link. "First step of B" must be found without a walk, so every node carries a
// label that grows along the list (Dietz and Sleator, STOC 1987, in its simplest form: halve the
// gap, and renumber everything when a gap is used up).
//
// The way back replays a schedule from front to back: what is already in place stays, everything
// else moves to right after its predecessor, which is always the last step of its dispatch so far.
#include "simulator/schedules/displacements.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "encoder/kernel/kernel_binding.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/program/draft_text.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "simulator/schedules/queue_schedule.h"
#include "simulator/schedules/split_steps.h"

namespace interlock {
namespace {

class StepList {
 public:
  explicit StepList(const Program& program);

  Result<Success> apply(const Displacement& displacement);
  Schedule schedule() const;

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  struct Node {
    Step step;
    uint32_t prev = kNone;
    uint32_t next = kNone;
    uint32_t sibling = kNone;  // The next node of the same dispatch, in no order.
    uint64_t label = 0;        // Grows along the list.
    bool is_rest = false;      // Not split off: moves with its dispatch.
    bool is_linked = false;
  };

  Result<Success> apply_commit(const Displacement& displacement);
  Result<Success> apply_fetch(const Displacement& displacement);
  Result<std::vector<uint32_t>> detach(const Displacement& displacement);
  Result<std::vector<uint32_t>> detach_slices(const Displacement& displacement);
  uint32_t add_node(const Step& step, bool is_rest);
  void link_behind(uint32_t node, uint32_t prev);
  void unlink(uint32_t node);
  void renumber();
  // The first or last linked node of the dispatch; kNone if there is none.
  uint32_t first_node(DispatchId dispatch) const { return extreme_node(dispatch, false); }
  uint32_t last_node(DispatchId dispatch) const { return extreme_node(dispatch, true); }
  uint32_t extreme_node(DispatchId dispatch, bool is_last) const;
  Error error(const Displacement& displacement, const std::string& reason) const {
    return error_of("The witness '{}' does not apply: {}", text_of(program_, displacement), reason);
  }

  const Program& program_;
  uint32_t dispatch_count_;
  // Node i is the rest of dispatch i, node dispatch_count_ the head; others follow.
  std::vector<Node> nodes_;
  std::vector<uint32_t> commit_node_;  // By dispatch; kNone unless it commits late.
};

StepList::StepList(const Program& program)
    : program_(program),
      dispatch_count_(static_cast<uint32_t>(program.dispatches.size())),
      commit_node_(program.dispatches.size(), kNone) {
  nodes_.reserve(dispatch_count_ + 1);
  for (uint32_t i = 0; i < dispatch_count_; ++i) {
    nodes_.push_back({.step = whole_step(program, DispatchId(i), StepKind::kRun),
                      .prev = i == 0 ? dispatch_count_ : i - 1,
                      .next = i + 1 == dispatch_count_ ? kNone : i + 1,
                      .is_rest = true,
                      .is_linked = true});
  }
  nodes_.push_back({.next = dispatch_count_ == 0 ? kNone : 0, .is_linked = true});
  renumber();
}

void StepList::renumber() {
  const uint64_t gap = std::numeric_limits<uint64_t>::max() / (nodes_.size() + 2);
  uint64_t label = 0;
  for (uint32_t n = dispatch_count_; n != kNone; n = nodes_[n].next) {
    nodes_[n].label = label;
    label += gap;
  }
}

uint32_t StepList::add_node(const Step& step, bool is_rest) {
  const auto index = static_cast<uint32_t>(nodes_.size());
  uint32_t& sibling = nodes_[step.dispatch.index].sibling;
  const Node node{.step = step, .sibling = std::exchange(sibling, index), .is_rest = is_rest};
  nodes_.push_back(node);
  return index;
}

void StepList::link_behind(uint32_t node, uint32_t prev) {
  const uint32_t next = nodes_[prev].next;
  nodes_[node].prev = prev;
  nodes_[node].next = next;
  nodes_[node].is_linked = true;
  nodes_[prev].next = node;
  if (next != kNone) nodes_[next].prev = node;
  const uint64_t low = nodes_[prev].label;
  const uint64_t high = next == kNone ? std::numeric_limits<uint64_t>::max() : nodes_[next].label;
  nodes_[node].label = low + (high - low) / 2;
  if (nodes_[node].label == low) renumber();
}

void StepList::unlink(uint32_t node) {
  const Node& n = nodes_[node];
  nodes_[n.prev].next = n.next;
  if (n.next != kNone) nodes_[n.next].prev = n.prev;
  nodes_[node].is_linked = false;
}

uint32_t StepList::extreme_node(DispatchId dispatch, bool is_last) const {
  uint32_t best = kNone;
  for (uint32_t n = dispatch.index; n != kNone; n = nodes_[n].sibling) {
    if (!nodes_[n].is_linked) continue;
    if (best == kNone || (nodes_[n].label > nodes_[best].label) == is_last) best = n;
  }
  return best;
}

Result<Success> StepList::apply(const Displacement& displacement) {
  INTERLOCK_CHECK(displacement.moved.index < dispatch_count_);
  INTERLOCK_CHECK(displacement.anchor.index < dispatch_count_);
  if (displacement.kind == DisplacementKind::kCommitsAfter) return apply_commit(displacement);
  if (displacement.kind == DisplacementKind::kFetchesBefore) return apply_fetch(displacement);
  Result<std::vector<uint32_t>> detached = detach(displacement);
  if (!detached) return detached.error();
  const bool is_before = displacement.kind == DisplacementKind::kBefore;
  const uint32_t anchor =
      is_before ? first_node(displacement.anchor) : last_node(displacement.anchor);
  if (anchor == kNone) return error(displacement, "a dispatch cannot move next to itself.");
  uint32_t prev = is_before ? nodes_[anchor].prev : anchor;
  for (const uint32_t node : *detached) {
    link_behind(node, prev);
    prev = node;
  }
  return Success{};
}

Result<Success> StepList::apply_commit(const Displacement& displacement) {
  if (displacement.has_slices) {
    return error(displacement, "a dispatch commits as a whole, not by slices.");
  }
  uint32_t& commit = commit_node_[displacement.moved.index];
  if (commit == kNone) {
    commit = add_node(whole_step(program_, displacement.moved, StepKind::kCommit), false);
  } else {
    unlink(commit);
  }
  link_behind(commit, last_node(displacement.anchor));
  return Success{};
}

// Puts the fetch right before the commit of the dispatch that writes, which is a step of its own.
// No displacement moves a fetch, nor is next to one: it is not among the nodes of its dispatch.
Result<Success> StepList::apply_fetch(const Displacement& displacement) {
  if (displacement.has_slices) {
    return error(displacement, "a dispatch fetches as a whole, not by slices.");
  }
  uint32_t& commit = commit_node_[displacement.anchor.index];
  if (commit == kNone) {
    const uint32_t run = last_node(displacement.anchor);
    commit = add_node(whole_step(program_, displacement.anchor, StepKind::kCommit), false);
    link_behind(commit, run);
  }
  nodes_.push_back({.step = draft_of_fetch(displacement.moved, displacement.anchor)});
  link_behind(static_cast<uint32_t>(nodes_.size() - 1), nodes_[commit].prev);
  return Success{};
}

// Unlinks what moves, in slice order.
Result<std::vector<uint32_t>> StepList::detach(const Displacement& displacement) {
  if (displacement.has_slices) return detach_slices(displacement);
  std::vector<uint32_t> rest;
  for (uint32_t n = displacement.moved.index; n != kNone; n = nodes_[n].sibling) {
    if (nodes_[n].is_rest && nodes_[n].is_linked) rest.push_back(n);
  }
  if (rest.empty()) return error(displacement, "all its slices have been moved by themselves.");
  std::ranges::sort(rest, {}, [this](uint32_t node) { return nodes_[node].step.first_slice; });
  for (const uint32_t node : rest) unlink(node);
  return rest;
}

Result<std::vector<uint32_t>> StepList::detach_slices(const Displacement& displacement) {
  const uint64_t begin = displacement.first_slice;
  const uint64_t end = begin + displacement.slice_count;
  const uint64_t slice_count = slice_count_of(program_, program_.dispatch(displacement.moved));
  if (displacement.slice_count == 0 || end > slice_count) {
    return error(
        displacement,
        fmt::format("{} has {} slices.", program_.description_of(displacement.moved), slice_count));
  }
  for (uint32_t n = displacement.moved.index; n != kNone; n = nodes_[n].sibling) {
    if (!nodes_[n].is_rest || !nodes_[n].is_linked) continue;
    const Step rest = nodes_[n].step;
    const uint64_t rest_end = uint64_t{rest.first_slice} + rest.slice_count;
    if (begin < rest.first_slice || end > rest_end) continue;
    const auto right_count = static_cast<uint32_t>(rest_end - end);
    if (right_count > 0) {
      Step right = rest;
      right.first_slice = static_cast<uint32_t>(end);
      right.slice_count = right_count;
      link_behind(add_node(right, true), n);
    }
    nodes_[n].step.slice_count = static_cast<uint32_t>(begin - rest.first_slice);
    if (nodes_[n].step.slice_count == 0) unlink(n);
    Step piece = rest;
    piece.first_slice = displacement.first_slice;
    piece.slice_count = displacement.slice_count;
    return std::vector<uint32_t>{add_node(piece, false)};
  }
  return error(displacement, "some of these slices have been moved already.");
}

Schedule StepList::schedule() const {
  Schedule schedule;
  schedule.steps.reserve(nodes_.size());
  for (uint32_t n = nodes_[dispatch_count_].next; n != kNone; n = nodes_[n].next) {
    Step step = nodes_[n].step;
    if (step.kind == StepKind::kRun && commit_node_[step.dispatch.index] != kNone) {
      step.kind = StepKind::kRunLate;
    }
    schedule.steps.push_back(step);
  }
  return schedule;
}

// The dispatches that can stay where reference order has them: a longest increasing subsequence of
// those that run whole (Fredman, 1975: one binary search each).
std::vector<bool> find_staying(const Program& program, const Schedule& schedule,
                               const std::vector<bool>& is_split) {
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> tails;  // Smallest last dispatch of an increasing run of each length.
  std::vector<uint32_t> previous(program.dispatches.size(), kNone);
  for (const Step& step : schedule.steps) {
    const uint32_t dispatch = step.dispatch.index;
    const bool runs = step.kind == StepKind::kRun || step.kind == StepKind::kRunLate;
    if (!runs || is_split[dispatch]) continue;
    const auto at = std::ranges::lower_bound(tails, dispatch);
    if (at != tails.begin()) previous[dispatch] = *(at - 1);
    if (at == tails.end()) {
      tails.push_back(dispatch);
    } else {
      *at = dispatch;
    }
  }
  std::vector<bool> stays(program.dispatches.size(), false);
  for (uint32_t d = tails.empty() ? kNone : tails.back(); d != kNone; d = previous[d]) {
    stays[d] = true;
  }
  return stays;
}

std::vector<bool> find_split(const Program& program, const Schedule& schedule) {
  std::vector<bool> is_split(program.dispatches.size(), false);
  for (const Step& step : schedule.steps) {
    if (step.kind == StepKind::kCommit || step.kind == StepKind::kFetch) continue;
    if (step.slice_count < slice_count_of(program, program.dispatch(step.dispatch))) {
      is_split[step.dispatch.index] = true;
    }
  }
  return is_split;
}

// Where a step that nothing precedes goes: before the first dispatch that stays, or, if all are
// split, after the rests that wait in front, of which dispatch 0 is the last.
Displacement front_displacement(const std::vector<bool>& stays) {
  const auto first = std::ranges::find(stays, true);
  const bool is_none = first == stays.end();
  return {.anchor = DispatchId(is_none ? 0 : static_cast<size_t>(first - stays.begin())),
          .kind = is_none ? DisplacementKind::kAfter : DisplacementKind::kBefore};
}

}  // namespace

Result<Schedule> schedule_of(const Program& program, const HappensBefore& order,
                             const std::vector<Displacement>& displacements,
                             const StepBytes* wanted) {
  if (order.has_queues()) return queue_schedule_of(program, displacements);
  StepList list(program);
  for (const Displacement& displacement : displacements) {
    if (is_stopped()) return Error{"Applying the witness was stopped."};
    if (Result<Success> applied = list.apply(displacement); !applied) return applied.error();
  }
  Schedule schedule = list.schedule();
  const bool has_fetch =
      std::ranges::count(displacements, DisplacementKind::kFetchesBefore, &Displacement::kind) > 0;
  if (order.has_scopes()) {
    Result<Schedule> split = split_steps(program, order, schedule, wanted);
    if (!split) return split.error();
    schedule = std::move(split).value();
  } else if (has_fetch) {
    return Error{
        "A witness says that a dispatch fetches early, which has a meaning beside scoped barriers only; here the writer commits late instead."};
  }
  if (Result<Success> legal = check_legal(program, order, schedule); !legal) return legal.error();
  return schedule;
}

const Displacement& head_of(const std::vector<Displacement>& displacements) {
  INTERLOCK_CHECK(!displacements.empty());
  const auto head =
      std::find_if(displacements.rbegin(), displacements.rend(), [](const Displacement& d) {
        return d.kind == DisplacementKind::kCommitsAfter ||
               d.kind == DisplacementKind::kFetchesBefore;
      });
  return head == displacements.rend() ? displacements.front() : *head;
}

std::vector<Displacement> displacements_of(const Program& program, const Schedule& schedule) {
  const std::vector<bool> is_split = find_split(program, schedule);
  const std::vector<bool> stays = find_staying(program, schedule, is_split);
  std::vector<Displacement> displacements;
  // Rests wait in front of everything, so that they are never the last step of their dispatch.
  for (size_t i = 1; i < is_split.size(); ++i) {
    if (!is_split[i]) continue;
    displacements.push_back({DispatchId(i), DispatchId(size_t{0}), DisplacementKind::kBefore});
  }
  std::vector<uint64_t> slices_left(program.dispatches.size(), 0);
  for (size_t i = 0; i < is_split.size(); ++i) {
    if (is_split[i]) slices_left[i] = slice_count_of(program, program.dispatches[i]);
  }
  DispatchId previous;
  std::vector<DispatchId> fetching;  // Since the last commit or run.
  for (const Step& step : schedule.steps) {
    const uint32_t index = step.dispatch.index;
    if (step.kind == StepKind::kFetch) {
      fetching.push_back(step.dispatch);
      continue;
    }
    if (step.kind == StepKind::kCommit) {
      // Bytes that sync forces by themselves follow from the rest.
      if (step.slice_count > 0) continue;
      // A fetch makes the commit a step of its own, where it stands.
      if (step.dispatch != previous || fetching.empty()) {
        displacements.push_back({step.dispatch, previous, DisplacementKind::kCommitsAfter});
      }
      for (const DispatchId reader : fetching) {
        displacements.push_back({reader, step.dispatch, DisplacementKind::kFetchesBefore});
      }
      fetching.clear();
    } else if (!stays[index]) {
      Displacement moved = front_displacement(stays);
      if (previous.is_some()) {
        moved.anchor = previous;
        moved.kind = DisplacementKind::kAfter;
      }
      moved.moved = step.dispatch;
      slices_left[index] -= is_split[index] ? step.slice_count : 0;
      if (slices_left[index] > 0) {  // The last piece is what remains, and needs no slices.
        moved.has_slices = true;
        moved.first_slice = step.first_slice;
        moved.slice_count = step.slice_count;
      }
      displacements.push_back(moved);
    }
    previous = step.dispatch;
  }
  return displacements;
}

std::string text_of(const Program& program, const Displacement& displacement) {
  return text_of(draft_of(program, displacement));
}

}  // namespace interlock
