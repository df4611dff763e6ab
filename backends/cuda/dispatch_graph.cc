// The basic idea is that what executes before a dispatch is always a prefix of the earlier work of
// each class: all of it without scoped barriers, that of one stage with them. So a join stands for
// a prefix, each prefix continues the one before it, and a dispatch waits for one prefix of each
// class.
#include "backends/cuda/dispatch_graph.h"

#include <algorithm>
#include <array>
#include <set>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"

namespace interlock {
namespace {

constexpr GraphNodeIndex kNoJoin = UINT32_MAX;

// A prefix of the dispatches of a class that something waits for.
struct Prefix {
  uint32_t end = 0;                 // Counted in dispatches of the class.
  bool continues_previous = false;  // Not all that it adds waits for the previous prefix itself.
  uint32_t use_count = 0;           // Dispatches that wait for it, and prefixes that continue it.
  GraphNodeIndex join = kNoJoin;    // Once there is one.
};

struct WorkClass {
  std::vector<DispatchId> dispatches;
  std::vector<uint32_t> waits;   // By dispatch of the class: how many of the class execute before.
  std::vector<Prefix> prefixes;  // By end, ascending.

  Prefix& prefix(uint32_t end) {
    const auto found = std::ranges::lower_bound(prefixes, end, {}, &Prefix::end);
    INTERLOCK_CHECK(found != prefixes.end() && found->end == end);
    return *found;
  }
};

class GraphBuilder {
 public:
  GraphBuilder(const Program& program, const HappensBefore& order)
      : program_(program), order_(order) {
    const auto dispatch_count = static_cast<uint32_t>(program.dispatches.size());
    waits_.resize(dispatch_count);
    for (uint32_t d = 0; d < dispatch_count; ++d) note_waits(DispatchId(d));
    for (WorkClass& work : classes_) find_prefixes(work);
    for (const auto& waits : waits_) {
      for (size_t c = 0; c < classes_.size(); ++c) {
        if (waits[c] > 0) ++classes_[c].prefix(waits[c]).use_count;
      }
    }
  }

  DispatchGraph build() && {
    node_of_.resize(program_.dispatches.size());
    for (uint32_t d = 0; d < waits_.size(); ++d) {
      std::vector<GraphNodeIndex> edges;
      for (size_t c = 0; c < classes_.size(); ++c) {
        if (waits_[d][c] == 0) continue;
        append(classes_[c], classes_[c].prefix(waits_[d][c]), edges);
      }
      node_of_[d] = graph_.add_node(DispatchId(d), edges);
    }
    return std::move(graph_);
  }

 private:
  static constexpr size_t kClassCount = 2;  // Compute and copy; without scopes one for all.
  static_assert(kClassCount == kDispatchStageCount);

  size_t class_of(DispatchId d) const {
    return order_.has_scopes() ? static_cast<size_t>(order_.scopes().stage_of(d)) : 0;
  }

  // How many dispatches of `work` have an index below `end`.
  static uint32_t count_below(const WorkClass& work, uint32_t end) {
    const auto found = std::ranges::lower_bound(work.dispatches, DispatchId(end));
    return static_cast<uint32_t>(found - work.dispatches.begin());
  }

  void note_waits(DispatchId d) {
    for (size_t c = 0; c < kClassCount; ++c) {
      const uint32_t end = order_.has_scopes()
                               ? order_.scopes().unfinished_begin(static_cast<Stage>(c), d)
                               : order_.execution_epoch_begin(d).index;
      waits_[d.index][c] = count_below(classes_[c], std::min(end, d.index));
    }
    WorkClass& own = classes_[class_of(d)];
    own.dispatches.push_back(d);
    own.waits.push_back(waits_[d.index][class_of(d)]);
  }

  void find_prefixes(WorkClass& work) {
    const size_t c = static_cast<size_t>(&work - classes_.data());
    std::set<uint32_t> ends;
    for (const auto& waits : waits_) {
      if (waits[c] > 0) ends.insert(waits[c]);
    }
    uint32_t begin = 0;
    for (const uint32_t end : ends) {
      Prefix prefix{.end = end};
      // One of its own that waits for all of the previous prefix says it for all.
      prefix.continues_previous =
          begin > 0 && std::none_of(work.waits.begin() + begin, work.waits.begin() + end,
                                    [&](uint32_t count) { return count >= begin; });
      if (prefix.continues_previous) ++work.prefixes.back().use_count;
      work.prefixes.push_back(prefix);
      begin = end;
    }
  }

  // Appends what to wait for: the join of the prefix, or its parts where that is no more edges.
  void append(WorkClass& work, Prefix& prefix, std::vector<GraphNodeIndex>& edges) {
    // Those that it continues come first, from the earliest on: a chain may be long.
    Prefix* first = &prefix;
    while (first->continues_previous && (first - 1)->join == kNoJoin) --first;
    for (; first != &prefix; ++first) stand_ins(work, *first);
    const std::vector<GraphNodeIndex> parts = stand_ins(work, prefix);
    edges.insert(edges.end(), parts.begin(), parts.end());
  }

  // Returns what stands for the prefix, given those before it.
  std::vector<GraphNodeIndex> stand_ins(WorkClass& work, Prefix& prefix) {
    if (prefix.join != kNoJoin) return {prefix.join};
    Prefix* const previous = &prefix == work.prefixes.data() ? nullptr : &prefix - 1;
    std::vector<GraphNodeIndex> parts;
    if (prefix.continues_previous) parts = stand_ins(work, *previous);
    for (uint32_t i = previous == nullptr ? 0 : previous->end; i < prefix.end; ++i) {
      parts.push_back(node_of_[work.dispatches[i].index]);
    }
    if (parts.size() == 1 || prefix.use_count == 1) return parts;
    prefix.join = graph_.add_node(DispatchId(), parts);
    return {prefix.join};
  }

  const Program& program_;
  const HappensBefore& order_;
  std::array<WorkClass, kClassCount> classes_;
  // By dispatch: how many of each class execute before it.
  std::vector<std::array<uint32_t, kClassCount>> waits_;
  std::vector<GraphNodeIndex> node_of_;  // By dispatch.
  DispatchGraph graph_;
};

}  // namespace

DispatchGraph graph_of(const Program& program, const HappensBefore& order) {
  return GraphBuilder(program, order).build();
}

DispatchGraph chain_of(const Program& program) {
  DispatchGraph chain;
  for (uint32_t d = 0; d < program.dispatches.size(); ++d) {
    const GraphNodeIndex previous = d - 1;
    chain.add_node(DispatchId(d), {&previous, d == 0 ? size_t{0} : 1});
  }
  return chain;
}

}  // namespace interlock
