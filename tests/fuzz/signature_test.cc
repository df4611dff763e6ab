#include "fuzz/signature.h"

#include <gtest/gtest.h>

#include <string>

#include "encoder/text.h"

namespace interlock {
namespace {

std::string signature_of_first(const std::string& body,
                               SignatureDetail detail = SignatureDetail::kKernels) {
  const auto program = parse("interlock 1\nmemory a 4096\nmemory b 4096\n" + body);
  EXPECT_TRUE(program) << program.error().message;
  const auto findings = find_exactly(*program);
  EXPECT_FALSE(findings.empty());
  return findings.empty() ? "" : signature_of(*program, findings[0], detail);
}

TEST(Signature, NamesTheKindTheAliasShapeAndTheKernels) {
  EXPECT_EQ(signature_of_first("tensor g f32[4,8] at a+0 = random(1)\n"
                               "tensor gb f32[8] at b+0\n"
                               "tensor h f32[4,8] donates g\n"
                               "dispatch col_sum reads g writes gb\n"
                               "dispatch scale reads g writes h factor=2\n"),
            "WAR-donation-col_sum-scale");
}

TEST(Signature, LeavesTheKernelsOutOnRequest) {
  EXPECT_EQ(signature_of_first("dispatch A writes a[0:8]\ndispatch B reads a[0:8]\n",
                               SignatureDetail::kShape),
            "RAW-same_range");
}

TEST(Signature, CallsOpaqueKernelsOpaque) {
  EXPECT_EQ(signature_of_first("dispatch A writes a[0:8]\ndispatch B reads a[4:12]\n"),
            "RAW-overlap-Opaque-Opaque");
}

TEST(Signature, TellsOrderedHazardsApart) {
  EXPECT_EQ(
      signature_of_first("dispatch A writes a[0:8]\nbarrier execution\ndispatch B writes a[0:8]\n"),
      "WAW-ordered-same_range-Opaque-Opaque");
}

TEST(Signature, KnowsViews) {
  EXPECT_EQ(signature_of_first("tensor x u8[16] at a+0\ntensor v u8[4] view x+4\n"
                               "dispatch A writes x\ndispatch B reads v\n"),
            "RAW-view-Opaque-Opaque");
}

TEST(Signature, KnowsReusedSlots) {
  EXPECT_EQ(signature_of_first("tensor x u8[16] at a+0\ntensor y u8[4] at a+4\n"
                               "dispatch A reads x\ndispatch B writes y\n"),
            "WAR-slot_reuse-Opaque-Opaque");
}

TEST(Signature, FollowsChainsOfDonations) {
  EXPECT_EQ(signature_of_first("tensor x u8[16] at a+0\ntensor y u8[16] donates x\n"
                               "tensor z u8[16] donates y\ntensor v u8[4] view z+0\n"
                               "dispatch A reads x\ndispatch B writes v\n"),
            "WAR-donation-Opaque-Opaque");
}

TEST(Signature, NamesTheOneDispatchThatAliases) {
  EXPECT_EQ(signature_of_first("dispatch A reads a[0:8] writes a[4:12]\n"), "alias-overlap-Opaque");
}

TEST(Signature, IsAFileName) {
  OracleFinding excess;
  excess.is_excess = true;
  EXPECT_EQ(signature_of({}, excess), "excess");
}

}  // namespace
}  // namespace interlock
