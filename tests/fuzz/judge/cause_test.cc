// Causes: one fault of an encoder is one cause, whatever signatures its finds have; two are two.
#include "fuzz/judge/cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/testing/sample_programs.h"
#include "tests/encoder/sync/mutant_encoders.h"
#include "tests/encoder/sync/two_fault_encoders.h"
#include "tests/program_count.h"

namespace interlock::cause_test {
namespace {

using testing::IsEmpty;
using testing::IsSubsetOf;

std::vector<std::string> causes_of_campaign(const EncoderEntry& encoder, uint64_t run_count,
                                            uint64_t seed) {
  CampaignOptions options;
  options.encoder = &encoder;
  options.seed = seed;
  options.run_count = run_count;
  const auto report = run_campaign(options);
  EXPECT_TRUE(report) << report.error().message;
  std::vector<std::string> causes;
  for (const CampaignFind& find : report->finds) causes.push_back(find.cause.name);
  std::sort(causes.begin(), causes.end());
  return causes;
}

// In a slow build a campaign is too short to see everything; what it sees must be of the list.
void expect_causes(const std::vector<std::string>& causes,
                   const std::vector<std::string_view>& expected) {
  const std::vector<std::string> all(expected.begin(), expected.end());
  if (is_slow_build()) {
    EXPECT_THAT(causes, IsSubsetOf(all));
  } else {
    EXPECT_EQ(causes, all);
  }
}

// How many programs make every fault show, and what it is then called.
struct ExpectedCause {
  std::string_view encoder;
  uint64_t program_count;
  std::vector<std::string_view> causes;  // Sorted.
};

const std::vector<ExpectedCause>& expected_causes() {
  static const std::vector<ExpectedCause> expected = {
      {"drops-raw", 50, {"RAW"}},
      {"drops-war", 50, {"WAR"}},
      {"drops-waw", 50, {"WAW"}},
      {"misses-first-byte", 200, {"short_range"}},
      {"misses-last-byte", 200, {"short_range"}},
      {"compares-begins-only", 60, {"overlap"}},
      {"compares-ends-only", 100, {"overlap"}},
      {"forgets-after-barrier", 50, {"barrier"}},
      {"first-operand-only", 50, {"operand_position"}},
      {"first-four-operands", 60, {"operand_position"}},
      {"resets-too-early", 40, {"dispatches_before"}},
      // What it drops it does not order what writes after, either; a read that is late it knows.
      {"overflows-after-18-outputs", 3000, {"RAW-WAW-dispatches_before"}},
      {"misses-war-of-one-pair", 500, {"WAR-operands"}},
      {"ignores-atomic-op", 600, {"atomic"}},
      {"updates-as-reads", 150, {"update"}},
      {"one-range-per-memory", 50, {"shared_memory"}},
  };
  return expected;
}

// The others have the one signature "excess".
std::vector<MutantEncoder> unsafe_mutants() {
  std::vector<MutantEncoder> mutants;
  for (const MutantEncoder& mutant : mutant_encoders()) {
    if (mutant.kind == MutantKind::kUnsafe) mutants.push_back(mutant);
  }
  return mutants;
}

class CauseOfMutant : public testing::TestWithParam<MutantEncoder> {};

TEST_P(CauseOfMutant, IsOneWhateverSignaturesItsFindsHave) {
  const MutantEncoder& mutant = GetParam();
  const auto expected =
      std::find_if(expected_causes().begin(), expected_causes().end(),
                   [&](const ExpectedCause& entry) { return entry.encoder == mutant.name; });
  ASSERT_NE(expected, expected_causes().end()) << "A new mutant needs a line in the table.";
  const EncoderEntry encoder{mutant.name, mutant.fault, true, mutant.create};
  const auto runs = static_cast<uint64_t>(program_count(static_cast<int>(expected->program_count)));
  expect_causes(causes_of_campaign(encoder, runs, 1), expected->causes);
}

template <typename Planted>
std::string name_of(const testing::TestParamInfo<Planted>& planted) {
  std::string name(planted.param.name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Mutants, CauseOfMutant, testing::ValuesIn(unsafe_mutants()),
                         name_of<MutantEncoder>);

class CausesOfTwoFaults : public testing::TestWithParam<TwoFaultEncoder> {};

TEST_P(CausesOfTwoFaults, AreTold) {
  const TwoFaultEncoder& planted = GetParam();
  const EncoderEntry encoder{planted.name, planted.fault, true, planted.create};
  expect_causes(causes_of_campaign(encoder, static_cast<uint64_t>(program_count(120)), 1),
                planted.causes);
}

INSTANTIATE_TEST_SUITE_P(Encoders, CausesOfTwoFaults, testing::ValuesIn(two_fault_encoders()),
                         name_of<TwoFaultEncoder>);

// The find of a campaign that this text could be.
struct Find {
  Program given;
  Program encoded;
  Fact fact;
};

Find find_in(const EncoderEntry& encoder, std::string_view text) {
  const auto program = parse(text);
  EXPECT_TRUE(program) << program.error().message;
  Find find{*program, encode_with(*program, &encoder), {}};
  const std::vector<Fact> facts = find_exactly(find.encoded);
  EXPECT_FALSE(facts.empty()) << text;
  if (!facts.empty()) find.fact = facts.front();
  return find;
}

Cause cause_in(const EncoderEntry& encoder, std::string_view text) {
  const Find find = find_in(encoder, text);
  return CauseFinder(encoder).cause_of(find.given, find.encoded, find.fact);
}

EncoderEntry mutant(std::string_view name) {
  for (const MutantEncoder& entry : mutant_encoders()) {
    if (entry.name == name) return {entry.name, entry.fault, true, entry.create};
  }
  for (const TwoFaultEncoder& entry : two_fault_encoders()) {
    if (entry.name == name) return {entry.name, entry.fault, true, entry.create};
  }
  ADD_FAILURE() << name;
  return *find_encoder("none");
}

// MLX #3630 needs neither its donation nor its kernels.
TEST(Cause, OfADonatedCotangentIsTheMissingWriteAfterRead) {
  const Cause cause =
      cause_in(*find_encoder("mlx-2024"), "interlock 1\n" + std::string(kLayerNormVjp));
  EXPECT_EQ(cause.name, "WAR");
  EXPECT_TRUE(cause.is_of_kind);
  EXPECT_EQ(cause.probe, R"(interlock 1
memory m 64
tensor t u8[64] at m+0
first: dispatch Opaque reads t
second: dispatch Opaque writes t
)");
}

// What stands beside the conflict is kept as far as the fault needs it.
TEST(Cause, KeepsTheOverlapThatAFaultNeeds) {
  const std::string_view text = R"(interlock 1
memory a 8
memory b 8
dispatch Opaque reads b writes a[0:3]
dispatch Opaque reads a[1:8]
)";
  const Cause cause = cause_in(mutant("compares-begins-only"), text);
  EXPECT_EQ(cause.name, "overlap");
  EXPECT_EQ(cause.probe, R"(interlock 1
memory m 192
first: dispatch Opaque writes m[0:128]
second: dispatch Opaque reads m[64:192]
)");
  EXPECT_EQ(cause_in(mutant("drops-raw"), text).name, "RAW");
}

TEST(Cause, CountsTheBystandersThatAFaultNeeds) {
  const Cause cause = cause_in(mutant("resets-too-early"), R"(interlock 1
memory a 4
memory b 4
memory c 4
dispatch Opaque
dispatch Opaque writes b
dispatch Opaque writes c
dispatch Opaque updates a
dispatch Opaque reads c updates a
)");
  EXPECT_EQ(cause.name, "dispatches_before");
  EXPECT_EQ(cause.probe, R"(interlock 1
memory m 64
memory n0 64
memory n1 64
memory n2 64
dispatch Opaque writes n0
dispatch Opaque writes n1
dispatch Opaque writes n2
first: dispatch Opaque writes m
second: dispatch Opaque reads m
)");
}

TEST(Cause, NamesTheModeThatAFaultMistakes) {
  const EncoderEntry encoder = mutant("updates-as-reads");
  for (const char* modes : {"updates,reads", "reads,updates", "updates,updates"}) {
    const std::string pair = modes;
    const size_t comma = pair.find(',');
    const std::string text = "interlock 1\nmemory a 4\ndispatch Opaque " + pair.substr(0, comma) +
                             " a\ndispatch Opaque " + pair.substr(comma + 1) + " a\n";
    EXPECT_EQ(cause_in(encoder, text).name, "update") << text;
  }
}

TEST(Cause, OfMemoryKeysIsNoneInAProgramThatTheyOrder) {
  const Program program = encode_with(parse("interlock 1\nmemory a 4\ndispatch Opaque reads a\n"
                                            "dispatch Opaque writes a\n")
                                          .value(),
                                      find_encoder("mlx-2026"));
  EXPECT_THAT(find_exactly(program), IsEmpty());
}

// A fault that nothing wider than the find shows keeps the signature: seven bytes from byte 5 on.
class MissesOnePlace final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    const bool is_missed = !dispatch.accesses.empty() &&
                           dispatch.accesses[0].range == ByteRange{5, 12} &&
                           dispatch.accesses[0].memory.index == 1;
    if (!is_missed) sink.issue_barrier(BarrierKind::kFull);
    sink.issue_dispatch(dispatch.id);
  }
};

TEST(Cause, IsTheSignatureWhereNothingWiderFails) {
  const EncoderEntry encoder{
      "one-place", "misses one place", true,
      []() -> std::unique_ptr<Encoder> { return std::make_unique<MissesOnePlace>(); }};
  const Cause cause = cause_in(encoder, R"(interlock 1
memory a 4
memory b 16
dispatch Opaque writes b[5:12]
dispatch Opaque reads b[5:12]
)");
  EXPECT_EQ(cause.name, "RAW-same_range-Opaque-Opaque");
  EXPECT_THAT(cause.probe, IsEmpty());
}

// Knows what memories are called, and takes every tensor for a new one.
class MissesTensors final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    bool has_memory = false;
    for (const Access& access : dispatch.accesses) has_memory |= !access.tensor.is_some();
    if (has_memory) sink.issue_barrier(BarrierKind::kFull);
    sink.issue_dispatch(dispatch.id);
  }
};

TEST(Cause, TellsTensorsFromMemories) {
  const EncoderEntry encoder{"tensors", "misses tensors", true, []() -> std::unique_ptr<Encoder> {
                               return std::make_unique<MissesTensors>();
                             }};
  const Cause cause = cause_in(encoder, R"(interlock 1
memory a 4
tensor t f32[1] at a+0
dispatch Opaque writes t
dispatch Opaque reads t
)");
  EXPECT_EQ(cause.name, "RAW-tensors");
  EXPECT_FALSE(cause.is_of_kind);
}

// Issues the dispatches of each pair the other way round.
class SwapsPairs final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (!held_.is_some()) {
      held_ = dispatch.id;
      return;
    }
    issue(dispatch.id, sink);
    finish(sink);
  }
  void finish(CommandSink& sink) override {
    if (held_.is_some()) issue(held_, sink);
    held_ = {};
  }

 private:
  static void issue(DispatchId id, CommandSink& sink) {
    sink.issue_barrier(BarrierKind::kFull);
    sink.issue_dispatch(id);
  }
  DispatchId held_;
};

TEST(Cause, OfReorderedReadsIsOneWhateverTheirKernels) {
  const EncoderEntry encoder{"pairs", "swaps pairs", true, []() -> std::unique_ptr<Encoder> {
                               return std::make_unique<SwapsPairs>();
                             }};
  EXPECT_THAT(causes_of_campaign(encoder, is_slow_build() ? 5 : 30, 1),
              testing::ElementsAre("reordered"));
}

CampaignOptions mlx_campaign(uint64_t run_count, uint64_t seed) {
  CampaignOptions options;
  options.encoder = find_encoder("mlx-2024");
  options.seed = seed;
  options.run_count = run_count;
  return options;
}

// The repair of the cause repairs every signature of it.
TEST(Cause, OfEverySignatureOfMlx2024GoesWithItsRepair) {
  CampaignOptions options = mlx_campaign(is_slow_build() ? 40 : 400, 7);
  options.keeps_all_signatures = true;
  const auto report = run_campaign(options);
  ASSERT_TRUE(report);
  ASSERT_GT(report->finds.size(), is_slow_build() ? 1u : 10u);
  CauseFinder causes(*options.encoder);
  for (const CampaignFind& find : report->finds) {
    ASSERT_TRUE(find.fact);
    EXPECT_EQ(causes.cause_of(find.given, find.program, *find.fact).name, "WAR") << find.text;
    const Program repaired = encode_with(find.program, find_encoder("mlx-2026"));
    EXPECT_THAT(find_exactly(repaired), IsEmpty()) << find.text;
  }
}

// The probe of a file is a program on which the encoder goes wrong.
TEST(Cause, ShowsAProbeThatFails) {
  for (const std::string_view name :
       {"compares-begins-only", "resets-too-early", "names-barrier"}) {
    const EncoderEntry encoder = mutant(name);
    CampaignOptions options;
    options.encoder = &encoder;
    options.run_count = is_slow_build() ? 5 : 20;
    const auto report = run_campaign(options);
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->finds.empty()) << name;
    for (const CampaignFind& find : report->finds) {
      const auto probe = parse(find.cause.probe);
      ASSERT_TRUE(probe) << find.cause.probe;
      EXPECT_FALSE(find_exactly(encode_with(*probe, &encoder)).empty()) << find.cause.probe;
      EXPECT_THAT(find_exactly(encode_with(*probe, find_encoder("interlock"))), IsEmpty());
    }
  }
}

}  // namespace
}  // namespace interlock::cause_test
