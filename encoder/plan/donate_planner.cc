#include "encoder/plan/donate_planner.h"

#include <string>
#include <vector>

#include "encoder/plan/plan_layout.h"
#include "encoder/plan/plan_values.h"

namespace interlock {

Result<Program> plan_donate(const Program& program, const PlanOptions& options) {
  auto values = values_of(program, options);
  if (!values) return values.error();
  PlanLayout layout;
  layout.places.resize(values->tensors.size());
  std::vector<bool> is_donated(values->tensors.size(), false);
  for (const InPlaceChoice& choice : values->problem.in_place) {
    ValuePlace& place = layout.places[choice.output];
    if (place.donor != PlanValues::kNoValue || is_donated[choice.input]) continue;
    place.donor = choice.input;
    is_donated[choice.input] = true;
  }
  for (uint32_t value = 0; value < layout.places.size(); ++value) {
    if (layout.places[value].donor != PlanValues::kNoValue) continue;
    layout.places[value].memory = static_cast<uint32_t>(layout.memories.size());
    layout.memories.push_back({"buffer" + std::to_string(layout.memories.size()),
                               values->problem.values[value].size_bytes});
  }
  return place_values(program, *values, layout);
}

}  // namespace interlock
