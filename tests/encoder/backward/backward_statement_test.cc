// The statement `backward`: what it stands for, that text in short and in full say the same, and
// its errors. What the passes append is theirs to test.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/assemble/append_backward.h"
#include "encoder/backward/backward.h"
#include "encoder/plan/planner.h"
#include "encoder/program/draft.h"
#include "encoder/sync/encoder.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::backward_statement_test {
namespace {

Program parsed(const std::string& text) {
  auto p = parse(text, "p.ilk");
  EXPECT_TRUE(p) << p.error().message;
  return p ? std::move(p).value() : Program{};
}

// x w w, and what becomes of the gradient after the backward pass.
constexpr const char* kForward =
    "interlock 1\n"
    "tensor x f32[1,2] = random(1)\n"
    "tensor w f32[2,2] = random(2)\n"
    "tensor h f32[1,2]\n"
    "tensor y f32[1,2]\n"
    "tensor dw f32[2,2]\n"
    "first: dispatch matmul_nn reads x w writes h\n"
    "dispatch matmul_nn reads h w writes y\n";

std::string step(const std::string& backward) {
  return kForward + backward +
         "dispatch copy reads d_w writes dw\n"
         "output d_x dw\n"
         "expect RAW first 1\n";
}

TEST(BackwardStatement, PrintsAsItIsWritten) {
  for (const BackwardEntry& entry : backward_registry()) {
    const std::string mode =
        entry.name == kDefaultBackwardMode ? "" : " mode=" + std::string(entry.name);
    const std::string text = step("backward y wrt x w" + mode + "\n");
    const Program p = parsed(text);
    EXPECT_EQ(expect_round_trip(p), text);
    expect_round_trip(parsed(print(expanded_draft_of(p))));
  }
  const std::string text = step("backward y wrt w x mode=one-shot\n");
  EXPECT_EQ(expect_round_trip(parsed(text)), step("backward y wrt w x\n"));
}

TEST(BackwardStatement, IsWhatThePassAppends) {
  const Program p = parsed(kForward + std::string("backward y wrt x w mode=split\n"));
  const auto applied = append_backward(parsed(kForward), {"y", {"x", "w"}, "split"});
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_EQ(print(expanded_draft_of(p)), print(applied->program));
  ASSERT_EQ(p.backwards.size(), 1u);
  EXPECT_EQ(p.backwards[0].first, StatementId(2));
  EXPECT_EQ(p.backwards[0].statement_count, p.statements.size() - 2);
  EXPECT_EQ(p.backwards[0].first_tensor, TensorId(5));
  EXPECT_EQ(p.backwards[0].tensor_count, p.tensors.size() - 5);
}

// Names do not tell: w.2 has the gradient d_w.2, and that of w is d_w.3 then.
TEST(BackwardStatement, RecordsWhichTensorsItsGradientsAre) {
  const Program p = parsed(
      "interlock 1\ntensor w f32[4] = random(1)\ntensor w.2 f32[2,2] = random(2)\n"
      "tensor flat f32[4] view w.2+0\ntensor d_w f32[4]\ntensor y f32[4]\n"
      "dispatch mul reads w flat writes y\nbackward y wrt flat w.2 w\nbackward y wrt w\n");
  const auto names_of = [&](size_t pass) {
    std::vector<std::string_view> names;
    for (const TensorId id : p.backwards[pass].gradients) {
      names.push_back(p.name(p.tensor(id).name));
    }
    return names;
  };
  EXPECT_THAT(names_of(0), testing::ElementsAre("d_flat", "d_w.2", "d_w.3"));
  EXPECT_THAT(names_of(1), testing::ElementsAre("d_w.4"));
}

TEST(BackwardStatement, GoesThroughReplaysAndItsGradientsBecomeOthersLosses) {
  const std::string text =
      "interlock 1\n"
      "tensor x f32[4] = random(1)\n"
      "tensor y f32[4]\n"
      "capture c\n"
      "run: dispatch scale reads x writes y factor=2\n"
      "end\n"
      "replay c\n"
      "backward y wrt x\n"
      "backward d_x wrt d_y\n"
      "backward y wrt d_x\n"  // Zeros, and no statement.
      "capture d\n"
      "barrier\n"
      "end\n"
      "output d_x d_d_y d_d_x.2\n";
  const Program p = parsed(text);
  EXPECT_EQ(expect_round_trip(p), text);
  InterlockEncoder encoder;
  expect_round_trip(encode(p, encoder));
  for (const char* planner : {"fresh", "liveness"}) {
    const auto planned = find_planner(planner)->plan(p, {});
    ASSERT_TRUE(planned) << planned.error().message;
    expect_round_trip(*planned);
  }
}

std::string error_of(const std::string& lines) {
  const auto p = parse(kForward + lines, "p.ilk");
  return p ? "no error" : p.error().message;
}

TEST(BackwardStatement, ErrorsSayWhere) {
  EXPECT_EQ(
      error_of("backward"),
      "p.ilk:9:9: error: found the end of the line; expected the tensor whose gradients are wanted.");
  EXPECT_EQ(
      error_of("backward y w"),
      "p.ilk:9:12: error: found 'w'; expected 'wrt' and the tensors that the gradients are taken for.");
  EXPECT_EQ(error_of("backward y wrt"),
            "p.ilk:9:15: error: found the end of the line; expected the name of a tensor.");
  EXPECT_EQ(
      error_of("backward y wrt w, x"),
      "p.ilk:9:17: error: found ','; expected the name of a tensor, mode=NAME or the end of the line.");
  EXPECT_EQ(error_of("backward y wrt w mode="),
            "p.ilk:9:23: error: found the end of the line; expected the name of a backward pass.");
  EXPECT_EQ(error_of("backward z wrt w"),
            "p.ilk:9:10: error: no tensor 'z' is declared before this line.");
  EXPECT_EQ(error_of("backward y wrt w v"),
            "p.ilk:9:18: error: no tensor 'v' is declared before this line.");
  EXPECT_EQ(error_of("backward y wrt w w"),
            "p.ilk:9:18: error: tensor 'w' stands twice after 'wrt'; at most once is allowed.");
  EXPECT_EQ(error_of("backward y wrt w mode=spilt"),
            "p.ilk:9:23: error: there is no backward pass 'spilt'. Did you mean 'split'? "
            "`interlock list backwards` names them.");
  EXPECT_EQ(
      error_of("capture c\nbackward y wrt w\nend"),
      "p.ilk:10:1: error: a backward pass stands in capture 'c', which has not ended; a capture records dispatches, barriers and lifetime statements only.");
  EXPECT_EQ(
      error_of("backward y wrt w\ntensor late f32[1]"),
      "p.ilk:10:1: error: a tensor is declared after a backward pass, which declares tensors itself; expected it before.");
  EXPECT_EQ(
      error_of("backward y wrt w\nmemory late 4"),
      "p.ilk:10:1: error: a memory is declared after a backward pass, which declares tensors itself; expected it before.");
  EXPECT_EQ(
      error_of("b: backward y wrt w"),
      "p.ilk:9:4: error: label 'b' stands before 'backward'; only dispatches, barriers, sync statements and those of lifetimes and the host have labels.");
  EXPECT_EQ(error_of("backward y wrt w mode=split"), "no error");
}

TEST(BackwardStatement, LeavesNoTraceIfItDoesNotFit) {
  const std::string forward =
      "interlock 1\ntensor x f32[4] = random(1)\ntensor y f32[4]\ntensor z f32[4]\n"
      "dispatch silu reads x writes y\ndispatch Opaque reads y writes z\n";
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  const auto p = parse(forward + "backward z wrt x\nbackward y wrt x\n", "p.ilk", lenient);
  ASSERT_TRUE(p);
  EXPECT_EQ(expect_round_trip(*p), forward + "backward y wrt x\n");
  EXPECT_THAT(parse(forward + "backward z wrt x\n", "p.ilk").error().message,
              testing::AllOf(testing::StartsWith("p.ilk:7:1: error: "),
                             testing::EndsWith("\n  - While adding the backward pass of 'z'.")));
}

TEST(BackwardStatement, IsBoundedInNumberAndInWhatItAdds) {
  const std::string forward =
      "interlock 1\ntensor x f32[4] = random(1)\ntensor y f32[4]\n"
      "dispatch silu reads x writes y\n";
  std::string text = forward;
  ParseOptions options;
  options.limits.backward_count = 3;
  for (int i = 0; i < 3; ++i) text += "backward y wrt x\n";
  EXPECT_TRUE(parse(text, "p.ilk", options));
  EXPECT_EQ(parse(text + "backward y wrt x\n", "p.ilk", options).error().message,
            "p.ilk:8:1: error: the program has more backward passes than the limit of 3.");
  options.limits.expansion_count = 2;
  EXPECT_THAT(parse(text, "p.ilk", options).error().message,
              testing::HasSubstr("replays and backward passes add more than the limit of 2 "));
  options.limits.expansion_count = 1000;
  options.limits.tensor_count = 3;
  EXPECT_THAT(parse(text, "p.ilk", options).error().message,
              testing::HasSubstr("more tensors than the limit of 3."));
}

// A chain through weights w0, w1, … and back: the first and the last use of each have all those
// after it between them.
std::string nested_weights(int count, int wrt_count) {
  std::string text = "interlock 1\ntensor h0 f32[2,2] = random(1)\n";
  for (int i = 0; i < count; ++i) text += fmt::format("tensor w{} f32[2,2] = random(1)\n", i);
  for (int i = 1; i <= 2 * count; ++i) text += fmt::format("tensor h{} f32[2,2]\n", i);
  for (int i = 0; i < 2 * count; ++i) {
    const int weight = i < count ? i : 2 * count - 1 - i;
    text += fmt::format("dispatch matmul_nn reads h{} w{} writes h{}\n", i, weight, i + 1);
  }
  text += fmt::format("backward h{} wrt", 2 * count);
  for (int i = 0; i < wrt_count; ++i) text += fmt::format(" w{}", i);
  return text;
}

TEST(BackwardStatement, IsBoundedInWhatItVisitsAgain) {
  const std::string text = nested_weights(10, 10) + " mode=split-pytorch-180952\n";
  ParseOptions options;
  options.limits.rewalk_count = 2 + 4 + 6 + 8 + 10 + 12 + 14 + 16 + 18 + 20;
  EXPECT_TRUE(parse(text, "p.ilk", options));
  --options.limits.rewalk_count;
  EXPECT_THAT(
      parse(text, "p.ilk", options).error().message,
      testing::HasSubstr(
          "starts anew at each group of weights that share dispatches, and visits 110 dispatches once more; the limit of 109 for all passes leaves 109."));
  options.limits.rewalk_count = 0;
  EXPECT_TRUE(parse(nested_weights(10, 10) + " mode=split\n", "p.ilk", options));
}

// Lines that do not fit have been tried, and tries cost time.
TEST(BackwardStatement, CountsWhatItVisitsAgainForAllThatAreTried) {
  const std::string pass = "backward h4 wrt w0 w1 mode=split-pytorch-180952\n";
  const std::string text = nested_weights(2, 2) + " mode=split-pytorch-180952\n" + pass + pass;
  ParseOptions options;
  options.skips_invalid_lines = true;
  EXPECT_EQ(parse(text, "p.ilk", options)->backwards.size(), 3);
  options.limits.rewalk_count = 2 * (2 + 4) + 5;
  EXPECT_EQ(parse(text, "p.ilk", options)->backwards.size(), 2);
}

// 706 kB with room for ten million dispatches.
TEST(BackwardStatement, OfManySharedWeightsFailsBeforeItIsWritten) {
  const std::string text = nested_weights(4000, 256) + " mode=split-pytorch-180952\n";
  EXPECT_THAT(parse(text, "p.ilk").error().message,
              testing::HasSubstr("; the limit of 131072 for all passes leaves 131072."));
}

// What exceeds the limit is not even written, and has used up the room.
TEST(BackwardStatement, StopsWritingWhereTheRoomEnds) {
  const std::string forward = nested_weights(10, 10);
  const std::string small = "backward h1 wrt w0\n";
  ParseOptions options;
  options.skips_invalid_lines = true;
  options.limits.expansion_count = 60;
  const std::string nothing = forward.substr(0, forward.find("backward"));
  EXPECT_EQ(parse(nothing + small, "p.ilk", options)->backwards.size(), 1);
  EXPECT_EQ(parse(forward + "\n" + small, "p.ilk", options)->backwards.size(), 0);
  BackwardRoom room;
  room.expansion_count = 60;
  EXPECT_THAT(
      write_backward(parsed(nothing), {"h20", {"w0", "w1"}, "one-shot"}, room).error().message,
      testing::StartsWith("The replays and backward passes add more than the limit of "));
  EXPECT_EQ(room.expansion_count, 0);
}

}  // namespace
}  // namespace interlock::backward_statement_test
