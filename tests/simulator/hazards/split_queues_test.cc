// What two queues and semaphores are worth: as much as one queue where they say as much. Fixed
// seeds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "fuzz/judge/findings.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::split_queues_test {
namespace {

// A program of one queue with full barriers in some places.
ProgramDraft with_barriers(Choice& choice) {
  GeneratorOptions options;
  options.max_dispatches = 12;
  const ProgramDraft plain = generate(choice, options);
  ProgramDraft draft;
  for (const ItemDraft& item : plain.items) {
    const bool is_dispatch = std::holds_alternative<DispatchDraft>(item);
    if (is_dispatch && choice.chance(1, 2)) draft.items.emplace_back(BarrierDraft{});
    draft.items.push_back(item);
  }
  return draft;
}

SyncDraft semaphore_step(SyncKind kind, std::string semaphore, uint64_t value, std::string queue) {
  SyncDraft step;
  step.kind = kind;
  step.semaphores = {{std::move(semaphore), value, kAllStages}};
  step.queue = std::move(queue);
  return step;
}

// Each dispatch on one of two queues; each barrier one on both, and a signal and a wait both ways.
ProgramDraft split_over_two(const ProgramDraft& one, Choice& choice) {
  ProgramDraft two;
  uint64_t value = 0;
  bool has_queue = false;
  for (const ItemDraft& item : one.items) {
    const bool is_barrier = std::holds_alternative<BarrierDraft>(item);
    const auto* dispatch = std::get_if<DispatchDraft>(&item);
    if (!has_queue && (is_barrier || dispatch != nullptr)) {
      has_queue = true;
      two.items.emplace_back(QueueDraft{"q1"});
    }
    if (dispatch != nullptr) {
      DispatchDraft moved = *dispatch;
      if (choice.chance(1, 2)) moved.queue = "q1";
      two.items.emplace_back(std::move(moved));
    } else if (is_barrier) {
      ++value;
      two.items.emplace_back(BarrierDraft{});
      BarrierDraft other;
      other.queue = "q1";
      two.items.emplace_back(std::move(other));
      two.items.emplace_back(semaphore_step(SyncKind::kSignal, "there", value, ""));
      two.items.emplace_back(semaphore_step(SyncKind::kSignal, "back", value, "q1"));
      two.items.emplace_back(semaphore_step(SyncKind::kWait, "there", value, "q1"));
      two.items.emplace_back(semaphore_step(SyncKind::kWait, "back", value, ""));
    } else {
      two.items.push_back(item);
    }
  }
  return two;
}

// What is found beside hazards, of which campaigns list the latest of each queue.
std::vector<Fact> others_of(const Program& program) {
  std::vector<Fact> facts = find_everything(program);
  std::erase_if(facts, [](const Fact& fact) { return std::holds_alternative<Hazard>(fact); });
  return facts;
}

TEST(SplitQueues, HaveTheFindingsOfOneQueueWhereEachBarrierIsBetweenBoth) {
  const int count = proof_count(20'000, 1000, 20);
  int hazard_count = 0;
  int split_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const ProgramDraft draft = with_barriers(choice);
    const Program one = build(draft).value();
    const Program two = build(split_over_two(draft, choice)).value();
    ASSERT_TRUE(find_reference_order(two).is_text_order);
    const std::vector<Hazard> hazards = find_all_hazards(one, HappensBefore(one)).hazards;
    ASSERT_EQ(find_all_hazards(two, HappensBefore(two)).hazards, hazards) << print(two);
    ASSERT_EQ(others_of(two), others_of(one)) << print(two);
    ASSERT_EQ(find_hazards(two, HappensBefore(two)).hazards.empty(), hazards.empty());
    hazard_count += !hazards.empty();
    split_count += needs_queue_order(two);
  }
  EXPECT_GT(hazard_count, count / 5);
  EXPECT_LT(hazard_count, count * 9 / 10);
  EXPECT_GT(split_count, count * 3 / 4);
  print_proof(count, "barriers between two queues have the findings of one queue");
}

// Dispatches on two serial queues, and a semaphore for each crossing pair that conflicts.
struct CrossingProgram {
  struct Crossing {
    size_t from;
    size_t to;
  };
  std::vector<std::string> dispatches;  // Without `on`.
  std::vector<size_t> queues;           // By dispatch.
  std::vector<Crossing> crossings;

  // Without the crossing at this position, if there is one.
  std::string text(size_t without) const {
    std::string text = "interlock 1\nmemory m 8\nq1: queue serial\nq2: queue serial\n";
    for (size_t k = 0; k < dispatches.size(); ++k) {
      const size_t queue = queues[k] + 1;
      for (size_t c = 0; c < crossings.size(); ++c) {
        if (crossings[c].to == k && c != without)
          text += fmt::format("wait s{}=1 on q{}\n", c, queue);
      }
      text += fmt::format("{} on q{}\n", dispatches[k], queue);
      for (size_t c = 0; c < crossings.size(); ++c) {
        if (crossings[c].from == k && c != without) {
          text += fmt::format("signal s{}=1 on q{}\n", c, queue);
        }
      }
    }
    return text;
  }

  // No other way leads from the one to the other: along a queue, or over another crossing.
  bool needs(size_t crossing) const {
    std::vector<bool> is_reached(dispatches.size(), false);
    is_reached[crossings[crossing].from] = true;
    for (size_t k = 0; k < dispatches.size(); ++k) {
      for (size_t i = 0; i < k; ++i) {
        if (is_reached[i] && queues[i] == queues[k]) is_reached[k] = true;
      }
      for (size_t c = 0; c < crossings.size(); ++c) {
        const bool leads = c != crossing && crossings[c].to == k && is_reached[crossings[c].from];
        if (leads) is_reached[k] = true;
      }
    }
    return !is_reached[crossings[crossing].to];
  }
};

CrossingProgram random_crossings(Choice& choice) {
  struct Operand {
    uint64_t begin;
    uint64_t end;
    bool writes;
  };
  CrossingProgram program;
  std::vector<Operand> operands;
  const uint64_t count = 2 + choice.below(7);
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t begin = choice.below(7);
    const Operand operand{begin, begin + 1 + choice.below(2), choice.chance(1, 2)};
    program.dispatches.push_back(fmt::format("dispatch Work {} m[{}:{}]",
                                             operand.writes ? "writes" : "reads", operand.begin,
                                             operand.end));
    program.queues.push_back(choice.below(2));
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool conflicts = (operands[i].writes || operand.writes) &&
                             operands[i].begin < operand.end && operand.begin < operands[i].end;
      if (conflicts && program.queues[i] != program.queues[k]) {
        program.crossings.push_back({i, k});
      }
    }
    operands.push_back(operand);
  }
  return program;
}

bool is_clean(const Program& program) {
  return find_hazards(program, HappensBefore(program)).hazards.empty();
}

TEST(SplitQueues, AreCleanWithASemaphoreForEachCrossingAndNotWithoutOneThatIsNeeded) {
  const int count = proof_count(20'000, 750, 20);
  int needed_count = 0;
  int other_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const CrossingProgram crossings = random_crossings(choice);
    const std::string text = crossings.text(SIZE_MAX);
    const Program program = program_with_queues(text);
    ASSERT_TRUE(is_clean(program)) << text;
    size_t can_go_count = 0;
    for (size_t c = 0; c < crossings.crossings.size(); ++c) {
      const bool is_needed = crossings.needs(c);
      ASSERT_EQ(is_clean(program_with_queues(crossings.text(c))), !is_needed) << c << "\n" << text;
      can_go_count += !is_needed;
      (is_needed ? needed_count : other_count) += 1;
    }
    // Of serial queues the waits are all that there is to advise about.
    ASSERT_EQ(find_redundant_sync(program).redundant.size(), can_go_count) << text;
  }
  EXPECT_GT(needed_count, count / 2);
  EXPECT_GT(other_count, is_slow_build() ? count / 8 : count / 4);
  print_proof(count,
              "two serial queues are clean with a semaphore for each crossing, and not without one "
              "that is needed");
}

}  // namespace
}  // namespace interlock::split_queues_test
