// Replay policies: which accumulations they take for the first of a gradient, and what they make of
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/replay/replay.h"
#include "encoder/text/parser.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::replay_policies_test {
namespace {

std::string applied(const char* name, const std::string& text) {
  const ReplayEntry* const entry = find_replay(name);
  EXPECT_NE(entry, nullptr);
  const auto p = parse(text, "p.ilk");
  EXPECT_TRUE(p) << p.error().message;
  const auto result = entry->apply(*p);
  EXPECT_TRUE(result) << result.error().message;
  return expect_round_trip(*result);
}

constexpr const char* kHead =
    "interlock 1\n"
    "tensor x f32[4] = random(1)\n"
    "tensor buffer f32[4]\n";

constexpr const char* kCapture =
    "output grad\n"
    "capture c\n"
    "dispatch silu reads x writes buffer\n"
    "end\n"
    "replay c\n"
    "barrier\n";

constexpr const char* kSecond =
    "replay c\n"
    "dispatch accumulate reads buffer updates grad\n";

std::string micro_batches(const std::string& grad, const std::string& first) {
  return fmt::format("{}tensor grad {}\n{}{}\n{}", kHead, grad, kCapture, first, kSecond);
}

TEST(ReplayPolicy, TakesTheBufferOfTheFirstGradientOrCopiesIt) {
  const std::string written =
      micro_batches("f32[4] = zeros", "first: dispatch accumulate reads buffer updates grad");
  EXPECT_EQ(applied("pytorch-181723", written + "expect clean\n"),
            micro_batches("f32[4]", "first: adopt grad = buffer"));
  EXPECT_EQ(applied("pytorch", written),
            micro_batches("f32[4]", "first: dispatch copy reads buffer writes grad"));
}

TEST(ReplayPolicy, LeavesAllElseAsItIs) {
  const std::string accumulate = "dispatch accumulate reads buffer updates grad";
  const std::string programs[] = {
      micro_batches("f32[4] = ones", accumulate),  // Something to add to.
      micro_batches("f32[4]", accumulate),         // Not known to be nothing.
      micro_batches("f32[4] = zeros", "dispatch scale reads x writes grad factor=2\n" + accumulate),
      micro_batches("f32[4] = zeros", "dispatch accumulate reads x updates grad\n" + accumulate),
      fmt::format("{}tensor v f32[4] view buffer+0\n"
                  "tensor grad f32[4] = zeros\n"
                  "{}dispatch accumulate reads v updates grad\n",
                  kHead, kCapture),
  };
  for (const std::string& program : programs) {
    EXPECT_EQ(applied("pytorch-181723", program), program);
    EXPECT_EQ(applied("pytorch", program), program);
  }
}

TEST(ReplayPolicy, IsSaidToBeBrokenIfItIs) {
  ASSERT_EQ(replay_registry().size(), 2u);
  EXPECT_TRUE(find_replay("pytorch-181723")->is_broken);
  EXPECT_FALSE(find_replay("pytorch")->is_broken);
  EXPECT_EQ(find_replay("pytorch-1"), nullptr);
}

}  // namespace
}  // namespace interlock::replay_policies_test
