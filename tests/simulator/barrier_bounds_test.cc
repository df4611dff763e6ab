// Bounds on barriers; the reference tries all placements in exact_checks_property_test.cc.
#include "simulator/barrier_bounds.h"

#include <gtest/gtest.h>

#include "tests/simulator/program_text.h"

namespace interlock {
namespace {

TEST(BarrierBounds, OneBarrierServesAllConflictsThatItSeparates) {
  const BarrierBounds bounds = barrier_bounds(program_on_abc(R"(
      dispatch A writes a
      dispatch B writes b
      dispatch C reads a
      dispatch D reads b)"));
  EXPECT_EQ(bounds.fewest_barriers, 1u);
  EXPECT_EQ(bounds.longest_chain, 1u);
}

TEST(BarrierBounds, ReorderingCanDoWithFewer) {
  const BarrierBounds bounds = barrier_bounds(program_on_abc(R"(
      dispatch A writes a
      dispatch B reads a
      dispatch C writes b
      dispatch D reads b)"));
  EXPECT_EQ(bounds.fewest_barriers, 2u);
  EXPECT_EQ(bounds.longest_chain, 1u);
}

TEST(BarrierBounds, CommutingAtomicsNeedNone) {
  EXPECT_EQ(barrier_bounds(program_on_abc(R"(
      dispatch A atomics a atomic=add
      dispatch B atomics a atomic=add)"))
                .fewest_barriers,
            0u);
  EXPECT_EQ(barrier_bounds(program_on_abc(R"(
      dispatch A atomics a atomic=add
      dispatch B atomics a atomic=xor)"))
                .fewest_barriers,
            1u);
}

TEST(BarrierBounds, AreZeroWithoutDispatches) {
  const BarrierBounds bounds = barrier_bounds(program_on_abc(""));
  EXPECT_EQ(bounds.fewest_barriers, 0u);
  EXPECT_EQ(bounds.longest_chain, 0u);
}

TEST(BarrierBounds, IgnoreTheBarriersThatStand) {
  EXPECT_EQ(
      barrier_bounds(program_on_abc("dispatch A writes a\nbarrier\nbarrier\ndispatch B writes b\n"))
          .fewest_barriers,
      0u);
}

}  // namespace
}  // namespace interlock
