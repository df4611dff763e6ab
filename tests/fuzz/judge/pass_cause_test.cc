// Causes of what passes get wrong: one fault is one cause, however its damage shows.
#include "fuzz/judge/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/pass_oracle.h"
#include "tests/program_count.h"

namespace interlock::pass_cause_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Not;

struct NamedChain {
  std::string_view backward;
  std::string_view replay;
  std::string_view planner;
  std::string_view encoder;
  uint64_t program_count;
  std::vector<std::string> causes;  // Sorted.
};

PassChain chain_of(const NamedChain& named) {
  PassChain chain;
  chain.backward = find_backward(named.backward);
  chain.replay = find_replay(named.replay);
  chain.planner = find_planner(named.planner);
  chain.encoder = find_encoder(named.encoder);
  return chain;
}

void PrintTo(const NamedChain& named, std::ostream* out) { *out << names_of(chain_of(named)); }

const NamedChain kChains[] = {
    // In place against the contracts of two kernels.
    {"", "", "ggml", "", 1000, {"alias"}},
    // Clobbers, freed values and results in place, of values that a VJP still reads.
    {"", "", "ggml-undercount", "", 300, {"lifetime-kernels"}},
    {"one-shot", "", "ggml-undercount", "", 200, {"lifetime-kernels"}},
    // WAR and WAW.
    {"", "", "ggml-serial-liveness", "", 100, {"slot_reuse"}},
    // Clobbers and freed values, by a reset or after it.
    {"", "", "ztensor-167", "", 200, {"lifetime-reset"}},
    // Ten kernels.
    {"split-pytorch-180952", "", "", "", 200, {"gradient-along_a_path"}},
    // Whoever reads what the second replay has overwritten.
    {"", "pytorch-181723", "", "", 50, {"lifetime-replay"}},
    {"", "pytorch-181723", "arena", "", 50, {"lifetime-replay"}},
    // The planner is right, and the encoder has its own cause.
    {"", "", "liveness", "mlx-2024", 500, {"WAR"}},
    {"", "", "liveness", "none", 50, {"RAW", "WAR", "WAW"}},
    // Two faults.
    {"split-pytorch-180952",
     "",
     "ggml-undercount",
     "",
     150,
     {"gradient-along_a_path", "lifetime-kernels"}},
    {"", "", "ztensor-167", "mlx-2024", 300, {"WAR", "lifetime-reset"}},
};

class CausesOfPasses : public testing::TestWithParam<NamedChain> {};

TEST_P(CausesOfPasses, AreOnePerFault) {
  CampaignOptions options;
  const PassChain chain = chain_of(GetParam());
  options.backward = chain.backward;
  options.replay = chain.replay;
  options.planner = chain.planner;
  options.encoder = chain.encoder;
  options.run_count =
      static_cast<uint64_t>(program_count(static_cast<int>(GetParam().program_count)));
  const auto report = run_campaign(options);
  ASSERT_TRUE(report) << report.error().message;
  std::vector<std::string> causes;
  for (const CampaignFind& find : report->finds) {
    causes.push_back(find.cause.name);
    // What a file shows as enough is enough.
    if (find.cause.probe.empty() || chain.encoder != nullptr) continue;
    const auto probe = parse(find.cause.probe);
    ASSERT_TRUE(probe) << find.cause.probe;
    const auto passed = run_passes(chain, *probe, find.plan);
    ASSERT_TRUE(passed) << find.cause.probe;
    EXPECT_THAT(find_signed(*passed), Not(IsEmpty())) << find.cause.probe;
  }
  std::sort(causes.begin(), causes.end());
  if (is_slow_build()) {
    EXPECT_THAT(causes, IsSubsetOf(GetParam().causes));
  } else {
    EXPECT_EQ(causes, GetParam().causes);
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, CausesOfPasses, testing::ValuesIn(kChains));

Cause cause_in(const NamedChain& named, std::string_view text, const std::string& signature) {
  const PassChain chain = chain_of(named);
  const auto program = parse(text);
  EXPECT_TRUE(program) << program.error().message;
  std::vector<std::string> signatures;
  for (const SignedFact& fact :
       find_signed(run_passes(chain, *program, plan_options_of_campaign()).value())) {
    signatures.push_back(fact.signature);
  }
  EXPECT_THAT(signatures, testing::Contains(signature));
  return cause_of_passes(chain, *program, plan_options_of_campaign(), signature);
}

// The result takes the bytes of a value that was freed too early, not of one that it may not share.
TEST(CauseOfPasses, TellsAValueThatIsFreedTooEarlyFromAResultInPlace) {
  const Cause cause = cause_in({"", "", "ggml-undercount", "", 0, {}}, R"(interlock 1
tensor t0 f32[2,2] = random(1)
tensor t1 f32[2] = random(2)
tensor t2 f32[2,2] = random(3)
tensor t3 f32[2,2] = random(4)
tensor t4 f32[2,2]
tensor t5 f32[2,2]
tensor t6 f32[2,2]
output t6
dispatch rms_norm_vjp reads t2 t1 t3 writes t4 t5
dispatch matmul_tn reads t0 t3 writes t6
)",
                               "alias-slot_reuse-matmul_tn");
  EXPECT_EQ(cause.name, "lifetime-kernels");
  EXPECT_THAT(cause.probe, HasSubstr("dispatch Opaque writes visitor.t6\n"));
}

// A free is no part of what a reset does.
TEST(CauseOfPasses, LeavesOutWhatTheFindHasByChance) {
  const Cause cause = cause_in({"", "", "ztensor-167", "", 0, {}}, R"(interlock 1
memory m0 1
tensor t0 f32[1]
tensor t1 f32[1,1]
tensor t2 f32[1]
tensor t3 f32[1]
output t3
dispatch Opaque writes t0
reset m0
dispatch Opaque writes t1
dispatch Opaque writes t2
free t1
dispatch Opaque reads t0
reset m0
dispatch Opaque reads t2 writes t3
)",
                               "use-after-free-free");
  EXPECT_EQ(cause.name, "lifetime-reset");
  EXPECT_THAT(cause.probe, Not(HasSubstr("free")));
}

}  // namespace
}  // namespace interlock::pass_cause_test
