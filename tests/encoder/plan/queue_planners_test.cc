// Planners on programs of several queues, whose sync stays: bytes are reused only where it orders
// all uses of the old value before those of the new one.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/plan/planner.h"
#include "encoder/plan/sync_order.h"
#include "encoder/program/draft.h"
#include "encoder/queues/queue_encoder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "simulator/facts/find_facts.h"
#include "simulator/lifetimes/lifetimes.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "tests/encoder/plan/byte_owners.h"
#include "tests/encoder/plan/random_plans.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/random_queue_programs.h"

namespace interlock::queue_planners_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Result<Program> parsed(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  return parse(text, "test.ilk", options);
}

PlanOptions small_alignment() {
  PlanOptions options;
  options.alignment_bytes = 4;
  return options;
}

Program planned(std::string_view planner, const Program& program) {
  const Result<Program> result = find_planner(planner)->plan(program, small_alignment());
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? *result : Program{};
}

uint64_t bytes_of(const Program& program) {
  uint64_t size_bytes = 0;
  for (const Memory& memory : program.memories) size_bytes += memory.size_bytes;
  return size_bytes;
}

// x is made and used on q1, z on q2; only the statements between decide whether they may share.
uint64_t bytes_with(std::string_view planner, const std::string& between,
                    const std::string& queues = "q1: queue serial\nq2: queue serial\n") {
  const Result<Program> program =
      parsed("interlock 1\ntensor x u8[64]\ntensor out u8[4]\ntensor z u8[64]\noutput out\n" +
             queues + "dispatch Make writes x on q1\ndispatch Use reads x writes out on q1\n" +
             between + "dispatch Other writes z on q2\n");
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  return program ? bytes_of(planned(planner, *program)) : 0;
}

constexpr uint64_t kShared = 68;
constexpr uint64_t kApart = 132;

TEST(LivenessOnQueues, ReusesBytesOnlyAfterAnOrder) {
  EXPECT_EQ(bytes_with("liveness", ""), kApart);
  EXPECT_EQ(bytes_with("liveness", "signal s=1 on q1\n"), kApart);
  EXPECT_EQ(bytes_with("liveness", "signal s=1 on q1\nwait s=1 on q2\n"), kShared);
  EXPECT_EQ(bytes_with("liveness", "signal s=1 after copy on q1\nwait s=1 on q2\n"), kApart);
  EXPECT_EQ(bytes_with("liveness", "signal s=1 on q1\nwait s=1 before copy on q2\n"), kApart);
}

TEST(LivenessOnQueues, TakesNoQueueOfBarriersForASerialOne) {
  const std::string one = "q1: queue concurrent\nq2: queue serial\n";
  EXPECT_EQ(bytes_with("liveness", "signal s=1 on q1\nwait s=1 on q2\n", one), kShared);
  const auto on_one_queue = [](const std::string& between) {
    const Result<Program> program = parsed(
        "interlock 1\ntensor x u8[64]\ntensor out u8[4]\ntensor z u8[64]\noutput out\n"
        "q1: queue concurrent\ndispatch Use writes x out on q1\n" +
        between + "dispatch Other writes z on q1\n");
    return bytes_of(planned("liveness", program.value()));
  };
  EXPECT_EQ(on_one_queue(""), kApart);
  EXPECT_EQ(on_one_queue("barrier execution on q1\n"), kApart);
  EXPECT_EQ(on_one_queue("barrier on q1\n"), kShared);
}

TEST(LivenessOnQueues, FollowsFullEdges) {
  const auto with_edge = [](const std::string& clause) {
    const Result<Program> program = parsed(
        "interlock 1\ntensor x u8[64]\ntensor out u8[4]\ntensor z u8[64]\noutput out\n"
        "g: queue graph\nuse: dispatch Use writes x out on g\n"
        "mid: dispatch Mid after use on g\ndispatch Other writes z" +
        clause + " on g\n");
    return bytes_of(planned("liveness", program.value()));
  };
  EXPECT_EQ(with_edge(""), kApart);
  EXPECT_EQ(with_edge(" after mid"), kShared);
  EXPECT_EQ(with_edge(" after mid programmatic"), kApart);
}

// When a free or a destroy is carried out, the steps of the text do not say.
TEST(LivenessOnQueues, HandsOnNoBytesOfValuesWithLifetimeStatements) {
  EXPECT_EQ(bytes_with("liveness", "free x\nsignal s=1 on q1\nwait s=1 on q2\n"), kApart);
  EXPECT_EQ(bytes_with("stream-pool", "destroy x\n"), kApart);
}

// The block of x goes back to q1, and is taken there although q2 has not been waited for.
constexpr char kSideStream[] = R"(interlock 1
tensor x u8[64]
tensor out u8[4]
tensor y u8[64]
output out
main: queue serial
side: queue serial
make: dispatch Make writes x on main
signal made=1 on main
wait made=1 on side
use: dispatch Use reads x writes out on side
next: dispatch Next writes y on main
)";

TEST(StreamPool, WaitsForTheQueuesThatUsedABlock) {
  const Program program = parsed(kSideStream).value();
  EXPECT_THAT(print(planned("stream-pool", program)), HasSubstr("memory pool_main 128\n"));
  EXPECT_THAT(print(planned("stream-pool", program)), HasSubstr("memory pool_side 4\n"));
  const Program unrecorded = planned("stream-pool-unrecorded", program);
  EXPECT_THAT(print(unrecorded), HasSubstr("memory pool_main 64\n"));
  EXPECT_THAT(find_facts(unrecorded, {.group = FactGroup::kAccesses}).facts, Not(IsEmpty()));
}

// What liveness does in place a pool does not: the block of x is free for what comes after its
// uses.
TEST(AsyncPool, HandsBlocksOnToAnotherQueueWhereSyncLeadsThere) {
  EXPECT_EQ(bytes_with("async-pool", "signal s=1 on q1\nwait s=1 on q2\n"), kShared);
  EXPECT_EQ(bytes_with("async-pool", ""), kApart);
  EXPECT_THAT(print(planned("async-pool", parsed(kSideStream).value())),
              HasSubstr("memory pool 132\n"));
}

TEST(StreamPool, KeepsBlocksWithTheirQueue) {
  EXPECT_EQ(bytes_with("stream-pool", "signal s=1 on q1\nwait s=1 on q2\n"), kApart);
  const Result<Program> on_one = parsed(
      "interlock 1\ntensor x u8[64]\ntensor out u8[4]\ntensor z u8[64]\noutput out\n"
      "q1: queue serial\ndispatch Make writes x out on q1\ndispatch Other writes z on q1\n");
  EXPECT_EQ(bytes_of(planned("stream-pool", on_one.value())), kShared);
}

using Pairs = std::set<std::pair<DispatchId, DispatchId>>;

// Of dispatches that have a hazard, or of which one reads what the other wrote against the order.
Pairs wrong_pairs_of(const Program& program) {
  Pairs pairs;
  for (const Fact& fact : find_facts(program, {.group = FactGroup::kAccesses}).facts) {
    if (const auto* const hazard = std::get_if<Hazard>(&fact)) {
      pairs.emplace(hazard->first.dispatch, hazard->second.dispatch);
    } else if (std::holds_alternative<ReorderedRead>(fact)) {
      pairs.emplace(DispatchId(), DispatchId());
    }
  }
  return pairs;
}

TEST(SyncOrder, IsPartOfWhatIsOrdered) {
  SeededChoice choice(31);
  uint64_t ordered_count = 0;
  for (int i = 0; i < share_count(4'000, 2); ++i) {
    const Result<Program> program = parsed(random_queue_program(choice));
    if (!program) continue;
    const SyncOrder order(*program);
    const ReferenceOrder reference = find_reference_order(*program);
    if (!reference.is_text_order || !reference.cycle.empty()) continue;
    const HappensBefore exact(*program);
    if (exact.has_queues() && exact.queues().is_too_wide()) continue;
    for (uint32_t b = 0; b < program->dispatches.size(); ++b) {
      for (uint32_t a = 0; a < b; ++a) {
        if (!order.is_ordered(a, b)) continue;
        ++ordered_count;
        ASSERT_TRUE(exact.executes_before(DispatchId(size_t{a}), DispatchId(size_t{b})))
            << a << " and " << b << "\n"
            << print(*program);
      }
    }
  }
  EXPECT_GT(ordered_count, static_cast<uint64_t>(share_count(4'000, 2)) / 2);
}

// An encoder that is right has placed the sync for the data, and the plan keeps to it.
TEST(QueuePlanners, AddNoHazardAndClobberNothing) {
  SeededChoice choice(32);
  const int count = proof_count(100'000, 670, 13);
  int reuse_count = 0;
  int unrecorded_hazard_count = 0;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Program program = random_unplanned(choice);
    const auto queue_count = static_cast<uint32_t>(choice.below(4));
    const char* const encoders[] = {"semaphores", "edges", "pytorch-record-stream"};
    const QueueEncoderEntry& encoder = *find_queue_encoder(encoders[choice.below(3)]);
    const Result<Program> encoded =
        encoder.encode(program, encoder.takes_queue_count ? queue_count : 0);
    ASSERT_TRUE(encoded.has_value()) << encoded.error().message;
    const size_t before = check_lifetimes(*encoded).findings.size();
    const uint64_t fresh_bytes = bytes_of(planned("fresh", *encoded));
    for (const char* planner : {"liveness", "stream-pool", "async-pool"}) {
      const Program result = planned(planner, *encoded);
      EXPECT_THAT(wrong_pairs_of(result), IsEmpty()) << planner << "\n" << print(result);
      EXPECT_LE(check_lifetimes(result).findings.size(), before) << planner << print(result);
      EXPECT_EQ(first_clobber(*encoded, result), "") << planner << "\n" << print(result);
      reuse_count += bytes_of(result) < fresh_bytes;
    }
    unrecorded_hazard_count += !wrong_pairs_of(planned("stream-pool-unrecorded", *encoded)).empty();
  }
  EXPECT_GT(reuse_count, count / 4);
  EXPECT_GT(unrecorded_hazard_count, 0);
  if (!HasFailure()) {
    print_proof(count, "plans for several queues add no hazard and clobber nothing");
  }
}

// Dispatches on queues of all kinds, with sync at random: it may not fit the data at all.
Program with_random_sync(Choice& choice, const Program& program) {
  constexpr QueueKind kKinds[] = {QueueKind::kSerial, QueueKind::kConcurrent, QueueKind::kGraph};
  ProgramDraft draft;
  std::vector<QueueKind> kinds;
  for (uint64_t q = 0; q < 3; ++q) {
    kinds.push_back(kKinds[choice.below(3)]);
    draft.items.emplace_back(QueueDraft{fmt::format("q{}", q + 1), kinds.back()});
  }
  const auto sync_on = [&](SyncKind kind, uint64_t owner, uint64_t value, uint64_t queue) {
    SyncDraft sync;
    sync.kind = kind;
    sync.semaphores.push_back({.semaphore = fmt::format("s{}", owner + 1), .value = value});
    if (choice.chance(1, 8)) sync.semaphores.back().stages = bit_of(Stage::kCopy);
    sync.queue = fmt::format("q{}", queue + 1);
    draft.items.emplace_back(std::move(sync));
  };
  std::vector<uint64_t> values(3, 0);
  std::vector<std::string> nodes;
  uint64_t dispatch_count = 0;
  for (ItemDraft& item : expanded_draft_of(program).items) {
    auto* const dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch == nullptr) {
      if (!std::holds_alternative<BarrierDraft>(item)) draft.items.push_back(std::move(item));
      continue;
    }
    while (choice.chance(1, 2)) {
      const uint64_t queue = choice.below(3);
      const uint64_t owner = choice.below(3);
      if (choice.chance(1, 3)) {
        sync_on(SyncKind::kSignal, queue, ++values[queue], queue);
      } else if (owner != queue && values[owner] > 0) {
        sync_on(SyncKind::kWait, owner, 1 + choice.below(values[owner]), queue);
      } else if (kinds[queue] == QueueKind::kConcurrent) {
        BarrierDraft barrier;
        if (choice.chance(1, 4)) barrier.kind = BarrierKind::kExecution;
        barrier.queue = fmt::format("q{}", queue + 1);
        draft.items.emplace_back(std::move(barrier));
      }
    }
    const uint64_t queue = choice.below(3);
    dispatch->queue = fmt::format("q{}", queue + 1);
    dispatch->label = fmt::format("n{}", dispatch_count++);
    if (kinds[queue] == QueueKind::kGraph) {
      for (const std::string& node : nodes) {
        if (choice.chance(1, 2)) dispatch->after.push_back(node);
      }
      dispatch->is_programmatic = !dispatch->after.empty() && choice.chance(1, 6);
      nodes.push_back(dispatch->label);
    }
    draft.items.push_back(std::move(item));
  }
  Result<Program> result = build(without_evidence(std::move(draft)));
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? *std::move(result) : Program{};
}

TEST(QueuePlanners, AddNoHazardToProgramsThatHaveSome) {
  SeededChoice choice(33);
  const int count = share_count(3'000, 3, 80);
  int reuse_count = 0;
  int hazard_count = 0;
  for (int i = 0; i < count && !HasFailure(); ++i) {
    const Program program = with_random_sync(
        choice, i % 3 == 0 ? random_unplanned_with_lifetimes(choice) : random_unplanned(choice));
    const Program fresh = planned("fresh", program);
    const Pairs before = wrong_pairs_of(fresh);
    const size_t lifetime_count = check_lifetimes(fresh).findings.size();
    hazard_count += !before.empty();
    for (const char* planner : {"liveness", "stream-pool", "async-pool"}) {
      const Program result = planned(planner, program);
      for (const auto& pair : wrong_pairs_of(result)) {
        EXPECT_TRUE(before.contains(pair)) << planner << ", dispatches " << pair.first.index
                                           << " and " << pair.second.index << "\n"
                                           << print(result);
      }
      EXPECT_LE(check_lifetimes(result).findings.size(), lifetime_count) << planner << "\n"
                                                                         << print(result);
      reuse_count += bytes_of(result) < bytes_of(fresh);
    }
  }
  EXPECT_GT(hazard_count, count / 4);
  EXPECT_GT(reuse_count, count / 10);
}

}  // namespace
}  // namespace interlock::queue_planners_test
