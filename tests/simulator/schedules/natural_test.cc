#include "simulator/schedules/natural.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "simulator/schedules/choice.h"

namespace interlock::natural_test {
namespace {

TEST(Natural, CalculatesAs64BitsDoWhereTheseSuffice) {
  SeededChoice choice(1);
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t a = choice.below(uint64_t{1} << (1 + choice.below(32)));
    const uint64_t b = choice.below(uint64_t{1} << (1 + choice.below(31)));
    const auto divisor = static_cast<uint32_t>(1 + choice.below(999'999'999));
    Natural sum(a);
    sum += Natural(b);
    ASSERT_EQ(sum, Natural(a + b));
    sum -= Natural(a);
    ASSERT_EQ(sum, Natural(b));
    Natural product(a);
    product *= Natural(b);
    ASSERT_EQ(product, Natural(a * b));
    ASSERT_EQ(product.text(), fmt::format("{}", a * b));
    product /= divisor;
    ASSERT_EQ(product, Natural(a * b / divisor));
    ASSERT_EQ(Natural(a) <=> Natural(b), a <=> b);
  }
}

TEST(Natural, UndoesLongProductsByDivision) {
  Natural product(1);
  for (uint32_t i = 1; i <= 300; ++i) product *= Natural(i);
  for (uint32_t i = 300; i > 1; --i) product /= i;
  EXPECT_EQ(product, Natural(1));
}

TEST(Natural, PrintsAllDigitsUpTo39) {
  Natural power(1);
  for (int i = 0; i < 128; ++i) power += Natural(power);
  EXPECT_EQ(power.text(), "340282366920938463463374607431768211456");
  for (int i = 0; i < 22; ++i) power += Natural(power);
  EXPECT_EQ(power.text(), "1.42724e+45");  // 2^150
  EXPECT_EQ(Natural().text(), "0");
  EXPECT_EQ(Natural(1'000'000'000).text(), "1000000000");
}

}  // namespace
}  // namespace interlock::natural_test
