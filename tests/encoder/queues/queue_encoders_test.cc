// What the encoders for several queues leave is judged by the simulator's clocks, and by conflicts
// byte by byte: nothing is missing, nothing can go, and nothing is ordered that need not be.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/barriers/sync_redundancy.h"
#include "simulator/facts/find_facts.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/encoder/queues/obvious_order.h"
#include "tests/encoder/sync/obvious_checks.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::queue_encoders_test {
namespace {

// Whether the reference run ends, and has a hazard or a read of another writer than meant.
bool is_clean(const Program& program) {
  const ReferenceOrder reference = find_reference_order(program);
  EXPECT_TRUE(reference.is_text_order) << print(program);
  for (const Fact& fact : find_facts(program, {.group = FactGroup::kAccesses}).facts) {
    const bool concerns_sync =
        std::holds_alternative<Hazard>(fact) || std::holds_alternative<ReorderedRead>(fact);
    if (concerns_sync) return false;
  }
  return reference.cycle.empty();
}

// The program without its wait, or its edge, of this number; the same draft if there are no more.
ProgramDraft without_sync(const Program& program, uint64_t number) {
  ProgramDraft draft = draft_of(program);
  uint64_t seen = 0;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (const auto* const sync = std::get_if<SyncDraft>(&draft.items[i])) {
      if (sync->kind != SyncKind::kWait || seen++ != number) continue;
      draft.items.erase(draft.items.begin() + static_cast<std::ptrdiff_t>(i));
      return draft;
    }
    auto* const dispatch = std::get_if<DispatchDraft>(&draft.items[i]);
    if (dispatch == nullptr) continue;
    if (number < seen + dispatch->after.size()) {
      dispatch->after.erase(dispatch->after.begin() + static_cast<std::ptrdiff_t>(number - seen));
      return draft;
    }
    seen += dispatch->after.size();
  }
  return draft;
}

uint64_t wait_count_of(const Program& program) {
  return static_cast<uint64_t>(std::ranges::count(program.syncs, SyncKind::kWait, &SyncStep::kind));
}

TestDispatch test_dispatch_of(const Program& program, size_t dispatch) {
  const auto accesses = program.declared_accesses_of(DispatchId(dispatch));
  return {{accesses.begin(), accesses.end()}, program.dispatches[dispatch].atomic_op};
}

// What conflicts, byte by byte, and serial queues order. By dispatch of `program`.
OrderTable needed_order_of(const Program& program) {
  const size_t count = program.dispatches.size();
  OrderTable order(count, std::vector<bool>(count, false));
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      const QueueIndex queue = program.queue_of(program.dispatches[a]);
      const bool is_queued = queue == program.queue_of(program.dispatches[b]) &&
                             program.kind_of(queue) == QueueKind::kSerial;
      order[a][b] = is_queued ||
                    obviously_conflict(test_dispatch_of(program, a), test_dispatch_of(program, b));
    }
  }
  close_under_paths(order);
  return order;
}

void expect_order(const Program& program, const OrderTable& needed) {
  const HappensBefore order(program);
  for (size_t a = 0; a < needed.size(); ++a) {
    for (size_t b = a + 1; b < needed.size(); ++b) {
      ASSERT_EQ(order.executes_before(DispatchId(a), DispatchId(b)), needed[a][b])
          << a << " and " << b << " of\n"
          << print(program);
    }
  }
}

Program encoded(std::string_view encoder, const Program& program, uint32_t queue_count) {
  const Result<Program> result = find_queue_encoder(encoder)->encode(program, queue_count);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? *result : Program{};
}

// Nothing can go by the text without it, nor, words included, by what `check` advises.
// Returns how many waits and edges there are.
uint64_t expect_exact(const Program& program) {
  EXPECT_TRUE(is_clean(program)) << print(program);
  EXPECT_TRUE(find_redundant_sync(program).redundant.empty()) << print(program);
  expect_order(program, needed_order_of(program));
  const uint64_t count = wait_count_of(program) + program.edges.size();
  for (uint64_t i = 0; i < count; ++i) {
    const Result<Program> fewer = build(without_sync(program, i));
    EXPECT_TRUE(fewer.has_value());
    if (!fewer) continue;
    EXPECT_EQ(wait_count_of(*fewer) + fewer->edges.size(), count - 1);
    EXPECT_FALSE(is_clean(*fewer)) << "without " << i << " of\n" << print(program);
  }
  return count;
}

// Puts every dispatch on one of the queues a, b and c.
Program on_random_queues(Choice& choice, const Program& program) {
  ProgramDraft draft;
  for (const char* name : {"a", "b", "c"}) {
    draft.items.emplace_back(QueueDraft{name, QueueKind::kSerial});
  }
  for (ItemDraft& item : expanded_draft_of(program).items) {
    if (auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
      dispatch->queue = std::string(1, static_cast<char>('a' + choice.below(3)));
    }
    draft.items.push_back(std::move(item));
  }
  return build(draft).value();
}

constexpr RandomProgramOptions kPrograms = {
    .dispatch_count_max = 8, .memory_bytes = 8, .barrier_percent = 15};

TEST(QueueEncoders, PlaceExactlyTheSyncThatNoOrderIsAddedByAndNoneCanGo) {
  SeededChoice choice(81);
  const int count = proof_count(100'000, 670, 27);
  uint64_t wait_count = 0;
  uint64_t edge_count = 0;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const Program program = random_program(choice, kPrograms);
    const auto queue_count = static_cast<uint32_t>(choice.below(5));
    wait_count += expect_exact(encoded("semaphores", program, queue_count));
    wait_count += expect_exact(encoded("semaphores", on_random_queues(choice, program), 0));
    edge_count += expect_exact(encoded("edges", program, 0));
  }
  EXPECT_GT(wait_count, static_cast<uint64_t>(count));
  EXPECT_GT(edge_count, static_cast<uint64_t>(count));
  if (!HasFailure()) {
    print_proof(
        count,
        "waits and edges for several queues leave no hazard, add no order, and no piece can go");
  }
}

// A placement of waits, by definition: any set of pairs of dispatches on two queues that orders
// what is needed and no more. Its smallest sets are as large as what the encoder places.
TEST(QueueEncoders, PlaceTheFewestWaitsOfAllThatAddNoOrder) {
  SeededChoice choice(82);
  const int count = program_count(300);
  uint64_t wait_count = 0;
  for (int i = 0; i < count; ++i) {
    const Program program =
        encoded("semaphores",
                on_random_queues(choice, random_program(choice, {.dispatch_count_max = 5})), 0);
    const OrderTable needed = needed_order_of(program);
    const size_t dispatch_count = program.dispatches.size();
    std::vector<std::pair<size_t, size_t>> pairs;
    OrderTable queued(dispatch_count, std::vector<bool>(dispatch_count, false));
    for (size_t a = 0; a < dispatch_count; ++a) {
      for (size_t b = a + 1; b < dispatch_count; ++b) {
        queued[a][b] =
            program.queue_of(program.dispatches[a]) == program.queue_of(program.dispatches[b]);
        if (!queued[a][b]) pairs.emplace_back(a, b);
      }
    }
    uint64_t fewest = pairs.size();
    for (uint64_t set = 0; set < uint64_t{1} << pairs.size(); ++set) {
      OrderTable order = queued;
      uint64_t size = 0;
      for (size_t k = 0; k < pairs.size(); ++k) {
        if ((set >> k & 1) == 0) continue;
        order[pairs[k].first][pairs[k].second] = true;
        ++size;
      }
      close_under_paths(order);
      if (order == needed) fewest = std::min(fewest, size);
    }
    ASSERT_EQ(wait_count_of(program), fewest) << print(program);
    wait_count += fewest;
  }
  EXPECT_GT(wait_count, static_cast<uint64_t>(count / 4));
}

// Why docs/theory.md speaks of waits that are not passed on: here one queue without work left waits
// for the others, and signals for all.
TEST(QueueEncoders, PlaceMoreWaitsThanAQueueThatPassesOnWhatItHasWaitedFor) {
  std::string text = "interlock 1\nmemory m 12\n";
  for (const char* queue : {"a", "b", "c", "d", "e", "f"}) {
    text += fmt::format("{}: queue serial\n", queue);
  }
  text += R"(dispatch K writes m[0:4] on a
dispatch K writes m[4:8] on b
signal b=1 on b
dispatch K writes m[8:12] on c
signal c=1 on c
wait b=1 on a
wait c=1 on a
signal a=1 on a
wait a=1 on d
dispatch K reads m on d
wait a=1 on e
dispatch K reads m on e
wait a=1 on f
dispatch K reads m on f
)";
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> passed_on = parse(text, "test.ilk", options);
  ASSERT_TRUE(passed_on) << passed_on.error().message;
  EXPECT_TRUE(is_clean(*passed_on));
  expect_order(*passed_on, needed_order_of(*passed_on));
  EXPECT_EQ(wait_count_of(*passed_on), 5u);
  EXPECT_EQ(expect_exact(encoded("semaphores", *passed_on, 0)), 9u);
}

}  // namespace
}  // namespace interlock::queue_encoders_test
