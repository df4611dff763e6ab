// What a check does on programs of very many operands is near linear in them, or ends at a limit
// and says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "encoder/program/stop.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/check.h"
#include "tests/dense_program.h"

namespace interlock::bounded_check_test {
namespace {

// Polls of the search for hazards: one for each dispatch, each run of bytes and each hazard.
uint64_t polls_of_hazards(uint64_t operand_count) {
  const Program program = dense_program(20, operand_count);
  Stop stop;
  stop.request_at_poll(UINT64_MAX);
  const StopScope scope(&stop);
  find_hazards(program, HappensBefore(program));
  return stop.poll_count();
}

TEST(BoundedCheck, AsksForBytesOnceThatManyOperandsShare) {
  EXPECT_LE(polls_of_hazards(200), 2 * polls_of_hazards(20));
}

TEST(BoundedCheck, JudgesNoHazardWhoseRunsTouchMoreThanTheBudget) {
  const Program program = dense_program(20, 40);
  const auto is_unjudged = [](const CheckReport& report) {
    return std::all_of(report.findings.begin(), report.findings.end(), [](const Finding& finding) {
      return finding.kind == FindingKind::kAlias ||
             finding.observability == Observability::kUnknown;
    });
  };
  EXPECT_TRUE(is_unjudged(check(program, {.observability_budget = 1000})));
  EXPECT_FALSE(is_unjudged(check(program, {})));
}

TEST(BoundedCheck, ListsNoMoreAliasesThanItsLimit) {
  const Program program = dense_program(3, 40);
  const size_t count = find_alias_violations(program).size();
  ASSERT_GT(count, 100u);
  const auto aliases_of = [&](uint64_t limit, bool is_truncated) {
    const CheckReport report = check(program, {.pair_limit = limit});
    EXPECT_EQ(!report.truncations.empty(), is_truncated) << limit;
    return static_cast<size_t>(
        std::count_if(report.findings.begin(), report.findings.end(),
                      [](const Finding& finding) { return finding.kind == FindingKind::kAlias; }));
  };
  EXPECT_EQ(aliases_of(count, false), count);
  EXPECT_EQ(aliases_of(count - 1, true), count - 1);
  EXPECT_EQ(find_alias_violations(program, 7).size(), 7u);
}

}  // namespace
}  // namespace interlock::bounded_check_test
