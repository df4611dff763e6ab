#include "fuzz/generate/swarm.h"

#include <iterator>
#include <utility>

namespace interlock {

Swarm::Swarm(Choice& choice) {
  for (size_t i = 0; i < static_cast<size_t>(Feature::kProgramOrder); ++i) {
    uint32_t& weight = weights_[i];
    if (choice.below(2) == 0) continue;
    // Small, middle and large weights are equally likely.
    constexpr std::pair<uint64_t, uint64_t> kRanges[] = {{1, 3}, {4, 8}, {9, 15}};
    const auto [least, most] = kRanges[choice.below(std::size(kRanges))];
    weight = static_cast<uint32_t>(least + choice.below(most - least + 1));
  }
}

}  // namespace interlock
