// Orders in which a host may issue: drawn evenly by rank, however many may be next, and stopped.
#include "backends/interface/issue_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "encoder/program/stop.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::issue_order_test {
namespace {

using testing::ElementsAre;

Program unordered(int count) {
  std::string text = "interlock 1\nmemory m 4\nq1: queue concurrent\n";
  for (int i = 0; i < count; ++i) text += "dispatch Work reads m on q1\n";
  return program_with_queues(text);
}

TEST(IssueOrder, DrawsTheNextOneByItsRank) {
  const Program program = unordered(100);
  SeededChoice choice(7);
  SeededChoice same(7);
  std::vector<StatementId> left;
  for (size_t i = 0; i < program.statements.size(); ++i) left.emplace_back(i);
  for (const StatementId drawn : issue_order_of(program, {}, &choice)) {
    const auto next = left.begin() + static_cast<ptrdiff_t>(same.below(left.size()));
    ASSERT_EQ(drawn, *next);
    left.erase(next);
  }
  EXPECT_TRUE(left.empty());
}

// Each draw costs a logarithm: 200,000 draws that walk to their rank take minutes.
TEST(IssueOrder, DrawsFromManyAndStops) {
  const Program program = unordered(program_count(200'000));
  SeededChoice choice(1);
  EXPECT_EQ(issue_order_of(program, {}, &choice).size(), program.statements.size());
  Stop stop;
  const StopScope scope(&stop);
  stop.request_at_poll(program.statements.size() + 10);
  const std::vector<StatementId> order = issue_order_of(program, {}, &choice);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(order.size(), program.statements.size());
  EXPECT_LT(stop.poll_count(), program.statements.size() + 20);
}

TEST(IssueOrder, LetsEachIdleComeAfterAllBefore) {
  const Program program = program_with_queues(
      "interlock 1\nmemory m 4\nq1: queue concurrent\n"
      "dispatch Work reads m on q1\ndispatch Work reads m on q1\nhost idle\n"
      "dispatch Work reads m on q1\nhost idle on q1\nhost idle\nbarrier on q1\nhost idle\n");
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SeededChoice choice(seed);
    std::vector<size_t> order;
    for (const StatementId id : issue_order_of(program, {}, &choice)) order.push_back(id.index);
    if (order[0] == 1) std::swap(order[0], order[1]);
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  }
}

}  // namespace
}  // namespace interlock::issue_order_test
