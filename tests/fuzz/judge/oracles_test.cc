#include "fuzz/judge/oracles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/generate/generator.h"
#include "simulator/facts/find_facts.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"

namespace interlock::oracles_test {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Program parsed(const std::string& body) {
  auto program = parse("interlock 1\nmemory a 64\nmemory b 64\n" + body);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

OracleOptions thorough() {
  OracleOptions options;
  options.cpu_period = 1;
  options.text_period = 1;
  return options;
}

TEST(Judge, FindsAMissingBarrierAndItsDamage) {
  const OracleReport report = judge(
      parsed("dispatch Consume reads a[0:16] writes b[0:16]\ndispatch Produce writes a[8:24]\n"),
      thorough(), 0);
  EXPECT_THAT(report.disagreements, IsEmpty());
  ASSERT_THAT(report.facts, SizeIs(1));
  EXPECT_EQ(kind_of(report.facts[0]), FindingKind::kWriteAfterRead);
  EXPECT_EQ(place_of(report.program, report.facts[0]).overlap, (ByteRange{8, 16}));
  EXPECT_TRUE(report.is_observable);
  EXPECT_TRUE(report.diverges_on_cpu);
}

TEST(Judge, FindsNothingBehindABarrier) {
  const OracleReport report =
      judge(parsed("dispatch Consume reads a[0:16] writes b[0:16]\nbarrier execution\n"
                   "dispatch Produce writes a[8:24]\n"),
            thorough(), 0);
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_THAT(report.facts, IsEmpty());
  EXPECT_TRUE(report.ran_on_cpu);
  EXPECT_FALSE(report.diverges_on_cpu);
}

// The cross-check is not held against an encoder that is not told of all accesses.
TEST(Judge, FindsWhatNobodyDeclaredAndBlamesNoEncoder) {
  const OracleReport report =
      judge(parsed("dispatch Produce writes a[0:16]\n"
                   "dispatch Consume writes b[0:16] actual reads a[8:24]\n"),
            thorough(), 0);
  EXPECT_THAT(report.disagreements, IsEmpty());
  ASSERT_THAT(report.facts, SizeIs(2));
  EXPECT_EQ(kind_of(report.facts[0]), FindingKind::kReadAfterWrite);
  EXPECT_EQ(kind_of(report.facts[1]), FindingKind::kUndeclared);
  EXPECT_EQ(place_of(report.program, report.facts[1]).overlap, (ByteRange{8, 24}));
  EXPECT_TRUE(report.diverges_on_cpu);
}

// A hazard that is only possible is no finding, but runs can show it, and barriers are for it.
TEST(Judge, FindsNothingInWhatIsOnlyPossible) {
  const OracleReport report =
      judge(parsed("dispatch Produce writes a[0:16]\n"
                   "dispatch Consume reads a[0:16] writes b[0:16] approximate\n"),
            thorough(), 0);
  EXPECT_THAT(report.disagreements, IsEmpty());
  EXPECT_THAT(report.facts, IsEmpty());
  EXPECT_EQ(report.fewest_barriers, 1);
  EXPECT_TRUE(report.diverges_on_cpu);
}

TEST(Judge, AgreesOnApproximateDispatches) {
  int possible_count = 0;
  int tried_count = 0;
  for (uint64_t seed = 0; tried_count < proof_count(2'000, 600, 15); ++seed) {
    SeededChoice choice(seed);
    ProgramDraft draft = generate(choice, {});
    bool has_bounds = false;
    for (ItemDraft& item : draft.items) {
      auto* const dispatch = std::get_if<DispatchDraft>(&item);
      if (dispatch == nullptr || choice.below(3) > 0) continue;
      dispatch->is_approximate = has_bounds = true;
    }
    const auto program = build(draft);
    if (!program || !has_bounds) continue;
    ++tried_count;
    const OracleReport report = judge(*program, {}, seed);
    ASSERT_THAT(report.disagreements, IsEmpty()) << "seed " << seed << '\n' << print(*program);
    possible_count += report.facts.empty() && report.fewest_barriers > report.barrier_count;
  }
  EXPECT_GT(possible_count, proof_count(2'000, 600, 15) / 40);
}

TEST(Judge, TellsAnOrderedHazardFromAnUnorderedOne) {
  const char* const kProgram =
      "dispatch Produce writes a[0:16]\nbarrier execution\n"
      "dispatch Consume reads a[0:16] writes b[0:16]\n";
  const OracleReport report = judge(parsed(kProgram), thorough(), 0);
  ASSERT_THAT(report.facts, SizeIs(1));
  EXPECT_TRUE(std::get<Hazard>(report.facts[0]).is_ordered);
  EXPECT_TRUE(report.diverges_on_cpu);
}

TEST(Judge, CallsABarrierTooManyAFindingOnRequest) {
  const Program program = parsed("dispatch A writes a[0:16]\nbarrier\ndispatch B writes b[0:16]\n");
  OracleOptions options = thorough();
  EXPECT_THAT(judge(program, options, 0).facts, IsEmpty());
  options.judges_excess = true;
  ASSERT_THAT(judge(program, options, 0).facts, SizeIs(1));
  EXPECT_EQ(judge(program, options, 0).facts[0], Fact(find_excess(program).value()));
  EXPECT_TRUE(find_excess(program));
  EXPECT_FALSE(
      find_excess(parsed("dispatch A writes a[0:16]\nbarrier\ndispatch B reads a[0:16]\n")));
}

// An encoder that ends with a barrier orders what the next command buffer has.
TEST(Judge, CallsNoBarrierAfterTheLastDispatchTooMany) {
  OracleOptions options = thorough();
  options.judges_excess = true;
  const std::string frame =
      "dispatch A writes a[0:16]\nbarrier\ndispatch B reads a[0:16]\nbarrier\n";
  EXPECT_THAT(judge(parsed(frame), options, 0).facts, IsEmpty());
  EXPECT_FALSE(find_excess(parsed(frame)));
  const Program more = parsed("dispatch A writes a[0:16]\nbarrier\n" + frame);
  EXPECT_THAT(judge(more, options, 0).facts, IsEmpty());
  const Program idle = parsed("dispatch A reads a[0:16]\nbarrier\ndispatch C writes b[0:16]\n" +
                              frame.substr(frame.find("barrier")));
  ASSERT_THAT(judge(idle, options, 0).facts, SizeIs(1));
  EXPECT_EQ(judge(idle, options, 0).facts[0], Fact(find_excess(idle).value()));
}

TEST(Judge, FindsAliasingThatNoEncoderCanRepair) {
  OracleOptions options = thorough();
  options.encoder = find_encoder("serial");
  const OracleReport report =
      judge(parsed("dispatch Shift reads a[0:16] writes a[4:20]\n"), options, 0);
  EXPECT_THAT(report.disagreements, IsEmpty());
  ASSERT_THAT(report.facts, SizeIs(1));
  EXPECT_EQ(kind_of(report.facts[0]), FindingKind::kAlias);
}

TEST(Judge, CallsADraftThatDoesNotBuildOurOwnBug) {
  ProgramDraft draft;
  draft.items.emplace_back(OutputDraft{{"nobody"}});
  const OracleReport report = judge(draft, {}, 0);
  ASSERT_THAT(report.disagreements, SizeIs(1));
  EXPECT_EQ(report.disagreements[0].stage, OracleStage::kBuild);
}

// Only drafts know what was written: unified memory is read and judged by `check` alone, and the
// canonical text declares it first.
TEST(Judge, CallsADraftThatHasNoTextOurOwnBug) {
  ProgramDraft draft;
  draft.items.emplace_back(MemoryDraft{.name = "a", .size_bytes = 64});
  draft.items.emplace_back(DispatchDraft{.kernel = "A"});
  draft.items.emplace_back(MemoryDraft{.name = "b", .size_bytes = 64, .is_unified = true});
  const auto stages_on = [&draft](uint64_t number) {
    std::vector<OracleStage> stages;
    for (const InternalDisagreement& d : judge(draft, {.text_period = 3}, number).disagreements) {
      stages.push_back(d.stage);
    }
    return stages;
  };
  EXPECT_THAT(stages_on(0), testing::ElementsAre(OracleStage::kBuild, OracleStage::kPrintParse));
  EXPECT_THAT(stages_on(1), IsEmpty());
  std::get<MemoryDraft>(draft.items.back()).is_unified = false;
  EXPECT_THAT(stages_on(0), IsEmpty());
}

// As many programs as the rarest canary may take (canary_test.cc).
TEST(Judge, FindsNothingInWhatCorrectEncodersEncode) {
  for (const EncoderEntry& entry : encoder_registry()) {
    if (entry.is_broken) continue;
    CampaignOptions options;
    options.encoder = &entry;
    options.seed = 7;
    options.run_count = static_cast<uint64_t>(proof_count(10'000, 1'000, 12));
    const auto report = run_campaign(options);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(report->disagreements, IsEmpty()) << entry.name;
    EXPECT_EQ(report->failing_run_count, 0u) << entry.name;
    EXPECT_EQ(report->run_count, options.run_count) << entry.name;
  }
}

}  // namespace
}  // namespace interlock::oracles_test
