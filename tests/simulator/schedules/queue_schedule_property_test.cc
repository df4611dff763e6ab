// Sinks of several queues against the hazards that the clocks find, and observability against all
// executions of tiny programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/observability.h"
#include "simulator/schedules/part_order.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/part_execution.h"
#include "tests/simulator/judges/reference_run.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_machine_programs.h"

namespace interlock::queue_schedule_property_test {
namespace {

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

// What the host writes goes back in whole atoms, and nothing of what it reads.
Program with_atoms_of_writes(Program run) {
  for (const DispatchId id : run.host_dispatches) {
    const Dispatch& dispatch = run.dispatch(id);
    if (dispatch.host != HostAccess::kWrites) continue;
    for (uint32_t k = 0; k < dispatch.access_count; ++k) {
      Access& access = run.accesses[dispatch.first_access + k];
      access.range = in_whole_atoms(run.memory(access.memory), access.range);
    }
  }
  return run;
}

void expect_kinds_of_machine(const Program& run) {
  const Program atoms = with_atoms_of_writes(run);
  const HappensBefore order(atoms, &run);
  const QueueMachine machine(run, {.splits_memory = true});
  const PartOrder parts = find_part_order(run, true);
  const bool is_at_once = std::ranges::any_of(run.memories, &Memory::is_unified);
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
      const ConflictKinds kinds = hazard_kinds(atoms, order, first, second);
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
  const int count = proof_count(125'000, 1000, 16);
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

// Whether some hazard is observable, and all executions say so too; none where they are too many.
std::optional<bool> is_observable_as_executed(const Program& run) {
  constexpr uint64_t kExecutionsMax = 2000;
  const Program atoms = with_whole_atoms(run);
  const HazardList hazards = find_hazards(atoms, HappensBefore(atoms, &run), ByteSegments(atoms));
  const auto verdicts =
      judge_observability(run, HappensBefore(run), ByteSegments(run), hazards.hazards, {});
  using enum ObservabilityProof;
  const auto has = [&](ObservabilityProof proof) {
    return std::ranges::count(verdicts, proof, &ObservabilityVerdict::proof) > 0;
  };
  const bool is_observable = has(kOwnWitness) || has(kOwnExecution);
  const DivergenceVerdict divergence = find_divergence(run, kExecutionsMax);
  if (divergence == DivergenceVerdict::kTooMany) return std::nullopt;
  EXPECT_EQ(is_observable, divergence == DivergenceVerdict::kSometimes);
  return is_observable;
}

// What a clock and an execution may easily disagree on.
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
      // An edge takes what comes before it to the host, and nothing of where it leads.
      {"g: queue graph\na: dispatch Work writes m[0:1] on g\n"
       "dispatch Work reads m[2:3] writes m[4:5] after a on g\nsignal s=1 on g\nhost waits s=1\n"
       "host reads m[0:1]\n",
       false},
      {"g: queue graph\na: dispatch Work writes m[0:1] on g\n"
       "dispatch Work reads m[2:3] writes m[4:5] after a on g\nsignal s=1 on g\nhost waits s=1\n"
       "host reads m[4:5]\n",
       true},
      {"g: queue graph\na: dispatch Work writes m[0:1] on g\n"
       "dispatch Work reads m[2:3] writes m[4:5] after a programmatic on g\nsignal s=1 on g\n"
       "host waits s=1\nhost reads m[0:1]\n",
       true},
      // What the cache puts back beside a write, of a device before and after it.
      {"dispatch Work writes n[4:5]\nsignal s=1\nhost waits s=1\nhost writes n[5:6]\n"
       "host flushes n[4:6]\n",
       true},
      {"host writes n[5:6]\ndispatch Work writes n[4:5]\n", true},
      {"host writes n[5:6]\ndispatch Work reads n[4:5] writes m[0:1]\n", false},
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
  const int count = proof_count(100000, 600, 16);
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
}  // namespace interlock::queue_schedule_property_test
