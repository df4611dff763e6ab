// A unit test of an encoder, by a user of the installed package.

#include <gmock/gmock.h>

#include "fuzz/testing/matchers.h"

TEST(Encoder, OrdersEveryHazard) {
  EXPECT_THAT(interlock::kLayerNormVjp,
              interlock::EncodedBy("mlx-2026", interlock::IsHazardFree()));
}
