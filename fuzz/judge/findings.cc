#include "fuzz/judge/findings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "simulator/facts/find_facts.h"

namespace interlock {

std::vector<Fact> find_exactly(const Program& program) {
  return find_exactly(program, HappensBefore(program), ByteSegments(program));
}

std::vector<Fact> find_exactly(const Program& program, const HappensBefore& order,
                               const ByteSegments& segments,
                               std::span<ConflictObserver* const> observers) {
  const FactOptions options{
      .group = FactGroup::kAccesses, .scoped_step_limit = UINT64_MAX, .observers = observers};
  return find_facts(program, order, segments, options).facts;
}

std::vector<Fact> find_everything(const Program& program, bool lists_possible) {
  const HappensBefore order(program);
  const ByteSegments segments(program);
  const FactOptions options{.group = FactGroup::kAccesses,
                            .lists_possible = lists_possible,
                            .scoped_step_limit = UINT64_MAX};
  std::vector<Fact> facts = find_facts(program, order, segments, options).facts;
  FactReport lifetimes = find_facts(program, order, segments, {.group = FactGroup::kLifetimes});
  std::ranges::move(lifetimes.facts, std::back_inserter(facts));
  return facts;
}

std::vector<Fact> findings_of(const Program& program, bool lists_possible) {
  std::vector<Fact> facts = find_everything(program, lists_possible);
  std::erase_if(facts, [&](const Fact& fact) { return is_of_bounds(program, fact); });
  return facts;
}

std::vector<GradientFinding> find_wrong_gradients(const Program& program) {
  if (program.backwards.empty()) return {};
  return check_gradients(program, program.backwards).findings;
}

}  // namespace interlock
