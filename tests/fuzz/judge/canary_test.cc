// Canaries: encoders with one planted fault each must be found, within a number of programs that is
// written down. If one is not, the fuzzer has gone blind, whatever else passes.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fuzz/campaign/campaign.h"
#include "tests/encoder/sync/mutant_encoders.h"
#include "tests/program_count.h"

namespace interlock::canary_test {
namespace {

// Programs to judge, at most: at least ten times the median over seeds 1 to 5 and four times the
// slowest of them, rounded up. Runs are nearly independent, so a generator that is as good as
// today's misses four times the slowest of five in about one case of a thousand; the seeds are
// fixed, so a generator that did not change never does.
struct Budget {
  std::string_view mutant;
  uint64_t program_count;
};

constexpr Budget kBudgets[] = {
    {"drops-raw", 50},
    {"drops-war", 100},
    {"drops-waw", 50},
    {"misses-first-byte", 500},
    {"misses-last-byte", 500},
    {"compares-begins-only", 50},
    {"compares-ends-only", 100},
    {"forgets-after-barrier", 50},
    {"first-operand-only", 50},
    {"first-four-operands", 50},
    {"resets-too-early", 50},
    {"overflows-after-18-outputs", 10000},
    {"misses-war-of-one-pair", 1000},
    {"ignores-atomic-op", 1000},
    {"updates-as-reads", 500},
    {"one-range-per-memory", 50},
    {"confuses-memories", 50},
    {"ignores-offsets", 50},
    {"touching-conflicts", 50},
    {"reads-conflict", 50},
    {"atomics-conflict", 1000},
    {"keeps-epoch", 50},
};

uint64_t budget_of(std::string_view mutant) {
  for (const Budget& budget : kBudgets) {
    if (budget.mutant == mutant) return budget.program_count;
  }
  return 0;
}

CampaignReport hunt(const EncoderEntry& entry, MutantKind kind, uint64_t seed,
                    uint64_t program_count) {
  CampaignOptions options;
  options.encoder = &entry;
  options.seed = seed;
  options.run_count = program_count;
  options.find_limit = 1;
  options.oracles.judges_excess = kind == MutantKind::kExcess;
  auto report = run_campaign(options);
  EXPECT_TRUE(report) << report.error().message;
  return std::move(report).value();
}

class Canary : public testing::TestWithParam<MutantEncoder> {};

TEST_P(Canary, IsFoundWithinItsBudget) {
  const MutantEncoder& mutant = GetParam();
  const EncoderEntry entry{mutant.name, mutant.fault, true, mutant.create};
  const uint64_t budget = budget_of(mutant.name);
  ASSERT_GT(budget, 0u) << "A new mutant needs a line in the table.";
  const uint64_t last_seed = is_slow_build() ? 1 : 5;
  for (uint64_t seed = 1; seed <= last_seed; ++seed) {
    const CampaignReport report = hunt(entry, mutant.kind, seed, budget);
    for (const std::string& disagreement : report.disagreements) ADD_FAILURE() << disagreement;
    ASSERT_EQ(report.finds.size(), 1u) << "seed " << seed << ", budget " << budget;
    const bool is_excess = report.finds[0].signature == "excess";
    EXPECT_EQ(is_excess, mutant.kind == MutantKind::kExcess) << report.finds[0].text;
    EXPECT_LE(report.finds[0].program.dispatches.size(), 24u) << report.finds[0].text;
  }
}

std::string name_of(const testing::TestParamInfo<MutantEncoder>& info) {
  std::string name(info.param.name);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Mutants, Canary, testing::ValuesIn(mutant_encoders()), name_of);

std::unique_ptr<Encoder> create_faultless() { return make_faultless_encoder(); }

// The same encoder without a fault, at a budget that finds all but the rarest mutants.
TEST(Canary, StaysSilentWithoutAFault) {
  const EncoderEntry entry{"faultless", "no fault", false, &create_faultless};
  const CampaignReport report = hunt(entry, MutantKind::kExcess, 1, is_slow_build() ? 250 : 2000);
  for (const std::string& disagreement : report.disagreements) ADD_FAILURE() << disagreement;
  EXPECT_TRUE(report.finds.empty()) << report.finds[0].text;
}

}  // namespace
}  // namespace interlock::canary_test
