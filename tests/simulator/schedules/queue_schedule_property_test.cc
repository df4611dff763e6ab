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
#include "simulator/schedules/queue_machine.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/part_execution.h"
#include "tests/simulator/judges/part_reversals.h"
#include "tests/simulator/judges/reference_run.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_machine_programs.h"

namespace interlock::queue_schedule_property_test {
namespace {

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
    ASSERT_EQ(find_wrong_kinds(*run), std::nullopt);
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
    ASSERT_EQ(find_wrong_kinds(*run), std::nullopt);
    EXPECT_EQ(is_observable_as_executed(*run), is_observable);
  }
}

TEST(QueueSchedule, IsObservableExactlyIfSomeExecutionChangesAnOutput) {
  const int count = proof_count(190'000, 600, 16);
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
