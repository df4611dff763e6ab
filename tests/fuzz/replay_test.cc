#include "fuzz/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text.h"

namespace interlock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kDeclarations = R"(interlock 1
memory a 64
memory b 64
tensor g  f32[2,4] at a+0 = ones
tensor h  f32[2,4] donates g
tensor gb f32[4] at b+0
output gb
)";

Program parsed(const std::string& statements) {
  auto program = parse(kDeclarations + statements);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

Backend& cpu() { return *find_backend("cpu"); }

TEST(Replay, SaysInNumbersThatTheWitnessStillFails) {
  const auto report = replay(parsed("sum: dispatch col_sum reads g writes gb\n"
                                    "twice: dispatch scale reads g writes h factor=2\n"
                                    "witness twice before sum\n"),
                             cpu());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->diverges);
  ASSERT_EQ(report->outputs.size(), 1u);
  const OutputComparison& gb = report->outputs[0];
  EXPECT_EQ(gb.element_count, 4u);
  EXPECT_EQ(gb.differing_count, 4u);
  EXPECT_EQ(gb.reference_value, 2);
  EXPECT_EQ(gb.witness_value, 4);
  EXPECT_EQ(gb.max_abs_difference, 2);
  EXPECT_THAT(report->headline, HasSubstr("still fails on cpu: with twice before sum"));
  EXPECT_THAT(report->details,
              ElementsAre("4 of 4 values of gb differ: gb[0] is 2 in issue order and 4 here; the "
                          "largest difference is 2."));
}

TEST(Replay, SaysThatARepairedProgramNoLongerFails) {
  // The repair: the second kernel writes elsewhere.
  const auto report = replay(parsed("sum: dispatch col_sum reads g writes gb\n"
                                    "twice: dispatch fill writes b[16:32] value=1\n"
                                    "witness twice before sum\n"),
                             cpu());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->diverges);
  EXPECT_THAT(report->headline, HasSubstr("no longer fails"));
}

TEST(Replay, ComparesWholeMemoriesWithoutOutputLines) {
  auto program = parse(
      "interlock 1\nmemory a 8\nmemory b 8\nfirst: dispatch A reads a writes b\n"
      "second: dispatch B writes a\nwitness second before first\n");
  ASSERT_TRUE(program);
  const auto report = replay(*program, cpu());
  ASSERT_TRUE(report);
  ASSERT_EQ(report->outputs.size(), 2u);
  EXPECT_EQ(report->outputs[0].differing_count, 0u);
  EXPECT_GT(report->outputs[1].differing_count, 0u);
}

TEST(Replay, NeedsAWitness) {
  const auto report = replay(parsed("dispatch col_sum reads g writes gb\n"), cpu());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("no witness line"));
}

TEST(Replay, RefusesAWitnessThatABarrierForbids) {
  auto program = parse(std::string(kDeclarations) +
                       "sum: dispatch col_sum reads g writes gb\nbarrier\n"
                       "twice: dispatch scale reads g writes h factor=2\n"
                       "witness twice before sum\n");
  if (!program) return;  // Refused even earlier.
  EXPECT_FALSE(replay(*program, cpu()));
}

}  // namespace
}  // namespace interlock
