// What a destroy asks of barriers: those that it needs are not redundant, they count among the
// fewest, and encoders place them.
#include "simulator/lifetimes/destroy_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/plan/planner.h"
#include "encoder/program/draft.h"
#include "encoder/sync/encoder.h"
#include "encoder/text/printer.h"
#include "fuzz/testing/matchers.h"
#include "simulator/barriers/barrier_bounds.h"
#include "simulator/barriers/certificate.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/happens_before.h"
#include "simulator/report/check.h"
#include "simulator/report/report.h"
#include "tests/program_count.h"
#include "tests/simulator/barriers/redundant_barriers.h"
#include "tests/simulator/judges/removal_judge.h"
#include "tests/simulator/judges/value_ledger.h"
#include "tests/simulator/programs/random_lifetime_programs.h"

namespace interlock::destroy_needs_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kHeader = R"(interlock 1
tensor s u8[4] = ones
tensor o u8[4]
tensor p u8[4]
output o p
)";

Program program_on_sop(std::string_view body) {
  return program_of(std::string(kHeader) + std::string(body));
}

TEST(FindRedundant, KeepsTheBarrierThatADestroyWaitsFor) {
  EXPECT_THAT(
      redundant_in(program_on_sop("dispatch A reads s writes o\nbarrier execution\ndestroy s\n")),
      IsEmpty());
  EXPECT_THAT(redundant_in(program_on_sop("dispatch A reads s writes o\nbarrier\ndestroy s\n"
                                          "barrier\ndispatch B writes p\n")),
              ElementsAre(1));
  EXPECT_THAT(redundant_in(program_on_sop("dispatch A writes o\nbarrier\ndestroy s\n")),
              ElementsAre(0));
}

TEST(FindRedundant, LetsEitherOfTwoBarriersBeforeADestroyGo) {
  EXPECT_THAT(redundant_in(program_on_sop("dispatch A reads s writes o\nbarrier\nbarrier\n"
                                          "destroy s\ndispatch B writes p\n")),
              ElementsAre(0, 1));
}

// The first dispatch is over and the second is not: without the barrier neither would be.
TEST(FindRedundant, KeepsABarrierBeforeADestroyThatComesTooSoonForAnotherAccess) {
  EXPECT_THAT(redundant_in(program_on_sop("dispatch A reads s writes o\nbarrier execution\n"
                                          "dispatch B reads s writes p\ndestroy s\n")),
              IsEmpty());
  EXPECT_THAT(redundant_in(program_on_sop("dispatch A reads s[0:2] writes o\nbarrier execution\n"
                                          "dispatch B reads s[2:4] writes p\ndestroy s\n")),
              IsEmpty());
  EXPECT_THAT(redundant_in(program_on_sop("dispatch A writes o\nbarrier execution\n"
                                          "dispatch B reads s writes p\ndestroy s\n")),
              ElementsAre(0));
}

TEST(FindRedundant, KeepsTheBarrierBeforeTheUnpinThatADestroyWaitsFor) {
  EXPECT_THAT(redundant_in(program_on_sop("pin s\ndispatch A reads s writes o\ndestroy s\n"
                                          "barrier\nunpin s\ndispatch B writes p\n")),
              IsEmpty());
}

TEST(BarrierBounds, CountDestroys) {
  const Program program = program_on_sop(
      "dispatch A reads s writes o\nbarrier\ngone: destroy s\ndispatch B writes p\n");
  const BarrierBounds bounds = barrier_bounds(program);
  EXPECT_EQ(bounds.fewest_barriers, 1U);
  EXPECT_EQ(bounds.fewest_full_barriers, 0U);
  EXPECT_THAT(bounds.chain, IsEmpty());
  const std::string text = text_report(program, check(program), "-", {.has_certificate = true});
  EXPECT_THAT(text, HasSubstr("As few barriers as there can be; proven."));
  EXPECT_THAT(text, HasSubstr("1 conflict or destroy in disjoint slots"));
}

TEST(BarrierBounds, LetABarrierForADestroyServeAConflict) {
  EXPECT_EQ(barrier_bounds(program_on_sop("dispatch A reads s writes o\ndestroy s\n"
                                          "dispatch B reads o writes p\n"))
                .fewest_barriers,
            1U);
  EXPECT_EQ(barrier_bounds(program_on_sop("dispatch A reads s writes o\n"
                                          "dispatch B reads o writes p\n"
                                          "destroy s\n"))
                .fewest_barriers,
            1U);
  EXPECT_EQ(barrier_bounds(program_on_sop("dispatch A writes o\ndispatch B reads o s writes p\n"
                                          "destroy s\n"))
                .fewest_barriers,
            2U);
}

TEST(CertificateDefect, LooksAtDestroys) {
  const Program program = program_on_sop(
      "dispatch A reads s writes o\nfree o\ndestroy s\ndispatch B writes p\ndestroy p\n");
  const auto defect_of = [&program](size_t first, size_t second, size_t destroy) {
    const ForcingPair pair{DispatchId(first), DispatchId(second), LifetimeId(destroy)};
    return certificate_defect(program, std::vector{pair}, 1).has_value();
  };
  EXPECT_FALSE(defect_of(0, 1, 1));
  EXPECT_FALSE(defect_of(1, 2, 2));
  EXPECT_TRUE(defect_of(0, 1, 0)) << "A free waits for nothing.";
  EXPECT_TRUE(defect_of(0, 1, 2)) << "It stands after B.";
  EXPECT_TRUE(defect_of(0, 2, 1)) << "It stands before B.";
  EXPECT_TRUE(defect_of(0, 2, 2)) << "A does not touch p.";
  EXPECT_TRUE(defect_of(1, 2, 3)) << "There is no such statement.";
}

TEST(Encoders, PlaceABarrierBeforeADestroy) {
  const Program program =
      program_on_sop("dispatch A reads s writes o\nbarrier\ndestroy s\ndispatch B writes p\n");
  for (const EncoderEntry& entry : encoder_registry()) {
    const std::vector<Finding> findings = check(encode(program, *entry.create())).findings;
    // It has no barriers at all, whatever comes of it.
    EXPECT_EQ(findings.empty(), entry.name != "none") << entry.name;
  }
}

Program random_program(uint64_t seed) {
  SeededChoice choice(seed + 7'000'000);
  if (seed % 3 == 0) return random_pinned_program(choice, 6 + choice.below(18), false);
  if (seed % 3 == 1) return random_holding_program(choice, 8 + choice.below(16));
  return random_lifetime_program(choice, {.statement_count_max = 6 + choice.below(12)});
}

// The definition: without the barrier an access is pending that was over. More than one program in
// thirty has such a barrier.
TEST(DestroyNeeds, AreTheBarriersWhoseRemovalLeavesAnAccessPending) {
  const int count = share_count(6'000, 2);
  int needed_count = 0;
  for (int i = 0; i < count; ++i) {
    const Program program = random_program(static_cast<uint64_t>(i));
    const std::vector<BarrierId> needed = find_destroy_needs(program).barriers;
    const std::set<PendingByte> pending = pending_by_ledger(program);
    const ProgramDraft draft = draft_of(program);
    size_t barrier = 0;
    for (size_t k = 0; k < draft.items.size(); ++k) {
      if (!std::holds_alternative<BarrierDraft>(draft.items[k])) continue;
      ProgramDraft less = draft;
      less.items.erase(less.items.begin() + static_cast<std::ptrdiff_t>(k));
      const bool is_needed =
          std::find(needed.begin(), needed.end(), BarrierId(barrier)) != needed.end();
      ASSERT_EQ(is_needed, pending_by_ledger(build(less).value()) != pending)
          << "seed " << i << ", barrier " << barrier << "\n"
          << print(program);
      needed_count += is_needed;
      ++barrier;
    }
  }
  EXPECT_GE(needed_count, count / 30);
}

// All that makes a barrier needed, by judges that have nothing in common with the checks: bytes of
// hazards, hazards that it fails to order, and accesses that a destroy finds pending.
TEST(FindRedundant, AgreesWithTheJudgesOfBytesAndOfPendingAccesses) {
  const int count = proof_count(40'000, 1'500, 10);
  int needed_count = 0;     // For destroys alone.
  int redundant_count = 0;  // Of programs with a hazard or a pending access.
  for (int i = 0; i < count; ++i) {
    const Program program = random_program(static_cast<uint64_t>(i) + 100'000);
    const std::set<PendingByte> pending = pending_by_ledger(program);
    std::vector<uint32_t> expected = barriers_that_can_go(program);
    const size_t unordered_count = expected.size();
    std::erase_if(expected, [&](uint32_t barrier) {
      return pending_by_ledger(without_barrier(program, BarrierId(barrier))) != pending;
    });
    ASSERT_EQ(redundant_in(program), expected) << "seed " << i << "\n" << print(program);
    needed_count += static_cast<int>(unordered_count - expected.size());
    const bool is_clean = pending.empty() && byte_hazards_of(program).empty();
    redundant_count += is_clean ? 0 : static_cast<int>(expected.size());
  }
  EXPECT_GE(needed_count, count / 50);
  EXPECT_GE(redundant_count, count / 10);
  print_proof(count, "a barrier is redundant iff hazards and pending accesses stay without it");
}

// Plans put several values on the same bytes, and the destroy of one asks for the accesses of all.
TEST(DestroyNeeds, AreMetByEveryRightEncoderAfterEveryRightPlanner) {
  const int count = proof_count(6'000, 300, 20);
  int shared_count = 0;
  for (int i = 0; i < count; ++i) {
    const Program program = random_program(static_cast<uint64_t>(i));
    for (const PlannerEntry& planner : planner_registry()) {
      if (planner.is_broken) continue;
      const Result<Program> planned = planner.plan(program, {.alignment_bytes = 4});
      ASSERT_TRUE(planned.has_value()) << planner.name << " " << i << planned.error().message;
      const Program encoded = encode(*planned, *find_encoder("interlock")->create());
      ASSERT_THAT(pending_by_ledger(encoded), IsEmpty()) << planner.name << " " << i << "\n"
                                                         << print(encoded);
      // What a plan adds to what reads find.
      ASSERT_EQ(findings_by_ledger(encoded).size(),
                findings_by_ledger(encode(program, *find_encoder("interlock")->create())).size())
          << planner.name << " " << i << "\n"
          << print(program) << print(encoded);
      shared_count += encoded.memories.size() < program.memories.size();
    }
  }
  EXPECT_GE(shared_count, count / 20);
  print_proof(count, "after each planner the encoder places the barriers that destroys need");
}

// Also that it places the fewest, where no pin keeps a destroy waiting.
TEST(DestroyNeeds, AreMetByEveryRightEncoder) {
  const int count = share_count(6'000, 3, 120);
  int destroy_count = 0;
  for (int i = 0; i < count; ++i) {
    const Program program = random_program(static_cast<uint64_t>(i));
    for (const EncoderEntry& entry : encoder_registry()) {
      if (entry.is_broken) continue;
      const Program encoded = encode(program, *entry.create());
      ASSERT_THAT(pending_by_ledger(encoded), IsEmpty())
          << entry.name << " " << i << print(encoded);
      ASSERT_THAT(find_hazards(encoded, HappensBefore(encoded)).hazards, IsEmpty())
          << entry.name << " " << i << print(encoded);
      if (entry.name != "interlock") continue;
      const BarrierBounds bounds = barrier_bounds(encoded);
      ASSERT_EQ(certificate_defect(encoded, bounds.forcing, bounds.fewest_barriers), std::nullopt)
          << i << print(encoded);
      const bool has_pin =
          std::any_of(encoded.lifetimes.begin(), encoded.lifetimes.end(),
                      [](const Lifetime& lifetime) { return lifetime.kind == LifetimeKind::kPin; });
      ASSERT_GE(encoded.barriers.size(), bounds.fewest_barriers) << i << print(encoded);
      if (has_pin) continue;
      ASSERT_EQ(encoded.barriers.size(), bounds.fewest_barriers) << i << print(encoded);
      destroy_count += std::any_of(bounds.forcing.begin(), bounds.forcing.end(),
                                   [](const ForcingPair& pair) { return pair.destroy.is_some(); });
    }
  }
  EXPECT_GE(destroy_count, count / 60);
}

}  // namespace
}  // namespace interlock::destroy_needs_test
