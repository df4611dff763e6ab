// What a pass is blamed for, and what a program keeps of it while it shrinks.
#include "fuzz/judge/pass_oracle.h"
#include "fuzz/minimize/minimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "tests/program_count.h"

namespace interlock::pass_oracle_test {
namespace {

std::set<FindingKind> kinds_in(const PassChain& chain, const Program& program,
                               const PlanOptions& plan) {
  std::set<FindingKind> kinds;
  for (const SignedFact& fact : find_signed(run_passes(chain, program, plan).value())) {
    kinds.insert(kind_of(fact.fact));
  }
  return kinds;
}

class MinimizePasses : public testing::TestWithParam<const char*> {};

// No finding of a kind that was not there; and the one that it is about stays, through no fault of
// the program.
TEST_P(MinimizePasses, AddNoKindAndKeepTheSignature) {
  CampaignOptions options;
  // An encoder that places nothing leaves few kinds in small programs.
  const bool has_planner_fault = std::string(GetParam()) != "liveness";
  if (!has_planner_fault) options.encoder = find_encoder("none");
  options.planner = find_planner(GetParam());
  ASSERT_NE(options.planner, nullptr);
  const PassChain chain = chain_of(options);
  const PlanOptions plan = plan_options_of_campaign();
  int minimized_count = 0;
  for (uint64_t run = 0; run < (is_slow_build() ? 8 : has_planner_fault ? 90 : 20); ++run) {
    const Program program = build(draft_of_run(options, run)).value();
    const PassReport report = judge_passes(chain, program, plan, {}, 1);
    const std::set<FindingKind> allowed = kinds_in(chain, program, plan);
    std::set<std::string> signatures;
    for (const SignedFact& fact : report.facts) signatures.insert(fact.signature);
    for (const std::string& signature : signatures) {
      ++minimized_count;
      const Program small = minimize_passes(chain, program, plan, signature, {}).program;
      const std::set<FindingKind> kinds = kinds_in(chain, small, plan);
      EXPECT_TRUE(std::includes(allowed.begin(), allowed.end(), kinds.begin(), kinds.end()))
          << "run " << run << ' ' << signature << "\n"
          << print(small);
      const auto facts = find_signed(run_passes(chain, small, plan).value());
      EXPECT_TRUE(std::any_of(facts.begin(), facts.end(), [&](const SignedFact& fact) {
        return fact.signature == signature;
      })) << signature;
      EXPECT_TRUE(find_signed(run_passes(reference_chain(), small, plan).value()).empty())
          << print(small);
    }
  }
  if (!is_slow_build()) {  // Which tries fewer programs.
    EXPECT_GT(minimized_count, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(Planners, MinimizePasses,
                         testing::Values("ggml-undercount", "ggml-serial-liveness", "ztensor-167",
                                         "liveness"));

}  // namespace
}  // namespace interlock::pass_oracle_test
