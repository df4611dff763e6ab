// The basic idea is that a wait and its signal stand in gaps between dispatches of two lines. All
// multisets of such pairs of gaps are tried, and within each gap all orders of what stands there.
#include "tests/simulator/judges/wait_placements.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/encoder/sync/obvious_checks.h"

namespace interlock {
namespace {

constexpr size_t kNodesMax = 64;

struct Gap {
  std::optional<size_t> before;  // Dispatches.
  std::optional<size_t> after;
  uint32_t line = 0;
};

struct Arc {
  size_t from = 0;  // Gaps.
  size_t to = 0;
};

// One end of an arc.
struct ArcEnd {
  size_t arc;
  bool is_wait;
};

class PlacementSearch {
 public:
  PlacementSearch(const PlacementTask& task, bool passes_on, size_t idle_count)
      : task_(task), passes_on_(passes_on), count_(task.line_of.size()) {
    find_gaps(idle_count);
    find_arcs();
  }

  bool has_placement_of(uint64_t wait_count) { return add_arc(0, wait_count); }

 private:
  void find_gaps(size_t idle_count) {
    std::map<uint32_t, std::vector<size_t>> lines;
    for (size_t i = 0; i < count_; ++i) lines[task_.line_of[i]].push_back(i);
    for (const auto& [line, dispatches] : lines) {
      lines_.emplace_back();
      for (size_t i = 0; i <= dispatches.size(); ++i) {
        lines_.back().push_back(gaps_.size());
        Gap gap{{}, {}, line};
        if (i > 0) gap.before = dispatches[i - 1];
        if (i < dispatches.size()) gap.after = dispatches[i];
        gaps_.push_back(gap);
      }
    }
    for (size_t i = 0; i < idle_count; ++i) {
      lines_.push_back({gaps_.size()});
      gaps_.push_back({{}, {}, UINT32_MAX - static_cast<uint32_t>(i)});
    }
  }

  // Those that by themselves add no order.
  void find_arcs() {
    for (size_t from = 0; from < gaps_.size(); ++from) {
      for (size_t to = 0; to < gaps_.size(); ++to) {
        if (gaps_[from].line == gaps_[to].line) continue;
        const auto& before = gaps_[from].before;
        const auto& after = gaps_[to].after;
        const bool adds_none = !before || !after || task_.is_before[*before][*after];
        if (adds_none) arcs_.push_back({from, to});
      }
    }
  }

  bool add_arc(size_t first, uint64_t left) {
    if (left == 0) return try_orders();
    for (size_t i = first; i < arcs_.size(); ++i) {
      chosen_.push_back(arcs_[i]);
      const bool is_found = add_arc(i, left - 1);
      chosen_.pop_back();
      if (is_found) return true;
    }
    return false;
  }

  bool try_orders() {
    ends_.assign(gaps_.size(), {});
    for (const bool is_wait : {passes_on_, !passes_on_}) {
      for (size_t i = 0; i < chosen_.size(); ++i) {
        ends_[is_wait ? chosen_[i].to : chosen_[i].from].push_back({i, is_wait});
      }
    }
    // With waits first all is passed on that can be.
    if (!orders_all()) return false;
    return passes_on_ ? permute(0) : orders_just_the_task();
  }

  bool permute(size_t gap) {
    if (gap == ends_.size()) return orders_just_the_task();
    const auto key = [](const ArcEnd& end) { return std::pair(end.arc, end.is_wait); };
    const auto less = [&](const ArcEnd& a, const ArcEnd& b) { return key(a) < key(b); };
    std::ranges::sort(ends_[gap], less);
    do {
      if (permute(gap + 1)) return true;
    } while (std::next_permutation(ends_[gap].begin(), ends_[gap].end(), less));
    return false;
  }

  // Nodes are the dispatches, then the signal and the wait of each arc; a bit for each that is
  // reached.
  void find_paths() {
    std::fill(std::begin(reached_), std::end(reached_), 0u);
    for (const std::vector<size_t>& line : lines_) {
      std::optional<size_t> last;
      const auto step_to = [&](size_t node) {
        if (last) reached_[*last] |= uint64_t{1} << node;
        last = node;
      };
      for (const size_t gap : line) {
        for (const ArcEnd& end : ends_[gap]) step_to(count_ + 2 * end.arc + (end.is_wait ? 1 : 0));
        if (gaps_[gap].after) step_to(*gaps_[gap].after);
      }
    }
    const size_t node_count = count_ + 2 * chosen_.size();
    for (size_t i = 0; i < chosen_.size(); ++i) {
      reached_[count_ + 2 * i] |= uint64_t{1} << (count_ + 2 * i + 1);
    }
    for (size_t by = 0; by < node_count; ++by) {
      for (size_t a = 0; a < node_count; ++a) {
        if ((reached_[a] >> by & 1) != 0) reached_[a] |= reached_[by];
      }
    }
  }

  bool orders_all() {
    find_paths();
    for (size_t a = 0; a < count_; ++a) {
      for (size_t b = 0; b < count_; ++b) {
        if (task_.is_before[a][b] && (reached_[a] >> b & 1) == 0) return false;
      }
    }
    return true;
  }

  bool orders_just_the_task() {
    find_paths();
    for (size_t a = 0; a < count_; ++a) {
      for (size_t b = 0; b < count_; ++b) {
        if (task_.is_before[a][b] != ((reached_[a] >> b & 1) != 0)) return false;
      }
    }
    for (size_t i = count_; i < count_ + 2 * chosen_.size(); ++i) {
      if ((reached_[i] >> i & 1) != 0) return false;
    }
    return true;
  }

  const PlacementTask& task_;
  const bool passes_on_;
  const size_t count_;
  std::vector<Gap> gaps_;
  std::vector<std::vector<size_t>> lines_;  // Their gaps.
  std::vector<Arc> arcs_;
  std::vector<Arc> chosen_;
  std::vector<std::vector<ArcEnd>> ends_;  // By gap, in the order in which they stand.
  uint64_t reached_[kNodesMax] = {};
};

}  // namespace

PlacementTask placement_task_of(const Program& program) {
  PlacementTask task;
  const size_t count = program.dispatches.size();
  const auto test_dispatch_of = [&](size_t dispatch) -> TestDispatch {
    const auto accesses = program.accesses_of(DispatchId(dispatch));
    return {{accesses.begin(), accesses.end()}, program.dispatches[dispatch].atomic_op};
  };
  task.is_before.assign(count, std::vector<bool>(count, false));
  for (size_t b = 0; b < count; ++b) {
    task.line_of.push_back(program.queue_of(program.dispatches[b]));
    for (size_t a = 0; a < b; ++a) {
      task.is_before[a][b] = task.line_of[a] == task.line_of[b] ||
                             obviously_conflict(test_dispatch_of(a), test_dispatch_of(b));
    }
  }
  for (size_t by = 0; by < count; ++by) {
    for (size_t a = 0; a < by; ++a) {
      for (size_t b = by; b < count && task.is_before[a][by]; ++b) {
        if (task.is_before[by][b]) task.is_before[a][b] = true;
      }
    }
  }
  return task;
}

uint64_t crossing_count_of(const PlacementTask& task) {
  uint64_t crossings = 0;
  const size_t count = task.line_of.size();
  for (size_t b = 0; b < count; ++b) {
    for (size_t a = 0; a < b; ++a) {
      bool is_crossing = task.is_before[a][b] && task.line_of[a] != task.line_of[b];
      for (size_t c = a; c < b && is_crossing; ++c) {
        is_crossing = !(task.is_before[a][c] && task.is_before[c][b]);
      }
      crossings += is_crossing ? 1 : 0;
    }
  }
  return crossings;
}

std::optional<uint64_t> fewest_waits_by_trial(const PlacementTask& task, uint64_t end,
                                              bool passes_on, size_t idle_count) {
  PlacementSearch search(task, passes_on, idle_count);
  for (uint64_t count = 0; count < end; ++count) {
    if (search.has_placement_of(count)) return count;
  }
  return std::nullopt;
}

}  // namespace interlock
