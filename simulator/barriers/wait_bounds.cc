// The basic idea is that a program without a hazard orders all that conflicts, and so, where it
// adds no order, exactly that: its own sync then says what is between two dispatches. It adds none
// iff what waits and edges lead to directly follows from those of them that join two dispatches in
// conflict, as the pairs with nothing between are among these.
#include "simulator/barriers/wait_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "simulator/barriers/direct_waits.h"
#include "simulator/barriers/place_bounds.h"
#include "simulator/bytes/conflict_scan.h"

namespace interlock {
namespace {

constexpr std::string_view kTooMany = "its dispatches and queues are too many";

class BoundsFinder {
 public:
  BoundsFinder(const Program& program, DirectWaits waits)
      : program_(program), waits_(std::move(waits)), line_count_(waits_.lines.size()) {}

  // False if the sync adds order, or a limit is met.
  bool run() {
    before_.assign(program_.dispatches.size() * line_count_, 0);
    std::vector<uint32_t> needed(line_count_);
    for (uint32_t i = 0; i < program_.dispatches.size(); ++i) {
      if (is_stopped()) return false;
      if (line_of(i) == WaitCertificate::kNoLine) continue;
      find_conflicting(i);
      std::ranges::fill(needed, 0u);
      if (has_queue_before(i)) join(needed.data(), previous_of(i));
      for (const uint32_t earlier : conflicting_) join(needed.data(), earlier);
      uint32_t* const row = row_of(i);
      std::ranges::copy(needed, row);
      for (const uint32_t earlier : waits_.before(i)) {
        if (row[line_of(earlier)] > position_of(earlier)) continue;
        why_not_ = {"its sync adds order", DispatchId(size_t{earlier}), DispatchId(size_t{i})};
        return false;
      }
      keep_needed(i);
      if (is_of_edges() || needed_.size() * line_count_ <= kWaitClocksMax) continue;
      why_not_ = {.reason = kTooMany};
      return false;
    }
    if (!is_of_edges()) set_needs();
    return true;
  }

  const NoWaitBounds& why_not() const { return why_not_; }

  WaitBounds bounds() && {
    WaitBounds bounds;
    bounds.certificate.line_of = std::move(waits_.line_of);
    bounds.certificate.waits = std::move(needed_);
    bounds.certificate.is_of_edges = waits_.is_of_edges;
    bounds.certificate.is_of_all_queues = waits_.is_by_idle_queue;
    bounds.wait_count = waits_.wait_count;
    bounds.passes_on = waits_.passes_on;
    return bounds;
  }

 private:
  bool is_of_edges() const { return waits_.is_of_edges; }

  // Of the earlier dispatches that it waits for directly.
  void find_conflicting(uint32_t dispatch) {
    conflicting_.clear();
    for (const uint32_t earlier : waits_.before(dispatch)) {
      if (share_conflicting_bytes(program_, DispatchId(size_t{earlier}),
                                  DispatchId(size_t{dispatch}))) {
        conflicting_.push_back(earlier);
      }
    }
  }

  bool has_queue_before(uint32_t dispatch) const {
    return !is_of_edges() && position_of(dispatch) > 0;
  }
  uint32_t previous_of(uint32_t dispatch) const {
    return waits_.lines[line_of(dispatch)][position_of(dispatch) - 1];
  }

  void join(uint32_t* row, uint32_t earlier) const {
    const uint32_t* const theirs = row_of(earlier);
    for (size_t k = 0; k < line_count_; ++k) row[k] = std::max(row[k], theirs[k]);
    uint32_t& reached = row[line_of(earlier)];
    reached = std::max(reached, position_of(earlier) + 1);
  }

  // The pairs with nothing between.
  void keep_needed(uint32_t dispatch) {
    const size_t first = needed_.size();
    for (const uint32_t earlier : conflicting_) {
      const auto passes = [&](uint32_t other) {
        return other != earlier && row_of(other)[line_of(earlier)] > position_of(earlier);
      };
      const bool is_between = std::ranges::any_of(conflicting_, passes) ||
                              (has_queue_before(dispatch) && passes(previous_of(dispatch)));
      if (is_between) continue;
      needed_.push_back({DispatchId(size_t{earlier}), DispatchId(size_t{dispatch})});
    }
    std::sort(needed_.begin() + static_cast<std::ptrdiff_t>(first), needed_.end(),
              [](const NeededWait& a, const NeededWait& b) { return a.first < b.first; });
  }

  // How many of the line come before all that comes after `dispatch` there.
  uint32_t place_after(uint32_t dispatch, size_t line) const {
    const std::vector<uint32_t>& there = waits_.lines[line];
    const auto follows = std::partition_point(there.begin(), there.end(), [&](uint32_t other) {
      return row_of(other)[line_of(dispatch)] <= position_of(dispatch);
    });
    return static_cast<uint32_t>(follows - there.begin());
  }

  bool can_be_passed_on(const NeededWait& wait) const {
    if (waits_.is_by_idle_queue) return true;
    for (size_t line = 0; line < line_count_; ++line) {
      if (line == line_of(wait.first.index) || line == line_of(wait.second.index)) continue;
      if (place_after(wait.first.index, line) == row_of(wait.second.index)[line]) return true;
    }
    return false;
  }

  // The place right after a dispatch, and the one right before it.
  size_t place_before(uint32_t dispatch) const {
    return first_place_[line_of(dispatch)] + position_of(dispatch);
  }

  void set_needs() {
    first_place_.assign(line_count_ + 1, 0);
    for (size_t i = 0; i < line_count_; ++i) {
      first_place_[i + 1] = first_place_[i] + waits_.lines[i].size() + 1;
    }
    group_of_.resize(first_place_.back());
    for (size_t i = 0; i < group_of_.size(); ++i) group_of_[i] = i;
    for (NeededWait& wait : needed_) {
      if (can_be_passed_on(wait)) {
        wait.need = WaitNeed::kJoin;
      } else {
        join_places(wait);
      }
    }
    for (NeededWait& wait : needed_) {
      if (wait.need == WaitNeed::kJoin && !join_places(wait)) wait.need = WaitNeed::kApart;
    }
  }

  // Whether nothing had joined them.
  bool join_places(const NeededWait& wait) {
    const size_t a = group_of(place_before(wait.first.index) + 1);
    const size_t b = group_of(place_before(wait.second.index));
    group_of_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }
  size_t group_of(size_t place) {
    while (group_of_[place] != place) place = group_of_[place] = group_of_[group_of_[place]];
    return place;
  }

  uint32_t line_of(uint32_t dispatch) const { return waits_.line_of[dispatch]; }
  uint32_t position_of(uint32_t dispatch) const { return waits_.position_of[dispatch]; }
  uint32_t* row_of(uint32_t dispatch) { return before_.data() + dispatch * line_count_; }
  const uint32_t* row_of(uint32_t dispatch) const {
    return before_.data() + dispatch * line_count_;
  }

  const Program& program_;
  DirectWaits waits_;
  const size_t line_count_;
  std::vector<uint32_t> before_;  // By dispatch, by line: how many of these come before it.
  std::vector<uint32_t> conflicting_;
  std::vector<NeededWait> needed_;
  std::vector<size_t> first_place_;  // By line, and one more: between its dispatches.
  std::vector<size_t> group_of_;  // By place: another of its group, itself where it stands for all.
  NoWaitBounds why_not_;
};

}  // namespace

std::optional<WaitBounds> find_wait_bounds(const Program& program, NoWaitBounds* why_not) {
  NoWaitBounds unasked;
  NoWaitBounds& why = why_not != nullptr ? *why_not : unasked;
  why = {};
  std::optional<DirectWaits> waits = find_direct_waits(program);
  if (!waits) return find_place_bounds(program, why);
  if (program.dispatches.size() * waits->lines.size() > kWaitClocksMax) {
    why.reason = kTooMany;
    return {};
  }
  BoundsFinder finder(program, *std::move(waits));
  if (!finder.run()) {
    why = finder.why_not();
    return {};
  }
  return std::move(finder).bounds();
}

std::string text_of(const WaitBounds& bounds) {
  const uint64_t count = bounds.wait_count;
  const uint64_t apart = bounds.fewest_apart();
  if (count == 0 && apart == 0) return {};
  const std::string noun = bounds.is_of_edges() ? "edge" : "wait";
  const bool is_of_all = bounds.certificate.is_of_all_queues;
  const std::string_view where =
      bounds.is_of_edges() ? "" : (is_of_all ? " on any queues" : " on these queues");
  std::string text = fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
  const bool is_met_apart = !bounds.certificate.is_by_places;
  if (count > apart && is_met_apart)
    return text + fmt::format("; {} would add no order, certified.", apart);
  if (count == bounds.fewest()) {
    return text + fmt::format(", the fewest{} that add no order; certified.", where);
  }
  if (count == apart && !bounds.passes_on) {
    return text + fmt::format(
                      ", the fewest{} that add no order if no queue passes on what it has waited "
                      "for, else {} at least; certified.",
                      where, bounds.fewest());
  }
  return text +
         fmt::format("; to add no order takes {} at least{}, certified.", bounds.fewest(), where);
}

}  // namespace interlock
