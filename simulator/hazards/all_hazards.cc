// Every hazardous pair. The idea: HazardPairs names the earlier dispatches of each one, and what
// it examines is what there is to list.
#include <algorithm>

#include "encoder/program/stop.h"
#include "simulator/hazards/hazard_between.h"
#include "simulator/hazards/hazard_pairs.h"
#include "simulator/hazards/hazards.h"

namespace interlock {

namespace {

// Overlaps examined per hazard that may be listed. Most pairs of dispatches overlap in a few runs
// of bytes; hostile ones in as many as they have operands.
constexpr uint64_t kExaminationsPerHazard = 64;
constexpr uint64_t kExaminationsMin = 1'000'000;

}  // namespace

// One hazard more than may be listed tells whether there are more.
uint64_t examinations_max(uint64_t hazard_limit) {
  const uint64_t hazard_count = std::min(hazard_limit, UINT64_MAX / kExaminationsPerHazard - 1) + 1;
  return std::max(hazard_count * kExaminationsPerHazard, kExaminationsMin);
}

HazardList find_all_hazards(const Program& program, const HappensBefore& order, uint64_t limit) {
  return find_all_hazards(program, order, ByteSegments(program), limit);
}

HazardList find_all_hazards(const Program& program, const HappensBefore& order,
                            const ByteSegments& segments, uint64_t limit) {
  HazardList list;
  HazardPairs pairs(program, order, segments);
  HazardBetween between(program, order, segments);
  std::vector<DispatchId> firsts;
  uint64_t examination_limit = examinations_max(limit);
  for (size_t k = 0; k < program.dispatches.size() && list.is_complete(); ++k) {
    if (is_stopped()) return list;
    list.is_cut = !pairs.find_firsts(DispatchId(k), examination_limit, firsts);
    if (firsts.empty()) continue;
    between.set_second(DispatchId(k));
    const uint64_t steps_before = between.step_count();
    for (const DispatchId first : firsts) {
      if (is_stopped()) return list;
      for (const FindingKind kind : kHazardKinds) {
        const std::optional<Hazard> hazard = between.find(first, kind);
        if (!hazard.has_value()) continue;
        list.has_more = list.hazards.size() == limit;
        if (list.has_more) return list;
        list.hazards.push_back(*hazard);
      }
    }
    examination_limit -= std::min(examination_limit, between.step_count() - steps_before);
  }
  return list;
}

}  // namespace interlock
