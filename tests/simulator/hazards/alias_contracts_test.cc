// Alias contracts, each violation beside what is allowed.
#include "simulator/hazards/alias_contracts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/simulator/programs/program_text.h"

namespace interlock::alias_contracts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const DispatchId kFirst(size_t{0});

std::vector<AliasViolation> violations_in(std::string_view body) {
  return find_alias_violations(program_on_abc(body));
}

TEST(FindAliasViolations, OpaqueDispatchesMayWorkInPlace) {
  EXPECT_THAT(violations_in("dispatch K reads a[0:64] writes a[0:64]\n"), IsEmpty());
  EXPECT_THAT(violations_in("dispatch K updates a[0:64]\n"), IsEmpty());
  EXPECT_THAT(violations_in("dispatch K reads a[0:64] updates a[0:64]\n"), IsEmpty());
}

TEST(FindAliasViolations, AShiftedOverlapIsOne) {
  EXPECT_THAT(violations_in("dispatch K reads a[0:64] writes a[32:96]\n"),
              ElementsAre(AliasViolation{kFirst, 0, 1, false, {32, 64}}));
  EXPECT_THAT(violations_in("dispatch K reads a[0:64] writes a[0:32]\n"),
              ElementsAre(AliasViolation{kFirst, 0, 1, false, {0, 32}}));
  EXPECT_THAT(violations_in("dispatch K reads a[0:64] writes a[64:128]\n"), IsEmpty());
}

TEST(FindAliasViolations, TwoOutputsMayShareNoByte) {
  EXPECT_THAT(violations_in("dispatch K writes a[0:64] a[0:64]\n"),
              ElementsAre(AliasViolation{kFirst, 0, 1, true, {0, 64}}));
  EXPECT_THAT(violations_in("dispatch K writes a[0:64] updates a[63:70]\n"),
              ElementsAre(AliasViolation{kFirst, 0, 1, true, {63, 64}}));
  EXPECT_THAT(violations_in("dispatch K writes a[0:64] b[0:64]\n"), IsEmpty());
}

TEST(FindAliasViolations, TwoInputsMayShareBytes) {
  EXPECT_THAT(violations_in("dispatch K reads a[0:64] a[32:96] writes b[0:4]\n"), IsEmpty());
}

TEST(FindAliasViolations, AtomicsCommuteAmongThemselvesOnly) {
  EXPECT_THAT(violations_in("dispatch K atomics a[0:4] a[0:8] atomic=add\n"), IsEmpty());
  EXPECT_THAT(violations_in("dispatch K reads a[0:4] atomics a[0:4] atomic=add\n"),
              ElementsAre(AliasViolation{kFirst, 0, 1, false, {0, 4}}));
}

TEST(FindAliasViolations, TableKernelsFollowTheirContract) {
  const char* const tensors = R"(
      tensor x f32[4,4] at a+0
      tensor y f32[4,4] at a+64
      tensor t f32[4,4] donates x
      tensor s f32[4,4] at a+32)";
  const auto violations_of = [&](const char* line) {
    return violations_in(std::string(tensors) + "\n" + line + "\n");
  };
  EXPECT_THAT(violations_of("dispatch add reads x y writes t"), IsEmpty());
  EXPECT_THAT(violations_of("dispatch add reads x y writes s"),
              ElementsAre(AliasViolation{kFirst, 0, 2, false, {32, 64}},
                          AliasViolation{kFirst, 1, 2, false, {64, 96}}));
  EXPECT_THAT(violations_of("dispatch matmul_nn reads x y writes t"),
              ElementsAre(AliasViolation{kFirst, 0, 2, false, {0, 64}}));
}

TEST(FindAliasViolations, WhatActualRepeatsIsNoOtherOperand) {
  EXPECT_THAT(violations_in("dispatch K reads a[0:8] writes a[0:8] actual updates a[0:8]\n"),
              IsEmpty());
  EXPECT_THAT(violations_in("dispatch K reads a writes b actual writes b[0:4]\n"), IsEmpty());
  EXPECT_THAT(violations_in("dispatch K updates a[0:8] actual reads a[2:4] writes a[4:8]\n"),
              IsEmpty());
}

TEST(FindAliasViolations, WhatActualAddsIsOne) {
  EXPECT_THAT(violations_in("dispatch K reads a[0:8] actual writes a[0:4]\n"),
              ElementsAre(AliasViolation{kFirst, 0, 1, false, {0, 4}}));
  EXPECT_THAT(violations_in("dispatch K writes b[0:8] actual reads b[4:12]\n"),
              ElementsAre(AliasViolation{kFirst, 1, 0, false, {4, 8}}));
  EXPECT_THAT(violations_in("dispatch K writes a[0:4] actual writes a[0:8] a[4:6]\n"),
              ElementsAre(AliasViolation{kFirst, 1, 2, true, {4, 6}}));
}

TEST(FindAliasViolations, CopyNeverOverlaps) {
  EXPECT_THAT(violations_in("dispatch copy reads a[0:64] writes a[0:64]\n"),
              ElementsAre(AliasViolation{kFirst, 0, 1, false, {0, 64}}));
  EXPECT_THAT(violations_in("dispatch copy reads a[0:64] writes a[64:128]\n"), IsEmpty());
}

}  // namespace
}  // namespace interlock::alias_contracts_test
