// Lines that say of an edge that it can go name its two ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/parser.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::edge_expectations_test {
namespace {

TEST(EdgeExpectations, NameAnEdgeByItsTwoEnds) {
  ParseOptions options;
  options.reads_every_queue = true;
  const std::string text =
      "interlock 1\nmemory m 8\nq0: queue graph\na: dispatch K writes m[0:4]\n"
      "dispatch K reads m[0:4] after a\nbarrier_free: dispatch K reads m[4:8] after 1\n";
  const Result<Program> program =
      parse(text + "expect redundant 0 1\nexpect redundant 1 barrier_free\n", "q.ilk", options);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(expect_round_trip(*program),
              testing::EndsWith("expect redundant a 1\nexpect redundant 1 barrier_free\n"));
  const auto error_of_line = [&](const std::string& line) {
    const Result<Program> broken = parse(text + line + "\n", "q.ilk", options);
    return broken ? "" : broken.error().message;
  };
  EXPECT_EQ(error_of_line("expect redundant a barrier_free"),
            "q.ilk:7:20: error: barrier_free (dispatch 2) has no edge from a (dispatch 0); "
            "expected one that is 'after' it.");
  EXPECT_EQ(error_of_line("expect redundant 1 a"),
            "q.ilk:7:20: error: a (dispatch 0) has no edge from K (dispatch 1); "
            "expected one that is 'after' it.");
  EXPECT_EQ(error_of_line("expect redundant a b"),
            "q.ilk:7:20: error: no dispatch before this line has the label 'b'.");
  EXPECT_EQ(error_of_line("expect encoder=none redundant a 1"),
            "q.ilk:7:33: error: 'redundant' concerns one barrier, and '1' is a second.");
}

}  // namespace
}  // namespace interlock::edge_expectations_test
