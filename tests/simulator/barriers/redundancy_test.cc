// Which barriers can go: the rule, and removal as its judge.
#include "simulator/barriers/redundancy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "tests/program_count.h"
#include "tests/simulator/barriers/redundant_barriers.h"
#include "tests/simulator/judges/reference_checks.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::redundancy_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> reasons_on_abc(std::string_view body) {
  const Program program = program_on_abc(body);
  std::vector<std::string> reasons;
  for (const RedundantBarrier& redundant : find_redundant(program)) {
    reasons.push_back(reason_of(program, redundant));
  }
  return reasons;
}

TEST(FindRedundant, NeedsABarrierThatOrdersAConflict) {
  EXPECT_THAT(redundant_on_abc("dispatch A writes a\nbarrier\ndispatch B reads a\n"), IsEmpty());
  EXPECT_THAT(redundant_on_abc("dispatch A writes a\nbarrier\ndispatch B reads b\n"),
              ElementsAre(0));
}

TEST(FindRedundant, NeedsAnExecutionBarrierForAWriteAfterRead) {
  EXPECT_THAT(redundant_on_abc("dispatch A reads a\nbarrier execution\ndispatch B writes a\n"),
              IsEmpty());
  EXPECT_THAT(redundant_on_abc("dispatch A reads a\nbarrier execution\ndispatch B reads a\n"),
              ElementsAre(0));
}

TEST(FindRedundant, LooksAtWholeMemoryEpochs) {
  // No conflict joins the neighbours of the full barrier; but d2, after an execution barrier,
  // reads what d0 wrote.
  EXPECT_THAT(redundant_on_abc(R"(
      d0: dispatch D0 reads a[2:3] writes a[0:1]
      barrier
      d1: dispatch D1 reads a[2:3]
      barrier execution
      d2: dispatch D2 reads a[0:1] writes a[1:3])"),
              IsEmpty());
  EXPECT_THAT(redundant_on_abc(R"(
      d0: dispatch D0 reads a[2:3] writes a[0:1]
      barrier
      d1: dispatch D1 reads a[2:3]
      barrier execution
      d2: dispatch D2 writes a[1:3])"),
              ElementsAre(0));
}

TEST(FindRedundant, NeedsOneOfSeveralBarriersAtOnePlace) {
  EXPECT_THAT(redundant_on_abc("dispatch A writes a\nbarrier\nbarrier\ndispatch B reads a\n"),
              ElementsAre(0, 1));
  // The full barrier orders too; the execution barrier makes nothing visible.
  EXPECT_THAT(
      redundant_on_abc("dispatch A writes a\nbarrier\nbarrier execution\ndispatch B reads a\n"),
      ElementsAre(1));
  EXPECT_THAT(
      redundant_on_abc("dispatch A reads a\nbarrier\nbarrier execution\ndispatch B writes a\n"),
      ElementsAre(0, 1));
}

TEST(FindRedundant, NeedsNoBarrierAtTheEnds) {
  EXPECT_THAT(redundant_on_abc("barrier\nbarrier execution\ndispatch A writes a\nbarrier\n"),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(redundant_on_abc("barrier\n"), ElementsAre(0));
}

TEST(FindRedundant, DoesNotCallAdviceWhatFailsToOrderAHazard) {
  EXPECT_THAT(redundant_on_abc("dispatch A writes a\nbarrier execution\ndispatch B reads a\n"),
              IsEmpty());
}

TEST(FindRedundant, SeesAConflictBehindAHazard) {
  // C overwrites what B wrote, without a barrier; A wrote it too, on the other side.
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes a
      barrier
      dispatch B writes a
      dispatch C writes a)"),
              IsEmpty());
  EXPECT_THAT(redundant_on_abc(R"(
      dispatch A writes b
      barrier
      dispatch B writes a
      dispatch C writes a)"),
              ElementsAre(0));
}

TEST(ReasonOf, SaysWhyNothingNeedsIt) {
  EXPECT_THAT(reasons_on_abc(R"(
      barrier
      dispatch A writes a
      dispatch B reads b
      barrier
      dispatch C reads b
      barrier
      barrier
      dispatch D reads a
      barrier)"),
              ElementsAre("No dispatch stands before it.",
                          "No access of dispatches 0 to 1 conflicts with one of dispatch 2.",
                          "Barrier 3, at the same place, does what it does.",
                          "Barrier 2, at the same place, does what it does.",
                          "No dispatch stands after it."));
}

TEST(ReasonOf, TellsExecutionAndMemoryApart) {
  EXPECT_THAT(reasons_on_abc(R"(
      dispatch A writes a
      barrier execution
      dispatch B reads b
      barrier
      dispatch C reads b
      barrier
      barrier execution
      dispatch D writes b)"),
              ElementsAre("No access of dispatch 0 conflicts with one of dispatch 1.",
                          "No access of dispatch 1 conflicts with one of dispatch 2. "
                          "No write of dispatches 0 to 1 is read or overwritten by dispatch 2.",
                          "Barrier 3, at the same place, orders execution. "
                          "No write of dispatch 2 is read or overwritten by dispatch 3.",
                          "Barrier 2, at the same place, does what it does."));
}

TEST(DescriptionOf, NamesTheBarrierAndItsPlace) {
  const Program program =
      program_on_abc("dispatch A\nfence: barrier\nbarrier execution\ndispatch B\nbarrier\n");
  std::vector<std::string> descriptions;
  for (const RedundantBarrier& redundant : find_redundant(program)) {
    descriptions.push_back(description_of(program, redundant));
  }
  EXPECT_THAT(descriptions,
              ElementsAre("fence (barrier 0, before dispatch 1)", "barrier 1 (before dispatch 1)",
                          "barrier 2 (after the last dispatch)"));
}

// An execution barrier within a hazard.
bool fails(const Program& program, uint32_t barrier, const std::vector<Hazard>& hazards) {
  const StatementId at = program.barriers[barrier].statement;
  return std::any_of(hazards.begin(), hazards.end(), [&](const Hazard& hazard) {
    return program.dispatch(hazard.first.dispatch).statement < at &&
           at < program.dispatch(hazard.second.dispatch).statement;
  });
}

// The definition: the hazards of the rest, by the obvious check, are what they were, and it fails
// to order none.
void expect_removal_as_said(const ProgramDraft& draft) {
  const Result<Program> program = build(draft);
  ASSERT_TRUE(program.has_value());
  SCOPED_TRACE(print(*program));
  const std::vector<uint32_t> redundant = redundant_in(*program);
  const std::vector<Hazard> hazards = reference_all_hazards(*program);
  uint32_t barrier = 0;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (!std::holds_alternative<BarrierDraft>(draft.items[i])) continue;
    ProgramDraft less = draft;
    less.items.erase(less.items.begin() + static_cast<std::ptrdiff_t>(i));
    const Result<Program> rest = build(less);
    ASSERT_TRUE(rest.has_value());
    const bool is_called_redundant =
        std::find(redundant.begin(), redundant.end(), barrier) != redundant.end();
    EXPECT_EQ(is_called_redundant,
              reference_all_hazards(*rest) == hazards && !fails(*program, barrier, hazards))
        << "barrier " << barrier;
    ++barrier;
  }
}

TEST(FindRedundant, AgreesWithRemovalOnAllTinyPrograms) {
  // 3 dispatches on 2 bytes; 4 dispatches on 1 byte; each with nothing, an execution barrier or a
  // full one between two dispatches.
  for (const TinyProgramOptions& options :
       {TinyProgramOptions{.dispatch_count = 3, .memory_bytes = 2, .mode_count = 4},
        TinyProgramOptions{.dispatch_count = 4, .memory_bytes = 1, .mode_count = 5}}) {
    const int count = options.dispatch_count == 3 ? 36'864 : 16'875;
    ShareOfChoices choice(share_count(count, 8, 200));
    do {
      expect_removal_as_said(tiny_draft(choice, options));
    } while (choice.advance() && !HasFailure());
  }
}

// Puts up to two more barriers anywhere, so that rows of them and barriers at the ends occur.
ProgramDraft with_more_barriers(ProgramDraft draft, Choice& choice) {
  for (uint64_t k = choice.below(3); k > 0; --k) {
    size_t first = 0;
    while (first < draft.items.size() &&
           !std::holds_alternative<DispatchDraft>(draft.items[first])) {
      ++first;
    }
    const size_t at = first + choice.below(draft.items.size() - first + 1);
    const BarrierKind kind = choice.chance(1, 2) ? BarrierKind::kFull : BarrierKind::kExecution;
    draft.items.insert(draft.items.begin() + static_cast<std::ptrdiff_t>(at),
                       BarrierDraft{"", kind});
  }
  return draft;
}

TEST(FindRedundant, AgreesWithRemovalOnRandomPrograms) {
  SeededChoice choice(1);
  for (int i = 0; i < share_count(10'000, 3) && !HasFailure(); ++i) {
    expect_removal_as_said(
        with_more_barriers(random_draft(choice, {.dispatch_count_max = 7}), choice));
  }
}

TEST(FindRedundant, AgreesWithRemovalInLongPrograms) {
  // Epochs of several dispatches, on both sides of many barriers.
  const RandomProgramOptions options{.dispatch_count_min = 10,
                                     .dispatch_count_max = 24,
                                     .memory_bytes = 40,
                                     .range_bytes_max = 4,
                                     .barrier_percent = 30};
  SeededChoice choice(2);
  for (int i = 0; i < program_count(500) && !HasFailure(); ++i) {
    expect_removal_as_said(with_more_barriers(random_draft(choice, options), choice));
  }
}

}  // namespace
}  // namespace interlock::redundancy_test
