// As queue_cuts.cc, from the table of what steps do, and for marks of one level.
//
// The basic idea: two words have all marks then, and a step that has no part in a chain takes a few
// instructions.
#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/barriers/queue_cuts.h"

namespace interlock {
namespace {

template <typename Marks>
bool meet(const Marks& a, const Marks& b) {
  return ((a.places & b.places) | (a.signals & b.signals)) != 0;
}

}  // namespace

bool QueueCuts::is_covered(const QueueWay& way, uint64_t& work) {
  if (!conflict_.is_of_memory || way.dependency == QueueWay::kNone) return true;
  const bool covers = links_.covers(way, nullptr);
  work += links_.take_work();
  return covers;
}

void QueueCuts::go_forward(std::span<const uint32_t> ways, Walk& walk) {
  const Reached before = walk.marks;
  for (const uint32_t index : ways) {
    const QueueWay& way = links_.table()->way(index);
    bool is_taken = ((way.from_places & before.places) | (way.from_signals & before.signals)) != 0;
    bool starts = !is_taken && links_.starts(way);
    if (!is_taken && !starts) continue;
    bool shows = links_.shows(way);
    if ((starts || shows) && !is_covered(way, walk.work)) starts = shows = false;
    if (!is_taken && !starts) continue;
    walk.marks.places |= way.to_places | (shows ? kSeen : 0);
    walk.marks.signals |= way.to_signals;
  }
}

void QueueCuts::go_back(std::span<const uint32_t> ways, Walk& walk) {
  const Reached after = walk.marks;
  for (const uint32_t index : ways) {
    const QueueWay& way = links_.table()->way(index);
    const bool is_taken = ((way.to_places & after.places) | (way.to_signals & after.signals)) != 0;
    bool shows = !is_taken && (after.places & kSeen) != 0 && links_.shows(way);
    if (!is_taken && !shows) continue;
    bool starts = links_.starts(way);
    if ((starts || shows) && !is_covered(way, walk.work)) starts = shows = false;
    if (!is_taken && !shows) continue;
    walk.marks.places |= way.from_places | (starts ? kFirstAccess : 0);
    walk.marks.signals |= way.from_signals;
  }
}

// As begin_of_implied(), of rows from `begin` on.
uint32_t QueueCuts::begin_of_implied_rows(uint32_t row, uint32_t begin) const {
  const WayTable& table = *links_.table();
  const uint32_t statement = steps_[table.step_of(row)].statement;
  while (row > begin && is_implied(table.step_of(row - 1)) &&
         steps_[table.step_of(row - 1)].statement == statement) {
    --row;
  }
  return row;
}

bool QueueCuts::find_by_table(const QueueConflict& conflict, uint64_t& work_left,
                              std::vector<QueueCut>& cuts) {
  const WayTable& table = *links_.table();
  const uint32_t begin = table.row_from(conflict.begin);
  const uint32_t end = table.row_from(conflict.end);
  if (reached_rows_.size() < end - begin) reached_rows_.resize(end - begin);
  uint64_t poll = 0;
  const auto is_too_much = [&](const Walk& walk) {
    return walk.work > work_left || is_stopped_at(++poll);
  };
  const Reached goal{links_.goal().places};
  Walk forward{.marks = {kFirstAccess}, .work = 8};
  uint32_t last = begin;  // With it the goal is reached.
  for (;; ++last) {
    INTERLOCK_CHECK(last < end);
    const std::span<const uint32_t> ways = table.ways_of(last);
    // What its marks stood for before is over.
    for (const uint32_t way : ways) forward.marks.signals &= ~table.way(way).made();
    reached_rows_[last - begin] = forward.marks;
    ++forward.work;
    if (is_too_much(forward)) return false;
    go_forward(ways, forward);
    if (meet(forward.marks, goal)) break;
  }
  const auto add = [&](uint32_t row, const Reached& reached, const Reached& leading,
                       bool is_with_implied) {
    cuts.push_back({table.step_of(row),
                    {reached.places, reached.signals},
                    {leading.places, leading.signals},
                    is_with_implied});
  };
  Walk back{.marks = goal, .work = forward.work};
  for (uint32_t row = end; row-- > begin;) {
    ++back.work;
    if (is_too_much(back)) return false;
    const Reached& reached = reached_rows_[row - begin];
    if (row <= last && !meet(reached, back.marks)) {
      add(row, reached, back.marks, false);
    } else if (table.follows_implied(row)) {
      const uint32_t first = begin_of_implied_rows(row, begin);
      const bool is_cut =
          first < row && first <= last && !meet(reached_rows_[first - begin], back.marks);
      if (is_cut) add(row, reached_rows_[first - begin], back.marks, true);
    }
    const std::span<const uint32_t> ways = table.ways_of(row);
    go_back(ways, back);
    // And is not made yet.
    for (const uint32_t way : ways) back.marks.signals &= ~table.way(way).made();
    if ((back.marks.places & kFirstAccess) != 0) break;
  }
  work_left -= std::min(back.work, work_left);
  return true;
}

}  // namespace interlock
