// The waits of QueueTracker are those that the definition asks for, which looks at whole programs:
// pairs that conflict byte by byte, and the transitive reduction of these and the order of queues.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "encoder/queues/dispatch_conflicts.h"
#include "encoder/queues/queue_commands.h"
#include "encoder/queues/queue_program.h"
#include "encoder/queues/queue_waits.h"
#include "encoder/sync/queue_tracker.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/programs.h"
#include "simulator/schedules/choice.h"
#include "tests/encoder/queues/plain_encoders.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/choices.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::queue_tracker_property_test {
namespace {

QueuePlan plan_of(const std::vector<uint32_t>& queue_of, uint32_t queue_count) {
  QueuePlan plan{numbered_queues(QueueKind::kSerial, queue_count), queue_of, {}, {}};
  plan.issued.resize(queue_of.size());
  std::iota(plan.issued.begin(), plan.issued.end(), 0u);
  return plan;
}

// By dispatch: those of other queues that the tracker has it wait for, rising.
Predecessors tracked_waits(const Program& program, const QueuePlan& plan,
                           uint64_t few_number_max = QueueTracker::kFewNumberMax) {
  QueueTracker tracker(static_cast<uint32_t>(plan.queues.size()), few_number_max);
  std::vector<std::vector<uint32_t>> issued(plan.queues.size());
  PredecessorLists waits(program.dispatches.size());
  for (uint32_t i = 0; i < waits.size(); ++i) {
    const uint32_t queue = plan.queue_of[i];
    const DispatchId id(size_t{i});
    uint32_t last_queue = 0;
    for (const QueuePoint& point :
         tracker.add(queue, program.declared_accesses_of(id), program.dispatch(id).atomic_op)) {
      EXPECT_TRUE(waits[i].empty() || last_queue < point.queue);
      last_queue = point.queue;
      waits[i].push_back(issued[point.queue].at(point.number - 1));
    }
    std::ranges::sort(waits[i]);
    issued[queue].push_back(i);
  }
  return waits;
}

// Returns how many waits there are.
uint64_t expect_as_defined(const Program& program, const QueuePlan& plan, uint64_t few_number_max) {
  const Predecessors waits = tracked_waits(program, plan, few_number_max);
  EXPECT_EQ(waits, Predecessors(plain_waits(plan, plain_conflicts(program))))
      << print(program) << testing::PrintToString(plan.queue_of);
  return waits.pair_count();
}

std::vector<uint32_t> random_queues(Choice& choice, size_t count, uint32_t queue_count) {
  std::vector<uint32_t> queue_of;
  for (size_t i = 0; i < count; ++i) {
    queue_of.push_back(static_cast<uint32_t>(choice.below(queue_count)));
  }
  return queue_of;
}

TEST(QueueTracker, WaitsAsTheDefinitionSays) {
  SeededChoice choice(91);
  const int count = proof_count(100'000, 4000, 24);
  uint64_t wait_count = 0;
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    RandomProgramOptions options{.dispatch_count_max = 14, .memory_bytes = 6, .barrier_percent = 0};
    if (i % 3 == 0) options.memory_bytes = 20;
    if (i % 50 == 0) options.dispatch_count_max = 150;
    const Program program = random_program(choice, options);
    // Few, whose reads a segment has in place up to a number of dispatches, and more.
    const auto queue_count = static_cast<uint32_t>(i % 50 == 1 ? 40 : 1 + choice.below(11));
    const auto queue_of = random_queues(choice, program.dispatches.size(), queue_count);
    const uint64_t few_number_max = i % 4 == 2 ? choice.below(6) : QueueTracker::kFewNumberMax;
    wait_count += expect_as_defined(program, plan_of(queue_of, queue_count), few_number_max);
  }
  EXPECT_GT(wait_count, static_cast<uint64_t>(count));
  if (!HasFailure()) {
    print_proof(
        count,
        "the tracker for several queues waits as the definition says, one dispatch at a time");
  }
}

Access tiny_access(AccessMode mode, ByteRange range) {
  Access access;
  access.memory = MemoryId(size_t{0});
  access.range = range;
  access.mode = mode;
  return access;
}

// Of a dispatch, by byte: nothing, read, write, and atomics of two operations.
struct TinyDispatch {
  std::vector<Access> accesses;
  AtomicOp op = AtomicOp::kNone;
};

std::vector<TinyDispatch> tiny_dispatches(uint64_t byte_count) {
  std::vector<TinyDispatch> result;
  const auto mode_of = [](uint64_t digit) {
    return digit == 1 ? AccessMode::kRead : digit == 2 ? AccessMode::kWrite : AccessMode::kAtomic;
  };
  const uint64_t all = byte_count == 1 ? 4 : 16;
  for (uint64_t code = 0; code < all; ++code) {
    for (const AtomicOp op : {AtomicOp::kAdd, AtomicOp::kMax}) {
      TinyDispatch dispatch{{}, op};
      bool has_atomics = false;
      for (uint64_t byte = 0; byte < byte_count; ++byte) {
        const uint64_t digit = byte == 0 ? code % 4 : code / 4;
        has_atomics |= digit == 3;
        if (digit == 0) continue;
        const AccessMode mode = mode_of(digit);
        // Both bytes in one mode are one range, which others cut.
        if (byte == 1 && code % 4 == digit) {
          dispatch.accesses.back().range.end = 2;
        } else {
          dispatch.accesses.push_back(tiny_access(mode, {byte, byte + 1}));
        }
      }
      if (op == AtomicOp::kMax && !has_atomics) continue;
      if (!has_atomics) dispatch.op = AtomicOp::kNone;
      result.push_back(dispatch);
    }
  }
  return result;
}

// `count` programs of so many dispatches on so many queues, the first of them on the first queue,
// or a share of them. Returns how many.
int expect_tiny_as_defined(int count, size_t dispatch_count, uint64_t byte_count,
                           uint32_t queue_count) {
  const std::vector<TinyDispatch> kinds = tiny_dispatches(byte_count);
  int program_count = 0;
  ShareOfChoices choice(share_count(count, 10, 200));
  do {
    Program program;
    std::vector<uint32_t> queue_of;
    for (size_t i = 0; i < dispatch_count; ++i) {
      const TinyDispatch& kind = kinds[choice.below(kinds.size())];
      Dispatch& dispatch = program.dispatches.emplace_back();
      dispatch.first_access = static_cast<uint32_t>(program.accesses.size());
      dispatch.access_count = static_cast<uint32_t>(kind.accesses.size());
      dispatch.atomic_op = kind.op;
      program.accesses.insert(program.accesses.end(), kind.accesses.begin(), kind.accesses.end());
      queue_of.push_back(i == 0 ? 0 : static_cast<uint32_t>(choice.below(queue_count)));
    }
    const QueuePlan plan = plan_of(queue_of, queue_count);
    const Predecessors waits = tracked_waits(program, plan);
    EXPECT_EQ(waits, Predecessors(plain_waits(plan, plain_conflicts(program)))) << program_count;
    ++program_count;
  } while (choice.advance() && !testing::Test::HasFailure());
  return program_count;
}

TEST(QueueTracker, WaitsAsTheDefinitionSaysInAllTinyPrograms) {
  int program_count = expect_tiny_as_defined(125 * 9, 3, 1, 3);
  program_count += expect_tiny_as_defined(625 * 27, 4, 1, 3);
  program_count += expect_tiny_as_defined(23 * 23 * 23 * 9, 3, 2, 3);
  if (tries_all()) {
    EXPECT_EQ(program_count, 125 * 9 + 625 * 27 + 23 * 23 * 23 * 9);
  }
}

// Trackers that compute in other ways, side by side.
class Beside {
 public:
  Beside(uint32_t queue_count, uint64_t few_number_max)
      : plain_(queue_count, 0), changing_(queue_count, few_number_max), few_(queue_count) {}

  // Returns how many waits there are.
  size_t add(uint32_t queue, const std::vector<Access>& accesses, AtomicOp op) {
    const auto plain = plain_.add(queue, accesses, op);
    EXPECT_TRUE(std::ranges::equal(changing_.add(queue, accesses, op), plain));
    EXPECT_TRUE(std::ranges::equal(few_.add(queue, accesses, op), plain));
    return plain.size();
  }

  void join(uint32_t queue, uint32_t other) {
    for (QueueTracker* tracker : {&plain_, &changing_, &few_}) tracker->join(queue, other);
  }
  void join_all() {
    for (QueueTracker* tracker : {&plain_, &changing_, &few_}) tracker->join_all();
  }

 private:
  QueueTracker plain_;  // One by one from the first number on.
  QueueTracker changing_;
  QueueTracker few_;
};

// Up to eight queues numbers are computed with at once, as long as they are small.
TEST(QueueTracker, WaitsTheSameHoweverItComputes) {
  SeededChoice choice(96);
  size_t wait_count = 0;
  for (uint32_t queue_count = 1; queue_count <= 8; ++queue_count) {
    Beside trackers(queue_count, choice.below(300));
    const int count = program_count(4000, 8);
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
      const auto any_queue = [&] { return static_cast<uint32_t>(choice.below(queue_count)); };
      if (choice.chance(1, 200)) trackers.join(any_queue(), any_queue());
      if (choice.chance(1, 1000)) trackers.join_all();
      // Some queues seldom wait, so that clocks are kept for them.
      const uint32_t queue = choice.chance(1, 4) ? any_queue() : any_queue() / 2;
      std::vector<Access> accesses(1 + choice.below(3));
      for (Access& access : accesses) {
        const uint64_t begin = 64 * choice.below(80);
        const bool is_cut = choice.chance(1, 50);
        constexpr AccessMode kModes[] = {AccessMode::kRead, AccessMode::kRead, AccessMode::kWrite,
                                         AccessMode::kUpdate};
        access = tiny_access(kModes[choice.below(4)], {begin, begin + (is_cut ? 100 : 64)});
        if (choice.chance(1, 30)) access.mode = AccessMode::kAtomic;
      }
      const AtomicOp op = choice.chance(1, 2) ? AtomicOp::kAdd : AtomicOp::kMax;
      wait_count += trackers.add(queue, accesses, op);
    }
  }
  EXPECT_GT(wait_count, static_cast<size_t>(program_count(8000, 8)));
}

// Programs so long that pieces and clocks are let go of, and pieces merged.
class LongProgram {
 public:
  explicit LongProgram(uint32_t queue_count) : queue_count_(queue_count) {
    text_ = "interlock 1\nmemory token 64\nmemory pool 16777216\n";
  }

  void add(uint32_t queue, const std::string& operands) {
    text_ += "dispatch K " + operands + "\n";
    queue_of_.push_back(queue);
  }

  void expect_as_defined() const {
    const Program program = value_or_fail(parse(text_, "long.ilk"));
    const QueuePlan plan = plan_of(queue_of_, queue_count_);
    const Predecessors tracked = tracked_waits(program, plan);
    const Predecessors defined = waits_of(plan, conflicts_of(program));
    for (uint32_t i = 0; i < queue_of_.size(); ++i) {
      ASSERT_TRUE(std::ranges::equal(tracked[i], defined[i]))
          << "dispatch " << i << " waits for " << testing::PrintToString(tracked[i])
          << ", and not for " << testing::PrintToString(defined[i]);
    }
    EXPECT_GT(tracked.pair_count(), queue_of_.size() / 100);
  }

 private:
  uint32_t queue_count_;
  std::string text_;
  std::vector<uint32_t> queue_of_;
};

std::string piece(uint64_t slot, uint64_t slot_count = 1) {
  return fmt::format("pool[{}:{}] ", slot * 64, (slot + slot_count) * 64);
}

// All hand on a token now and then, so that each comes to know of the others.
TEST(QueueTracker, WaitsAsTheDefinitionSaysWherePiecesAreLetGoOf) {
  for (const uint32_t queue_count : {3u, 9u}) {
    SeededChoice choice(92);
    LongProgram program(queue_count);
    const int count = share_count(60'000, 2, 8);
    for (int i = 0; i < count; ++i) {
      const auto queue = static_cast<uint32_t>(choice.below(queue_count));
      // Half of them are new, and the others may be as old as all.
      const uint64_t slot = choice.chance(1, 2) ? static_cast<uint64_t>(i) : choice.below(30'000);
      const std::string clause = choice.chance(1, 3) ? "reads " : "writes ";
      std::string operands = clause + piece(slot);
      if (choice.chance(1, 40)) operands += "updates token";
      if (choice.chance(1, 50)) operands = clause + piece(choice.below(1000), 200);
      program.add(queue, operands);
    }
    program.expect_as_defined();
  }
}

// Two queues wait for each other all the time. Others wait seldom, for what is long past.
TEST(QueueTracker, WaitsAsTheDefinitionSaysWhereClocksAreLetGoOf) {
  for (const uint32_t queue_count : {4u, 10u}) {
    SeededChoice choice(93);
    LongProgram program(queue_count);
    const int count = program_count(40'000, 2);
    for (int i = 0; i < count; ++i) {
      const bool is_late = choice.chance(1, 100);
      const auto queue = static_cast<uint32_t>(is_late ? 2 + choice.below(queue_count - 2) : i % 2);
      std::string operands = "updates token";
      if (is_late) {
        operands = "reads " + piece(choice.below(300)) + piece(choice.below(300));
      } else if (choice.chance(1, 10)) {
        operands = "writes " + piece(choice.below(300)) + operands;
      }
      program.add(queue, operands);
    }
    program.expect_as_defined();
  }
}

}  // namespace
}  // namespace interlock::queue_tracker_property_test
