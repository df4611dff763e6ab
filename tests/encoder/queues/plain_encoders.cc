#include "tests/encoder/queues/plain_encoders.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "encoder/queues/assign_queues.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/path_cover.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_program.h"
#include "encoder/sync/recording_sink.h"

namespace interlock {
namespace {

struct Assigned {
  std::vector<uint32_t> queues;
  std::vector<uint32_t> issued;
  uint32_t queue_count = 0;
};

// In each step the first operations that may run, each on the queue of its path if that is free.
Assigned in_steps(const PredecessorLists& before, const PathCover& cover, uint32_t queue_count) {
  Assigned result{std::vector<uint32_t>(before.size(), kNoOperation), {}, 0};
  std::set<uint32_t> left;
  for (uint32_t i = 0; i < before.size(); ++i) left.insert(i);
  while (!left.empty()) {
    std::vector<uint32_t> taken;
    for (const uint32_t i : left) {
      const bool is_ready =
          std::ranges::none_of(before[i], [&](uint32_t earlier) { return left.contains(earlier); });
      if (is_ready && taken.size() < queue_count) taken.push_back(i);
    }
    std::set<uint32_t> used;
    for (const uint32_t i : taken) {
      const uint32_t previous = cover.previous[i];
      if (previous == kNoOperation || !used.insert(result.queues[previous]).second) continue;
      result.queues[i] = result.queues[previous];
    }
    uint32_t queue = 0;
    for (const uint32_t i : taken) {
      left.erase(i);
      result.issued.push_back(i);
      if (result.queues[i] != kNoOperation) continue;
      while (used.contains(queue)) ++queue;
      result.queues[i] = queue++;
    }
  }
  std::map<uint32_t, uint32_t> numbers;
  for (const uint32_t i : result.issued) {
    const auto number = static_cast<uint32_t>(numbers.size());
    result.queues[i] = numbers.emplace(result.queues[i], number).first->second;
  }
  result.queue_count = static_cast<uint32_t>(numbers.size());
  return result;
}

Assigned assigned(const PredecessorLists& before, uint32_t queue_count) {
  const OrderReduction order(before);
  PathCover cover = plain_cover(order);
  const uint32_t limit = queue_count == 0 ? cover.path_count : queue_count;
  const PathCover paths = cover;
  if (!join_paths(cover, order, limit)) return in_steps(before, paths, limit);
  Assigned result{cover.paths(), std::vector<uint32_t>(before.size()), cover.path_count};
  std::iota(result.issued.begin(), result.issued.end(), 0u);
  return result;
}

// Of a phase, by operation: how far from a root, and which predecessor to try next.
struct PathPhase {
  std::vector<uint32_t> layers;
  std::vector<size_t> cursors;
};

// Flips a path of rising layers from `at`, if there is one that no other path of the phase took.
bool flips(const OrderReduction& order, PathCover& cover, PathPhase& phase, uint32_t at) {
  while (phase.cursors[at] < order.predecessors(at).size()) {
    const uint32_t before = order.predecessors(at)[phase.cursors[at]++];
    const uint32_t rival = cover.next[before];
    const bool leads_on = rival == kNoOperation || (phase.layers[rival] == phase.layers[at] + 1 &&
                                                    flips(order, cover, phase, rival));
    if (!leads_on) continue;
    cover.next[before] = at;
    cover.previous[at] = before;
    return true;
  }
  phase.layers[at] = kNoOperation;
  return false;
}

}  // namespace

PredecessorLists plain_reduction(const PredecessorLists& predecessors) {
  PredecessorLists kept(predecessors.size());
  std::vector<std::vector<bool>> before(predecessors.size());
  for (size_t i = 0; i < predecessors.size(); ++i) {
    before[i].assign(predecessors.size(), false);
    std::vector<uint32_t> latest_first = predecessors[i];
    std::sort(latest_first.begin(), latest_first.end(), std::greater<>());
    for (const uint32_t earlier : latest_first) {
      if (before[i][earlier]) continue;
      kept[i].insert(kept[i].begin(), earlier);
      before[i][earlier] = true;
      for (uint32_t k = 0; k < earlier; ++k) {
        if (before[earlier][k]) before[i][k] = true;
      }
    }
  }
  return kept;
}

PredecessorLists plain_conflicts(const Program& program) {
  PredecessorLists conflicts(program.dispatches.size());
  for (uint32_t b = 0; b < conflicts.size(); ++b) {
    for (uint32_t a = 0; a < b; ++a) {
      const bool conflict = are_in_conflict(program, DispatchId(size_t{a}), DispatchId(size_t{b}));
      if (conflict) conflicts[b].push_back(a);
    }
  }
  return conflicts;
}

PathCover plain_cover(const OrderReduction& order) {
  const auto count = static_cast<uint32_t>(order.count());
  PathCover cover{std::vector<uint32_t>(count, kNoOperation),
                  std::vector<uint32_t>(count, kNoOperation), count};
  while (true) {
    PathPhase phase{std::vector<uint32_t>(count, kNoOperation), std::vector<size_t>(count, 0)};
    std::vector<uint32_t>& layers = phase.layers;
    std::vector<uint32_t> reached;
    for (uint32_t i = 0; i < count; ++i) {
      if (cover.previous[i] != kNoOperation) continue;
      layers[i] = 0;
      reached.push_back(i);
    }
    for (size_t k = 0; k < reached.size(); ++k) {
      for (const uint32_t before : order.predecessors(reached[k])) {
        const uint32_t rival = cover.next[before];
        if (rival == kNoOperation || layers[rival] != kNoOperation) continue;
        layers[rival] = layers[reached[k]] + 1;
        reached.push_back(rival);
      }
    }
    const uint32_t path_count = cover.path_count;
    for (uint32_t i = 0; i < count; ++i) {
      if (cover.previous[i] == kNoOperation && flips(order, cover, phase, i)) --cover.path_count;
    }
    if (cover.path_count == path_count) return cover;
  }
}

PredecessorLists plain_waits(const QueuePlan& plan, const PredecessorLists& pairs) {
  const size_t count = pairs.size();
  std::vector<uint32_t> positions(count);
  for (uint32_t i = 0; i < count; ++i) positions[plan.issued[i]] = i;
  PredecessorLists by_position(count);
  for (uint32_t i = 0; i < count; ++i) {
    for (const uint32_t earlier : pairs[plan.issued[i]]) {
      by_position[i].push_back(positions[earlier]);
    }
    for (uint32_t k = i; k-- > 0;) {
      if (plan.queue_of[plan.issued[k]] != plan.queue_of[plan.issued[i]]) continue;
      by_position[i].push_back(k);
      break;
    }
  }
  PredecessorLists waits(count);
  const PredecessorLists kept = plain_reduction(by_position);
  for (uint32_t i = 0; i < count; ++i) {
    for (const uint32_t k : kept[i]) {
      if (plan.queue_of[plan.issued[k]] == plan.queue_of[plan.issued[i]]) continue;
      waits[plan.issued[i]].push_back(plan.issued[k]);
    }
  }
  return waits;
}

Program plain_edges(const Program& program) {
  const PredecessorLists kept = plain_reduction(plain_conflicts(program));
  RecordingSink issued;
  issued.use_queue(0);
  for (size_t i = 0; i < kept.size(); ++i) {
    for (const uint32_t before : kept[i]) {
      issued.issue_edge(DispatchId(size_t{before}), DispatchId(i));
    }
    issued.issue_dispatch(DispatchId(i));
  }
  return program_by_rules(program, numbered_queues(QueueKind::kGraph, 1), issued).value();
}

Program plain_semaphores(const Program& program, uint32_t queue_count) {
  const PredecessorLists conflicts = plain_conflicts(program);
  const Assigned on = assigned(plain_reduction(conflicts), queue_count);
  QueuePlan plan = {numbered_queues(QueueKind::kSerial, on.queue_count), on.queues, on.issued, {}};
  plan.after = plain_waits(plan, conflicts);
  RecordingSink issued;
  issue_with_semaphores(plan, issued);
  return program_by_rules(program, plan.queues, issued).value();
}

}  // namespace interlock
