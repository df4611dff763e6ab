// What a signature says of itself.
#include "fuzz/judge/signature_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encoder/text/parser.h"
#include "fuzz/judge/findings.h"

namespace interlock::signature_parts_test {
namespace {

using testing::ElementsAre;

TEST(SignatureParts, SayKindAndShape) {
  EXPECT_EQ(kind_of_signature("WAR-donation-copy-fill"), "WAR");
  EXPECT_EQ(kind_of_signature("RAW-ordered-view-copy-fill"), "RAW-ordered");
  EXPECT_EQ(kind_of_signature("excess"), "excess");
  EXPECT_EQ(shape_of_signature("WAR-donation-copy-fill"), "WAR-donation");
  EXPECT_EQ(shape_of_signature("RAW-ordered-view-copy-fill"), "RAW-ordered-view");
  EXPECT_EQ(shape_of_signature("excess"), "excess");
}

TEST(SignatureParts, ReadWhatSignaturesOfHazardsAreMadeOf) {
  const Program program = parse(R"(interlock 1
memory a 64
dispatch Write writes a[0:64]
barrier execution
dispatch copy reads a[0:32] writes a[32:64]
)")
                              .value();
  const std::vector<Fact> facts = find_exactly(program);
  ASSERT_EQ(facts.size(), 2u);
  const auto raw = hazard_signature_of(signature_of(program, facts[0]));
  ASSERT_TRUE(raw);
  EXPECT_EQ(raw->kind, FindingKind::kReadAfterWrite);
  EXPECT_EQ(raw->shape, AliasShape::kOverlap);
  EXPECT_THAT(raw->kernels, ElementsAre("Opaque", "copy"));
  EXPECT_TRUE(hazard_signature_of("possible-WAW-same_range-Opaque"));
}

TEST(SignatureParts, ReadNothingIntoOtherSignatures) {
  for (const char* text : {"", "WAR", "WAR-donation", "WAR-donation-", "excess", "reordered-view-a",
                           "WAR-nothing-copy-fill", "WAR-view-a-b-c", "WAR-view--b", "gradient-a",
                           "use-after-free-free-silu", "WAR--a-b"}) {
    EXPECT_FALSE(hazard_signature_of(text)) << text;
  }
}

}  // namespace
}  // namespace interlock::signature_parts_test
