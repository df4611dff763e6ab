// Bytes that are written raw on the way from what a backward pass differentiates by to the loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/assemble/append_backward.h"
#include "encoder/backward/backward.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::backward_raw_writes_test {
namespace {

using testing::HasSubstr;

constexpr const char* kDeclared =
    "interlock 1\n"
    "memory m 128\n"
    "tensor x f32[4] = random(1)\n"
    "tensor w f32[4] at m+0 = random(2)\n"
    "tensor y f32[4] at m+16\n"
    "tensor l f32[4] at m+32\n"
    "tensor a f32[4]\n";

std::string text_of(const std::string& statements, const BackwardDraft& request) {
  const auto program = parse(kDeclared + statements);
  if (!program) return program.error().message;
  const auto result = append_backward(*program, request);
  return result ? print(result->program) : result.error().message;
}

constexpr const char* kFirst = "f: dispatch silu reads x writes y\n";
constexpr const char* kSecond = "g: dispatch silu reads y writes l\n";

TEST(BackwardRawWrites, BetweenAWriterAndAReaderAreAnError) {
  for (const char* write :
       {"fill writes m[16:20] value=0", "fill writes m value=0", "Load writes m[0:8] m[24:64]"}) {
    const std::string z = "z: dispatch " + std::string(write) + "\n";
    EXPECT_EQ(
        text_of(kFirst + z + kSecond, {"l", {"x"}, "one-shot"}),
        "The backward pass from 'l' meets z (dispatch 1), which writes raw bytes of y before g (dispatch 2) reads it; a backward pass follows tensors only.")
        << write;
    // Before the writer and after the last reader the bytes are free.
    EXPECT_THAT(text_of(z + kFirst + kSecond, {"l", {"x"}, "one-shot"}), HasSubstr(" writes d_x"));
    EXPECT_THAT(text_of(kFirst + z, {"y", {"w"}, "one-shot"}), HasSubstr("tensor d_w "));
  }
  for (const char* write : {"m[0:16] m[32:48]", "m[16:16]", "m[48:128]"}) {
    EXPECT_THAT(text_of(std::string(kFirst) + "dispatch Load writes " + write + "\n" + kSecond,
                        {"l", {"x"}, "one-shot"}),
                HasSubstr(" writes d_x"));
  }
}

TEST(BackwardRawWrites, IntoWhatNobodyNeedsAnyMoreAreNone) {
  const std::string statements =
      "f: dispatch scale reads x writes y factor=2\n"
      "g: dispatch scale reads y writes a factor=3\nz: dispatch Load writes m\n";
  EXPECT_THAT(text_of(statements, {"a", {"x"}, "one-shot"}), HasSubstr(" writes d_x factor=2"));
  EXPECT_EQ(
      text_of(statements, {"a", {"x", "y"}, "one-shot"}),
      "The loss 'a' depends on what 'y' held before z (dispatch 2), which writes raw bytes of it, and the gradient is that by what 'y' holds now; take it before, or leave 'y' as it is and write another tensor.");
}

TEST(BackwardRawWrites, IntoTheLossAreAnError) {
  const std::string l = "f: dispatch scale reads x writes l factor=2\n";
  EXPECT_EQ(
      text_of(l + "z: dispatch Load writes m[47:48]\n", {"l", {"x"}, "one-shot"}),
      "The backward pass from 'l' meets z (dispatch 1), which writes raw bytes of l before the program ends; a backward pass follows tensors only.");
}

TEST(BackwardRawWrites, AnUploadIsWhatATensorToDifferentiateByHolds) {
  const std::string f = "f: dispatch scale reads w writes a factor=2\n";
  const std::string z = "z: dispatch fill writes m[8:12] value=0\n";
  EXPECT_THAT(text_of(z + f, {"a", {"w"}, "one-shot"}), HasSubstr(" writes d_w factor=2"));
  EXPECT_THAT(text_of(f + z, {"a", {"w"}, "one-shot"}),
              HasSubstr("depends on what 'w' held before z (dispatch 1), which writes raw bytes"));
  // One use before and one after it.
  EXPECT_THAT(text_of(f + z + "dispatch add reads a w writes l\n", {"l", {"w"}, "one-shot"}),
              HasSubstr("depends on what 'w' held before z (dispatch 1), which writes raw bytes"));
  EXPECT_THAT(text_of(f + z, {"a", {"x"}, "one-shot"}), HasSubstr("tensor d_x "));
}

TEST(BackwardRawWrites, ReachWhatHasAdoptedTheBytes) {
  EXPECT_THAT(
      text_of(std::string(kFirst) + "adopt a = y\nz: dispatch fill writes m[16:32] value=0\n"
                                    "g: dispatch silu reads a writes l\n",
              {"l", {"x"}, "one-shot"}),
      HasSubstr("meets z (dispatch 1), which writes raw bytes of y before g (dispatch 2)"));
}

}  // namespace
}  // namespace interlock::backward_raw_writes_test
