// Groups, their traces and their number, on relations of a few steps: any partial order and any
// conflicts, against all linear extensions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "simulator/schedules/choice.h"
#include "simulator/schedules/trace_count.h"
#include "simulator/schedules/trace_enumerator.h"
#include "simulator/schedules/trace_groups.h"
#include "simulator/schedules/trace_schedule.h"
#include "simulator/schedules/trace_units.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/all_traces.h"

namespace interlock::traces_test {
namespace {

UnitOrder order_of(const StepRelations& relations) {
  return [&relations](uint32_t first, uint32_t second) -> bool {
    return relations.precedes[first][second];
  };
}

std::vector<TraceGroup> groups_of(const StepRelations& relations) {
  return trace_groups(relations.hazards(), order_of(relations));
}

// All steps in one group.
TraceGroup one_group(const StepRelations& relations) {
  TraceGroup group;
  group.hazards = relations.hazards();
  group.before = BitMatrix(relations.count());
  for (uint32_t a = 0; a < relations.count(); ++a) {
    group.units.push_back(a);
    for (uint32_t b = 0; b < relations.count(); ++b) {
      if (relations.precedes[a][b]) group.before.set(b, a);
    }
  }
  return group;
}

Natural exact_count(const TraceGroup& group) {
  uint64_t work_limit = 1u << 20;
  const TraceCount count = count_traces(group, work_limit);
  EXPECT_TRUE(count.is_exact);
  return count.value;
}

// Each step is a dispatch.
TraceUnits units_of(const StepRelations& relations) {
  TraceUnits units;
  for (size_t step = 0; step < relations.count(); ++step) {
    units.units.push_back({StepKind::kRun, DispatchId(step), 0, 1});
  }
  units.hazards = relations.hazards();
  return units;
}

bool extends(const StepOrder& order, const StepRelations& relations) {
  for (size_t i = 0; i < order.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (order[i] == order[j] || relations.precedes[order[i]][order[j]]) return false;
    }
  }
  return order.size() == relations.count();
}

// Every combination of the groups' traces, one by one.
void enumerate(const StepRelations& relations, std::set<NormalForm>& forms) {
  const std::vector<TraceGroup> groups = groups_of(relations);
  const TraceUnits units = units_of(relations);
  TraceSchedule linearizer(units, groups, order_of(relations));
  std::vector<TraceEnumerator> traces(groups.begin(), groups.end());
  std::vector<const TraceEnumerator*> pointers;
  for (const TraceEnumerator& trace : traces) pointers.push_back(&trace);
  Schedule schedule;
  bool has_more = true;
  while (has_more) {
    linearizer.schedule_of(pointers, schedule);
    StepOrder order;
    for (const Step& step : schedule.steps) order.push_back(step.dispatch.index);
    ASSERT_TRUE(extends(order, relations));
    ASSERT_TRUE(forms.insert(normal_form(order, relations)).second) << "a trace came twice";
    has_more = std::any_of(traces.rbegin(), traces.rend(),
                           [](TraceEnumerator& digit) { return digit.advance(); });
  }
}

void check_relations(const StepRelations& relations) {
  const std::set<NormalForm> expected = normal_forms(relations);
  std::set<NormalForm> forms;
  ASSERT_NO_FATAL_FAILURE(enumerate(relations, forms));
  ASSERT_EQ(forms, expected);
  Natural product(1);  // T2
  for (const TraceGroup& group : groups_of(relations)) product *= exact_count(group);
  ASSERT_EQ(product, Natural(expected.size()));
  ASSERT_EQ(exact_count(one_group(relations)), Natural(expected.size()));
  uint64_t no_work = 0;
  ASSERT_GE(count_traces(one_group(relations), no_work).value, Natural(expected.size()));
}

TEST(Traces, AreTheClassesOfAllLinearExtensions) {
  SeededChoice choice(31);
  int several_groups = 0;
  for (int i = 0; i < share_count(4'000, 8); ++i) {
    const StepRelations relations = random_relations(choice, 6);
    ASSERT_NO_FATAL_FAILURE(check_relations(relations)) << "relations " << i;
    several_groups += groups_of(relations).size() > 1 ? 1 : 0;
  }
  EXPECT_GT(several_groups, share_count(50, 8));
}

TEST(Traces, AreTheClassesOfAllLinearExtensionsOfSevenSteps) {
  SeededChoice choice(32);
  for (int i = 0; i < share_count(100, 2); ++i) {
    ASSERT_NO_FATAL_FAILURE(check_relations(random_relations(choice, 7))) << "relations " << i;
  }
}

TEST(NormalForm, IsOnePerClassOfSwaps) {
  SeededChoice choice(33);
  for (int i = 0; i < program_count(500); ++i) {
    const StepRelations relations = random_relations(choice, 5);
    ASSERT_EQ(normal_forms(relations).size(), count_classes_by_swapping(relations));
  }
}

// T3: exactly one hazard reversed, and that is possible iff the hazard covers: no step lies between
// its two in the closure of sync and of the conflicts in issue order.
void check_isolated_hazards(const StepRelations& relations, int& isolated_count) {
  Relation closure = relations.precedes;
  const size_t count = relations.count();
  for (size_t b = 0; b < count; ++b) {
    for (size_t a = 0; a < b; ++a) closure[a][b] = closure[a][b] || relations.conflicts[a][b];
  }
  for (size_t b = 0; b < count; ++b) {
    for (size_t c = 0; c < count; ++c) {
      for (size_t a = 0; a < count; ++a) {
        if (closure[a][b] && closure[b][c]) closure[a][c] = true;
      }
    }
  }
  std::set<UnitPair> isolated;
  for (const StepOrder& order : linear_extensions(relations)) {
    std::vector<UnitPair> reversed;
    for (size_t j = 0; j < count; ++j) {
      for (size_t i = 0; i < j; ++i) {
        if (order[i] > order[j] && relations.conflicts[order[i]][order[j]])
          reversed.push_back({order[j], order[i]});
      }
    }
    if (reversed.size() == 1) isolated.insert(reversed.front());
  }
  for (const UnitPair& hazard : relations.hazards()) {
    bool covers = true;
    for (size_t c = 0; c < count; ++c) {
      covers &= !closure[hazard.first][c] || !closure[c][hazard.second];
    }
    ASSERT_EQ(isolated.count(hazard) == 1, covers);
    isolated_count += covers ? 1 : 0;
  }
  ASSERT_EQ(isolated.empty(), relations.hazards().empty());
}

TEST(Hazard, CanBeTheOnlyReversedPairExactlyIfItIsACoveringEdge) {
  SeededChoice choice(34);
  int hazard_count = 0;
  int isolated_count = 0;
  for (int i = 0; i < share_count(5'000, 3); ++i) {
    const StepRelations relations = random_relations(choice, 6);
    ASSERT_NO_FATAL_FAILURE(check_isolated_hazards(relations, isolated_count)) << i;
    hazard_count += static_cast<int>(relations.hazards().size());
  }
  EXPECT_GT(isolated_count, share_count(5'000, 3));
  EXPECT_GT(hazard_count - isolated_count, share_count(2'000, 3));
}

// So varying one group at a time tries what T6 needs: the first of a hazard and its descendants
// between the two, moved to right after the second.
TEST(Groups, HoldWhatASinkReverses) {
  SeededChoice choice(35);
  int with_descendants = 0;
  for (int i = 0; i < program_count(10'000); ++i) {
    const StepRelations relations = random_relations(choice, 8);
    std::vector<size_t> group_of(relations.count());
    const std::vector<TraceGroup> groups = groups_of(relations);
    for (size_t g = 0; g < groups.size(); ++g) {
      for (const uint32_t unit : groups[g].units) group_of[unit] = g;
    }
    for (const UnitPair& sunk : relations.hazards()) {
      std::vector<bool> moves(relations.count(), false);
      moves[sunk.first] = true;
      for (uint32_t c = sunk.first + 1; c < sunk.second; ++c) {
        moves[c] = relations.precedes[sunk.first][c];
        with_descendants += moves[c] ? 1 : 0;
      }
      for (const UnitPair& other : relations.hazards()) {
        const bool is_reversed =
            moves[other.first] && !moves[other.second] && other.second <= sunk.second;
        if (!is_reversed) continue;
        ASSERT_EQ(group_of[other.first], group_of[sunk.first]) << "relations " << i;
      }
    }
  }
  EXPECT_GT(with_descendants, program_count(1'000));
}

StepRelations unordered(size_t count) {
  return {Relation(count, std::vector<bool>(count, false)),
          Relation(count, std::vector<bool>(count, false))};
}
void add_conflict(StepRelations& relations, size_t a, size_t b) {
  relations.conflicts[a][b] = true;
  relations.conflicts[b][a] = true;
}

StepRelations bipartite(size_t left, size_t right) {
  StepRelations relations = unordered(left + right);
  for (size_t a = 0; a < left; ++a) {
    for (size_t b = left; b < left + right; ++b) add_conflict(relations, a, b);
  }
  return relations;
}

// With step 4 before step 0, steps 3, 2 and 1 must come before it too: 3 by sync, 2 by its conflict
// with 3, which is of another group, and 1 by sync with 2.
TEST(TraceSchedule, FollowsSyncAndConflictsThroughOtherGroups) {
  StepRelations relations = unordered(5);
  add_conflict(relations, 0, 4);
  add_conflict(relations, 2, 3);
  relations.precedes[1][2] = true;
  relations.precedes[3][4] = true;
  ASSERT_EQ(groups_of(relations).size(), 2u);
  check_relations(relations);
}

TEST(CountTraces, KnowsFamiliesOfGraphs) {
  StepRelations clique = unordered(25);
  StepRelations path = unordered(100);
  StepRelations cycle = unordered(20);
  for (size_t a = 0; a < clique.count(); ++a) {
    for (size_t b = 0; b < a; ++b) add_conflict(clique, a, b);
  }
  for (size_t a = 1; a < path.count(); ++a) add_conflict(path, a - 1, a);
  for (size_t a = 0; a < cycle.count(); ++a) add_conflict(cycle, a, (a + 1) % cycle.count());
  EXPECT_EQ(exact_count(one_group(clique)).text(), "15511210043330985984000000");    // 25!
  EXPECT_EQ(exact_count(one_group(path)).text(), "633825300114114700748351602688");  // 2^99
  EXPECT_EQ(exact_count(one_group(cycle)).text(), "1048574");                        // 2^20 - 2
  // The poly-Bernoulli numbers (Cameron, Glass, Schumacher, 2014).
  EXPECT_EQ(exact_count(one_group(bipartite(3, 3))).text(), "230");
  EXPECT_EQ(exact_count(one_group(bipartite(4, 4))).text(), "6902");
  EXPECT_EQ(exact_count(one_group(bipartite(5, 5))).text(), "329462");
}

// Sums over j of (j!)^2 S(left+1, j+1) S(right+1, j+1), by Stirling numbers of the second kind.
Natural poly_bernoulli(size_t left, size_t right) {
  std::vector<std::vector<Natural>> stirling(std::max(left, right) + 2);
  for (size_t n = 0; n < stirling.size(); ++n) {
    stirling[n].resize(n + 2);
    for (size_t k = 0; k <= n; ++k) {
      if (n == 0) stirling[n][k] = Natural(1);
      if (n == 0 || k == 0) continue;
      stirling[n][k] = stirling[n - 1][k];
      stirling[n][k] *= Natural(k);
      stirling[n][k] += stirling[n - 1][k - 1];
    }
  }
  Natural sum;
  Natural factorial(1);
  for (size_t j = 0; j <= std::min(left, right); ++j) {
    if (j > 0) factorial *= Natural(j);
    Natural term = factorial;
    term *= factorial;
    term *= stirling[left + 1][j + 1];
    term *= stirling[right + 1][j + 1];
    sum += term;
  }
  return sum;
}

// Rows against columns: what the slices of a row kernel and of a column kernel make.
TEST(CountTraces, TakesSlicesOfOneKindTogether) {
  EXPECT_EQ(exact_count(one_group(bipartite(64, 16))), poly_bernoulli(64, 16));
}

TEST(CountTraces, GivesABoundWhenTheWorkRunsOut) {
  StepRelations cycle = unordered(40);
  for (size_t a = 0; a < 40; ++a) {
    add_conflict(cycle, a, (a + 1) % 40);
    add_conflict(cycle, a, (a + 7) % 40);
  }
  uint64_t work_limit = 1000;
  const TraceCount count = count_traces(one_group(cycle), work_limit);
  EXPECT_FALSE(count.is_exact);
  EXPECT_EQ(count.value.text(), "1208925819614629174706176");  // 2^80, less than 40!
  EXPECT_LT(work_limit, 1000u);
}

}  // namespace
}  // namespace interlock::traces_test
