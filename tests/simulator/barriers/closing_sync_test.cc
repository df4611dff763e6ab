// What stands after the last dispatch of its queue: for what comes after the text.
#include "simulator/barriers/closing_sync.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "simulator/facts/find_facts.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/barriers/redundant_barriers.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock::closing_sync_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The labels of the statements that are closing sync.
std::vector<std::string> closing_in(const Program& program) {
  const ClosingSync closing(program);
  std::vector<std::string> labels;
  for (size_t i = 0; i < program.statements.size(); ++i) {
    if (!closing.has(StatementId(i))) continue;
    labels.emplace_back(program.name(program.statements[i].label));
  }
  return labels;
}

std::vector<std::string> closing_on_abc(std::string_view body) {
  return closing_in(program_on_abc(body));
}

std::vector<std::string> closing_with_queues(const std::string& body) {
  return closing_in(program_with_queues("interlock 1\nmemory x 64\nmemory y 64\n" + body));
}

TEST(ClosingSync, IsWhatStandsAfterTheLastDispatch) {
  EXPECT_THAT(closing_on_abc(R"(
      first: barrier
      dispatch A writes a
      mid: barrier
      dispatch B reads a
      end: barrier
      more: barrier execution
      scoped: barrier compute.write -> host.read)"),
              ElementsAre("end", "more", "scoped"));
  EXPECT_THAT(closing_on_abc("alone: barrier\n"), IsEmpty());
}

// A destroy waits for a barrier before it, so that one is for the text itself.
TEST(ClosingSync, StandsAfterWhatDestroysBytes) {
  EXPECT_THAT(closing_on_abc(R"(
      tensor x f32[16] at a+0
      dispatch A writes x
      waits: barrier
      destroy x
      end: barrier)"),
              ElementsAre("end"));
  EXPECT_THAT(closing_on_abc(R"(
      tensor x f32[16] at a+0
      dispatch A writes x
      end: barrier
      free x)"),
              ElementsAre("end"));
}

TEST(ClosingSync, IsToldByTheQueueThatItStandsOn) {
  EXPECT_THAT(closing_with_queues(R"(
      q1: queue concurrent
      dispatch Make writes x
      left: barrier
      made: signal done=1
      dispatch Other writes y on q1
      mid: barrier on q1
      held: wait done=1 on q1
      dispatch Use reads x y on q1
      right: barrier on q1
      last: signal frame=1 on q1)"),
              ElementsAre("left", "made", "right", "last"));
}

// A presenter waits for the frame, and does nothing that the text would say.
TEST(ClosingSync, IsAllSyncOfAQueueWithoutADispatch) {
  EXPECT_THAT(closing_with_queues(R"(
      screen: queue serial
      dispatch Draw writes x
      drawn: signal frame=1
      shown: wait frame=1 on screen)"),
              ElementsAre("drawn", "shown"));
}

TEST(ClosingSync, OfTheHostStandsAfterWhateverAnyoneDoes) {
  EXPECT_THAT(closing_with_queues(R"(
      q1: queue concurrent
      dispatch Make writes x
      before: host idle
      dispatch Next writes x on q1
      after: host idle)"),
              ElementsAre("after"));
}

TEST(Check, GivesNoAdviceOnABarrierAfterTheLastDispatch) {
  const std::string frame = R"(
      dispatch A writes a
      barrier
      dispatch B reads a
      end: barrier
      )";
  const Program program = program_on_abc(frame);
  const CheckReport report = check(program);
  EXPECT_THAT(report.redundant, IsEmpty());
  ASSERT_THAT(report.closing, SizeIs(1));
  EXPECT_EQ(report.closing[0].barrier, BarrierId(size_t{1}));
  EXPECT_EQ(report.closing_barrier_count, 1u);
  EXPECT_EQ(report.excess_barrier_count(), 0u);
  EXPECT_FALSE(find_excess(program).has_value());
  // It can go from this text all the same, and a line may say so.
  const Program told = program_on_abc(frame + "expect redundant end\n");
  EXPECT_EQ(judge_expectations(told, check(told)).subjects.at(0).failures,
            std::vector<std::string>());
}

TEST(Check, StillGivesAdviceBesideABarrierAfterTheLastDispatch) {
  const Program program = program_on_abc(
      "dispatch A writes a\nbarrier\nbarrier\ndispatch B reads a\nbarrier\nbarrier\n");
  const CheckReport report = check(program);
  EXPECT_THAT(report.redundant, SizeIs(2));
  EXPECT_THAT(report.closing, SizeIs(2));
  EXPECT_EQ(report.excess_barrier_count(), 1u);
  EXPECT_EQ(find_excess(program)->barrier_count, 2u);
}

// Scopes at the end are as little advice as barriers, also beside a hazard.
TEST(Check, GivesNoAdviceOnScopesAfterTheLastDispatch) {
  for (const char* const between : {"barrier compute.write -> compute.read\n", ""}) {
    const CheckReport report =
        check(program_on_abc(std::string("dispatch A writes a\n") + between +
                             "dispatch B reads a\nbarrier compute|copy.write -> host.read\n"));
    EXPECT_THAT(report.redundant, IsEmpty()) << between;
    EXPECT_THAT(report.redundant_sync, IsEmpty()) << between;
    EXPECT_THAT(report.closing, SizeIs(1)) << between;
  }
}

TEST(Check, GivesNoAdviceOnWhatClosesAQueue) {
  const Program program = program_with_queues(R"(interlock 1
memory x 64
memory y 64
screen: queue serial
q1: queue concurrent
dispatch Make writes x
barrier
signal s=1
wait s=1 on q1
use: dispatch Use reads x writes y on q1
barrier on q1
signal frame=1, other=1 on q1
wait frame=1 on screen
host waits other=1
)");
  const CheckReport report = check(program);
  EXPECT_THAT(report.findings, IsEmpty());
  EXPECT_THAT(report.redundant_sync, IsEmpty());
  // Two barriers and two waits; the signals are waited for.
  EXPECT_THAT(report.closing_sync, SizeIs(4));
}

// A signal that closes its queue is narrowed where a wait of the text is for it.
TEST(Check, GivesAdviceOnAWordThatAWaitElsewhereIsFor) {
  const CheckReport report = check(program_with_queues(
      "interlock 1\nmemory x 64\nq1: queue concurrent\ndispatch Make writes x\n"
      "signal s=1 after compute|copy\nwait s=1 on q1\ndispatch Use reads x on q1\n"));
  EXPECT_THAT(report.redundant_sync, SizeIs(1));
  EXPECT_THAT(report.closing_sync, IsEmpty());
}

// Of what campaigns generate, with up to two barriers more near the end.
std::optional<Program> generated_with_barriers(Choice& choice) {
  GeneratorOptions options;
  options.has_barriers = true;
  options.max_dispatches = 8;
  ProgramDraft draft = generate(choice, options);
  for (uint64_t k = choice.below(3); k > 0; --k) {
    const size_t back = choice.below(std::min<size_t>(draft.items.size(), 3) + 1);
    draft.items.insert(draft.items.end() - static_cast<std::ptrdiff_t>(back),
                       BarrierDraft{"", BarrierKind::kFull});
  }
  Result<Program> program = build(draft);
  if (!program) return std::nullopt;
  return std::move(program).value();
}

std::optional<Program> program_of_some_kind(Choice& choice) {
  switch (choice.below(3)) {
    case 0:
      return generated_with_barriers(choice);
    case 1:
      return random_lifetime_program(choice, {.statement_count_max = 6 + choice.below(12)});
    default:
      return random_pinned_program(choice, 6 + choice.below(12), false);
  }
}

// The two ways to say it: where it stands, and the removal, which knows of no place.
TEST(ClosingSync, CanGoFromTheTextInRandomPrograms) {
  uint64_t closing_count = 0;
  uint64_t destroy_count = 0;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(share_count(6'000, 2)); ++seed) {
    SeededChoice choice(seed);
    const std::optional<Program> program = program_of_some_kind(choice);
    if (!program) continue;
    const std::vector<uint32_t> redundant = redundant_in(*program);
    const ClosingSync closing(*program);
    uint64_t count = 0;
    for (uint32_t i = 0; i < program->barriers.size(); ++i) {
      if (!closing.has(program->barriers[i].statement)) continue;
      ++count;
      EXPECT_TRUE(std::ranges::binary_search(redundant, i)) << seed << '\n' << print(*program);
    }
    EXPECT_EQ(closing_barrier_count(*program), count) << seed << '\n' << print(*program);
    closing_count += count;
    destroy_count += count > 0 && program->has_any(LifetimeKind::kDestroy);
  }
  EXPECT_GT(closing_count, static_cast<uint64_t>(share_count(6'000, 2)) / 6);
  EXPECT_GT(destroy_count, static_cast<uint64_t>(share_count(6'000, 2)) / 100);
}

}  // namespace
}  // namespace interlock::closing_sync_test
