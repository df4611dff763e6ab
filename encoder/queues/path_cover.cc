#include "encoder/queues/path_cover.h"

#include "encoder/program/stop.h"

namespace interlock {
namespace {

// Makes a matching of operations with successors larger, in phases: each finds how far every
// operation is from one without a predecessor, then flips shortest paths that share nothing.
class PathMatching {
 public:
  PathMatching(PathCover& cover, const Predecessors& predecessors)
      : cover_(cover), predecessors_(predecessors) {}

  void grow(uint32_t path_count_max) {
    while (cover_.path_count > path_count_max && find_layers()) {
      cursors_.assign(predecessors_.size(), 0);
      for (uint32_t i = 0; i < predecessors_.size(); ++i) {
        if (is_stopped() || cover_.path_count <= path_count_max) return;
        if (cover_.previous[i] == kNoOperation && flip_from(i)) --cover_.path_count;
      }
    }
  }

 private:
  // Returns whether some path ends at an operation without a successor.
  bool find_layers() {
    layers_.assign(predecessors_.size(), kNoOperation);
    std::vector<uint32_t>& reached = reached_;
    reached.clear();
    for (uint32_t i = 0; i < predecessors_.size(); ++i) {
      if (cover_.previous[i] != kNoOperation) continue;
      layers_[i] = 0;
      reached.push_back(i);
    }
    bool has_end = false;
    for (size_t k = 0; k < reached.size(); ++k) {
      if (is_stopped()) return false;
      const uint32_t at = reached[k];
      for (const uint32_t before : predecessors_[at]) {
        const uint32_t rival = cover_.next[before];
        has_end |= rival == kNoOperation;
        if (rival == kNoOperation || layers_[rival] != kNoOperation) continue;
        layers_[rival] = layers_[at] + 1;
        reached.push_back(rival);
      }
    }
    return has_end;
  }

  bool flip_from(uint32_t start) {
    std::vector<uint32_t>& path = path_;
    path.assign(1, start);
    while (!path.empty()) {
      const uint32_t at = path.back();
      if (cursors_[at] == predecessors_[at].size()) {
        layers_[at] = kNoOperation;  // No path leads on from here.
        path.pop_back();
        continue;
      }
      const uint32_t before = predecessors_[at][cursors_[at]++];
      const uint32_t rival = cover_.next[before];
      if (rival == kNoOperation) {
        flip(path);
        return true;
      }
      if (layers_[rival] == layers_[at] + 1) path.push_back(rival);
    }
    return false;
  }

  // Each operation of the path gets the predecessor that was tried last for it.
  void flip(const std::vector<uint32_t>& path) {
    for (const uint32_t at : path) {
      const uint32_t before = predecessors_[at][cursors_[at] - 1];
      cover_.next[before] = at;
      cover_.previous[at] = before;
    }
  }

  PathCover& cover_;
  const Predecessors& predecessors_;
  std::vector<uint32_t> layers_;
  std::vector<uint32_t> cursors_;
  std::vector<uint32_t> reached_;
  std::vector<uint32_t> path_;
};

Predecessors all_pairs_of(const OrderReduction& order) {
  const OrderClosure closure(order);
  Predecessors pairs;
  for (uint32_t later = 0; later < order.count(); ++later) {
    for (uint32_t earlier = 0; earlier < later && !is_stopped(); ++earlier) {
      if (closure.is_ordered(earlier, later)) pairs.push_back(earlier);
    }
    pairs.end_operation();
  }
  return pairs;
}

}  // namespace

std::vector<uint32_t> PathCover::paths() const {
  std::vector<uint32_t> paths(next.size());
  uint32_t count = 0;
  for (size_t i = 0; i < next.size(); ++i) {
    paths[i] = previous[i] == kNoOperation ? count++ : paths[previous[i]];
  }
  return paths;
}

PathCover cover_by_paths(const OrderReduction& order) {
  PathCover cover;
  cover.next.assign(order.count(), kNoOperation);
  cover.previous.assign(order.count(), kNoOperation);
  cover.path_count = static_cast<uint32_t>(order.count());
  PathMatching(cover, order.all_predecessors()).grow(0);
  return cover;
}

bool join_paths(PathCover& cover, const OrderReduction& order, uint32_t path_count_max) {
  if (cover.path_count > path_count_max) {
    const Predecessors pairs = all_pairs_of(order);
    PathMatching(cover, pairs).grow(path_count_max);
  }
  return cover.path_count <= path_count_max;
}

}  // namespace interlock
