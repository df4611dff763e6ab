#include "fuzz/judge/replay.h"
#include "backends/registry.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/program/stop.h"
#include "encoder/text/parser.h"
#include "fuzz/judge/findings.h"

namespace interlock::replay_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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
  EXPECT_THAT(
      report->details,
      ElementsAre(
          "4 of 4 values of gb differ: gb[0] is 2 in issue order and 4 here; the largest difference is 2."));
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
  EXPECT_THAT(report->details, Not(Contains(HasSubstr("still has a hazard"))));
}

TEST(Replay, SaysOfEqualValuesThatTheHazardIsThere) {
  const auto report = replay(parsed("sum: dispatch fill writes gb value=1\n"
                                    "twice: dispatch fill writes gb value=1\n"
                                    "witness twice before sum\n"),
                             cpu());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->diverges);
  EXPECT_THAT(report->details, Contains(HasSubstr("still has a hazard all the same")));
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

// Of the polls of all that a replay calls: work that grows faster would poll more.
uint64_t polls_of_replay(int memory_count) {
  std::string text = "interlock 1\n";
  for (int i = 0; i < memory_count; ++i) text += fmt::format("memory m{} 16\n", i);
  text += "tensor t u8[1] at m0+0\n";  // So that there are lifetimes to look at.
  for (int i = 0; i < memory_count; ++i) {
    text += fmt::format("a{0}: dispatch A writes m{0}\nb{0}: dispatch B writes m{0}\n", i);
  }
  for (int i = 0; i < memory_count; ++i) text += fmt::format("witness b{0} before a{0}\n", i);
  const auto program = parse(text);
  EXPECT_TRUE(program);
  Stop stop;
  stop.request_at_poll(UINT64_MAX);
  const StopScope scope(&stop);
  EXPECT_EQ(replay(*program, cpu())->details.size(), static_cast<size_t>(memory_count));
  return stop.poll_count();
}

TEST(Replay, TakesWorkThatIsLinearInTheOutputs) {
  EXPECT_LE(polls_of_replay(200), polls_of_replay(100) * 5 / 2);
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
  ASSERT_TRUE(program) << program.error().message;
  const auto report = replay(*program, cpu());
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message, HasSubstr("\n  - While applying the witness lines."));
}

Program product_chain(const std::string& x, const std::string& mode) {
  auto program = parse("interlock 1\ntensor x f32[1,2] = " + x +
                       "\ntensor w f32[2,2] = values(0.4,-0.2,0.7,0.3)\n"
                       "tensor h f32[1,2]\ntensor y f32[1,2]\n"
                       "dispatch matmul_nn reads x w writes h\n"
                       "dispatch matmul_nn reads h w writes y\n"
                       "backward y wrt x w mode=" +
                       mode + "\n");
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

// The numbers of PyTorch #180952; d_x is right, and not compared.
TEST(ReplayGradients, SaysHowFarTheyAreOff) {
  const Program program = product_chain("values(1.1,-0.7)", "split-pytorch-180952");
  const auto report = replay_gradients(program, find_wrong_gradients(program), cpu());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->diverges);
  ASSERT_EQ(report->outputs.size(), 1u);
  EXPECT_EQ(report->outputs[0].differing_count, 4u);
  EXPECT_NEAR(report->outputs[0].reference_value, 0.17, 1e-6);
  EXPECT_NEAR(report->outputs[0].witness_value, 0.39, 1e-6);
  EXPECT_THAT(report->details[0], HasSubstr("4 of 4 values of d_w differ: d_w[0] is 0.17"));
  EXPECT_THAT(report->headline, HasSubstr("1 of 1 wrong gradients differs"));
}

TEST(ReplayGradients, SaysThatNoNumberShowsWhatIsZeroTwice) {
  const Program program = product_chain("zeros", "split-pytorch-180952");
  const auto report = replay_gradients(program, find_wrong_gradients(program), cpu());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->diverges);
  EXPECT_THAT(report->headline, HasSubstr("have the numbers of the right ones"));
}

}  // namespace
}  // namespace interlock::replay_test
