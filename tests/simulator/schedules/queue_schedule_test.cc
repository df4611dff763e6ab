// Schedules of several queues: witness lines by hand; sinks against the hazards that the clocks
// find, and observability against all executions of tiny programs.
#include "simulator/schedules/queue_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/observability.h"
#include "simulator/schedules/part_order.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/part_execution.h"
#include "tests/simulator/judges/signals_on_machine.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_machine_programs.h"

namespace interlock::queue_schedule_test {
namespace {

using testing::HasSubstr;

// The reference run of a program of several queues that has no deadlock.
std::optional<Program> reference_run(const std::string& text) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse(text, "test", options);
  if (!program || !needs_queue_order(*program)) return std::nullopt;
  if (find_unordered_on_machine(*program)) return std::nullopt;
  const ReferenceOrder order = find_reference_order(*program);
  if (!order.cycle.empty()) return std::nullopt;
  return order.is_text_order ? *program : in_reference_order(*program, order);
}

constexpr std::string_view kTwoQueues = R"(interlock 1
memory x 16
memory y 16
q1: queue serial
a: dispatch Make writes x
b: dispatch Use reads x writes y on q1
)";

// The steps as "run a, fetch b, …", or the error.
std::string steps_of_witness(const std::string& text) {
  const std::optional<Program> run = reference_run(text);
  if (!run) return "no program";
  const HappensBefore order(*run);
  const Result<Schedule> schedule = schedule_of(*run, order, run->witness);
  if (!schedule) return schedule.error().message;
  if (const auto legal = check_legal(*run, order, *schedule); !legal) return legal.error().message;
  std::string steps;
  for (const Step& step : schedule->steps) {
    constexpr std::string_view kWords[] = {"run", "run late", "commit", "fetch", "drop"};
    if (!steps.empty()) steps += ", ";
    steps += kWords[static_cast<size_t>(step.kind)];
    steps += " " + run->reference_of(step.dispatch);
  }
  return steps;
}

TEST(QueueSchedule, DefersWhatAWitnessPutsAfterAnother) {
  EXPECT_EQ(steps_of_witness(std::string(kTwoQueues)), "run a, run b");
  EXPECT_EQ(steps_of_witness(std::string(kTwoQueues) + "witness b before a\n"), "run b, run a");
  EXPECT_EQ(steps_of_witness(std::string(kTwoQueues) + "witness a after b\n"), "run b, run a");
}

TEST(QueueSchedule, LetsWhatFollowsADeferredOperationWaitWithIt) {
  const std::string text = R"(interlock 1
memory x 16
memory y 16
memory z 16
q1: queue serial
a: dispatch Make writes x on q1
c: dispatch Copy reads x writes z on q1
b: dispatch Use reads x writes y
)";
  EXPECT_EQ(steps_of_witness(text + "witness b before a\n"), "run b, run a, run c");
}

TEST(QueueSchedule, CommitsLateAndFetchesEarlyWhereExecutionAloneIsOrdered) {
  const std::string text = R"(interlock 1
memory x 16
memory y 16
q1: queue concurrent
a: dispatch Make writes x on q1
barrier execution on q1
b: dispatch Use reads x writes y on q1
)";
  EXPECT_EQ(steps_of_witness(text + "witness a commits after b\n"), "run late a, run b, commit a");
  EXPECT_THAT(steps_of_witness(text + "witness b before a\n"),
              HasSubstr("b (dispatch 1) may not run: a barrier (statement 1) holds it"));
  const std::string available = R"(interlock 1
memory x 16
memory y 16
q1: queue concurrent
a: dispatch Make writes x on q1
barrier compute.write -> compute on q1
b: dispatch Use reads x writes y on q1
)";
  EXPECT_EQ(steps_of_witness(available + "witness b fetches before a commits\n"),
            "run late a, fetch b, commit a, run b");
  EXPECT_EQ(steps_of_witness(available + "witness a commits after b\n"),
            "No write of a (dispatch 0) can commit after b (dispatch 1).");
}

TEST(QueueSchedule, RefusesWhatASemaphoreOrders) {
  const std::string text = R"(interlock 1
memory x 16
memory y 16
q1: queue serial
a: dispatch Make writes x
signal s=1
wait s=1 on q1
b: dispatch Use reads x writes y on q1
witness b before a
)";
  EXPECT_THAT(steps_of_witness(text), HasSubstr("semaphore 's' is at 0, below 1"));
}

TEST(QueueSchedule, RefusesASlice) {
  EXPECT_THAT(steps_of_witness(std::string(kTwoQueues) + "witness b[0:1] before a\n"),
              testing::AnyOf(HasSubstr("only whole operations move"), HasSubstr("no program")));
}

TEST(QueueSchedule, IsIllegalOnTheMachineIfAStepComesTooEarly) {
  const std::optional<Program> run = reference_run(R"(interlock 1
memory x 16
memory y 16
q1: queue serial
a: dispatch Make writes x
signal s=1
wait s=1 on q1
b: dispatch Use reads x writes y on q1
)");
  ASSERT_TRUE(run.has_value());
  const HappensBefore order(*run);
  Schedule schedule = issue_order_schedule(*run);
  EXPECT_TRUE(check_legal(*run, order, schedule).has_value());
  std::swap(schedule.steps[0], schedule.steps[1]);
  const auto legal = check_legal(*run, order, schedule);
  ASSERT_FALSE(legal.has_value());
  EXPECT_THAT(legal.error().message, HasSubstr("b (dispatch 1) may not run"));
  schedule.steps.erase(schedule.steps.begin());
  EXPECT_EQ(check_legal(*run, order, schedule).error().message,
            "The schedule does not carry out all that the program has.");
}

// What waits for the arguments of an indirect dispatch alone may come before the rest of it.
TEST(QueueSchedule, LetsWorkGoOnOnceArgumentsAreRead) {
  for (const std::string arguments : {"m[0:4]", "m[0:0]"}) {
    const std::optional<Program> run = reference_run(
        "interlock 1\nmemory m 16\na: dispatch Draw indirect " + arguments + R"( reads m[4:8]
set e indirect -> compute
await e
b: dispatch Make writes m[4:8]
)");
    ASSERT_TRUE(run.has_value());
    const HappensBefore order(*run);
    uint64_t steps = 1'000'000;
    const std::vector<Schedule> sinks =
        queue_sinks_of(*run, find_all_hazards(*run, order).hazards.front(), steps);
    ASSERT_EQ(sinks.size(), 1u);
    EXPECT_EQ(sinks[0].steps.back().dispatch, DispatchId(size_t{0}));
    const Result<Success> legal = check_legal(*run, order, sinks[0]);
    EXPECT_TRUE(legal) << legal.error().message;
  }
}

TEST(QueueSchedule, EndsWhereStepsDoNotLast) {
  const std::optional<Program> run = reference_run(std::string(kTwoQueues));
  ASSERT_TRUE(run.has_value());
  const HappensBefore order(*run);
  const Hazard hazard = find_all_hazards(*run, order).hazards.front();
  uint64_t many = 1'000'000;
  EXPECT_EQ(queue_sinks_of(*run, hazard, many).size(), 1u);
  EXPECT_GT(many, 0u);
  uint64_t few = 3 * kStepsOfARun;
  EXPECT_TRUE(queue_sinks_of(*run, hazard, few).empty());
  EXPECT_EQ(few, 0u);
  const auto verdicts = judge_observability(*run, order, ByteSegments(*run),
                                            std::vector<Hazard>{hazard}, {.work_limit = 100});
  EXPECT_EQ(verdicts.front().proof, ObservabilityProof::kOverBudget);
}

// Signals of a queue that nothing else holds up look at what has come since the last one alone.
TEST(QueueSchedule, LooksAtPendingWorkInLinearTime) {
  const auto steps_of = [](int dispatch_count) {
    std::string text = "interlock 1\nmemory m 64\nq1: queue concurrent\n";
    for (int i = 0; i < dispatch_count; ++i) {
      text += "dispatch Use reads m on q1\n";
      if (i % 4 == 0) text += "signal s=" + std::to_string(i + 1) + " on q1\n";
    }
    const std::optional<Program> run = reference_run(text);
    return QueueMachine(*run, {.splits_memory = true}).step_count();
  };
  EXPECT_GT(steps_of(1000), 0u);
  EXPECT_LT(steps_of(4000), 5 * steps_of(1000));
}

// What the host has invalidated before part `k` does not get to memory any more.
bool comes_after_drop(const PartOrder& order, OperationPart commit, size_t k) {
  if (commit.role != PartRole::kCommit) return false;
  commit.role = PartRole::kDrop;
  const auto drop = std::ranges::find(order.parts, commit);
  if (drop == order.parts.end()) return false;
  return order.is_before(static_cast<size_t>(drop - order.parts.begin()), k);
}

// Some fetch or commit of the one may come after one of the other on bytes that they share.
bool can_reverse(const Program& run, const QueueMachine& machine, const PartOrder& order,
                 DispatchId first, PartRole first_role, DispatchId second, PartRole second_role,
                 bool second_writes) {
  const auto is_meant = [&](const OperationPart& part, DispatchId dispatch, PartRole role,
                            bool writes) {
    if (part.dispatch != dispatch || part.role != role) return false;
    const StageAccess sort = machine.pieces()[part.piece].sort;
    return writes == (sort == write_sort_of(stage_of(sort)));
  };
  for (size_t i = 0; i < order.parts.size(); ++i) {
    if (!is_meant(order.parts[i], first, first_role, first_role == PartRole::kCommit)) continue;
    const AccessPiece& one = machine.pieces()[order.parts[i].piece];
    const Access& access = run.accesses_of(first)[one.access];
    for (size_t k = 0; k < order.parts.size(); ++k) {
      if (!is_meant(order.parts[k], second, second_role, second_writes)) continue;
      const AccessPiece& other = machine.pieces()[order.parts[k].piece];
      const Access& later = run.accesses_of(second)[other.access];
      const bool commute = access.is_atomic() && later.is_atomic() &&
                           run.dispatch(first).atomic_op == run.dispatch(second).atomic_op;
      if (access.memory != later.memory || !share_a_byte(one.bytes, other.bytes) || commute) {
        continue;
      }
      if (!order.is_before(i, k) && !comes_after_drop(order, order.parts[i], k)) return true;
    }
  }
  return false;
}

// The host writes, between the two, bytes that both access: what it comes to later then finds that.
bool host_writes_between(const Program& run, DispatchId first, DispatchId second) {
  const auto shares = [&](const Access& written, DispatchId with) {
    return std::ranges::any_of(run.accesses_of(with), [&](const Access& access) {
      return access.memory == written.memory && share_a_byte(access.range, written.range);
    });
  };
  for (size_t between = first.index + 1; between < second.index; ++between) {
    if (run.dispatches[between].host != HostAccess::kWrites) continue;
    for (const Access& written : run.accesses_of(DispatchId(between))) {
      if (shares(written, first) && shares(written, second)) return true;
    }
  }
  return false;
}

void expect_kinds_of_machine(const Program& run) {
  const HappensBefore order(run);
  const QueueMachine machine(run, {.splits_memory = true});
  const PartOrder parts = find_part_order(run, true);
  const bool is_at_once =
      std::ranges::any_of(run.memories, &Memory::is_unified) ||
      std::ranges::any_of(run.queues, [](const Queue& q) { return q.kind == QueueKind::kGraph; });
  using enum PartRole;
  for (DispatchId second(size_t{1}); second.index < run.dispatches.size(); ++second.index) {
    for (DispatchId first(size_t{0}); first < second; ++first.index) {
      const bool is_first_of_host = run.dispatch(first).host != HostAccess::kNone;
      const bool is_second_of_host = run.dispatch(second).host != HostAccess::kNone;
      // The host's own accesses come one after another; what it has lost is told by what it finds,
      // and what it does at once has no such parts.
      if (is_first_of_host && is_second_of_host) continue;
      const bool is_of_host = is_first_of_host || is_second_of_host;
      if (is_of_host && (is_at_once || !order.queues().host_moves().lost().empty())) continue;
      const ConflictKinds kinds = hazard_kinds(run, order, first, second);
      const auto reverses = [&](PartRole a, PartRole b, bool second_writes) {
        return can_reverse(run, machine, parts, first, a, second, b, second_writes);
      };
      const bool raw = reverses(kCommit, kFetch, false);
      const bool waw = reverses(kCommit, kCommit, true) || reverses(kCommit, kFetch, true);
      // A hazard with what the host finds: the machine reverses that with its write in between.
      const bool is_covered = is_second_of_host && host_writes_between(run, first, second);
      ASSERT_EQ(kinds.raw && !(is_covered && !raw), raw) << first.index << second.index;
      ASSERT_EQ(kinds.war, reverses(kFetch, kCommit, true)) << first.index << second.index;
      ASSERT_EQ(kinds.waw && !(is_covered && !waw), waw) << first.index << second.index;
    }
  }
}

TEST(QueueSchedule, CanReverseTwoPartsExactlyIfTheClocksFindAHazard) {
  const int count = proof_count(125'000, 10'000);
  int judged_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const std::string text =
        seed % 2 == 0 ? random_machine_program(choice) : generated_queue_program(choice);
    const std::optional<Program> run = reference_run(text);
    if (!run) continue;
    SCOPED_TRACE(text);
    const QueueMachine machine(*run, {.splits_memory = true});
    if (machine.pieces().size() > 24) continue;
    ++judged_count;
    ASSERT_NO_FATAL_FAILURE(expect_kinds_of_machine(*run));
  }
  EXPECT_GT(judged_count, count / 4);
  print_proof(judged_count,
              "two operations of several queues have a hazard iff the machine of "
              "counters can reverse a fetch or a commit of theirs");
}

// Whether some hazard is observable, and all executions say so too; none where that is not judged.
std::optional<bool> is_observable_as_executed(const Program& run) {
  constexpr uint64_t kExecutionsMax = 2000;
  const HappensBefore order(run);
  const ByteSegments segments(run);
  const HazardList hazards = find_hazards(run, order, segments);
  const auto verdicts = judge_observability(run, order, segments, hazards.hazards, {});
  using enum ObservabilityProof;
  const auto has = [&](ObservabilityProof proof) {
    return std::ranges::count(verdicts, proof, &ObservabilityVerdict::proof) > 0;
  };
  const bool is_observable = has(kOwnWitness) || has(kOwnExecution);
  if (!is_observable && has(kHostCache)) return std::nullopt;
  const DivergenceVerdict divergence = find_divergence(run, kExecutionsMax);
  if (divergence == DivergenceVerdict::kTooMany) return std::nullopt;
  EXPECT_EQ(is_observable, divergence == DivergenceVerdict::kSometimes);
  return is_observable;
}

// Each was once judged in two ways.
TEST(QueueSchedule, AgreesWithTheClocksAndAllExecutionsOnWhatTheHostDoes) {
  constexpr std::pair<std::string_view, bool> kCases[] = {
      // The host wrote a part of what it reads.
      {"d0: dispatch Work updates m[2:4]\nhost idle\nhost writes m[0:2]\nhost reads m[1:4]\n",
       true},
      // A wait that is met from the start.
      {"s0: semaphore = 1\nd0: dispatch Work writes m[3:6]\nbarrier\nsignal s0=2\n"
       "host waits s0=1\nhost reads m[3:5]\n",
       true},
      // A commit that is late and comes before the invalidation all the same.
      {"host writes n[3:4]\ndispatch Work writes n[3:5]\nhost invalidates n\n", true},
      // What has been flushed commits before what is written after the next invalidation.
      {"host writes n[4:5]\nhost flushes n[4:5]\nhost invalidates n[4:6]\nhost writes n[4:5]\n",
       false},
      // Of three bytes two are in an atom that is flushed.
      {"host writes n[4:7]\nhost flushes n[0:5]\ndispatch Work writes n[5:7]\n", true},
      // A flush of whole atoms beside operands.
      {"host writes n[5:6]\nbarrier copy -> compute.read m[5:7]\nhost flushes n[4:5]\n"
       "dispatch Work writes n[5:6]\n",
       false},
      // A dependency between the write and its flush carries nothing.
      {"host writes n[4:5]\nbarrier host.write -> compute.read\n"
       "dispatch Work reads n[4:5] writes m[0:1]\nhost flushes n[4:5]\n",
       true},
  };
  for (const auto& [text, is_observable] : kCases) {
    SCOPED_TRACE(text);
    const std::optional<Program> run =
        reference_run("interlock 1\nmemory m 8\nmemory n 8 noncoherent=2\n" + std::string(text));
    ASSERT_TRUE(run.has_value());
    ASSERT_NO_FATAL_FAILURE(expect_kinds_of_machine(*run));
    EXPECT_EQ(is_observable_as_executed(*run), is_observable);
  }
}

TEST(QueueSchedule, IsObservableExactlyIfSomeExecutionChangesAnOutput) {
  const int count = proof_count(100000, 6000);
  std::array<int, 2> judged_count = {0, 0};
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 1'000'000);
    QueueGeneratorOptions options;
    options.operation_count_max = 3;
    const std::string text = generated_queue_program(choice, options);
    const std::optional<Program> run = reference_run(text);
    if (!run || QueueMachine(*run, {.splits_memory = true}).pieces().size() > 18) continue;
    // Two writes of one operation to a byte may end either way.
    if (!find_alias_violations(*run, 1).empty()) continue;
    SCOPED_TRACE(text);
    const std::optional<bool> is_observable = is_observable_as_executed(*run);
    ASSERT_FALSE(testing::Test::HasFailure());
    if (is_observable) ++judged_count[*is_observable];
  }
  EXPECT_GT(judged_count[0], count / 20);
  EXPECT_GT(judged_count[1], count / 20);
  print_proof(judged_count[0] + judged_count[1],
              "observable with several queues iff some execution changes an output");
}

}  // namespace
}  // namespace interlock::queue_schedule_test
