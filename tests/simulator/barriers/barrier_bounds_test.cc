// Bounds on barriers; the reference tries all placements in exact_checks_property_test.cc.
#include "simulator/barriers/barrier_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulator/programs/program_text.h"

namespace interlock::barrier_bounds_test {
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

TEST(BarrierBounds, AreProvenByDisjointConflicts) {
  EXPECT_THAT(barrier_bounds(program_on_abc(R"(
      dispatch A writes a
      dispatch B reads b
      dispatch C reads a writes b
      dispatch D reads b)"))
                  .forcing,
              ::testing::ElementsAre(ForcingPair{DispatchId(1), DispatchId(2)},
                                     ForcingPair{DispatchId(2), DispatchId(3)}));
}

TEST(BarrierBounds, CountFullBarriersForRawAndWawAlone) {
  const BarrierBounds bounds = barrier_bounds(program_on_abc(R"(
      dispatch A reads a
      dispatch B writes a
      dispatch C reads a)"));
  EXPECT_EQ(bounds.fewest_barriers, 2u);
  EXPECT_EQ(bounds.fewest_full_barriers, 1u);
}

TEST(BarrierBounds, NameTheChainWhereItIsShorter) {
  EXPECT_THAT(barrier_bounds(program_on_abc(R"(
      dispatch A writes a
      dispatch B reads a
      dispatch C writes b
      dispatch D writes c
      dispatch E reads b
      dispatch F updates c)"))
                  .chain,
              ::testing::ElementsAre(DispatchId(0), DispatchId(1)));
  EXPECT_THAT(barrier_bounds(program_on_abc("dispatch A writes a\ndispatch B reads a\n")).chain,
              ::testing::IsEmpty());
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
}  // namespace interlock::barrier_bounds_test
