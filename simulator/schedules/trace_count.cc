// The basic idea is to take a set of units apart, by what is exact and cheap first:
// - a unit without order whose k neighbours are all neighbours of each other fits into k+1 places
//   of any orientation of the rest;
// - strongly connected parts (hazards both ways) are independent;
// - the rest by its first units: inclusion and exclusion over the sets T of units that can all be
//   first, a(S) = sum over T of (-1)^(|T|+1) a(S - T). Units with the same neighbours are
//   interchangeable, so that a set is a number per class of them (Stanley, 1973, for the relation
//   of such counts to the chromatic polynomial).
//
// For example:
//
//   A: dispatch Sum reads m[0:128] writes a
//   B: dispatch Left writes m[0:64]
//   C: dispatch Sum reads m[0:128] writes c
//   D: dispatch Right writes m[64:128]
//   E: dispatch Sum reads m[0:64] writes e
//
// No barrier orders anything, and five pairs conflict: A-B, B-C, C-D and D-A, a ring, and B-E.
// - E has one neighbour, B. In any orientation of the rest E is before B or after it: 2 places.
// - The ring has no such unit: the neighbours of A are B and D, which do not conflict. Nor does it
//   come apart. A and C have the same neighbours, so have B and D: two classes, of 2 units each,
//   and the ring is the pair of sizes (2,2).
// - The first units of an acyclic orientation are those that no hazard points to. They do not
//   conflict with each other, so they are of one class. For T = {A} and for T = {C} what is left is
//   a path of three units, (1,2): 2 * 2 orientations, since each end fits into 2 places. For T =
//   {A, C} what is left is B and D, (0,2): 1 orientation. The sum over T counts an orientation in
//   which A and C both are first three times, at {A}, {C} and {A, C}, and the sign of the last
//   leaves once. So A and C contribute 2 * 4 - 1 = 7, B and D as much.
// - 7 + 7 = 14, which is 2^4 without the two directions in which the ring is a cycle. With E: 28.
//
// Without classes the recursion would remember a count per set of units. Of n readers of all bytes
// and n writers of different ones, there are 2^(2n) sets and (n+1)^2 pairs of sizes.
#include "simulator/schedules/trace_count.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace interlock {
namespace {

using Units = std::vector<uint32_t>;

// Units with the same relations to all others; among themselves all or none are in conflict.
struct UnitClass {
  Units units;
  bool is_clique = false;

  uint32_t size() const { return static_cast<uint32_t>(units.size()); }
};

class Counter {
 public:
  Counter(const TraceGroup& group, uint64_t& work_limit)
      : hazard_(group.units.size()), before_(group.before), work_limit_(work_limit) {
    for (const UnitPair& pair : group.hazards) {
      hazard_.set(pair.first, pair.second);
      hazard_.set(pair.second, pair.first);
    }
  }

  TraceCount count(Units units);

  bool in_conflict(uint32_t u, uint32_t v) const { return hazard_.has(u, v); }
  bool is_before(uint32_t u, uint32_t v) const { return before_.has(v, u); }
  // Whether a unit fits anywhere, or there are several parts.
  bool comes_apart(const Units& units) const;
  // False if there is not so much left.
  bool spend(uint64_t work);

 private:
  TraceCount count_connected(const Units& units);
  bool take_fitting_unit(Units& units, uint32_t& places) const;
  std::vector<Units> connected_parts(const Units& units) const;
  std::vector<UnitClass> classes_of(const Units& units) const;
  bool are_interchangeable(const Units& units, uint32_t u, uint32_t v) const;
  Natural bound_of(const Units& units) const;

  BitMatrix hazard_;  // Symmetric.
  const BitMatrix& before_;
  uint64_t& work_limit_;
};

// The recursion over numbers of remaining units per class.
class FirstUnitsCount {
 public:
  FirstUnitsCount(Counter& counter, std::vector<UnitClass> classes)
      : counter_(counter), classes_(std::move(classes)) {}

  // None if the work ran out.
  std::optional<Natural> count();

 private:
  const Natural* count(const std::vector<uint32_t>& sizes);
  bool add_firsts(const std::vector<uint32_t>& all, std::vector<uint32_t>& rest, size_t next,
                  const Natural& ways, bool is_odd, Natural& plus, Natural& minus);
  bool can_be_first(const std::vector<uint32_t>& all, const std::vector<uint32_t>& rest,
                    size_t index) const;

  Counter& counter_;
  std::vector<UnitClass> classes_;
  std::map<std::vector<uint32_t>, Natural> counts_;
};

TraceCount Counter::count(Units units) {
  TraceCount result{Natural(1), true};
  for (uint32_t places = 0; take_fitting_unit(units, places);) result.value *= Natural(places);
  if (units.empty()) return result;
  std::vector<Units> parts = connected_parts(units);
  for (Units& part : parts) {
    const TraceCount of_part = parts.size() > 1 ? count(std::move(part)) : count_connected(units);
    result.value *= of_part.value;
    result.is_exact &= of_part.is_exact;
  }
  return result;
}

TraceCount Counter::count_connected(const Units& units) {
  std::optional<Natural> exact = FirstUnitsCount(*this, classes_of(units)).count();
  if (exact) return {*std::move(exact), true};
  return {bound_of(units), false};
}

bool Counter::comes_apart(const Units& units) const {
  Units rest = units;
  uint32_t places = 0;
  return take_fitting_unit(rest, places) || connected_parts(units).size() > 1;
}

bool Counter::spend(uint64_t work) {
  if (work_limit_ < work) {
    work_limit_ = 0;
    return false;
  }
  work_limit_ -= work;
  return true;
}

// Takes a unit out of `units` that nothing orders and whose neighbours are a clique, if there is
// one.
bool Counter::take_fitting_unit(Units& units, uint32_t& places) const {
  Units neighbours;
  for (size_t i = 0; i < units.size(); ++i) {
    const uint32_t u = units[i];
    neighbours.clear();
    bool fits = true;
    for (const uint32_t v : units) {
      fits &= !before_.has(u, v) && !before_.has(v, u);
      if (hazard_.has(u, v)) neighbours.push_back(v);
    }
    for (size_t a = 0; a < neighbours.size() && fits; ++a) {
      for (size_t b = 0; b < a && fits; ++b) fits = hazard_.has(neighbours[a], neighbours[b]);
    }
    if (!fits) continue;
    places = static_cast<uint32_t>(neighbours.size() + 1);
    units.erase(units.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

// Strongly connected parts: u reaches v by hazards, in either direction, and by happens-before.
std::vector<Units> Counter::connected_parts(const Units& units) const {
  const auto reach = [&](uint32_t from, bool is_forward) {
    std::vector<bool> is_reached(hazard_.word_count() * 64, false);
    is_reached[from] = true;
    Units stack = {from};
    while (!stack.empty()) {
      const uint32_t u = stack.back();
      stack.pop_back();
      for (const uint32_t v : units) {
        if (is_reached[v]) continue;
        const bool is_next = is_forward ? before_.has(v, u) : before_.has(u, v);
        if (!is_next && !hazard_.has(u, v)) continue;
        is_reached[v] = true;
        stack.push_back(v);
      }
    }
    return is_reached;
  };
  std::vector<Units> parts;
  std::vector<bool> is_placed(hazard_.word_count() * 64, false);
  for (const uint32_t u : units) {
    if (is_placed[u]) continue;
    const std::vector<bool> from = reach(u, true);
    const std::vector<bool> to = reach(u, false);
    parts.emplace_back();
    for (const uint32_t v : units) {
      if (!from[v] || !to[v]) continue;
      is_placed[v] = true;
      parts.back().push_back(v);
    }
  }
  return parts;
}

bool Counter::are_interchangeable(const Units& units, uint32_t u, uint32_t v) const {
  if (before_.has(u, v) || before_.has(v, u)) return false;
  return std::ranges::all_of(units, [&](uint32_t w) {
    return w == u || w == v ||
           (hazard_.has(u, w) == hazard_.has(v, w) && before_.has(u, w) == before_.has(v, w) &&
            before_.has(w, u) == before_.has(w, v));
  });
}

std::vector<UnitClass> Counter::classes_of(const Units& units) const {
  std::vector<UnitClass> classes;
  for (const uint32_t u : units) {
    const auto same = std::ranges::find_if(classes, [&](const UnitClass& c) {
      const uint32_t v = c.units.front();
      return (c.size() == 1 || hazard_.has(u, v) == c.is_clique) &&
             are_interchangeable(units, u, v);
    });
    if (same == classes.end()) {
      classes.push_back({{u}, false});
    } else {
      same->is_clique = hazard_.has(u, same->units.front());
      same->units.push_back(u);
    }
  }
  return classes;
}

Natural Counter::bound_of(const Units& units) const {
  Natural orientations(1);
  Natural orders(1);
  for (size_t i = 0; i < units.size(); ++i) {
    orders *= Natural(i + 1);
    for (size_t j = 0; j < i; ++j) {
      if (hazard_.has(units[i], units[j])) orientations *= Natural(2);
    }
  }
  return std::min(orientations, orders);
}

std::optional<Natural> FirstUnitsCount::count() {
  std::vector<uint32_t> sizes;
  for (const UnitClass& c : classes_) sizes.push_back(c.size());
  const Natural* const result = count(sizes);
  if (result == nullptr) return std::nullopt;
  return *result;
}

// Null if the work ran out. The map keeps its elements where they are.
const Natural* FirstUnitsCount::count(const std::vector<uint32_t>& sizes) {
  const auto known = counts_.find(sizes);
  if (known != counts_.end()) return &known->second;
  Units units;
  for (size_t i = 0; i < sizes.size(); ++i) {
    units.insert(units.end(), classes_[i].units.begin(), classes_[i].units.begin() + sizes[i]);
  }
  if (!counter_.spend(units.size() + 1)) return nullptr;
  if (units.empty() || counter_.comes_apart(units)) {
    TraceCount apart = counter_.count(std::move(units));
    return apart.is_exact ? &counts_.emplace(sizes, std::move(apart.value)).first->second : nullptr;
  }
  Natural plus;
  Natural minus;
  std::vector<uint32_t> rest = sizes;
  if (!add_firsts(sizes, rest, 0, Natural(1), false, plus, minus)) return nullptr;
  plus -= minus;
  return &counts_.emplace(sizes, std::move(plus)).first->second;
}

// Adds the terms of all sets T that extend the one already taken from `rest` by classes from `next`
// on. `ways` is how many sets look like it, `is_odd` whether it has an odd number of units.
bool FirstUnitsCount::add_firsts(const std::vector<uint32_t>& all, std::vector<uint32_t>& rest,
                                 size_t next, const Natural& ways, bool is_odd, Natural& plus,
                                 Natural& minus) {
  if (!counter_.spend(1 + classes_.size() / 64)) return false;
  if (next == classes_.size()) {
    if (rest == all) return true;  // T is not empty.
    const Natural* const count_of_rest = count(rest);
    if (count_of_rest == nullptr) return false;
    Natural term = ways;
    term *= *count_of_rest;
    (is_odd ? plus : minus) += term;
    return true;
  }
  if (!add_firsts(all, rest, next + 1, ways, is_odd, plus, minus)) return false;
  if (!can_be_first(all, rest, next)) return true;
  const uint32_t size = all[next];
  const uint32_t taken_max = classes_[next].is_clique ? 1 : size;
  Natural more_ways = ways;
  bool has_work = true;
  for (uint32_t taken = 1; taken <= taken_max && has_work; ++taken) {
    more_ways *= Natural(size - taken + 1);
    more_ways /= taken;
    rest[next] = size - taken;
    has_work = add_firsts(all, rest, next + 1, more_ways, is_odd != (taken % 2 == 1), plus, minus);
  }
  rest[next] = size;
  return has_work;
}

// None of what is left is ordered before it, and it conflicts with none that has been taken.
bool FirstUnitsCount::can_be_first(const std::vector<uint32_t>& all,
                                   const std::vector<uint32_t>& rest, size_t index) const {
  if (all[index] == 0) return false;
  const uint32_t unit = classes_[index].units.front();
  for (size_t other = 0; other < classes_.size(); ++other) {
    const uint32_t first = classes_[other].units.front();
    if (all[other] > 0 && counter_.is_before(first, unit)) return false;
    if (other < index && rest[other] < all[other] && counter_.in_conflict(first, unit)) {
      return false;
    }
  }
  return true;
}

}  // namespace

TraceCount count_traces(const TraceGroup& group, uint64_t& work_limit) {
  Units units(group.units.size());
  for (uint32_t u = 0; u < units.size(); ++u) units[u] = u;
  return Counter(group, work_limit).count(std::move(units));
}

}  // namespace interlock
