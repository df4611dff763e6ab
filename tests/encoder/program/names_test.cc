// Names, quotes, numbers and suggestions of the text format.
#include "encoder/program/names.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

namespace interlock::names_test {
namespace {

TEST(Names, StartWithALetterOrAnUnderscore) {
  EXPECT_TRUE(is_name("x"));
  EXPECT_TRUE(is_name("_x.0"));
  EXPECT_TRUE(is_name("MUL_MAT.12"));
  EXPECT_FALSE(is_name(""));
  EXPECT_FALSE(is_name("0x"));
  EXPECT_FALSE(is_name(".x"));
  EXPECT_FALSE(is_name("x-y"));
  EXPECT_FALSE(is_name("x\xc3\xa9"));
  EXPECT_TRUE(is_word("x-y"));
  EXPECT_FALSE(is_word("-x"));
}

TEST(Names, AreReservedWhereTheyCouldBeTakenForAClause) {
  EXPECT_TRUE(is_reserved("reads"));
  EXPECT_TRUE(is_reserved("on"));
  EXPECT_FALSE(is_reserved("rows"));
  EXPECT_FALSE(is_reserved("Reads"));
}

TEST(Numbers, AreDecimalAndFit) {
  EXPECT_EQ(decimal_of("007"), 7);
  EXPECT_EQ(decimal_of("18446744073709551615"), ~uint64_t{0});
  EXPECT_FALSE(decimal_of("18446744073709551616"));
  EXPECT_FALSE(decimal_of("-1"));
  EXPECT_FALSE(decimal_of("0x1"));
  EXPECT_FALSE(decimal_of(""));
  EXPECT_EQ(number_of("-1.5e3"), -1500.0);
  EXPECT_FALSE(number_of("1e309"));
  EXPECT_FALSE(number_of("1e5x"));
}

TEST(Numbers, ReadBackAsTheyWere) {
  for (const double number : {0.0, -0.0, 1.0, -7.0, 0.1, 1e-05, 1e15, 9007199254740992.0, 1e22,
                              5e-324, 1.7976931348623157e308, -2.5}) {
    const std::string text = canonical_number(number);
    ASSERT_TRUE(number_of(text)) << text;
    EXPECT_EQ(*number_of(text), number) << text;
    EXPECT_EQ(canonical_number(*number_of(text)), text);
  }
}

std::string advice_of(std::string_view wanted, std::initializer_list<std::string_view> candidates) {
  NearestName nearest(wanted);
  for (const std::string_view candidate : candidates) nearest.offer(candidate);
  return nearest.advice();
}

TEST(NearestName, SuggestsTheNearestOfThoseThatAreNear) {
  EXPECT_EQ(advice_of("layer_norm_vpj", {"layer_norm", "layer_norm_vjp", "x"}),
            " Did you mean 'layer_norm_vjp'?");
  // Two neighbours that changed places are one slip.
  EXPECT_EQ(advice_of("fxi", {"fuzz", "fix"}), " Did you mean 'fix'?");
  EXPECT_EQ(advice_of("ifx", {"fuzz", "fix"}), " Did you mean 'fix'?");
  EXPECT_EQ(advice_of("xif", {"fuzz", "fix"}), "");
  EXPECT_EQ(advice_of("mniimzie", {"minimize", "merge"}), " Did you mean 'minimize'?");
  // Half of the letters are others.
  EXPECT_EQ(advice_of("fish", {"bash", "zsh"}), "");
  EXPECT_EQ(advice_of("bahs", {"bash", "zsh"}), " Did you mean 'bash'?");
  EXPECT_EQ(advice_of("gxx", {"gy", "gxy", "g"}), " Did you mean 'gxy'?");
  EXPECT_EQ(advice_of("gx", {"gy", "g"}), "");
  EXPECT_EQ(advice_of("weights", {"pool", "x"}), "");
  EXPECT_EQ(advice_of("x", {"y"}), "");
  EXPECT_EQ(advice_of("ggml", {"interlock", "ggml-metal", "ggml-vulkan"}),
            " Did you mean 'ggml-metal'?");
  EXPECT_EQ(advice_of("ggm", {"ggml-metal", "ggmm"}), " Did you mean 'ggmm'?");
  EXPECT_EQ(advice_of("gg", {"ggml-metal"}), "");
  EXPECT_EQ(advice_of(std::string(100, 'a'), {std::string_view("a")}), "");
}

}  // namespace
}  // namespace interlock::names_test
