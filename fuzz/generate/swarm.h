// Swarm: which features one generated program uses, and how often. Drawn once per program.
#pragma once

#include <array>
#include <cstdint>

#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"

namespace interlock {

class Swarm {
 public:
  // Each feature is on in every second program, with a weight of 1 to 15 in 16; but kProgramOrder
  // and kScopes, which the generator draws by itself, are off.
  explicit Swarm(Choice& choice);

  bool has(Feature feature) const { return weight(feature) > 0; }
  uint32_t weight(Feature feature) const { return weights_[static_cast<size_t>(feature)]; }

  // True with the weight of the feature in 16; draws nothing if the feature is off.
  bool draws(Feature feature, Choice& choice) const {
    return has(feature) && choice.below(16) < weight(feature);
  }

 private:
  std::array<uint32_t, kFeatureCount> weights_{};
};

}  // namespace interlock
