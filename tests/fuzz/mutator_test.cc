#include "fuzz/mutator.h"

#include <gtest/gtest.h>

#include "encoder/program_builder.h"
#include "encoder/text.h"
#include "fuzz/oracles.h"
#include "simulator/choice.h"
#include "tests/program_count.h"

namespace interlock {
namespace {

TEST(Mutator, GivesDraftsWhoseRestIsAProgram) {
  SeededChoice choice(1);
  ProgramDraft draft;
  uint64_t dispatch_count = 0;
  for (int i = 0; i < 3000; ++i) {
    draft = mutate(draft, choice);
    const Program program = lenient_build(draft);
    dispatch_count += program.dispatches.size();
    const auto parsed = parse(print(program));
    ASSERT_TRUE(parsed) << parsed.error().message << "\n" << print(program);
  }
  EXPECT_GT(dispatch_count, 3000u);
}

TEST(Mutator, LeavesOutWhatNoLongerFits) {
  ProgramDraft draft;
  draft.items.emplace_back(MemoryDraft{"a", 16});
  DispatchDraft dispatch;
  dispatch.kernel = "Produce";
  dispatch.operands.push_back({AccessMode::kWrite, "a", ByteRange{0, 4}});
  draft.items.emplace_back(dispatch);
  dispatch.operands[0].name = "gone";
  draft.items.emplace_back(dispatch);
  EXPECT_FALSE(build(draft));
  EXPECT_EQ(lenient_build(draft).dispatches.size(), 1u);
}

TEST(Mutator, BringsHazardsAliasingAndBothKindsOfBarrier) {
  SeededChoice choice(2);
  GeneratorOptions options;
  options.has_barriers = true;
  uint64_t hazards = 0;
  uint64_t aliases = 0;
  uint64_t ordered = 0;
  uint64_t clean = 0;
  for (int i = 0; i < 2000; ++i) {
    SeededChoice fresh(static_cast<uint64_t>(i));
    const Program program = lenient_build(mutate(generate(fresh, options), choice, options));
    const auto findings = find_exactly(program);
    clean += findings.empty();
    for (const OracleFinding& finding : findings) {
      aliases += finding.kind == FindingKind::kAlias;
      hazards += is_hazard(finding.kind);
      ordered += finding.is_ordered;
    }
  }
  EXPECT_GT(hazards, 100u);
  EXPECT_GT(aliases, 20u);
  EXPECT_GT(ordered, 20u);
  EXPECT_GT(clean, 100u);
}

// The second methods must agree on mutants too: on programs that no generator would make.
TEST(Mutator, MakesProgramsOnWhichOurMethodsAgree) {
  SeededChoice choice(3);
  GeneratorOptions options;
  options.has_barriers = true;
  ProgramDraft draft;
  for (uint64_t i = 0; i < static_cast<uint64_t>(program_count(4000)); ++i) {
    draft = draft_of(lenient_build(mutate(draft, choice, options)));
    const OracleReport report = judge(lenient_build(draft), {}, i);
    ASSERT_TRUE(report.disagreements.empty())
        << word_of(report.disagreements[0].stage) << ": " << report.disagreements[0].message << "\n"
        << print(draft);
  }
}

TEST(CrossOver, TakesAPrefixAndASuffix) {
  SeededChoice choice(4);
  SeededChoice first_choice(10);
  SeededChoice second_choice(11);
  const ProgramDraft first = generate(first_choice);
  const ProgramDraft second = generate(second_choice);
  uint64_t longest = 0;
  for (int i = 0; i < 50; ++i) {
    const Program child = lenient_build(cross_over(first, second, choice));
    longest = std::max<uint64_t>(longest, child.dispatches.size());
  }
  EXPECT_GT(longest, 0u);
}

}  // namespace
}  // namespace interlock
