// Undeclared accesses: what a check says of them, and that hazards come from what is touched.
#include "simulator/undeclared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "simulator/check.h"
#include "simulator/expectations.h"
#include "tests/simulator/program_text.h"

namespace interlock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<UndeclaredAccess> undeclared_in(const std::string& body) {
  return find_undeclared_accesses(program_on_abc(body));
}

TEST(Undeclared, IsWhatDeclaredOperandsDoNotCover) {
  EXPECT_THAT(undeclared_in("dispatch K reads a writes b"), IsEmpty());
  EXPECT_THAT(undeclared_in("dispatch K reads a actual reads b[4:8]"),
              ElementsAre(UndeclaredAccess{{DispatchId(0), 1}, {4, 8}}));
  EXPECT_THAT(undeclared_in("dispatch K reads a actual reads a[4:8]"), IsEmpty());
  EXPECT_THAT(undeclared_in("dispatch K reads a[0:8] a[8:16] actual reads a[4:12]"), IsEmpty());
  EXPECT_THAT(undeclared_in("dispatch K reads a[0:8] a[9:16] actual reads a[4:12]"),
              ElementsAre(UndeclaredAccess{{DispatchId(0), 2}, {8, 9}}));
  EXPECT_THAT(undeclared_in("dispatch K reads a[0:8] actual reads a[4:12]"),
              ElementsAre(UndeclaredAccess{{DispatchId(0), 1}, {8, 12}}));
  EXPECT_THAT(undeclared_in("dispatch K actual reads a[4:4]"), IsEmpty());
}

TEST(Undeclared, IsAWriteWhereOnlyAReadIsDeclared) {
  EXPECT_EQ(undeclared_in("dispatch K reads a actual writes a").size(), 1u);
  EXPECT_EQ(undeclared_in("dispatch K reads a actual updates a").size(), 1u);
  EXPECT_EQ(undeclared_in("dispatch K writes a actual reads a").size(), 1u);
  EXPECT_EQ(undeclared_in("dispatch K updates a actual reads a").size(), 0u);
  EXPECT_EQ(undeclared_in("dispatch K updates a actual writes a").size(), 0u);
  EXPECT_EQ(undeclared_in("dispatch K reads a writes b actual atomics c atomic=add").size(), 1u);
}

// Seven sources of which four are declared (llama.cpp #16412); declared ones only are no finding.
TEST(Undeclared, IsFoundBesideTheHazardThatItHides) {
  const auto holds = [](const std::string& body) {
    const Program program = program_on_abc(body);
    const CheckReport report = check(program);
    return is_as_expected(program, report, judge_expectations(program, report));
  };
  EXPECT_TRUE(
      holds("w: dispatch K writes a\n"
            "r: dispatch K reads b writes c actual reads a\n"
            "expect RAW w r\nexpect undeclared r\n"
            "expect encoder=interlock RAW w r\nexpect encoder=interlock undeclared r"));
  EXPECT_TRUE(
      holds("w: dispatch K writes a\nbarrier\n"
            "r: dispatch K reads b a writes c\n"
            "expect clean\nexpect encoder=interlock clean"));
  // A barrier that stands there by luck repairs the hazard, and not the declaration.
  EXPECT_TRUE(
      holds("w: dispatch K writes a\nbarrier\n"
            "r: dispatch K reads b writes c actual reads a\n"
            "expect undeclared r"));
}

TEST(Undeclared, IsExplainedInSentences) {
  const CheckReport report =
      check(program_on_abc("scan: dispatch K reads c writes b actual updates a[0:8]"));
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::kUndeclared);
  EXPECT_EQ(finding.headline,
            "undeclared: scan (dispatch 0) updates a[0:8] and does not declare it.");
  EXPECT_THAT(finding.details,
              ElementsAre("It declares that it reads c, writes b. An encoder knows of nothing "
                          "else."));
  EXPECT_EQ(finding.fix, "declare that scan (dispatch 0) updates a[0:8].");
}

}  // namespace
}  // namespace interlock
