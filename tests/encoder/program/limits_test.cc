// Every limit is the largest number that is taken: so many are fine, and one more is an error that
// names the limit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>

#include "encoder/text/parser.h"

namespace interlock::limits_test {
namespace {

using testing::HasSubstr;

struct LimitCase {
  const char* name;
  uint64_t Limits::*limit;
  uint64_t count;                                // Set as the limit, small.
  std::function<std::string(uint64_t)> text_of;  // With so many.
};

void PrintTo(const LimitCase& limit_case, std::ostream* out) { *out << limit_case.name; }

std::string repeated(uint64_t count, const std::string& first, const std::string& next) {
  std::string text;
  for (uint64_t i = 0; i < count; ++i) text += i == 0 ? first : next;
  return text;
}

class LimitTest : public testing::TestWithParam<LimitCase> {};

TEST_P(LimitTest, IsTheLargestNumberThatIsTaken) {
  const LimitCase& limit_case = GetParam();
  ParseOptions options;
  options.limits.*limit_case.limit = limit_case.count;
  const auto parsed = [&](uint64_t count) {
    return parse("interlock 1\nmemory a 64\n" + limit_case.text_of(count) + "\n", "p.ilk", options);
  };
  const auto most = parsed(limit_case.count);
  EXPECT_TRUE(most.has_value()) << most.error().message;
  const auto more = parsed(limit_case.count + 1);
  ASSERT_FALSE(more.has_value());
  EXPECT_THAT(more.error().message, HasSubstr(std::to_string(limit_case.count)));
  // The default is larger.
  EXPECT_TRUE(
      parse("interlock 1\nmemory a 64\n" + limit_case.text_of(limit_case.count + 1) + "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    Limits, LimitTest,
    testing::Values(
        LimitCase{"dependencies of a barrier", &Limits::dependency_count_per_barrier, 3,
                  [](uint64_t n) {
                    return "barrier " + repeated(n, "compute -> compute", ", compute -> compute");
                  }},
        LimitCase{"operands of a barrier", &Limits::operand_count_per_barrier, 3,
                  [](uint64_t n) {
                    return "barrier compute.write -> compute.read" + repeated(n, " a", " a[0:8]");
                  }},
        LimitCase{"accesses of a dispatch", &Limits::access_count_per_dispatch, 3,
                  [](uint64_t n) { return "dispatch K reads" + repeated(n, " a", " a[0:8]"); }},
        LimitCase{"attributes of a dispatch", &Limits::attribute_count_per_dispatch, 3,
                  [](uint64_t n) {
                    std::string text = "dispatch K";
                    for (uint64_t i = 0; i < n; ++i) text += fmt::format(" k{}=1", i);
                    return text;
                  }},
        LimitCase{"bytes of a name", &Limits::name_bytes, 9,
                  [](uint64_t n) { return "memory " + repeated(n, "m", "m") + " 8"; }},
        LimitCase{"bytes of a label", &Limits::name_bytes, 9,
                  [](uint64_t n) { return repeated(n, "d", "d") + ": dispatch K"; }},
        LimitCase{"bytes of a memory", &Limits::memory_bytes, 128,
                  [](uint64_t n) { return fmt::format("memory m {}", n); }},
        LimitCase{"bytes of an unplaced tensor", &Limits::memory_bytes, 128,
                  [](uint64_t n) { return fmt::format("tensor t u8[{}]", n); }},
        LimitCase{"extents of a tensor", &Limits::tensor_rank, 3,
                  [](uint64_t n) { return "tensor t u8[" + repeated(n, "1", ",1") + "]"; }},
        LimitCase{"initial values", &Limits::initial_value_count, 3,
                  [](uint64_t n) {
                    return fmt::format("tensor t u8[{}] = values({})", n, repeated(n, "1", ",1"));
                  }},
        LimitCase{"columns of a kernel", &Limits::kernel_extent, 8,
                  [](uint64_t n) {
                    return fmt::format(
                        "tensor x f32[1,{0}]\ntensor y f32[1,{0}]\n"
                        "dispatch softmax reads x writes y",
                        n);
                  }},
        LimitCase{"memories", &Limits::memory_count, 3,
                  [](uint64_t n) {
                    std::string text;
                    for (uint64_t i = 1; i < n; ++i) text += fmt::format("memory m{} 8\n", i);
                    return text;
                  }},
        LimitCase{"tensors", &Limits::tensor_count, 3,
                  [](uint64_t n) {
                    std::string text;
                    for (uint64_t i = 0; i < n; ++i) text += fmt::format("tensor t{} u8[1]\n", i);
                    return text;
                  }},
        LimitCase{"statements", &Limits::statement_count, 3,
                  [](uint64_t n) { return repeated(n, "dispatch K\n", "barrier\n"); }},
        LimitCase{"witness lines", &Limits::witness_count, 2,
                  [](uint64_t n) {
                    return "dispatch A\ndispatch B\ndispatch C\ndispatch D\n" +
                           repeated(n, "witness 0 after 1\n", "witness 2 after 3\n");
                  }},
        LimitCase{"expect lines", &Limits::expectation_count, 2,
                  [](uint64_t n) {
                    return "dispatch A\n" + repeated(n, "expect clean\n", "expect clean\n");
                  }},
        LimitCase{"bytes of a line", &Limits::line_bytes, 40,
                  [](uint64_t n) { return "#" + repeated(n - 1, "-", "-"); }}));

}  // namespace
}  // namespace interlock::limits_test
