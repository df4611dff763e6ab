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

uint64_t examinations_max(uint64_t hazard_limit) {
  return std::max(
      std::min(hazard_limit, UINT64_MAX / kExaminationsPerHazard) * kExaminationsPerHazard,
      kExaminationsMin);
}

std::vector<Hazard> find_all_hazards(const Program& program, const HappensBefore& order,
                                     uint64_t limit) {
  bool is_truncated = false;
  return find_all_hazards(program, order, ByteSegments(program), limit, is_truncated);
}

std::vector<Hazard> find_all_hazards(const Program& program, const HappensBefore& order,
                                     const ByteSegments& segments, uint64_t limit,
                                     bool& is_truncated) {
  std::vector<Hazard> hazards;
  HazardPairs pairs(program, order, segments);
  HazardBetween between(program, order, segments);
  std::vector<DispatchId> firsts;
  uint64_t examination_limit = examinations_max(limit);
  is_truncated = false;
  for (size_t k = 0; k < program.dispatches.size() && !is_truncated; ++k) {
    if (is_stopped()) return hazards;
    is_truncated = !pairs.find_firsts(DispatchId(k), examination_limit, firsts);
    if (firsts.empty()) continue;
    between.set_second(DispatchId(k));
    const uint64_t steps_before = between.step_count();
    for (const DispatchId first : firsts) {
      if (is_stopped()) return hazards;
      for (const FindingKind kind : kHazardKinds) {
        const std::optional<Hazard> hazard = between.find(first, kind);
        if (!hazard.has_value()) continue;
        if (hazards.size() == limit) {
          is_truncated = true;
          return hazards;
        }
        hazards.push_back(*hazard);
      }
    }
    examination_limit -= std::min(examination_limit, between.step_count() - steps_before);
  }
  return hazards;
}

}  // namespace interlock
