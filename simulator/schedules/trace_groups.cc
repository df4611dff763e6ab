// The idea: start from the components of the hazard graph, and merge what happens-before ties
// together until a group cannot be entered and left along one cycle.
#include "simulator/schedules/trace_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "encoder/program/stop.h"

namespace interlock {
namespace {

class Grouping {
 public:
  Grouping(const std::vector<UnitPair>& hazards, const UnitOrder& precedes);

  std::vector<TraceGroup> groups();

 private:
  uint32_t position_of(uint32_t unit) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(units_, unit) - units_.begin());
  }
  uint32_t find(uint32_t position);
  void merge(uint32_t a, uint32_t b) {
    parent_[std::max(find(a), find(b))] = std::min(find(a), find(b));
  }
  void merge_sinks();
  void merge_cycles();

  std::vector<uint32_t> units_;
  std::vector<UnitPair> hazards_;  // Positions in units_.
  BitMatrix before_;               // Of positions.
  std::vector<uint32_t> parent_;   // By position; the root of a group is its first.
};

Grouping::Grouping(const std::vector<UnitPair>& hazards, const UnitOrder& precedes) {
  for (const UnitPair& hazard : hazards) {
    units_.push_back(hazard.first);
    units_.push_back(hazard.second);
  }
  std::ranges::sort(units_);
  units_.erase(std::unique(units_.begin(), units_.end()), units_.end());
  before_ = BitMatrix(units_.size());
  for (uint32_t u = 0; u < units_.size() && !is_stopped(); ++u) {
    for (uint32_t v = 0; v < units_.size(); ++v) {
      if (u != v && precedes(units_[v], units_[u])) before_.set(u, v);
    }
  }
  for (const UnitPair& hazard : hazards) {
    hazards_.push_back({position_of(hazard.first), position_of(hazard.second)});
  }
  std::ranges::sort(hazards_, {}, [](const UnitPair& p) { return std::pair(p.second, p.first); });
  hazards_.erase(std::unique(hazards_.begin(), hazards_.end()), hazards_.end());
  parent_.resize(units_.size());
  std::iota(parent_.begin(), parent_.end(), 0);
}

uint32_t Grouping::find(uint32_t position) {
  while (parent_[position] != position) {
    parent_[position] = parent_[parent_[position]];
    position = parent_[position];
  }
  return position;
}

void Grouping::merge_sinks() {
  for (const UnitPair& hazard : hazards_) {
    if (is_stopped()) return;
    for (uint32_t u = hazard.first + 1; u < hazard.second; ++u) {
      if (before_.has(u, hazard.first)) merge(u, hazard.first);
    }
  }
}

// Merges the groups on cycles of "some unit of this one is before some unit of that one".
void Grouping::merge_cycles() {
  const size_t count = units_.size();
  BitMatrix reaches(count);  // (g, h), by roots.
  for (uint32_t u = 0; u < count && !is_stopped(); ++u) {
    for (uint32_t v = 0; v < count; ++v) {
      if (before_.has(u, v) && find(u) != find(v)) reaches.set(find(v), find(u));
    }
  }
  for (uint32_t via = 0; via < count; ++via) {  // Warshall: the transitive closure, row by row.
    if (find(via) != via) continue;
    if (is_stopped()) return;
    for (uint32_t g = 0; g < count; ++g) {
      if (!reaches.has(g, via)) continue;
      for (size_t w = 0; w < reaches.word_count(); ++w) reaches.row(g)[w] |= reaches.row(via)[w];
    }
  }
  for (uint32_t g = 0; g < count && !is_stopped(); ++g) {
    for (uint32_t h = 0; h < g; ++h) {
      if (reaches.has(g, h) && reaches.has(h, g)) merge(g, h);
    }
  }
}

std::vector<TraceGroup> Grouping::groups() {
  for (const UnitPair& hazard : hazards_) merge(hazard.first, hazard.second);
  merge_sinks();
  merge_cycles();

  std::vector<TraceGroup> groups;
  if (is_stopped()) return groups;
  std::vector<uint32_t> group_of(units_.size());
  std::vector<uint32_t> place_of(units_.size());
  std::vector<std::vector<uint32_t>> members;
  for (uint32_t u = 0; u < units_.size(); ++u) {
    if (find(u) == u) {
      group_of[u] = static_cast<uint32_t>(groups.size());
      groups.emplace_back();
      members.emplace_back();
    }
    group_of[u] = group_of[find(u)];
    place_of[u] = static_cast<uint32_t>(members[group_of[u]].size());
    groups[group_of[u]].units.push_back(units_[u]);
    members[group_of[u]].push_back(u);
  }
  for (const UnitPair& hazard : hazards_) {
    groups[group_of[hazard.first]].hazards.push_back(
        {place_of[hazard.first], place_of[hazard.second]});
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    if (is_stopped()) return {};
    groups[g].before = BitMatrix(members[g].size());
    for (const uint32_t u : members[g]) {
      for (const uint32_t v : members[g]) {
        if (before_.has(u, v)) groups[g].before.set(place_of[u], place_of[v]);
      }
    }
  }
  return groups;
}

}  // namespace

std::vector<TraceGroup> trace_groups(const std::vector<UnitPair>& hazards,
                                     const UnitOrder& precedes) {
  return Grouping(hazards, precedes).groups();
}

}  // namespace interlock
