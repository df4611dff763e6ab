// Tensors to differentiate by that are written before the backward pass: a gradient is that by what
// the tensor holds where the pass stands.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/assemble/append_backward.h"
#include "encoder/backward/backward.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::backward_versions_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kDeclared =
    "interlock 1\n"
    "tensor x f32[4] = random(1)\n"
    "tensor w f32[4] = random(2)\n"
    "tensor b f32[4] = random(3)\n"
    "tensor g f32[4] = random(4)\n"
    "tensor h f32[4]\n"
    "tensor a f32[4]\n"
    "tensor y f32[4]\n"
    "tensor l f32[4]\n"
    "tensor z f32[4]\n"
    "tensor total f32[4] = zeros\n"
    "memory m 64\n";

std::string text_of(const std::string& statements, const BackwardDraft& request) {
  const auto program = parse(kDeclared + statements);
  if (!program) return program.error().message;
  const auto result = append_backward(*program, request);
  return result ? print(result->program) : result.error().message;
}

// PyTorch: "one of the variables needed for gradient computation has been modified by an inplace
// operation". A value that nothing saves is no exception here: its gradient would be zeros.
TEST(BackwardVersions, AnEarlierVersionOfWhatItDifferentiatesByIsAnError) {
  for (const char* write : {"sgd reads g updates w lr=0.1", "accumulate reads g updates w",
                            "copy reads g writes w", "fill writes w[0:4]"}) {
    const std::string kernel = std::string(write).substr(0, std::string(write).find(' '));
    for (const char* use : {"silu reads w writes y", "scale reads w writes y factor=2"}) {
      const std::string statements = fmt::format("dispatch {}\nlate: dispatch {}\n", use, write);
      EXPECT_EQ(
          text_of(statements, {"y", {"w"}, "one-shot"}),
          "The loss 'y' depends on what 'w' held before late (dispatch 1), and the gradient is that by what 'w' holds now; take it before, or leave 'w' as it is and write another tensor.")
          << write;
      // The loss depends on both versions.
      EXPECT_THAT(
          text_of(statements + "dispatch mul reads w y writes l\n", {"l", {"x", "w"}, "one-shot"}),
          StartsWith("The loss 'l' depends on what 'w' held before late (dispatch 1), "));
    }
    EXPECT_THAT(text_of(fmt::format("dispatch {}\ndispatch silu reads w writes y\n", write),
                        {"y", {"w"}, "one-shot"}),
                HasSubstr("silu_vjp reads w d_y writes d_w\n"))
        << kernel;
  }
}

TEST(BackwardVersions, AnEarlierVersionReachesTheLossThroughWhateverReadsIt) {
  const std::string update = "late: dispatch sgd reads g updates w lr=0.1\n";
  const char* const expected = "The loss 'y' depends on what 'w' held before late (dispatch ";
  for (const char* use :
       {"dispatch Opaque reads w writes y\n",
        "dispatch silu reads w writes h\nadopt a = h\ndispatch silu reads a writes y\n",
        "dispatch copy reads w writes m[0:16]\ndispatch copy reads m[0:16] writes y\n",
        "dispatch copy reads w[0:8] writes y[8:16]\n",
        "dispatch silu reads w writes h\ndispatch accumulate reads h updates y\n"}) {
    EXPECT_THAT(text_of(use + update, {"y", {"w"}, "one-shot"}), StartsWith(expected)) << use;
  }
  // What is asked for besides hides nothing.
  EXPECT_THAT(text_of("dispatch silu reads w writes h\ndispatch silu reads h writes y\n" + update,
                      {"y", {"h", "w"}, "one-shot"}),
              StartsWith(expected));
}

TEST(BackwardVersions, ReplaysAreVersionsToo) {
  const std::string capture =
      "capture c\nrun: dispatch silu reads h writes y\nend\ndispatch copy reads x writes h\n"
      "replay c\n";
  const std::string again = "dispatch copy reads g writes h\nreplay c\n";
  EXPECT_THAT(text_of(capture + again, {"y", {"h"}, "one-shot"}),
              HasSubstr("silu_vjp reads h d_y writes d_h\n"));
  EXPECT_THAT(text_of(capture + "dispatch accumulate reads y updates total\n" + again +
                          "dispatch add reads y total writes l\n",
                      {"l", {"h"}, "one-shot"}),
              StartsWith("The loss 'l' depends on what 'h' held before copy (dispatch 3), "));
}

TEST(BackwardVersions, AnAdoptionIsAVersionToo) {
  const std::string statements =
      "dispatch silu reads x writes h\nadopt a = h\ndispatch scale reads a writes y factor=2\n"
      "dispatch silu reads g writes h\nadopt a = h\n";
  EXPECT_THAT(
      text_of(statements, {"y", {"a"}, "one-shot"}),
      StartsWith(
          "The loss 'y' depends on what 'a' held before adopt a = h (lifetime statement 1), "));
  EXPECT_THAT(
      text_of(statements + "dispatch scale reads a writes y factor=3\n", {"y", {"a"}, "one-shot"}),
      HasSubstr("scale reads d_y writes d_h factor=3\n"));
}

// Every earlier version reaches the second loss, through the gradients of the first one.
constexpr const char* kStep =
    "dispatch mul reads x w writes h\n"
    "dispatch add reads h b writes l\n";

// The other lifetime statements make no version of anything.
TEST(BackwardVersions, ALifetimeThatAdoptsNothingIsNone) {
  for (const char* lines :
       {"pin w\n", "pin a\nunpin a\n", "free g\n", "destroy h\n", "reset m\n"}) {
    const auto result_of = [](const std::string& between) {
      return text_of(
          "dispatch silu reads w writes a\n" + between + "dispatch mul reads a x writes y\n",
          {"y", {"x", "w"}, "one-shot"});
    };
    std::string text = result_of(lines);
    const size_t at = text.find(lines);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text.erase(at, std::string(lines).size()), result_of(""));
  }
}

std::string errors_of(const std::string& statements) {
  const auto program = parse(kDeclared + statements);
  return program ? "no error" : program.error().message;
}

TEST(BackwardVersions, ThreeStepsOfTrainingAreOneProgram) {
  for (
      const char* update :
      {"dispatch sgd reads {1} updates {0} lr=0.1\n", "dispatch Adam reads {1} updates {0}\n",
       "dispatch accumulate reads {1} updates {0}\n",
       "dispatch scale reads {1} writes z factor=-0.1\ndispatch accumulate reads z updates {0}\n"}) {
    std::string text;
    for (int step = 1; step <= 3; ++step) {
      text += fmt::format("{}backward l wrt w b\n", kStep);
      for (const char* weight : {"w", "b"}) {
        text += fmt::format(
            fmt::runtime(update), weight,
            step == 1 ? fmt::format("d_{}", weight) : fmt::format("d_{}.{}", weight, step));
      }
    }
    EXPECT_EQ(errors_of(text), "no error") << update;
    EXPECT_THAT(errors_of(text + "backward l wrt x w\n"),
                HasSubstr("The loss 'l' depends on what 'w' held before "));
  }
}

// Each weight by a pass of its own; the second step does not use all of them.
TEST(BackwardVersions, WhatAnOptimizerLeavesDependsOnNoEarlierVersion) {
  EXPECT_EQ(errors_of(fmt::format(
                "{}{}", kStep,
                "backward l wrt w\nbackward l wrt b\n"
                "dispatch sgd reads d_w updates w lr=0.1\n"
                "dispatch sgd reads d_b updates b lr=0.1\n"
                "dispatch mul reads x b writes l\nbackward l wrt w\nbackward l wrt b\n")),
            "no error");
}

// A tensor that serves two layers in turn: all that its first value gives goes through its second.
TEST(BackwardVersions, ATensorThatIsWrittenAnewAlongTheWayIsNoError) {
  const std::string layers =
      "dispatch silu reads x writes h\ndispatch silu reads h writes z\n"
      "dispatch scale reads z writes h factor=2\ndispatch silu reads h writes y\n";
  EXPECT_THAT(text_of(layers, {"y", {"h"}, "one-shot"}),
              HasSubstr("silu_vjp reads h d_y writes d_h\n"));
}

}  // namespace
}  // namespace interlock::backward_versions_test
