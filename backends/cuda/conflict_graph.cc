// The basic idea is that the accesses of one byte fall into groups, maximal runs that commute with
// each other: reads, atomics of one operation, or one that does neither. Each member of a group
// conflicts with each of the group before, so older groups are in order already. Of these
// candidates the latest come first: one that a later one comes after needs no edge.
#include "backends/cuda/conflict_graph.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "encoder/program/error_of.h"

namespace interlock {
namespace {

// What a dispatch does to a byte: two of equal sort commute, unless they are exclusive.
using Sort = uint8_t;
constexpr Sort kExclusive = 0;
constexpr Sort kReads = 1;
constexpr Sort kFirstAtomics = 2;  // One per operation.

Sort sort_of(const Access& access, AtomicOp op) {
  if (access.only_reads()) return kReads;
  if (access.is_atomic() && op != AtomicOp::kNone) {
    return static_cast<Sort>(kFirstAtomics + static_cast<Sort>(op));
  }
  return kExclusive;
}

// A dispatch and all that precedes it, as bits from a multiple of 64 on.
struct Past {
  uint32_t first_word = 0;
  std::vector<uint64_t> words;

  bool has(uint32_t dispatch) const {
    const uint32_t word = dispatch / 64;
    return word >= first_word && word - first_word < words.size() &&
           (words[word - first_word] >> (dispatch % 64) & 1) != 0;
  }

  void add(uint32_t dispatch) {
    words[dispatch / 64 - first_word] |= uint64_t{1} << (dispatch % 64);
  }

  // Leaves out what lies before first_word.
  void add(const Past& other) {
    const uint32_t skipped = first_word - std::min(first_word, other.first_word);
    for (size_t i = skipped; i < other.words.size(); ++i) {
      words[other.first_word + i - first_word] |= other.words[i];
    }
  }
};

// The accesses of one segment so far, as dispatches: the last two groups.
struct SegmentGroups {
  Sort sort = kExclusive;  // Of `members`.
  uint32_t prune_at = 0;   // How many members are worth a look for superfluous ones.
  std::vector<uint32_t> members;
  std::vector<uint32_t> previous;  // Not needed, and empty, if `members` are exclusive.
};

constexpr uint32_t kPruneAtMin = 4;

class ConflictGraphBuilder {
 public:
  ConflictGraphBuilder(const Program& program, const ByteSegments& segments,
                       const ConflictGraphLimits& limits)
      : program_(program),
        segments_(segments),
        edge_count_max_(limits.edge_count),
        window_words_(limits.window / 64),
        groups_(segments.count()),
        sorts_(segments.count()),
        touched_by_(segments.count()),
        candidate_of_(program.dispatches.size()),
        pasts_(program.dispatches.size()),
        uses_(program.dispatches.size()) {
    INTERLOCK_CHECK(limits.window > 0 && limits.window % 64 == 0);
    INTERLOCK_CHECK(limits.edge_count <= kConflictGraphEdgesMax);
  }

  Result<DispatchGraph> build() && {
    for (uint32_t d = 0; d < program_.dispatches.size(); ++d) {
      forget_before_window(d);
      find_touched(d);
      find_candidates(d);
      add_node(d);
      if (graph_.predecessors.size() > edge_count_max_) {
        return error_of("The conflicts of this program are more than {} edges of a graph.",
                        edge_count_max_);
      }
      for (const uint32_t segment : touched_) record(groups_[segment], sorts_[segment], d);
      if (uses_[d] == 0) pasts_[d] = {};
    }
    return std::move(graph_);
  }

 private:
  // The first word of bits that are known of the past of `dispatch`.
  uint32_t window_begin(uint32_t dispatch) const {
    return dispatch / 64 - std::min(dispatch / 64, window_words_);
  }

  void forget_before_window(uint32_t dispatch) {
    for (; forgotten_ < window_begin(dispatch) * 64; ++forgotten_) pasts_[forgotten_] = {};
  }

  // What the operands of one dispatch do to one byte counts as one.
  void find_touched(uint32_t d) {
    touched_.clear();
    const Dispatch& dispatch = program_.dispatches[d];
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      const size_t index = dispatch.first_access + k;
      const Sort sort = sort_of(program_.accesses[index], dispatch.atomic_op);
      const SegmentSpan span = segments_.span_of(index);
      for (uint32_t segment = span.begin; segment < span.end; ++segment) {
        if (touched_by_[segment] != d + 1) {
          touched_by_[segment] = d + 1;
          sorts_[segment] = sort;
          touched_.push_back(segment);
        } else if (sorts_[segment] != sort) {
          sorts_[segment] = kExclusive;
        }
      }
    }
  }

  static bool joins(const SegmentGroups& groups, Sort sort) {
    return groups.sort == sort && sort != kExclusive;
  }

  void find_candidates(uint32_t d) {
    candidates_.clear();
    for (const uint32_t segment : touched_) {
      const SegmentGroups& groups = groups_[segment];
      for (const uint32_t c : joins(groups, sorts_[segment]) ? groups.previous : groups.members) {
        if (candidate_of_[c] == d) continue;  // Nothing is a candidate of dispatch 0.
        candidate_of_[c] = d;
        candidates_.push_back(c);
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), std::greater<>());
  }

  // All between a candidate and d is in the window if the candidate is, so that what is known
  // of the past of d decides exactly; of what lies before the window nothing is known.
  void add_node(uint32_t d) {
    Past past;
    past.first_word = d / 64;
    for (const uint32_t c : candidates_) {
      past.first_word = std::min(
          {past.first_word, c / 64, pasts_[c].words.empty() ? c / 64 : pasts_[c].first_word});
    }
    past.first_word = std::max(past.first_word, window_begin(d));
    past.words.resize(d / 64 - past.first_word + 1);
    past.add(d);
    DispatchGraph::Node node{DispatchId(d), static_cast<uint32_t>(graph_.predecessors.size()), 0};
    for (const uint32_t c : candidates_) {
      if (past.has(c)) continue;
      graph_.predecessors.push_back(c);
      ++node.edge_count;
      if (c / 64 >= window_begin(d)) past.add(pasts_[c]);
    }
    std::reverse(graph_.predecessors.begin() + node.first_edge, graph_.predecessors.end());
    graph_.nodes.push_back(node);
    pasts_[d] = std::move(past);
  }

  void record(SegmentGroups& groups, Sort sort, uint32_t d) {
    if (!joins(groups, sort)) {
      release(groups.previous);
      groups.previous.swap(groups.members);
      if (sort == kExclusive) release(groups.previous);
      groups.sort = sort;
      groups.prune_at = kPruneAtMin;
    } else if (groups.members.size() >= groups.prune_at) {
      prune(groups, pasts_[d]);
    }
    groups.members.push_back(d);
    ++uses_[d];
  }

  // Members that the new one comes after: to wait for that one is to wait for them. Only whenever
  // there are twice as many as were left, so that many readers in no order cost little each.
  void prune(SegmentGroups& groups, const Past& past) {
    const auto kept = std::partition(groups.members.begin(), groups.members.end(),
                                     [&](uint32_t member) { return !past.has(member); });
    for (auto member = kept; member != groups.members.end(); ++member) release(*member);
    groups.members.erase(kept, groups.members.end());
    groups.prune_at = std::max(kPruneAtMin, static_cast<uint32_t>(2 * groups.members.size()));
  }

  void release(std::vector<uint32_t>& members) {
    for (const uint32_t member : members) release(member);
    members.clear();
  }

  void release(uint32_t member) {
    if (--uses_[member] == 0) pasts_[member] = {};
  }

  const Program& program_;
  const ByteSegments& segments_;
  uint64_t edge_count_max_;
  uint32_t window_words_;
  std::vector<SegmentGroups> groups_;   // By segment.
  std::vector<Sort> sorts_;             // By segment: of the dispatch at hand.
  std::vector<uint32_t> touched_by_;    // By segment: the last dispatch, plus 1.
  std::vector<uint32_t> touched_;       // Segments of the dispatch at hand.
  std::vector<uint32_t> candidate_of_;  // By dispatch: whose candidate it was last.
  std::vector<uint32_t> candidates_;    // Of the dispatch at hand, the latest first.
  std::vector<Past> pasts_;             // By dispatch; empty: no longer of use, or too long ago.
  std::vector<uint32_t> uses_;          // By dispatch: in how many groups it is.
  uint32_t forgotten_ = 0;              // Dispatches without a past, because too long ago.
  DispatchGraph graph_;
};

}  // namespace

Result<DispatchGraph> conflict_graph_of(const Program& program, const ByteSegments& segments,
                                        const ConflictGraphLimits& limits) {
  return ConflictGraphBuilder(program, segments, limits).build();
}

}  // namespace interlock
