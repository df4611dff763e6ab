#include "simulator/report/repair_effects.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace interlock {
namespace {

// Bytes on which two dispatches have a hazard. Another order of the two is another finding.
struct PairBytes {
  DispatchId first;
  DispatchId second;
  MemoryId memory;
  uint64_t begin = 0;
  uint64_t end = 0;

  auto pair() const { return std::tuple(first, second, memory); }
  auto key() const { return std::tuple(first, second, memory, begin, end); }
};

// Sorted, and joined where they touch.
std::vector<PairBytes> bytes_of_pairs(const std::vector<ByteHazards>& hazards) {
  std::vector<PairBytes> all;
  for (const ByteHazards& hazard : hazards) {
    all.push_back({hazard.first, hazard.second, hazard.memory, hazard.begin, hazard.end});
  }
  std::ranges::sort(all, {}, &PairBytes::key);
  std::vector<PairBytes> joined;
  for (const PairBytes& bytes : all) {
    const bool touches =
        !joined.empty() && joined.back().pair() == bytes.pair() && bytes.begin <= joined.back().end;
    if (touches) {
      joined.back().end = std::max(joined.back().end, bytes.end);
    } else {
      joined.push_back(bytes);
    }
  }
  return joined;
}

bool is_within(const PairBytes& bytes, const std::vector<PairBytes>& known) {
  const auto next = std::ranges::upper_bound(
      known, std::tuple_cat(bytes.pair(), std::tuple(bytes.begin, UINT64_MAX)), {},
      &PairBytes::key);
  if (next == known.begin()) return false;
  const PairBytes& last = *(next - 1);
  return last.pair() == bytes.pair() && bytes.end <= last.end;
}

}  // namespace

bool brings_another(const OrderFindings& before, const OrderFindings& after) {
  if (!adds_only_hazards(before, after)) return true;
  if (!after.runs) return false;
  const std::vector<PairBytes> known = bytes_of_pairs(before.hazards);
  const std::vector<PairBytes> found = bytes_of_pairs(after.hazards);
  return std::ranges::any_of(found,
                             [&](const PairBytes& bytes) { return !is_within(bytes, known); });
}

}  // namespace interlock
