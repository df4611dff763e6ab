// Whether a hazard can change an output, as check says it, against brute force.
#include "simulator/schedules/observability.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/report/check.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/schedule.h"
#include "simulator/schedules/shadow_machine.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/brute_force.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::observability_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// live hides behind dead: both read a before w overwrites it, and only what live writes is an
// output. With `more`, other hazards follow.
Program hidden_hazard_with(std::string_view more) {
  return program_of(R"(
      memory a 64
      memory b 64
      memory c 64
      memory d 64
      memory e 64
      memory f 64
      tensor o u8[64] at b+0
      tensor last u8[64] at f+0
      output o last
      live: dispatch L reads a writes o
      dead: dispatch D reads a writes d
      w: dispatch W writes a
      )" + std::string(more));
}

TEST(Observability, CallsAHazardObservableThroughTheOneItHides) {
  for (const std::string_view more :
       {"", "u: dispatch U reads e writes last\nv: dispatch V writes e\n"}) {
    const CheckReport report = check(hidden_hazard_with(more));
    ASSERT_THAT(report.findings, SizeIs(more.empty() ? 1 : 2));
    const Finding& finding = report.findings[0];
    EXPECT_EQ(finding.headline,
              "WAR hazard: w (dispatch 2) writes a[0:64], which dead (dispatch 1) reads.");
    EXPECT_EQ(finding.observability, Observability::kObservable);
    EXPECT_THAT(finding.witness, SizeIs(1));
    EXPECT_THAT(
        finding.details,
        Contains(
            "Observable through live (dispatch 0), which reads these bytes too: with live after w, output o can differ."));
  }
}

TEST(Observability, NamesTheBytesThroughWhichAHiddenHazardIsObservable) {
  const CheckReport report = check(program_on_abc(R"(
      tensor o u8[4] at b+0
      output o
      live: dispatch L reads a[8:32] writes o
      dead: dispatch D reads a[0:16]
      w: dispatch W writes a[0:16])"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_THAT(
      report.findings[0].details,
      Contains(
          "Observable through live (dispatch 0), which reads a[8:16] too: with live after w, output o can differ."));
}

TEST(Observability, HidesNoHazardBehindBytesThatItDoesNotTouch) {
  // live and w conflict on b, dead and w on a: both are listed, and dead stays dead.
  const CheckReport report = check(program_on_abc(R"(
      tensor o u8[4] at c+0
      output o
      live: dispatch L reads b[0:4] writes o
      dead: dispatch D reads a[0:4]
      w: dispatch W writes a[0:4] b[0:4])"));
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[0].first.dispatch, DispatchId(size_t{0}));
  EXPECT_EQ(report.findings[0].observability, Observability::kObservable);
  EXPECT_EQ(report.findings[1].observability, Observability::kMasked);
}

TEST(Observability, SaysWhenTheBudgetDoesNotReachTheHiddenHazards) {
  // Three runs of three dispatches decide, the fourth judges the listed pair.
  const CheckReport report = check(hidden_hazard_with(""), {.observability_budget = 12});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_NE(report.findings[0].observability, Observability::kMasked);
}

TEST(Observability, DoesNotDecideWhereSlicesOfOneDispatchConflict) {
  // Two shifted operands: the deciding runs say nothing about the order of slices.
  const CheckReport report = check(program_on_abc(R"(
      tensor out u8[4] at b+0
      output out
      dispatch One writes a[0:4]
      dispatch Two writes a[0:4]
      barrier
      shift: dispatch Three reads c[0:8] writes c[4:12] out)"));
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[0].observability, Observability::kUnknown);
  EXPECT_THAT(
      report.findings[0].details,
      Contains(
          "Whether an output can differ is not decided: slices of shift (dispatch 2) conflict with each other."));
}

TEST(Observability, SaysWhenTheBudgetIsSpent) {
  const Program program = program_on_abc("dispatch One writes a\ndispatch Two writes a\n");
  const CheckReport report = check(program, {.observability_budget = 1});
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].observability, Observability::kUnknown);
  EXPECT_THAT(report.findings[0].details, Contains(StartsWith("Whether an output can differ")));
}

// A read of thousands of byte segments takes as long as many dispatches, and counts like them.
TEST(Observability, SpendsMoreOnDispatchesThatTouchManySegments) {
  if (is_slow_build()) GTEST_SKIP() << "Searches up to a budget take seconds there.";
  const auto unknown_count_of = [](uint64_t read_bytes) {
    std::string text = "interlock 1\nmemory m 4096\n";
    for (int i = 0; i < 300; ++i) {
      text +=
          fmt::format("dispatch D reads m[0:{}] writes m[{}:{}]\n", read_bytes, 8 * i, 8 * i + 8);
    }
    const CheckReport report = check(parse(text).value(), {.observability_budget = 100'000});
    return std::count_if(report.findings.begin(), report.findings.end(), [](const Finding& f) {
      return f.observability == Observability::kUnknown;
    });
  };
  EXPECT_EQ(unknown_count_of(8), 0);
  EXPECT_GT(unknown_count_of(4096), 0);
}

// Whether the finding's witness is legal and changes an output.
bool witness_holds(const Program& program, const Finding& finding) {
  const HappensBefore order(program);
  const Result<Schedule> schedule = schedule_of(program, order, finding.witness);
  if (!schedule || !check_legal(program, order, *schedule)) {
    return false;
  }
  ShadowMachine machine(program);
  return !(machine.run(*schedule, ShadowMode::kObservable) ==
           machine.run(reference_order_schedule(program), ShadowMode::kObservable));
}

TEST(Observability, CallsAProgramObservableIffSomeScheduleChangesAnOutput) {
  SeededChoice choice(6);
  uint64_t observable_count = 0;
  uint64_t unobservable_count = 0;
  for (int i = 0; i < share_count(3'000, 8, 160) && !::testing::Test::HasFailure(); ++i) {
    const Program program = random_program(choice, {.dispatch_count_max = 4});
    SCOPED_TRACE(print(program));
    const CheckReport report = check(program);
    bool is_observable = false;
    bool has_hazard = false;
    for (const Finding& finding : report.findings) {
      has_hazard = has_hazard || is_hazard(finding.kind);
      if (finding.observability == Observability::kObservable) {
        is_observable = true;
        EXPECT_TRUE(witness_holds(program, finding)) << finding.headline;
      } else {
        EXPECT_THAT(finding.witness, IsEmpty());
      }
    }
    const BruteForceVerdict verdict = brute_force(program);
    EXPECT_EQ(has_hazard, verdict.differs_strictly);
    EXPECT_EQ(is_observable, verdict.differs_observably);
    observable_count += is_observable;
    unobservable_count += has_hazard && !is_observable;
  }
  EXPECT_GT(observable_count, static_cast<uint64_t>(share_count(300, 8, 160)));
  EXPECT_GT(unobservable_count, static_cast<uint64_t>(share_count(30, 8, 160)));
}

// The second dispatches of the observable findings.
std::set<DispatchId> observable_seconds(const CheckReport& report) {
  std::set<DispatchId> seconds;
  for (const Finding& finding : report.findings) {
    if (finding.observability == Observability::kObservable) {
      seconds.insert(finding.second->dispatch);
    }
  }
  return seconds;
}

TEST(Observability, HidesNoObservableHazard) {
  SeededChoice choice(7);
  uint64_t through_count = 0;
  for (int i = 0; i < share_count(6'000, 10) && !::testing::Test::HasFailure(); ++i) {
    // Half of them small enough for brute force.
    const uint64_t dispatch_count = i % 2 == 0 ? 4 : 9;
    const Program program = random_program(
        choice, {.dispatch_count_max = dispatch_count, .memory_bytes = 4, .barrier_percent = 20});
    SCOPED_TRACE(print(program));
    const CheckReport latest = check(program);
    const CheckReport all = check(program, {.lists_all_pairs = true});
    EXPECT_EQ(observable_seconds(latest), observable_seconds(all));
    for (const Finding& finding : latest.findings) {
      if (finding.observability == Observability::kObservable) {
        EXPECT_TRUE(witness_holds(program, finding)) << finding.headline;
      }
      for (const std::string& detail : finding.details) {
        through_count += detail.rfind("Observable through", 0) == 0;
      }
    }
    if (dispatch_count == 4) {
      EXPECT_EQ(!observable_seconds(latest).empty(), brute_force(program).differs_observably);
    }
  }
  EXPECT_GE(through_count, static_cast<uint64_t>(share_count(200, 10, 100)));
}

}  // namespace
}  // namespace interlock::observability_test
