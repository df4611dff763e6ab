// What a finding says about scoped barriers: which part of the dependency is missing, and the
// smallest repair. Each repair is then tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "simulator/hazards/hazards.h"
#include "simulator/report/check.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::scoped_explain_test {
namespace {

using ::testing::HasSubstr;

// The only finding of a producer of a[0:64], barriers, and a consumer; and that its fix, as a
// further barrier before the consumer, leaves no hazard.
Finding finding_of(std::string_view barriers, std::string_view consumer) {
  const auto text_with = [&](std::string_view fix) {
    return fmt::format("Produce: dispatch Produce writes a[0:64]\n{}\n{}\ndispatch {}\n", barriers,
                       fix, consumer);
  };
  const CheckReport report = check(program_on_abc(text_with("")));
  EXPECT_EQ(report.findings.size(), 1u);
  if (report.findings.empty()) return {};
  const std::string& fix = report.findings[0].fix;
  const size_t end = fix.rfind('`');
  EXPECT_EQ(fix.front(), '`') << fix;
  EXPECT_NE(end, 0u) << fix;
  const Program repaired = program_on_abc(text_with(fix.substr(1, end - 1)));
  EXPECT_TRUE(find_hazards(repaired, HappensBefore(repaired)).hazards.empty()) << fix;
  return report.findings[0];
}

std::string reason_of(std::string_view barriers, std::string_view consumer) {
  return finding_of(barriers, consumer).details.at(0);
}

TEST(ExplainScopes, NamesTheAccessThatTheDestinationLacks) {
  const Finding finding =
      finding_of("barrier compute.write -> compute.read", "Use uniform a[0:64]");
  EXPECT_EQ(
      finding.details.at(0),
      "They are ordered, but what dispatch 0 writes is not visible to dispatch 1: the destination of 'compute.write -> compute.read' lacks compute.uniform.");
  EXPECT_EQ(
      finding.fix,
      "`barrier compute.write -> compute.uniform a[0:64]` between dispatch 0 and dispatch 1.");
  EXPECT_THAT(reason_of("barrier compute.write -> compute.read", "Use writes a[0:64]"),
              HasSubstr("the destination of 'compute.write -> compute.read' lacks compute.write."));
}

TEST(ExplainScopes, NamesTheAccessThatTheSourceLacks) {
  EXPECT_THAT(reason_of("barrier compute.read -> compute.read", "Use reads a[0:64]"),
              HasSubstr("the source of 'compute.read -> compute.read' lacks compute.write."));
}

TEST(ExplainScopes, NamesTheBytesThatTheOperandsMiss) {
  EXPECT_THAT(
      reason_of("barrier compute.write -> compute.read a[0:32] b", "Use reads a[0:64]"),
      HasSubstr(
          "the operands of 'compute.write -> compute.read a[0:32] b' do not cover a[32:64]."));
  EXPECT_THAT(reason_of("barrier compute.write -> copy b\nbarrier copy -> compute.read a",
                        "Use reads a[0:64]"),
              HasSubstr("the operands of 'compute.write -> copy b' do not cover a[0:64]."));
}

TEST(ExplainScopes, SaysThatDependenciesOfOneBarrierDoNotChain) {
  EXPECT_EQ(
      reason_of("barrier compute.write -> copy, copy -> compute.read", "Use reads a[0:64]"),
      "Nothing orders them: 'compute.write -> copy' and 'copy -> compute.read' stand in one barrier, and the dependencies of one barrier do not chain.");
  EXPECT_THAT(
      reason_of("barrier compute.write -> copy, copy -> compute.read, compute -> compute",
                "Use reads a[0:64]"),
      HasSubstr(
          "not visible to dispatch 1: 'compute.write -> copy' and 'copy -> compute.read' stand in one barrier"));
}

TEST(ExplainScopes, SaysThatBarriersOrderExecutionOnly) {
  EXPECT_THAT(reason_of("barrier compute -> compute", "Use reads a[0:64]"),
              HasSubstr("the barriers between them order execution only."));
  EXPECT_THAT(reason_of("barrier host -> host\nbarrier execution", "Use reads a[0:64]"),
              HasSubstr("the barriers between them order execution only."));
}

TEST(ExplainScopes, NamesTheStageThatIsMissing) {
  EXPECT_EQ(reason_of("barrier copy.write -> compute.read", "Use reads a[0:64]"),
            "Nothing orders them: the source of 'copy.write -> compute.read' lacks compute.");
  EXPECT_EQ(reason_of("barrier compute.write -> compute.read", "copy reads a[0:64] writes b[0:64]"),
            "Nothing orders them: the destination of 'compute.write -> compute.read' lacks copy.");
  EXPECT_EQ(
      reason_of("barrier copy -> compute\nbarrier compute -> host", "Use reads a[0:64]"),
      "Nothing orders them: no chain of barriers between dispatch 0 and dispatch 1 leads from compute to compute.");
}

TEST(ExplainScopes, SaysThatNoBarrierStandsBetween) {
  EXPECT_EQ(reason_of("dispatch Other\n", "Use reads a[0:64]\nbarrier host -> host"),
            "Nothing orders them: no barrier stands between dispatch 0 and dispatch 2.");
}

TEST(ExplainScopes, AsksForExecutionAloneBehindARead) {
  const CheckReport report = check(program_on_abc(R"(
      dispatch Consume reads a[0:64]
      barrier copy -> copy
      dispatch Overwrite writes a[0:64])"));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].fix,
            "`barrier compute -> compute` between dispatch 0 and dispatch 1.");
}

TEST(ExplainScopes, NamesATensorByItsName) {
  const CheckReport report = check(program_on_abc(R"(
      tensor x f32[16] at a+0
      dispatch Produce writes x
      barrier copy -> copy
      dispatch Consume reads x)"));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].fix,
            "`barrier compute.write -> compute.read x` between dispatch 0 and dispatch 1.");
}

}  // namespace
}  // namespace interlock::scoped_explain_test
