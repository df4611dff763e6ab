// Hazards with the host and its cache, against all executions and all states of that cache, of tiny
// programs with fixed seeds.
#include "tests/simulator/judges/host_cache.h"

#include <fmt/format.h>
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

namespace interlock::host_cache_test {
namespace {

constexpr size_t kStatesMax = 200'000;

// Two or three accesses by the host and a device, and between any two what they need, of which each
// piece is left out now and then.
class HostPrograms {
 public:
  explicit HostPrograms(Choice& choice) : choice_(choice) {}

  std::string text() {
    constexpr const char* kSorts[] = {" noncoherent=2", " noncoherent=2", " noncoherent=2", "",
                                      " unified"};
    sort_ = choice_.below(5);
    text_ = fmt::format("interlock 1\nmemory x {}{}\n", sort_ < 3 ? 3 : 2, kSorts[sort_]);
    const uint64_t count = 2 + choice_.below(3);
    bool was_host = choice_.chance(2, 3);
    access(was_host);
    for (uint64_t i = 1; i < count; ++i) {
      const bool is_host = choice_.chance(1, 2);
      between(was_host, is_host);
      access(is_host);
      was_host = is_host;
    }
    if (choice_.chance(1, 3)) text_ += "submit\n";
    return text_;
  }

 private:
  void add(const std::string& line) { text_ += line + "\n"; }
  // So often that half of the programs are clean.
  bool has() { return choice_.chance(4, 5); }

  std::string bytes() {
    const uint64_t size = sort_ < 3 ? 3 : 2;
    if (choice_.chance(1, 3)) return "x";
    const uint64_t begin = choice_.below(size);
    return fmt::format("x[{}:{}]", begin, begin + 1 + choice_.below(size - begin));
  }
  std::string moved() { return choice_.chance(2, 3) ? "x" : bytes(); }

  void access(bool is_host) {
    if (is_host) {
      add(fmt::format("host {} {}", choice_.chance(3, 5) ? "writes" : "reads", bytes()));
      return;
    }
    if (has_device_work_) {
      add("barrier compute.read|compute.write -> compute.read|compute.write");
    }
    has_device_work_ = true;
    const uint64_t sort = choice_.below(5);
    if (sort == 0) return add(fmt::format("dispatch Add partial writes {}", bytes()));
    if (sort == 1) return add(fmt::format("dispatch Step updates {}", bytes()));
    add(fmt::format("dispatch Use {} {}", sort < 4 ? "reads" : "writes", bytes()));
  }

  void between(bool from_host, bool to_host) {
    if (from_host && to_host) {
      if (choice_.chance(1, 3)) add("host flushes " + moved());
      if (choice_.chance(1, 2)) add("host invalidates " + moved());
      if (choice_.chance(1, 4)) add("host flushes " + moved());
    } else if (from_host) {
      if (choice_.chance(1, 8)) add("host invalidates " + moved());
      if (has()) add("host flushes " + moved());
      if (choice_.chance(1, 8)) add("host invalidates " + moved());
      if (choice_.chance(1, 4)) through_a_signal();
    } else if (to_host) {
      if (has()) {
        add(choice_.chance(1, 4) ? "barrier"
                                 : fmt::format("barrier compute.write -> host.read{}",
                                               choice_.chance(1, 3) ? " " + bytes() : ""));
      }
      ++device_value_;
      add(fmt::format("signal s={}", device_value_));
      if (choice_.chance(1, 10)) add("host invalidates " + moved());
      if (choice_.chance(1, 8)) add("submit");
      if (has()) {
        add(choice_.chance(1, 5) ? "host idle" : fmt::format("host waits s={}", device_value_));
      }
      if (has()) add("host invalidates " + moved());
    }
  }

  void through_a_signal() {
    ++host_value_;
    add(fmt::format("host signals t={}", host_value_));
    if (has()) add(fmt::format("wait t={}", host_value_));
    if (has()) add("barrier host.write -> compute.read|compute.write");
  }

  Choice& choice_;
  uint64_t sort_ = 0;
  uint64_t device_value_ = 0;
  uint64_t host_value_ = 0;
  bool has_device_work_ = false;
  std::string text_;
};

TEST(HostCache, DiffersExactlyWhenThereIsAHazard) {
  const int count = proof_count(40'000, 250, 5);
  std::array<int, 2> judged = {0, 0};
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed) + 17'000'000);
    const std::string text = HostPrograms(choice).text();
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
  EXPECT_GT(judged[1], count / 12);
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
    const std::string text = HostPrograms(choice).text();
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
