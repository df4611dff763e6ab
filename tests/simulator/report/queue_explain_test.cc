// What a finding says about graph queues, where barriers are errors: each repair that it names is
// then tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/report/check.h"

namespace interlock::queue_explain_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<Finding> findings_of(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program =
      parse("interlock 1\nmemory x 64\nmemory y 64\nq1: queue concurrent\ng: queue graph\n" + text,
            "graph", options);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? check(*program).findings : std::vector<Finding>{};
}

TEST(ExplainGraphs, NamesTheEdgeThatIsMissing) {
  const std::string make = "make: dispatch Make writes x on g\n";
  const auto findings = findings_of(make + "use: dispatch Use reads x writes y on g\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].details.at(0),
            "Nothing orders them: no chain of edges leads from make (dispatch 0) to use (dispatch "
            "1).");
  EXPECT_EQ(findings[0].fix, "an edge: `after make` on use (dispatch 1).");
  EXPECT_THAT(findings_of(make + "use: dispatch Use reads x writes y after make on g\n"),
              IsEmpty());
}

TEST(ExplainGraphs, NamesAnOperationWithoutALabelByItsNumber) {
  const auto findings =
      findings_of("dispatch Use reads x writes y on g\ndispatch Make writes x on g\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].fix, "an edge: `after 0` on Make (dispatch 1).");
  EXPECT_THAT(
      findings_of("dispatch Use reads x writes y on g\ndispatch Make writes x after 0 on g\n"),
      IsEmpty());
}

TEST(ExplainGraphs, SaysThatAProgrammaticEdgeMakesNothingVisible) {
  const std::string make = "make: dispatch Make writes x on g\n";
  const auto findings =
      findings_of(make + "use: dispatch Use reads x writes y after make programmatic on g\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].details.at(0), HasSubstr("They are ordered, but what make"));
  EXPECT_THAT(findings[0].details.at(0),
              HasSubstr(": a programmatic edge orders execution alone."));
  EXPECT_EQ(findings[0].fix, "an edge that is not programmatic: `after make` on use (dispatch 1).");
}

TEST(ExplainGraphs, GivesTheHostItsScopeOnAnotherQueue) {
  const std::string make = "make: dispatch Make writes x on g\n";
  const auto findings = findings_of(make + "host idle\nlook: host reads x\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].fix,
            "on a queue that is no graph: a wait for make (dispatch 0), `barrier compute.write -> "
            "host.read x`, and a signal that the host waits for.");
  EXPECT_THAT(findings_of(make + "signal made=1 on g\nwait made=1 on q1\n"
                                 "barrier compute.write -> host.read x on q1\n"
                                 "signal fence=1 on q1\nhost waits fence=1\nlook: host reads x\n"),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::queue_explain_test
