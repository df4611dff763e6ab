// Our encoders for several queues beside those that follow from their definitions: the same text,
// and the same program.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/queues/minimal_encoders.h"
#include "encoder/queues/path_cover.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/queues/queue_waits.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/encoder/plan/random_plans.h"
#include "tests/encoder/queues/plain_encoders.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::plain_encoders_test {
namespace {

// What the text does not say: how waits and signals are paired, and what is where.
std::string inside_of(const Program& program) {
  std::string text;
  const auto add = [&](auto... numbers) { ((text += ' ' + std::to_string(numbers)), ...); };
  for (const Statement& statement : program.statements) {
    add(static_cast<int>(statement.kind), statement.queue, statement.index);
    text += statement.label.is_some() ? std::string(program.name(statement.label)) : "";
  }
  for (const Queue& queue : program.queues) text += ' ' + std::string(program.name(queue.name));
  for (const Semaphore& semaphore : program.semaphores) {
    text += ' ' + std::string(program.name(semaphore.name));
    add(semaphore.is_binary, semaphore.is_declared, semaphore.initial);
  }
  for (const Dispatch& dispatch : program.dispatches) {
    add(dispatch.statement.index, dispatch.order, dispatch.first_access, dispatch.access_count,
        dispatch.first_attribute, dispatch.attribute_count);
  }
  for (const SyncStep& step : program.syncs) {
    add(step.statement.index, static_cast<int>(step.kind), step.stages, step.semaphore.index,
        step.value, step.first, step.count, step.partner);
  }
  for (const SignalPart& part : program.signal_parts) {
    add(part.semaphore.index, part.stages, part.value);
  }
  for (const Edge& edge : program.edges) add(edge.to.index, edge.from.index, edge.is_programmatic);
  add(program.has_program_order, program.memories.size(), program.tensors.size());
  return text;
}

void expect_same(const Program& one, const Program& other, const Program& given) {
  ASSERT_EQ(print(one), print(other)) << print(given);
  ASSERT_EQ(inside_of(one), inside_of(other)) << print(one);
}

// Small ones that touch in all ways, and longer ones whose rows of bits pass words of 64.
Program random_given(Choice& choice, int number) {
  if (number % 4 == 0) return random_unplanned(choice);
  RandomProgramOptions options;
  options.dispatch_count_max = number % 16 == 1 ? 200 : 12;
  options.memory_bytes = number % 16 == 1 ? 24 : 6;
  return random_program(choice, options);
}

TEST(QueueEncoders, AreWhatTheirDefinitionsSay) {
  SeededChoice choice(41);
  const int count = share_count(3000, 5, 80);
  int reordered_count = 0;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const Program given = random_given(choice, i);
    expect_same(encode_edges(given, 0).value(), plain_edges(given), given);
    const auto queue_count = static_cast<uint32_t>(choice.below(5));
    const Program on_queues = encode_semaphores(given, queue_count).value();
    expect_same(on_queues, plain_semaphores(given, queue_count), given);
    reordered_count += on_queues.has_program_order && !given.has_program_order;
  }
  EXPECT_GT(reordered_count, count / 300);
}

// All of them, as a build makes the program of the same draft.
TEST(QueueEncoders, MakeWhatABuildMakes) {
  SeededChoice choice(42);
  const int count = share_count(1000, 5, 120);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const Program given = random_given(choice, i);
    for (const QueueEncoderEntry& encoder : queue_encoder_registry()) {
      const auto queue_count = static_cast<uint32_t>(2 + choice.below(3));
      const Program encoded =
          encoder.encode(given, encoder.takes_queue_count ? queue_count : 0).value();
      expect_same(encoded, build(draft_of(encoded)).value(), given);
    }
  }
}

// Some operations are named again and again, others once and soon, some never.
PredecessorLists random_predecessors(Choice& choice) {
  const uint64_t operation_count = 1 + choice.below(400);
  const uint64_t reach = 1 + choice.below(choice.chance(1, 2) ? 8 : 150);
  const uint64_t far_odds = choice.below(40);
  PredecessorLists lists(operation_count);
  for (uint32_t i = 1; i < operation_count; ++i) {
    const uint64_t named = choice.below(4);
    for (uint64_t k = 0; k < named; ++k) {
      const uint64_t back = 1 + choice.below(std::min<uint64_t>(i, reach));
      const bool is_far = far_odds > 0 && choice.chance(1, far_odds);
      lists[i].push_back(is_far ? static_cast<uint32_t>(choice.below(i))
                                : static_cast<uint32_t>(i - back));
    }
  }
  return lists;
}

TEST(OrderReduction, IsThatOfRowsOfAllPairs) {
  SeededChoice choice(43);
  const int count = share_count(1000, 2);
  for (int i = 0; i < count; ++i) {
    const PredecessorLists given = random_predecessors(choice);
    ASSERT_EQ(OrderReduction(given).all_predecessors(), Predecessors(plain_reduction(given))) << i;
  }
}

TEST(PathCover, IsThatOfPhasesOverAllEdges) {
  SeededChoice choice(45);
  const int count = share_count(1000, 2);
  for (int i = 0; i < count; ++i) {
    const OrderReduction order(random_predecessors(choice));
    const PathCover cover = cover_by_paths(order);
    const PathCover plain = plain_cover(order);
    ASSERT_EQ(cover.path_count, plain.path_count) << i;
    ASSERT_EQ(cover.next, plain.next) << i;
    ASSERT_EQ(cover.previous, plain.previous) << i;
  }
}

// Few queues, for which clocks say what comes before, and many; issued as they are numbered or not.
TEST(QueueWaits, AreThoseOfTheReduction) {
  SeededChoice choice(46);
  const int count = share_count(500, 2);
  for (int i = 0; i < count; ++i) {
    PredecessorLists pairs = random_predecessors(choice);
    const uint64_t queue_count = choice.chance(1, 2) ? 1 + choice.below(5) : 30 + choice.below(6);
    QueuePlan plan;
    plan.queues = numbered_queues(QueueKind::kSerial, static_cast<uint32_t>(queue_count));
    const bool is_reversed = choice.chance(1, 2);
    const auto last = static_cast<uint32_t>(pairs.size() - 1);
    for (uint32_t k = 0; k <= last; ++k) {
      plan.queue_of.push_back(static_cast<uint32_t>(choice.below(queue_count)));
      plan.issued.push_back(is_reversed ? last - k : k);
      if (!is_reversed) continue;
      for (uint32_t& earlier : pairs[k]) earlier = last - earlier;
    }
    if (is_reversed) std::ranges::reverse(pairs);
    ASSERT_EQ(waits_of(plan, pairs), Predecessors(plain_waits(plan, pairs))) << i;
  }
}

// So long that rows which nothing names are dropped on the way.
TEST(OrderReduction, DropsRowsAndKeepsTheOrder) {
  constexpr uint32_t kCount = is_slow_build() ? 3000 : 6000;
  constexpr uint32_t kReach = 700;
  SeededChoice choice(44);
  PredecessorLists given(kCount);
  for (uint32_t i = kReach; i < kCount; ++i) {
    given[i] = {i - kReach, static_cast<uint32_t>(i - 1 - choice.below(kReach)), i - 3};
  }
  EXPECT_EQ(OrderReduction(given).all_predecessors(), Predecessors(plain_reduction(given)));
}

}  // namespace
}  // namespace interlock::plain_encoders_test
