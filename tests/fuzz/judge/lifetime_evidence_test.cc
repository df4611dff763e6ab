// What signatures of lost values tell apart.
#include "fuzz/judge/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/evidence.h"

namespace interlock::lifetime_evidence_test {
namespace {

using testing::ElementsAre;

std::vector<std::string> signatures_in(const std::string& text,
                                       SignatureDetail detail = SignatureDetail::kShape) {
  const auto program = parse("interlock 1\n" + text);
  EXPECT_TRUE(program) << program.error().message;
  std::vector<std::string> signatures;
  for (const LifetimeFinding& finding : check_lifetimes(*program).findings) {
    signatures.push_back(signature_of(*program, finding, detail));
  }
  return signatures;
}

// A buffer that two recordings write: the value of one of them is read after a replay of the other.
constexpr const char* kTwoCaptures =
    "memory m 16\ntensor x f32[4] = random(1)\ntensor a f32[4] at m+0\ntensor b f32[4] at m+0\n"
    "tensor o f32[4]\noutput o\n"
    "capture one\nr: dispatch silu reads x writes a\nbarrier\nend\n"
    "capture two\ns: dispatch silu reads x writes b\nbarrier\nend\n";

TEST(SignatureOfLifetimes, SaysReplayOnlyOfTwoReplaysOfOneCapture) {
  const std::string tensors =
      "memory m 16\ntensor x f32[4] = random(1)\ntensor a f32[4] at m+0\ntensor o f32[4]\n"
      "tensor kept f32[4]\n"
      "output o\n"
      "capture one\n"
      "r: dispatch silu reads x writes a\n"
      "barrier\n"
      "end\n";
  EXPECT_THAT(signatures_in(tensors + "replay one\nadopt kept = a\nreplay one\n"
                                      "dispatch silu reads kept writes o\n"),
              ElementsAre("clobber-replay"));
  EXPECT_THAT(signatures_in(std::string(kTwoCaptures) +
                            "replay one\nreplay two\ndispatch silu reads a writes o\n"),
              ElementsAre("clobber"));
  EXPECT_THAT(signatures_in(std::string(kTwoCaptures) +
                            "replay two\nreplay one\ndispatch silu reads b writes o\n"),
              ElementsAre("clobber"));
  // A dispatch of no replay.
  EXPECT_THAT(signatures_in(std::string(kTwoCaptures) +
                            "replay one\ndispatch silu reads x writes b\nbarrier\n"
                            "dispatch silu reads a writes o\n"),
              ElementsAre("clobber"));
}

TEST(SignatureOfLifetimes, NamesWhatEndedTheValueTheOverwriterAndTheReader) {
  const std::string tensors =
      "memory m 32\ntensor x f32[4] = random(1)\ntensor a f32[4] at m+0\ntensor b f32[4] at m+0\n"
      "tensor o f32[4]\noutput o\n"
      "dispatch silu reads x writes a\nbarrier\n";
  const std::string overwrite = "dispatch scale reads x writes b factor=2\nbarrier\n";
  const std::string read = "dispatch copy reads a writes o\n";
  constexpr auto kKernels = SignatureDetail::kKernels;
  EXPECT_THAT(signatures_in(tensors + overwrite + read, kKernels),
              ElementsAre("clobber-scale-copy"));
  EXPECT_THAT(signatures_in(tensors + "reset m\n" + overwrite + read, kKernels),
              ElementsAre("clobber-reset-scale-copy"));
  EXPECT_THAT(signatures_in(tensors + "free a\n" + overwrite + read, kKernels),
              ElementsAre("clobber-free-scale-copy"));
  EXPECT_THAT(signatures_in(tensors + "free a\n" + read, kKernels),
              ElementsAre("use-after-free-free-copy"));
  EXPECT_THAT(signatures_in(tensors + "reset m\n" + read, kKernels),
              ElementsAre("use-after-free-reset-copy"));
  EXPECT_THAT(signatures_in("tensor u f32[4]\ntensor o f32[4]\noutput o\n"
                            "dispatch K reads u writes o\n",
                            kKernels),
              ElementsAre("uninitialized-Opaque"));
  EXPECT_THAT(signatures_in("memory m 16\n"
                            "tensor a u8[4] at m+0\n"
                            "tensor b u8[4] at m+0\n"
                            "output a\n"
                            "dispatch K writes a\nbarrier\ndispatch L writes b\n",
                            kKernels),
              ElementsAre("clobber-Opaque-end"));
}

TEST(LifetimeExpectations, SayEachFindingOnce) {
  const auto program = parse(
      "interlock 1\nmemory m 64\ntensor a f32[4] at m+0\ntensor v f32[2] view a+0\n"
      "tensor b f32[4] at m+0\ntensor o f32[4]\noutput o\n"
      "w: dispatch K writes a\nbarrier\nc: dispatch K writes b\nbarrier\n"
      "r: dispatch K reads a v writes o\n");
  ASSERT_TRUE(program) << program.error().message;
  std::vector<std::string> lines;
  for (const ItemDraft& item : draft_of(with_evidence(*program, std::nullopt)).items) {
    if (std::holds_alternative<ExpectDraft>(item)) lines.push_back(print(item));
  }
  EXPECT_GE(check_lifetimes(*program).findings.size(), 2u);
  EXPECT_THAT(lines, ElementsAre("expect clobber c r"));
}

}  // namespace
}  // namespace interlock::lifetime_evidence_test
