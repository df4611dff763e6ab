// How soon each planted bug is found, guided and not: in programs, and in time of the processor.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/sync/encoder.h"
#include "fuzz/campaign/campaign.h"
#include "tests/encoder/sync/mutant_encoders.h"
#include "tests/program_count.h"

namespace interlock::guided_finds_test {
namespace {

constexpr uint64_t kProgramsMax = 100'000;  // Far more than it takes.

struct PlantedBug {
  EncoderEntry encoder;
  bool is_excess = false;
};

std::vector<PlantedBug> planted_bugs() {
  std::vector<PlantedBug> bugs;
  for (const EncoderEntry& entry : encoder_registry()) {
    if (entry.is_broken) bugs.push_back({entry});
  }
  for (const MutantEncoder& mutant : mutant_encoders()) {
    bugs.push_back(
        {{mutant.name, mutant.fault, true, mutant.create}, mutant.kind == MutantKind::kExcess});
  }
  return bugs;
}

struct Hunt {
  uint64_t program_count = 0;
  double seconds = 0;
};

Hunt hunt(const PlantedBug& bug, uint64_t seed, bool is_guided) {
  CampaignOptions options;
  options.encoder = &bug.encoder;
  options.oracles.judges_excess = bug.is_excess;
  options.seed = seed;
  options.run_count = kProgramsMax;
  options.find_limit = 1;
  options.is_guided = is_guided;
  const std::clock_t begin = std::clock();
  const auto report = run_campaign(options);
  const std::clock_t end = std::clock();
  EXPECT_TRUE(report);
  EXPECT_EQ(report->finds.size(), 1u) << bug.encoder.name << ", seed " << seed;
  if (report->finds.empty()) return {kProgramsMax, 0};
  return {report->finds[0].run_index + 1, static_cast<double>(end - begin) / CLOCKS_PER_SEC};
}

struct Hunts {
  std::vector<Hunt> of_seeds;

  uint64_t median_program_count() { return median(&Hunt::program_count); }
  double median_seconds() { return median(&Hunt::seconds); }

 private:
  template <typename Value>
  Value median(Value Hunt::*member) {
    std::ranges::sort(of_seeds, {}, member);
    return of_seeds[of_seeds.size() / 2].*member;
  }
};

// Those that an unguided campaign finds in its first generation are found in the same program:
// until then both are the same.
TEST(GuidedFinds, AreNoLaterThanOthers) {
  const int seed_count = proof_count(21, 3, 3);
  const bool is_proof = seed_count == 21;
  for (const PlantedBug& bug : planted_bugs()) {
    const bool is_slow_to_find = bug.encoder.name == "overflows-after-18-outputs";
    if (!is_proof && (is_slow_build() || !is_slow_to_find)) continue;
    Hunts guided;
    Hunts unguided;
    for (int seed = 1; seed <= seed_count; ++seed) {
      for (const bool is_guided : {seed % 2 == 0, seed % 2 != 0}) {  // First by turns.
        (is_guided ? guided : unguided)
            .of_seeds.push_back(hunt(bug, static_cast<uint64_t>(seed), is_guided));
      }
    }
    EXPECT_LE(guided.median_program_count(), unguided.median_program_count()) << bug.encoder.name;
    if (!is_proof) continue;
    fmt::print("| `{}` | {} | {} | {:.1f} ms | {:.1f} ms |\n", bug.encoder.name,
               unguided.median_program_count(), guided.median_program_count(),
               unguided.median_seconds() * 1e3, guided.median_seconds() * 1e3);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace interlock::guided_finds_test
