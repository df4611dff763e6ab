#include "fuzz/generate/swarm.h"

namespace interlock {

Swarm::Swarm(Choice& choice) {
  for (size_t i = 0; i < static_cast<size_t>(Feature::kProgramOrder); ++i) {
    uint32_t& weight = weights_[i];
    if (choice.below(2) == 0) continue;
    // Small, middle and large weights are equally likely: 1..3, 4..8, 9..15.
    const uint64_t size = choice.below(3);
    if (size == 0) {
      weight = static_cast<uint32_t>(1 + choice.below(3));
    } else if (size == 1) {
      weight = static_cast<uint32_t>(4 + choice.below(5));
    } else {
      weight = static_cast<uint32_t>(9 + choice.below(7));
    }
  }
}

}  // namespace interlock
