#include "fuzz/minimize/minimizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/replay.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/order/happens_before.h"
#include "tests/program_count.h"

namespace interlock::minimizer_test {
namespace {

using ::testing::SizeIs;

Program parsed(const std::string& text) {
  auto program = parse("interlock 1\n" + text);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

// A program of a campaign, and its first finding, for `count` failing runs.
template <typename Visit>
void for_each_failing_run(const char* encoder, uint64_t count, Visit visit) {
  CampaignOptions options;
  options.encoder = find_encoder(encoder);
  ASSERT_NE(options.encoder, nullptr);
  if (is_slow_build()) count /= 5;
  for (uint64_t run = 0; count > 0; ++run) {
    const Program program = build(draft_of_run(options, run)).value();
    const Program encoded = encode_with(program, options.encoder);
    const auto findings = find_exactly(encoded);
    if (findings.empty()) continue;
    --count;
    visit(program, encoded, *options.encoder, findings[run % findings.size()]);
  }
}

// The kinds of all hazards between the two dispatches of the finding, a letter each.
std::string kinds_between(const Program& program, const Fact& fact) {
  std::string kinds;
  const auto* const pair = std::get_if<Hazard>(&fact);
  if (pair == nullptr) return kinds;
  for (const Hazard& hazard : find_all_hazards(program, HappensBefore(program)).hazards) {
    const bool is_pair = hazard.first.dispatch == pair->first.dispatch &&
                         hazard.second.dispatch == pair->second.dispatch;
    if (is_pair) kinds += "RrW"[static_cast<size_t>(hazard.kind)];
  }
  return kinds;
}

// Ordered and visible by nothing but a scoped barrier.
bool is_clean_by_a_scope(const Program& program) {
  if (program.dispatches.size() != 2 || program.barriers.size() != 1) return false;
  if (program.barriers[0].kind != BarrierKind::kScoped) return false;
  return barrier_bounds(program).fewest_barriers == 1 && find_exactly(program).empty();
}

// ztensor #167: an arena is reset under a saved tensor, and something else is written there.
TEST(Minimizer, LeavesOneSavedTensorOneResetAndOneWriteOfAClobber) {
  const Program program = parsed(R"(
      memory arena 256
      tensor s f32[4] = random(1)
      tensor saved f32[4] at arena+0
      tensor other f32[4] at arena+16
      tensor next f32[4] at arena+0
      tensor o f32[4]
      tensor p f32[4]
      output o p
      save: dispatch silu reads s writes saved
      more: dispatch silu reads s writes other
      pin other
      clear: reset arena
      barrier
      use: dispatch silu reads other writes p
      unpin other
      barrier
      step: dispatch scale reads s writes next factor=2
      barrier
      late: dispatch add reads saved s writes o
      free next)");
  const auto report = minimize_program(program);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_TRUE(report->is_fixpoint);
  // What is saved is an input: the write is left, and the read that misses it.
  EXPECT_EQ(report->program.dispatches.size(), 2u);
  ASSERT_THAT(report->program.lifetimes, SizeIs(1));
  EXPECT_EQ(report->program.lifetimes[0].kind, LifetimeKind::kReset);
  EXPECT_THAT(print(report->program), ::testing::EndsWith("expect clobber step late\n"));
  EXPECT_TRUE(find_exactly(report->program).empty());
}

TEST(Minimizer, KeepsTheResetThatAUseAfterFreeIsAbout) {
  const auto report = minimize_program(parsed(R"(
      memory arena 256
      tensor s f32[4] = random(1)
      tensor saved f32[4] at arena+0
      tensor o f32[4]
      output o
      save: dispatch silu reads s writes saved
      pin s
      barrier
      clear: reset arena
      free s
      late: dispatch silu reads saved writes o)"));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(report->program.lifetimes, SizeIs(1));
  EXPECT_THAT(print(report->program), ::testing::EndsWith("\nexpect use-after-free clear late\n"));
}

// One replay would do for a clobber of any kind; this one is about what a replay does to an earlier
// one.
TEST(Minimizer, KeepsTwoReplaysAndOneAccumulation) {
  const auto report = minimize_program(parsed(R"(
      tensor g1 f32[8] = random(4)
      tensor g2 f32[8] = random(5)
      tensor input f32[8]
      tensor scratch f32[8]
      tensor buffer f32[8]
      tensor grad f32[8]
      tensor w f32[8] = random(6)
      output w
      capture step
      fill: dispatch silu reads input writes scratch
      barrier
      run: dispatch scale reads scratch writes buffer factor=2
      barrier
      end
      capture unused
      dispatch copy reads w writes scratch
      end
      dispatch copy reads g1 writes input
      barrier
      replay step
      adopt grad = buffer
      dispatch copy reads g2 writes input
      barrier
      replay step
      sum: dispatch accumulate reads buffer updates grad
      barrier
      replay step
      again: dispatch accumulate reads buffer updates grad
      barrier
      dispatch sgd reads grad updates w lr=0.1)"));
  ASSERT_TRUE(report) << report.error().message;
  const Program& program = report->program;
  EXPECT_EQ(program.captures.size(), 1u);
  EXPECT_EQ(program.replays.size(), 2u);
  EXPECT_EQ(program.dispatches.size(), 3u) << print(program);
  EXPECT_EQ(program.lifetimes.size(), 1u);
  EXPECT_THAT(print(program), ::testing::HasSubstr("\nexpect clobber run@2 "));
}

// What is undeclared stays so only where the finding is about that.
TEST(Minimizer, KeepsAnUndeclaredReadAndTheHazardThatItHides) {
  const Program program = parsed(R"(
      memory a 64
      memory b 64
      memory c 64
      write_it: dispatch K reads c writes a[0:32] actual reads b
      scan: dispatch K reads c[0:8] c[8:16] writes b actual reads a[16:64] updates c)");
  const auto undeclared = [](const Program& smaller) {
    for (const Fact& fact : find_exactly(smaller)) {
      const bool is_it = std::holds_alternative<UndeclaredAccess>(fact);
      if (is_it && smaller.dispatches.size() == 2) return true;
    }
    return false;
  };
  EXPECT_EQ(print(minimize(draft_of(program), undeclared).program),
            "interlock 1\n"
            "memory a 1\n"
            "write_it: dispatch K\n"
            "scan: dispatch K actual reads a\n");
  const auto report = minimize_program(program);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(print(report->program), ::testing::HasSubstr("expect RAW write_it scan\n"));
}

bool has_a_hazard_after_writing(const Program& program) {
  return program.dispatches.size() == 2 && !find_exactly(program).empty();
}

TEST(Minimizer, KeepsTensorsUnplacedAndMakesDonationsPlain) {
  const Program program = parsed(R"(
      tensor x f32[8,4] = random(7)
      tensor spare f32[8]
      tensor h f32[8,4]
      tensor gh f32[8,2] donates h
      tensor row f32[4] view h+16
      d0: dispatch silu reads x writes h
      d1: dispatch Use reads row gh spare)");
  const MinimizeReport report = minimize(draft_of(program), has_a_hazard_after_writing);
  EXPECT_TRUE(report.is_fixpoint);
  EXPECT_EQ(print(report.program),
            "interlock 1\n"
            "tensor h f32[1,1]\n"
            "d0: dispatch Opaque writes h\n"
            "d1: dispatch Opaque reads h\n");
}

TEST(Minimizer, LeavesOfAScopedBarrierWhatItTakes) {
  const Program program = parsed(R"(
      memory a 256
      memory b 256
      memory spare 64
      fill_it: dispatch Produce uniform spare writes a
      fence: barrier copy -> copy spare, all.write|compute.read -> all.read|compute.write b a[64:192]
      use_it: dispatch Consume reads a[64:128] writes b)");
  ASSERT_TRUE(is_clean_by_a_scope(program));
  const MinimizeReport report = minimize(draft_of(program), is_clean_by_a_scope);
  EXPECT_TRUE(report.is_fixpoint);
  const std::string text = print(report.program);
  EXPECT_THAT(text, ::testing::HasSubstr("fence: barrier compute.write -> compute.read\n"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("spare")));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("uniform")));
}

TEST(Minimizer, KeepsTheSignatureAndNeverGrows) {
  for_each_failing_run("mlx-2024", 40,
                       [](const Program& program, const Program& encoded,
                          const EncoderEntry& encoder, const Fact& fact) {
                         const std::string signature = signature_of(encoded, fact);
                         const MinimizeReport report = minimize_fact(program, &encoder, fact);
                         EXPECT_TRUE(report.is_fixpoint);
                         EXPECT_LE(cost_of(draft_of(report.program)), cost_of(draft_of(program)));
                         const Program small = encode_with(report.program, &encoder);
                         const Evidence evidence = best_evidence(
                             small, signature, SignatureDetail::kKernels, EvidenceLevel::kExact);
                         EXPECT_NE(evidence.level, EvidenceLevel::kNone) << signature << "\n"
                                                                         << print(small);
                       });
}

TEST(Minimizer, FindsNothingToDoInItsOwnResult) {
  for_each_failing_run("none", 40,
                       [](const Program& program, const Program& encoded,
                          const EncoderEntry& encoder, const Fact& fact) {
                         const std::string signature = signature_of(encoded, fact);
                         const MinimizeReport once = minimize_fact(program, &encoder, fact);
                         const Program small = encode_with(once.program, &encoder);
                         const Evidence evidence = best_evidence(
                             small, signature, SignatureDetail::kKernels, EvidenceLevel::kBackend);
                         const MinimizeReport twice =
                             minimize_fact(once.program, &encoder, evidence.fact.value());
                         EXPECT_EQ(twice.step_count, 0u) << print(once.program) << "became\n"
                                                         << print(twice.program);
                       });
}

TEST(Minimizer, LowersTheCostWithEveryStep) {
  CampaignOptions campaign;
  const ProgramDraft draft = draft_of_run(campaign, 3);
  // The predicate sees every candidate; those that it accepts must fall in cost.
  ProgramCost last = cost_of(draft);
  const auto has_two_dispatches = [&last](const Program& program) {
    const ProgramCost cost = cost_of(draft_of(program));
    EXPECT_LT(cost, last);
    if (program.dispatches.size() < 2) return false;
    last = cost;
    return true;
  };
  const MinimizeReport report = minimize(draft, has_two_dispatches);
  EXPECT_EQ(report.program.dispatches.size(), 2u);
  EXPECT_GT(report.step_count, 2u);
  EXPECT_TRUE(report.program.barriers.empty());
}

TEST(Minimizer, ShrinksRangesShapesAndMemoriesToWhatMatters) {
  const Program program = parsed(R"(memory a 4096
memory b 4096
memory c 4096
tensor x f32[16,20] at c+64 = random(5)
d0: dispatch Long_Name reads a[100:200] x writes b[0:300]
d1: dispatch Unrelated reads x writes c[2048:2100]
d2: dispatch Other reads b[7:9] writes a[150:1000]
)");
  const auto has_partial_war = [](const Program& p) {
    for (const Fact& fact : find_exactly(p)) {
      const bool is_it = kind_of(fact) == FindingKind::kWriteAfterRead &&
                         alias_shape_of(p, fact) == AliasShape::kOverlap;
      if (is_it) return true;
    }
    return false;
  };
  ASSERT_TRUE(has_partial_war(program));
  const MinimizeReport report = minimize(draft_of(program), has_partial_war);
  EXPECT_EQ(print(report.program),
            "interlock 1\n"
            "memory a 2\n"
            "d0: dispatch Opaque reads a[0:1]\n"
            "d1: dispatch Opaque writes a\n");
}

TEST(Minimizer, KeepsNamesThatAPersonChose) {
  const Program program = parsed(R"(memory heap 64
tensor grad u8[8] at heap+0
tensor sum u8[8] at heap+8
reduce: dispatch Reduce reads grad writes sum
extra: dispatch Extra reads sum
update: dispatch Update writes grad
)");
  const auto report = minimize_program(program);
  ASSERT_TRUE(report) << report.error().message;
  const std::string text = print(report->program);
  EXPECT_NE(text.find("tensor grad"), std::string::npos) << text;
  EXPECT_NE(text.find("memory heap"), std::string::npos) << text;
}

TEST(MinimizeProgram, AttachesAWitnessThatDiverges) {
  const Program program = parsed(R"(memory a 64
memory b 64
d0: dispatch Unrelated writes b[32:40]
d1: dispatch Consume reads a[0:16] writes b[0:16]
d2: dispatch Produce writes a[8:24]
d3: dispatch Last reads b[0:4] writes b[40:44]
)");
  const auto report = minimize_program(program);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->program.dispatches.size(), 2u);
  ASSERT_EQ(report->program.witness.size(), 1u);
  ASSERT_FALSE(report->program.expectations.empty());
  const auto replayed = replay(report->program, *find_backend("cpu"));
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_TRUE(replayed->diverges);
}

TEST(MinimizeProgram, AddsNoKindToAPairThatAnExecutionBarrierRepairs) {
  for (const char* outputs : {"", "output out\n"}) {
    const Program program =
        parsed("memory a 64\nmemory b 64\ntensor out u8[16] at b+0\n" + std::string(outputs) +
               "d0: dispatch Consume reads a[0:16] writes out\n"
               "d1: dispatch Produce writes a[8:24]\n");
    const auto report = minimize_program(program);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(find_exactly(report->program), SizeIs(1)) << print(report->program);
  }
}

TEST(Minimizer, AddsNoKindToThePairOfTheFinding) {
  for_each_failing_run(
      "mlx-2024", 60,
      [](const Program& program, const Program& encoded, const EncoderEntry& encoder,
         const Fact& fact) {
        const std::string signature = signature_of(encoded, fact);
        const std::string kinds = kinds_between(encoded, fact);
        const Program small = encode_with(minimize_fact(program, &encoder, fact).program, &encoder);
        bool is_kept = false;
        for (const Fact& other : find_exactly(small)) {
          if (signature_of(small, other) != signature) continue;
          const std::string left = kinds_between(small, other);
          is_kept = is_kept || std::all_of(left.begin(), left.end(), [&](char kind) {
                      return kinds.find(kind) != std::string::npos;
                    });
        }
        EXPECT_TRUE(is_kept) << signature << " had " << kinds << "\n" << print(small);
      });
}

TEST(MinimizeProgram, RefusesACleanProgram) {
  const auto report = minimize_program(parsed("memory a 64\ndispatch Produce writes a\n"));
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message,
            "The program has no finding, so there is nothing to keep while it shrinks.");
}

TEST(Minimizer, StopsWhenAskedWithTheSmallestSoFar) {
  Stop stop;
  stop.request();
  MinimizeOptions options;
  options.stop = &stop;
  const Program program = parsed("memory a 64\ndispatch A writes a\ndispatch B reads a\n");
  const MinimizeReport report = minimize(
      draft_of(program), [](const Program&) { return true; }, options);
  EXPECT_FALSE(report.is_fixpoint);
  EXPECT_EQ(report.program.dispatches.size(), 2u);
}

}  // namespace
}  // namespace interlock::minimizer_test
