// Backward passes as programs: what they append, and what they refuse.
#include "encoder/backward/backward.h"
#include "encoder/assemble/append_backward.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/program_count.h"

namespace interlock::backward_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::string& forward, const BackwardDraft& request) {
  const auto program = parse("interlock 1\n" + forward);
  if (!program) return program.error().message;
  const auto result = append_backward(*program, request);
  return result ? print(result->program) : result.error().message;
}

TEST(Backward, AddsUpTheUsesOfASharedWeightInPlace) {
  EXPECT_EQ(text_of(R"(tensor x f32[1,2]
tensor w f32[2,2]
tensor h f32[1,2]
tensor y f32[1,2]
output y
mm1: dispatch matmul_nn reads x w writes h
mm2: dispatch matmul_nn reads h w writes y
)",
                    {"y", {"w"}, "one-shot"}),
            R"(interlock 1
tensor x f32[1,2]
tensor w f32[2,2]
tensor h f32[1,2]
tensor y f32[1,2]
tensor d_y f32[1,2] = ones
tensor d_h f32[1,2]
tensor d_w f32[2,2]
tensor d_w.part f32[2,2]
output y d_w
mm1: dispatch matmul_nn reads x w writes h
mm2: dispatch matmul_nn reads h w writes y
mm2.vjp0: dispatch matmul_nt reads d_y w writes d_h
mm2.vjp1: dispatch matmul_tn reads h d_y writes d_w
mm1.vjp0: dispatch matmul_tn reads x d_h writes d_w.part
mm1.sum0: dispatch accumulate reads d_w.part updates d_w
)");
}

// A residual connection: the rule of add passes the cotangent on, and no dispatch copies it.
TEST(Backward, SharesACotangentThatIsPassedOn) {
  const std::string text = text_of(R"(tensor x f32[4]
tensor f f32[4]
tensor y f32[4]
dispatch silu reads x writes f
dispatch add reads x f writes y
)",
                                   {"y", {"x"}, "one-shot"});
  EXPECT_THAT(text, HasSubstr("silu0.vjp0: dispatch silu_vjp reads x d_y writes d_x\n"
                              "silu0.sum0: dispatch accumulate reads d_y updates d_x\n"));
  EXPECT_THAT(text, Not(HasSubstr("copy")));
}

TEST(Backward, FollowsViewsOfAWholeTensor) {
  const std::string text = text_of(R"(tensor x f32[2,3]
tensor flat f32[6] view x+0
tensor y f32[6]
dispatch silu reads flat writes y
)",
                                   {"y", {"x", "flat"}, "one-shot"});
  EXPECT_THAT(text, HasSubstr("tensor d_x f32[2,3]\ntensor d_x.view f32[6] view d_x+0\n"));
  EXPECT_THAT(text, HasSubstr("silu_vjp reads flat d_y writes d_x.view\n"));
  EXPECT_THAT(text, HasSubstr("tensor d_flat f32[6] view d_x+0\n"));
}

// What adopts a whole tensor is that tensor's value under another name.
TEST(Backward, FollowsAdoptions) {
  const std::string declared =
      "tensor w f32[2,2]\ntensor y f32[2,2]\ntensor a f32[4]\ntensor l f32[4]\n";
  const std::string forward =
      declared + "dispatch silu reads w writes y\nadopt a = y\ndispatch silu reads a writes l\n";
  const std::string text = text_of(forward, {"l", {"w"}, "one-shot"});
  EXPECT_THAT(text, HasSubstr("silu_vjp reads a d_l writes d_y.view\n"));
  EXPECT_THAT(text, HasSubstr("silu_vjp reads w d_y writes d_w\n"));
  const std::string by_both = text_of(forward, {"l", {"a", "y"}, "one-shot"});
  EXPECT_THAT(by_both, HasSubstr("tensor d_y f32[2,2]\n"));
  EXPECT_THAT(by_both, HasSubstr("tensor d_a f32[4] view d_y+0\n"));
  EXPECT_THAT(
      text_of(forward + "dispatch scale reads y writes w factor=2\n", {"w", {"a"}, "one-shot"}),
      HasSubstr("dispatch scale reads d_w writes d_y factor=2\n"));
}

// From the adoption on, and not before; a tensor that is written again is another value.
TEST(Backward, FollowsAnAdoptionFromWhereItStands) {
  const std::string declared =
      "tensor w f32[4]\ntensor x f32[4]\ntensor y f32[4]\ntensor a f32[4]\ntensor l f32[4]\n";
  const std::string text = text_of(declared +
                                       "dispatch scale reads w writes y factor=2\nadopt a = y\n"
                                       "dispatch scale reads x writes y factor=3\n"
                                       "dispatch add reads a y writes l\n",
                                   {"l", {"w", "x"}, "one-shot"});
  EXPECT_THAT(text, HasSubstr("scale reads d_l writes d_x factor=3\n"));
  EXPECT_THAT(text, HasSubstr("scale reads d_l writes d_w factor=2\n"));
}

TEST(Backward, SaysWhichAdoptionItCannotFollow) {
  const std::string declared =
      "tensor w f32[4]\ntensor y f32[4]\ntensor a f32[4]\ntensor half f32[2]\ntensor l f32[4]\n"
      "tensor k f32[2]\n";
  EXPECT_EQ(
      text_of(declared + "dispatch silu reads w writes y\nadopt half = y\n"
                         "dispatch silu reads half writes k\n",
              {"k", {"w"}, "one-shot"}),
      "The backward pass from 'k' meets adopt half = y (lifetime statement 0), which takes over a part of y; a backward pass follows whole tensors only.");
  EXPECT_THAT(text_of(declared + "dispatch silu reads w writes y\nadopt half = y\n"
                                 "dispatch silu reads half writes k\n",
                      {"k", {"half"}, "one-shot"}),
              HasSubstr("silu_vjp reads half d_k writes d_half\n"));
  EXPECT_EQ(
      text_of(declared + "dispatch silu order=0 reads w writes y\nadopt a = y\n"
                         "dispatch silu order=1 reads a writes l\n",
              {"l", {"w"}, "one-shot"}),
      "The program has 'order=' and adopts tensors; a backward pass follows adoptions in issue order only.");
}

// Writing either name overwrites the bytes of both.
TEST(Backward, SaysThatASavedValueIsOverwrittenUnderItsOtherName) {
  const std::string forward =
      "tensor w f32[4]\ntensor y f32[4]\ntensor a f32[4]\ntensor l f32[4]\n"
      "dispatch scale reads w writes y factor=2\nadopt a = y\n";
  for (const char* written : {"y", "a"}) {
    for (const char* read : {"y", "a"}) {
      EXPECT_EQ(
          text_of(forward + fmt::format("dispatch silu reads {} writes l\n"
                                        "dispatch fill writes {}\n",
                                        read, written),
                  {"l", {"w"}, "one-shot"}),
          "The backward pass of silu (dispatch 1) needs what y held then, and a later dispatch overwrites it.");
      EXPECT_THAT(text_of(forward + fmt::format("dispatch scale reads {} writes l factor=3\n"
                                                "dispatch fill writes {}\n",
                                                read, written),
                          {"l", {"w"}, "one-shot"}),
                  HasSubstr("writes d_w factor=2"));
    }
  }
}

TEST(Backward, GivesZerosWhereTheLossDoesNotDepend) {
  EXPECT_THAT(text_of("tensor x f32[4]\ntensor w f32[4]\ntensor y f32[4]\n"
                      "dispatch silu reads x writes y\n",
                      {"y", {"w", "x"}, "one-shot"}),
              HasSubstr("tensor d_w f32[4] = zeros\n"));
}

TEST(Backward, TakesTheNextNameWhereOneIsTaken) {
  EXPECT_THAT(text_of("tensor x f32[4]\ntensor d_x f32[4]\ntensor y f32[4]\n"
                      "dispatch silu reads x writes y\n",
                      {"y", {"x"}, "one-shot"}),
              HasSubstr("writes d_x.2\n"));
}

TEST(Backward, SaysWhatCannotBeDifferentiated) {
  const std::string declared = "tensor x f32[4]\ntensor h f32[4]\ntensor y f32[4]\nmemory m 64\n";
  const auto error = [&](const std::string& dispatches) {
    return text_of(declared + dispatches, {"y", {"x"}, "one-shot"});
  };
  EXPECT_EQ(
      error("dispatch Magic reads x writes y\n"),
      "The backward pass from 'y' meets Magic (dispatch 0), which is opaque: nothing is known of what it computes.");
  EXPECT_EQ(error("dispatch silu_vjp reads h x writes y\n"),
            "The backward pass from 'y' meets silu_vjp (dispatch 0), which has no VJP rule: "
            "silu_vjp cannot be differentiated.");
  EXPECT_EQ(
      error("dispatch copy reads x[0:8] writes y[0:8]\n"),
      "The backward pass from 'y' meets copy (dispatch 0), which reads x[0:8], a part of x; a backward pass follows whole tensors only.");
  EXPECT_EQ(
      error("dispatch copy reads x writes y\ndispatch add reads y h writes y\n"),
      "The backward pass from 'y' meets add (dispatch 1), which overwrites y, which it reads; what it held before is needed.");
  EXPECT_EQ(
      error("dispatch silu reads x writes h\ndispatch silu reads h writes y\n"
            "dispatch fill writes h\n"),
      "The backward pass of silu (dispatch 1) needs what h held then, and a later dispatch overwrites it.");
  EXPECT_EQ(
      error("dispatch copy reads x writes m[0:16]\ndispatch copy reads m[0:16] writes y\n"),
      "The backward pass from 'y' meets copy (dispatch 1), which reads m[0:16], where raw bytes of memory come in between; a backward pass follows tensors only.");
}

// Bytes that are written raw before the forward pass are what it reads: an upload, say.
TEST(Backward, SaysThatASavedValueIsOverwrittenRaw) {
  const std::string declared = "memory m 64\ntensor x f32[4] at m+16\ntensor y f32[4]\n";
  const std::string forward = "dispatch silu reads x writes y\n";
  const auto text = [&](const std::string& dispatches) {
    return text_of(declared + dispatches, {"y", {"x"}, "one-shot"});
  };
  for (const char* bytes : {"m", "m[28:40]", "m[0:17]", "m[20:24] m[40:64]"}) {
    const std::string write = fmt::format("dispatch Load writes {}\n", bytes);
    EXPECT_EQ(
        text(forward + write),
        "The backward pass of silu (dispatch 0) needs what x held then, and a later dispatch overwrites it.");
    EXPECT_THAT(text(write + forward), HasSubstr("silu_vjp reads x d_y writes d_x\n"));
  }
  EXPECT_THAT(text(forward + "dispatch Load writes m[0:16] m[32:64] m[20:20]\n"),
              HasSubstr("silu_vjp reads x d_y writes d_x\n"));
  EXPECT_THAT(
      text("dispatch scale reads x writes y factor=2\ndispatch Load writes m\n"),
      HasSubstr("depends on what 'x' held before Load (dispatch 1), which writes raw bytes"));
  EXPECT_THAT(text("dispatch scale reads x writes y factor=2\ndispatch Load writes m[0:16]\n"),
              HasSubstr("scale reads d_y writes d_x factor=2\n"));
}

TEST(Backward, SaysWhatIsWrongWithARequest) {
  const std::string forward =
      "tensor x f32[4]\ntensor i i32[4]\ntensor y f32[4]\n"
      "dispatch silu reads x writes y\n";
  EXPECT_EQ(text_of(forward, {"z", {"x"}, "one-shot"}),
            "The program has no tensor 'z', which is to be the loss of the backward pass.");
  EXPECT_EQ(
      text_of(forward, {"y", {"i"}, "one-shot"}),
      "Tensor 'i' has i32 elements; a tensor to differentiate by of a backward pass is a whole tensor of f32.");
  EXPECT_EQ(text_of(forward, {"y", {"x", "x"}, "one-shot"}),
            "Tensor 'x' is named twice to differentiate by; once is allowed.");
  EXPECT_EQ(text_of(forward, {"y", {"x"}, "oneshot"}),
            "There is no backward pass 'oneshot'. "
            "Did you mean 'one-shot'? `interlock list backwards` names them.");
}

// Thousands of dispatches, in time that does not show.
TEST(Backward, DifferentiatesAChainOfThreeThousandDispatches) {
  constexpr int kCount = is_slow_build() ? 300 : 3'000;
  std::string text = "tensor w f32[1,1]\ntensor t0 f32[1,1]\n";
  for (int i = 0; i < kCount; ++i) text += fmt::format("tensor t{} f32[1,1]\n", i + 1);
  for (int i = 0; i < kCount; ++i) {
    text += fmt::format("dispatch matmul_nn reads t{} w writes t{}\n", i, i + 1);
  }
  for (const char* mode : {"one-shot", "split", "split-pytorch-180952"}) {
    EXPECT_THAT(text_of(text, {fmt::format("t{}", kCount), {"t0", "w"}, mode}),
                HasSubstr("matmul_nn5.sum0"));
  }
}

}  // namespace
}  // namespace interlock::backward_test
