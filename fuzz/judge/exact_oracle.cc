// What campaigns ask of the exact checks.
#include "fuzz/judge/oracles.h"

#include <cstdint>
#include <iterator>

#include "simulator/facts/find_facts.h"

namespace interlock {

std::vector<Fact> find_exactly(const Program& program) {
  return find_exactly(program, HappensBefore(program), ByteSegments(program));
}

std::vector<Fact> find_exactly(const Program& program, const HappensBefore& order,
                               const ByteSegments& segments) {
  return find_facts(program, order, segments,
                    {.group = FactGroup::kAccesses, .scoped_step_limit = UINT64_MAX})
      .facts;
}

std::vector<Fact> find_everything(const Program& program) {
  const HappensBefore order(program);
  const ByteSegments segments(program);
  std::vector<Fact> facts = find_exactly(program, order, segments);
  FactReport lifetimes = find_facts(program, order, segments, {.group = FactGroup::kLifetimes});
  facts.insert(facts.end(), std::make_move_iterator(lifetimes.facts.begin()),
               std::make_move_iterator(lifetimes.facts.end()));
  return facts;
}

}  // namespace interlock
