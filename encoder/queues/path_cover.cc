// The basic idea is that a search for longer paths leads into the same part of the graph again and
// again, where all are matched and no way leads out: that part is left out once it is known.
#include "encoder/queues/path_cover.h"

#include "encoder/program/stop.h"

namespace interlock {
namespace {

// Makes a matching of operations with successors larger, in phases: each finds how far operations
// are from one without a predecessor, then flips shortest paths that share nothing.
class PathMatching {
 public:
  PathMatching(PathCover& cover, const Predecessors& predecessors)
      : cover_(cover),
        predecessors_(predecessors),
        layers_(predecessors.size(), kNoOperation),
        cursors_(predecessors.size(), 0),
        searches_(predecessors.size(), 0) {}

  void grow(uint32_t path_count_max) {
    if (cover_.path_count == predecessors_.size()) match_neighbours(path_count_max);
    for (uint32_t i = 0; i < predecessors_.size(); ++i) {
      if (cover_.previous[i] == kNoOperation) roots_.push_back(i);
    }
    while (cover_.path_count > path_count_max && !is_stopped()) {
      leave_out_hopeless();
      if (roots_.empty()) return;
      find_layers();
      size_t kept = 0;
      for (const uint32_t root : roots_) {
        if (is_stopped() || cover_.path_count <= path_count_max) return;
        if (flip_from(root)) {
          --cover_.path_count;
        } else {
          roots_[kept++] = root;
        }
      }
      roots_.resize(kept);
    }
  }

 private:
  static constexpr uint32_t kHopeless = UINT32_MAX;

  // The first phase: paths of one step, each operation with its first free predecessor.
  void match_neighbours(uint32_t path_count_max) {
    for (uint32_t i = 0; i < predecessors_.size(); ++i) {
      if (cover_.previous[i] != kNoOperation) continue;
      if (is_stopped() || cover_.path_count <= path_count_max) return;
      for (const uint32_t before : predecessors_[i]) {
        if (cover_.next[before] != kNoOperation) continue;
        cover_.next[before] = i;
        cover_.previous[i] = before;
        --cover_.path_count;
        break;
      }
    }
  }

  // Drops the roots from which no way leads to an operation without a successor, with all that is
  // reached from them: none will, as what is reached stays so whatever paths are flipped elsewhere.
  void leave_out_hopeless() {
    const uint32_t first_search = search_ + 1;
    size_t kept = 0;
    for (const uint32_t root : roots_) {
      ++search_;
      if (has_way_out(root, first_search)) {
        roots_[kept++] = root;
      } else {
        for (const uint32_t at : reached_) searches_[at] = kHopeless;
      }
    }
    roots_.resize(kept);
  }

  // What searches since `first_search` reached, and is not hopeless, counts as a way out.
  bool has_way_out(uint32_t root, uint32_t first_search) {
    searches_[root] = search_;
    reached_.assign(1, root);
    for (size_t k = 0; k < reached_.size(); ++k) {
      if (is_stopped()) return true;
      for (const uint32_t before : predecessors_[reached_[k]]) {
        const uint32_t rival = cover_.next[before];
        if (rival == kNoOperation) return true;
        uint32_t& search = searches_[rival];
        if (search == search_ || search == kHopeless) continue;
        if (search >= first_search) return true;
        search = search_;
        reached_.push_back(rival);
      }
    }
    return false;
  }

  void find_layers() {
    for (const uint32_t at : layered_) layers_[at] = kNoOperation;
    layered_ = roots_;
    for (const uint32_t root : roots_) layers_[root] = 0;
    for (size_t k = 0; k < layered_.size() && !is_stopped(); ++k) {
      const uint32_t at = layered_[k];
      cursors_[at] = 0;
      for (const uint32_t before : predecessors_[at]) {
        const uint32_t rival = cover_.next[before];
        const bool leads_on = rival != kNoOperation && layers_[rival] == kNoOperation &&
                              searches_[rival] != kHopeless;
        if (!leads_on) continue;
        layers_[rival] = layers_[at] + 1;
        layered_.push_back(rival);
      }
    }
  }

  // Returns whether some path of rising layers ends at an operation without a successor.
  bool flip_from(uint32_t start) {
    path_.assign(1, start);
    while (!path_.empty()) {
      const uint32_t at = path_.back();
      if (cursors_[at] == predecessors_[at].size()) {
        layers_[at] = kNoOperation;  // No path leads on from here.
        path_.pop_back();
        continue;
      }
      const uint32_t before = predecessors_[at][cursors_[at]++];
      const uint32_t rival = cover_.next[before];
      if (rival == kNoOperation) {
        flip_path();
        return true;
      }
      if (layers_[rival] == layers_[at] + 1) path_.push_back(rival);
    }
    return false;
  }

  // Each operation of the path gets the predecessor that was tried last for it.
  void flip_path() {
    for (const uint32_t at : path_) {
      const uint32_t before = predecessors_[at][cursors_[at] - 1];
      cover_.next[before] = at;
      cover_.previous[at] = before;
    }
  }

  PathCover& cover_;
  const Predecessors& predecessors_;
  std::vector<uint32_t> roots_;   // Without a predecessor, and there is hope; rising.
  std::vector<uint32_t> layers_;  // By operation: how far from a root; kNoOperation: no way.
  std::vector<uint32_t> layered_;
  std::vector<uint32_t> cursors_;   // By operation: its next predecessor to try.
  std::vector<uint32_t> searches_;  // By operation: the last that reached it; 0: none did.
  std::vector<uint32_t> reached_;   // By this search.
  std::vector<uint32_t> path_;
  uint32_t search_ = 0;
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
