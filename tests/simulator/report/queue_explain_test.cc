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

using ::testing::Contains;
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

// The order in which the host issues is no run of a program whose waits stand before their signals.
TEST(ExplainQueues, SpeakOfTheReferenceOrder) {
  const std::string values = "tensor t f32[4] at x+0\ntensor u f32[4] at x+0\n";
  const auto clobber =
      findings_of(values +
                  "dispatch A writes t on q1\nbarrier on q1\ndispatch B writes u on q1\n"
                  "barrier on q1\ndispatch C reads t on q1\n");
  ASSERT_THAT(clobber, SizeIs(1));
  EXPECT_EQ(clobber[0].kind, FindingKind::kClobber);
  EXPECT_THAT(clobber[0].details,
              Contains("It is so in the reference order: no barrier repairs this."));
  const auto race = findings_of(values +
                                "dispatch A writes t\nbarrier\ndispatch C reads t\nwait s=1 on q1\n"
                                "dispatch B writes u on q1\nsignal s=1\n");
  const auto late = findings_of(values +
                                "dispatch A writes t\nbarrier\nsignal s=1\n"
                                "dispatch C reads t\nwait s=1 on q1\n"
                                "dispatch B writes u on q1\n");
  EXPECT_THAT(race, IsEmpty());
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_THAT(late[0].details,
              Contains("Where B (dispatch 2) comes first, C (dispatch 1) finds u instead of t: a "
                       "clobber that the reference order does not show."));
}

// What is said of the host's cache is so.
TEST(ExplainQueues, SaysWhichMoveOfTheHostIsMissing) {
  const std::string make =
      "memory m 256 noncoherent=64\nd: dispatch D writes m[0:64]\n"
      "barrier compute.write -> host.read\nsignal s=1\n";
  const auto early =
      findings_of(make + "host invalidates m\nhost waits s=1\nhr: host reads m[0:64]\n");
  ASSERT_THAT(early, SizeIs(1));
  EXPECT_THAT(early[0].details.at(0),
              HasSubstr("the host does not invalidate these bytes after a wait for what takes them "
                        "to host.read or host.write."));
  EXPECT_THAT(findings_of(make + "host waits s=1\nhost invalidates m\nhr: host reads m[0:64]\n"),
              IsEmpty());
  // There is none, and there is one of other bytes.
  const auto none =
      findings_of("d: dispatch D writes x\nsignal s=1\nhost waits s=1\nhost reads x\n");
  ASSERT_THAT(none, SizeIs(1));
  EXPECT_THAT(none[0].details.at(0),
              HasSubstr("no dependency before it has host.read or host.write in its destination."));
  const auto other = findings_of(
      "d: dispatch D writes x\nbarrier compute.write -> host.read y\nsignal s=1\n"
      "host waits s=1\nhost reads x\n");
  ASSERT_THAT(other, SizeIs(1));
  EXPECT_THAT(other[0].details.at(0),
              HasSubstr("no dependency before it that covers what is written has host.read"));
}

// A move of these bytes that stands elsewhere is no missing one.
TEST(ExplainQueues, SaysWhichMoveOfTheHostComesTooLateOrTooEarly) {
  const std::string head = "memory m 64 noncoherent=64\n";
  const std::string write = "hw: host writes m\n";
  const std::string use = "d: dispatch D reads m writes y\nsubmit\n";
  const auto reason_of = [&](const std::string& text) {
    const std::vector<Finding> found = findings_of(head + text);
    EXPECT_THAT(found, SizeIs(1));
    return found.empty() ? "" : found[0].details.at(0);
  };
  EXPECT_THAT(
      reason_of(write + use + "host flushes m[0:4]\n"),
      HasSubstr(
          ": m is not coherent, and 'host flushes m[0:4]' (statement 3) comes too late, after d (dispatch 0)."));
  EXPECT_THAT(
      reason_of("wait s=1\nbarrier host.write -> compute.read\n" + use + write +
                "host signals s=1\nhost flushes m\n"),
      HasSubstr("and 'host flushes m' (statement 6) comes too late, after d (dispatch 0)."));
  EXPECT_THAT(
      reason_of("host flushes m\n" + write + use),
      HasSubstr("and 'host flushes m' (statement 0) comes too early, before hw (host writes)."));
  // Of several the nearest, and not one about what somebody writes in between.
  EXPECT_THAT(reason_of("host flushes m\nhost flushes m\n" + write + use),
              HasSubstr("and 'host flushes m' (statement 1) comes too early"));
  EXPECT_THAT(reason_of(write + use + "host idle\nhost writes m\nhost flushes m\n"),
              HasSubstr("and the host does not flush these bytes."));
  EXPECT_THAT(reason_of(write + use + "host flushes x\n"),
              HasSubstr("and the host does not flush these bytes."));
  const std::string made =
      "d: dispatch D writes m\nbarrier compute.write -> host.read\nsignal s=1\nhost waits s=1\n";
  EXPECT_THAT(
      reason_of(made + "hr: host reads m\nhost invalidates m\n"),
      HasSubstr("and 'host invalidates m' (statement 5) comes too late, after hr (host reads)."));
  EXPECT_THAT(
      reason_of("host invalidates m\n" + made + "hr: host reads m\n"),
      HasSubstr("and 'host invalidates m' (statement 0) comes too early, before d (dispatch 0)."));
}

TEST(ExplainQueues, SaysBeforeWhatTheHostFlushes) {
  const std::string use = "d: dispatch D reads m writes y\n";
  const std::string head = "memory m 64 noncoherent=64\n";
  const auto before = findings_of(head + "wait s=1\nbarrier host.write -> compute.read\n" + use +
                                  "submit\nhw: host writes m\nhost signals s=1\nhost flushes m\n");
  ASSERT_THAT(before, SizeIs(1));
  EXPECT_THAT(before[0].fix, HasSubstr("right after hw (host writes), before the signal that d"));
  const auto after = findings_of(head + "hw: host writes m\n" + use + "submit\n");
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_THAT(after[0].fix, HasSubstr("before d (dispatch 0) is submitted."));
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
  EXPECT_EQ(findings[0].fix, "`after make` without `programmatic` on use (dispatch 1).");
}

TEST(ExplainGraphs, GivesTheHostItsScopeOnAnotherQueue) {
  const std::string make = "make: dispatch Make writes x on g\n";
  const auto findings = findings_of(make + "host idle\nlook: host reads x\n");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].fix,
            "on a queue that is no graph: a wait for make (dispatch 0), `barrier compute.write -> "
            "host.read x`, a signal and a submission; and the host waits for that signal before "
            "look (host reads).");
  EXPECT_THAT(findings_of(make + "signal made=1 on g\nwait made=1 on q1\n"
                                 "barrier compute.write -> host.read x on q1\n"
                                 "signal fence=1 on q1\nhost waits fence=1\nlook: host reads x\n"),
              IsEmpty());
}

}  // namespace
}  // namespace interlock::queue_explain_test
