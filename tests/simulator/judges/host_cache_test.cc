// Hazards with the host and its cache, against all executions and all states of that cache, of tiny
// programs with fixed seeds.
#include "tests/simulator/judges/host_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/barriers/order_findings.h"
#include "simulator/bytes/byte_segments.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/host_atoms.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"
#include "simulator/schedules/observability.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"
#include "tests/simulator/programs/random_host_programs.h"

namespace interlock::host_cache_test {
namespace {

constexpr size_t kStatesMax = 200'000;

TEST(HostCache, DiffersExactlyWhenThereIsAHazard) {
  const int count = proof_count(40'000, 250, 5);
  std::array<int, 2> judged = {0, 0};
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 17'000'000);
    const std::string text = random_host_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program) continue;
    uint64_t work_left = UINT64_MAX;
    const OrderFindings findings = find_order_findings(*program, HazardsListed::kAll, work_left);
    if (!findings.runs) continue;
    const DivergenceVerdict verdict = find_host_divergence(*program, kStatesMax);
    if (verdict == DivergenceVerdict::kTooMany) continue;
    const bool has_hazard = !findings.hazards.empty();
    ASSERT_EQ(verdict == DivergenceVerdict::kSometimes, has_hazard) << "seed " << seed << "\n"
                                                                    << text;
    ++judged[has_hazard];
  }
  EXPECT_GT(judged[0], count / 5);
  EXPECT_GT(judged[1], count / 16);
  print_proof(judged[0] + judged[1],
              "a hazard with the host iff some execution, with some state of its cache, differs");
}

// Whether some hazard of the program is called observable. Requires: it has no deadlock.
bool has_observable_hazard(const Program& program) {
  const ReferenceOrder reference = find_reference_order(program);
  const Program run = reference.is_text_order ? program : in_reference_order(program, reference);
  const Program atoms = with_whole_atoms(run);
  const HazardList hazards = find_hazards(atoms, HappensBefore(atoms, &run), ByteSegments(atoms));
  const auto verdicts =
      judge_observability(run, HappensBefore(run), ByteSegments(run), hazards.hazards, {});
  using enum ObservabilityProof;
  return std::ranges::any_of(verdicts, [](const ObservabilityVerdict& verdict) {
    EXPECT_NE(verdict.proof, kOverBudget);
    return verdict.proof == kOwnWitness || verdict.proof == kOwnExecution;
  });
}

TEST(HostCache, FindsWhatComesToTheCopyOfTheHostAfterItsWriteIfTheHostLooks) {
  constexpr std::pair<std::string_view, bool> kCases[] = {
      {"memory x 2\ndispatch Make writes x\nsignal s=1\nhost waits s=1\nhost writes x\n", false},
      {"memory x 2\ndispatch Make writes x\nsignal s=1\nhost waits s=1\nhost writes x\n"
       "host reads x[0:1]\n",
       true},
      // It has got there, and no invalidation says so: the line that the host wrote has the bytes.
      {"memory x 2 noncoherent=2\ndispatch Make writes x\nbarrier compute.write -> host.read\n"
       "signal s=1\nhost waits s=1\nhost writes x\nhost reads x[0:1]\n",
       false},
      // Another one writes over what the host wrote, and is seen.
      {"memory x 2\ndispatch Make writes x\nsignal s=1\nhost waits s=1\nhost writes x\n"
       "dispatch Again writes x\nbarrier compute.write -> host.read\nsignal s=2\n"
       "host waits s=2\nhost reads x[0:1]\n",
       false},
      // Beside a later write it goes back to the device.
      {"memory x 2 noncoherent=2\ndispatch Make writes x\nsignal s=1\nhost waits s=1\n"
       "host writes x[0:1]\nhost flushes x\nhost writes x[1:2]\nhost flushes x\n",
       true},
  };
  for (const auto& [text, is_observable] : kCases) {
    SCOPED_TRACE(text);
    const Program program = program_with_queues("interlock 1\n" + std::string(text));
    EXPECT_EQ(has_observable_hazard(program), is_observable);
    const DivergenceVerdict expected =
        is_observable ? DivergenceVerdict::kSometimes : DivergenceVerdict::kNever;
    EXPECT_EQ(find_host_output_divergence(program, kStatesMax), expected);
  }
}

// The host has a copy of its own of each byte, and lines before it: the machine of counters has
// neither, nor has what judges by it.
TEST(HostCache, IsObservableExactlyIfSomeExecutionChangesAnOutput) {
  const int count = proof_count(40'000, 75, 5);
  std::array<int, 2> judged = {0, 0};
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 19'000'000);
    const std::string text = random_host_program(choice);
    const std::optional<Program> program = parse_queues(text);
    if (!program || !find_reference_order(*program).cycle.empty()) continue;
    const DivergenceVerdict verdict = find_host_output_divergence(*program, kStatesMax);
    if (verdict == DivergenceVerdict::kTooMany) continue;
    const bool is_observable = has_observable_hazard(*program);
    ASSERT_EQ(verdict == DivergenceVerdict::kSometimes, is_observable) << "seed " << seed << "\n"
                                                                       << text;
    ++judged[is_observable];
  }
  EXPECT_GT(judged[0], count / 5);
  EXPECT_GT(judged[1], count / 16);
  print_proof(
      judged[0] + judged[1],
      "observable with the host and one queue iff some execution, with some state of its cache, "
      "changes an output");
}

}  // namespace
}  // namespace interlock::host_cache_test
