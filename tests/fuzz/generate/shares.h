// Shares: how often something occurs among trials at fixed seeds, against how often it should.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string_view>

namespace interlock {

// Expects that of `trial_count` independent trials, each of which counts with odds of `share`,
// about as many as that do: six deviations off at most. More is by chance in one of 10^8 cases; as
// the seeds are fixed, it holds or it does not, until a generator asks for its choices otherwise.
inline void expect_share(std::string_view what, uint64_t count, uint64_t trial_count,
                         double share) {
  ASSERT_GT(trial_count, 0u) << what;
  const double trials = static_cast<double>(trial_count);
  const double deviation = std::sqrt(share * (1 - share) / trials);
  EXPECT_NEAR(static_cast<double>(count) / trials, share, 6 * deviation) << what;
}

}  // namespace interlock
