// OrderFindings: all that is wrong in a program with several queues as far as sync can change it,
// named as in its text, so that two programs with the same dispatches can be compared.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "encoder/program/program.h"
#include "simulator/hazards/data_flow.h"
#include "simulator/lifetimes/lifetimes.h"

namespace interlock {

// A run of bytes on which two accesses have a hazard.
struct ByteHazards {
  DispatchId first;  // Earlier in the reference run.
  DispatchId second;
  FindingKind kind = FindingKind::kReadAfterWrite;
  StageAccess sort = StageAccess::kComputeRead;  // Of the second access.
  Stage first_stage = Stage::kCompute;           // Where the first one executes.
  bool is_ordered = false;                       // It executes in order, and is not visible.
  MemoryId memory;
  uint64_t begin = 0;
  uint64_t end = 0;

  auto operator<=>(const ByteHazards&) const = default;
};

struct OrderFindings {
  bool is_known = true;              // No limit has ended the search.
  bool runs = true;                  // No deadlock, and signals in the order of their values.
  std::vector<ByteHazards> hazards;  // Sorted; maximal runs.
  std::vector<LifetimeFinding> lifetimes;
  std::vector<ReorderedRead> reordered;
};

// Returns them; of the hazards all, or those of one pair if there are any. Takes its work from
// `work_left`; is_known is false if that is too little.
// Requires: no text_order. Cost: find_reference_order(), a check for hazards and of lifetimes, and
// for each hazardous pair its operands.
enum class HazardsListed : uint8_t { kAll, kOfOnePair };
OrderFindings find_order_findings(const Program& program, HazardsListed listed,
                                  uint64_t& work_left);

// What a search for them visits where there is no hazard, as a work limit counts it. Clocks have a
// number for each place, which sync, edges and operations pass on; a few of these cost what a visit
// does.
uint64_t work_of_order_findings(const Program& program);

struct HazardousPair {
  DispatchId first;
  DispatchId second;
};

// The pairs of find_hazards(), named as in the text of `program`, at most `limit`; none if it does
// not run, or has too many paths of graph queues. Requires: no text_order.
std::optional<std::vector<HazardousPair>> find_hazardous_pairs(const Program& program,
                                                               uint64_t limit);

// What is hazardous between two dispatches of one program, for any number of pairs.
class HazardsBetween {
 public:
  // Requires: no text_order; `program` outlives this. Cost: QueueOrder.
  explicit HazardsBetween(const Program& program);

  // Returns it, be it that the one or the other comes first in the reference run; none if that does
  // not run, or has too many paths of graph queues. Cost: O(n), and the operands of the two.
  std::optional<std::vector<ByteHazards>> of(DispatchId one, DispatchId other) const {
    return find_ ? std::optional(find_(one, other)) : std::nullopt;
  }

 private:
  std::function<std::vector<ByteHazards>(DispatchId one, DispatchId other)> find_;
};

// True iff whatever is wrong with `without` is wrong with `with`, byte by byte.
// Requires: both are known, and of programs with the same dispatches. Cost: O(n log n), and squared
// in what is no hazard.
bool adds_nothing(const OrderFindings& with, const OrderFindings& without);

// As adds_nothing(), whatever the hazards are.
bool adds_only_hazards(const OrderFindings& with, const OrderFindings& without);

}  // namespace interlock
