// Each planted fault of the check is contradicted by the second method, within a number of programs
// that is written down. If one is not, the methods would agree on a wrong check, too.
#include "tests/simulator/judges/mutant_checks.h"
#include "tests/program_count.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/strategy_three.h"
#include "tests/simulator/judges/cache_machine.h"
#include "tests/simulator/programs/random_programs.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::mutant_checks_test {
namespace {

// Programs to judge, at most: at least ten times the median over seeds 1 to 5 and four times the
// slowest of them, rounded up.
struct Budget {
  std::string_view mutant;
  int program_count;
};

constexpr Budget kBudgets[] = {
    {"drops-raw", 200},
    {"drops-war", 500},
    {"drops-waw", 1000},
    {"execution-as-full", 100},
    {"full-as-execution", 50},
    {"execution-as-none", 1000},
    {"begins-late", 50},
    {"ends-early", 50},
    {"begins-early", 200},
    {"ignores-offsets", 100},
    {"first-four-operands", 500},
    {"updates-as-reads", 500},
    {"atomics-as-reads", 500},
    {"atomics-as-updates", 10000},
    {"ignores-atomic-op", 2000},
    {"chains-in-one-command", 5000},
    {"ignores-barrier-operands", 1000},
    {"one-barrier-operand", 1000},
    {"uniform-as-read", 25000},
    {"write-as-read", 5000},
    {"ignores-source-access", 500},
    {"ignores-destination-access", 1000},
    {"one-stage", 10000},
    {"first-dependency-only", 500},
    {"one-barrier-per-slot", 500},
    {"repeats-do-nothing", 25000},
    {"orders-every-stage", 5000},
    {"carries-no-availability", 2000},
};

int budget_of(std::string_view mutant) {
  for (const Budget& budget : kBudgets) {
    if (budget.mutant == mutant) return budget.program_count;
  }
  return 0;
}

Program next_program(Choice& choice, bool is_scoped) {
  if (is_scoped) return random_scoped_program(choice);
  RandomProgramOptions options;
  options.dispatch_count_max = 5;
  options.operand_count_max = 6;
  options.memory_bytes = 12;
  options.barrier_percent = 60;
  return random_program(choice, options);
}

// Whether there is a hazard, by a method that has nothing in common with the check.
bool differs_by_second_method(const Program& program, bool is_scoped) {
  if (is_scoped) return execute_in_every_way(program).differs;
  const HappensBefore order(program);
  ShadowMachine machine(program);
  const auto run = [&machine](const Schedule& schedule) {
    return machine.run(schedule, ShadowMode::kStrict);
  };
  const ShadowResult issue = run(reference_order_schedule(program));
  return run(epoch_reversed_schedule(program, order)) != issue ||
         run(lazy_schedule(program, order)) != issue;
}

class MutantChecks : public testing::TestWithParam<MutantCheck> {};

TEST_P(MutantChecks, AreContradictedWithinTheirBudget) {
  const MutantCheck& mutant = GetParam();
  const int budget = budget_of(mutant.name);
  ASSERT_GT(budget, 0) << "A new mutant needs a line in the table.";
  const uint64_t seed_count = tries_all() ? 5 : is_slow_build() ? 1 : 2;
  for (uint64_t seed = 1; seed <= seed_count; ++seed) {
    SeededChoice choice(seed);
    bool is_contradicted = false;
    for (int i = 0; i < budget && !is_contradicted; ++i) {
      const Program program = next_program(choice, mutant.is_scoped);
      const bool has_hazard = differs_by_second_method(program, mutant.is_scoped);
      is_contradicted = mutant.finds_hazard(program) != has_hazard;
      if (!is_contradicted) continue;
      EXPECT_EQ(has_hazard, mutant.kind == MutantCheckKind::kUnsafe) << print(program);
    }
    EXPECT_TRUE(is_contradicted) << "seed " << seed << ", budget " << budget;
  }
}

std::string name_of(const testing::TestParamInfo<MutantCheck>& info) {
  std::string name(info.param.name);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Mutants, MutantChecks, testing::ValuesIn(mutant_checks()), name_of);

TEST(MutantCheckList, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const MutantCheck& mutant : mutant_checks()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
  }
}

}  // namespace
}  // namespace interlock::mutant_checks_test
