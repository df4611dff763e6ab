// What each generated program likes: every set of features is as likely as any other, and each
// feature in it comes with any weight.
#include "fuzz/generate/swarm.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "fuzz/generate/generator.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/shares.h"

namespace interlock::swarm_test {
namespace {

constexpr size_t kDrawnCount = static_cast<size_t>(Feature::kProgramOrder);
constexpr uint64_t kSwarmCount = 4000;

Feature feature_at(size_t index) { return static_cast<Feature>(index); }

// Gives one answer, and counts how often it is asked for one of sixteen.
class FixedChoice final : public Choice {
 public:
  explicit FixedChoice(uint64_t answer) : answer_(answer) {}
  int asked_count() const { return asked_count_; }

 private:
  uint64_t answer(uint64_t n) override {
    EXPECT_EQ(n, 16u);
    ++asked_count_;
    return answer_;
  }

  uint64_t answer_;
  int asked_count_ = 0;
};

// Each with odds of 1/2, and whatever else is there: one without another one with odds of 1/4.
TEST(Swarm, HasEveryFeatureInEverySecondProgramWhateverElseItHas) {
  std::array<std::array<uint64_t, kDrawnCount>, kDrawnCount> apart{};  // The first alone of two.
  std::array<uint64_t, kDrawnCount> counts{};
  for (uint64_t seed = 0; seed < kSwarmCount; ++seed) {
    SeededChoice choice(seed);
    const Swarm swarm(choice);
    for (size_t i = 0; i < kDrawnCount; ++i) {
      if (!swarm.has(feature_at(i))) continue;
      ++counts[i];
      for (size_t k = 0; k < kDrawnCount; ++k) apart[i][k] += !swarm.has(feature_at(k));
    }
  }
  for (size_t i = 0; i < kDrawnCount; ++i) {
    const std::string word(word_of(feature_at(i)));
    expect_share(word, counts[i], kSwarmCount, 1.0 / 2);
    for (size_t k = 0; k < kDrawnCount; ++k) {
      if (i == k) continue;
      const std::string pair = word + " without " + std::string(word_of(feature_at(k)));
      expect_share(pair, apart[i][k], kSwarmCount, 1.0 / 4);
    }
  }
}

// Small, middle and large weights are equally likely, and so is each of those: a weight from 1 to 3
// has odds of 1/9, from 4 to 8 of 1/15, from 9 to 15 of 1/21.
TEST(Swarm, DrawsEveryWeightFromOneToFifteen) {
  std::array<uint64_t, 17> counts{};
  uint64_t drawn_count = 0;
  for (uint64_t seed = 0; seed < kSwarmCount; ++seed) {
    SeededChoice choice(seed);
    const Swarm swarm(choice);
    for (size_t i = 0; i < kDrawnCount; ++i) {
      const uint32_t weight = swarm.weight(feature_at(i));
      ASSERT_LE(weight, 15u);
      EXPECT_EQ(swarm.has(feature_at(i)), weight > 0);
      drawn_count += weight > 0;
      ++counts[weight];
    }
  }
  for (uint32_t weight = 1; weight <= 15; ++weight) {
    const double size = weight <= 3 ? 3 : weight <= 8 ? 5 : 7;
    expect_share("weight " + std::to_string(weight), counts[weight], drawn_count, 1 / (3 * size));
  }
}

TEST(Swarm, LeavesToTheGeneratorWhatThatDrawsByItself) {
  for (uint64_t seed = 0; seed < kSwarmCount; ++seed) {
    SeededChoice choice(seed);
    const Swarm swarm(choice);
    EXPECT_FALSE(swarm.has(Feature::kProgramOrder));
    EXPECT_FALSE(swarm.has(Feature::kScopes));
  }
}

// All sixteen answers are tried, so that this is exact.
TEST(Swarm, DrawsAFeatureAsOftenAsItsWeightSaysAndAsksNothingIfItIsOff) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SeededChoice choice(seed);
    const Swarm swarm(choice);
    for (size_t i = 0; i < kFeatureCount; ++i) {
      uint32_t drawn_count = 0;
      for (uint64_t answer = 0; answer < 16; ++answer) {
        FixedChoice fixed(answer);
        drawn_count += swarm.draws(feature_at(i), fixed);
        EXPECT_EQ(fixed.asked_count(), swarm.has(feature_at(i)) ? 1 : 0);
      }
      EXPECT_EQ(drawn_count, swarm.weight(feature_at(i)));
    }
  }
}

}  // namespace
}  // namespace interlock::swarm_test
