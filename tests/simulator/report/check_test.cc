// Check: which findings, in which order, and what they say.
#include "simulator/report/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "simulator/schedules/schedule.h"
#include "simulator/schedules/shadow_machine.h"
#include "tests/simulator/judges/brute_force.h"
#include "tests/simulator/programs/program_text.h"
#include "tests/simulator/programs/random_programs.h"

namespace interlock::check_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// MLX #3630: the barrier between a read and the write of a donated buffer is missing.
constexpr const char* kDonation = R"(
    tensor x  f32[16,64] at a+0 = random(1)
    tensor w  f32[64]    at c+1024 = ones
    tensor g  f32[16,64] at b+0 = random(2)
    tensor gx f32[16,64] donates g
    tensor gb f32[64]    at c+0
    tensor gw f32[16,64] at d+0
    output gb
    reduce: dispatch col_sum reads g writes gb
    %BARRIER%
    vjp: dispatch layer_norm_vjp reads x w g writes gx gw)";

Program donation_with(std::string_view barrier) {
  std::string text = std::string("memory d 4096\n") + kDonation;
  text.replace(text.find("%BARRIER%"), 9, barrier);
  return program_on_abc(text);
}

TEST(Check, ExplainsAWriteAfterReadThroughADonation) {
  const CheckReport report = check(donation_with(""));
  ASSERT_THAT(report.findings, SizeIs(1));
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::kWriteAfterRead);
  EXPECT_EQ(
      finding.headline,
      "WAR hazard: vjp (dispatch 1) writes b[0:4096] as gx, which reduce (dispatch 0) reads as g.");
  EXPECT_THAT(
      finding.details,
      ElementsAre("Nothing orders them: no barrier stands between dispatch 0 and dispatch 1.",
                  "gx donates g, so both name the same 4096 bytes.",
                  "Observable: with reduce after vjp, output gb can differ."));
  EXPECT_EQ(finding.fix, "an execution dependency after dispatch 0 (a barrier of any kind).");
  EXPECT_EQ(finding.observability, Observability::kObservable);
  EXPECT_THAT(finding.witness, Not(IsEmpty()));
}

TEST(Check, FindsNothingBehindAnExecutionBarrier) {
  EXPECT_THAT(check(donation_with("barrier execution")).findings, IsEmpty());
}

TEST(Check, ExplainsABarrierThatMakesNothingVisible) {
  const CheckReport report = check(program_on_abc(R"(
      produce: dispatch Produce writes a[0:64]
      barrier execution
      consume: dispatch Consume reads a[32:96] writes b[0:4])"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].headline,
            "RAW hazard: consume (dispatch 1) reads a[32:64], which produce (dispatch 0) writes.");
  EXPECT_THAT(
      report.findings[0].details,
      ElementsAre(
          "A barrier execution orders them but makes nothing visible: what dispatch 0 writes is not visible to dispatch 1.",
          "Observable: with produce visible only after consume, memory b can differ."));
  EXPECT_EQ(report.findings[0].fix, "a full barrier between dispatch 0 and dispatch 1.");
}

TEST(Check, CallsWhatNoScheduleShowsUnobservable) {
  // Nobody reads what the two leave in a.
  const CheckReport report = check(program_on_abc(R"(
      tensor out u8[4] at b+0
      output out
      dispatch One writes a[0:4]
      dispatch Two writes a[0:4]
      barrier
      dispatch Three writes out)"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].observability, Observability::kUnobservable);
  EXPECT_THAT(report.findings[0].details, Contains(StartsWith("Unobservable: no schedule")));
  EXPECT_THAT(report.findings[0].witness, IsEmpty());
}

TEST(Check, PutsObservableHazardsFirst) {
  const CheckReport report = check(program_on_abc(R"(
      tensor out u8[4] at b+0
      output out
      dispatch One writes a[0:4]
      dispatch Two writes a[0:4]
      barrier
      dispatch Three writes out
      dispatch Four writes out)"));
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[0].first.dispatch, DispatchId(2));
  EXPECT_EQ(report.findings[0].observability, Observability::kObservable);
  EXPECT_EQ(report.findings[1].first.dispatch, DispatchId(size_t{0}));
  EXPECT_EQ(report.findings[1].observability, Observability::kMasked);
  EXPECT_THAT(
      report.findings[1].details,
      Contains(
          "Masked: with dispatch 0 after dispatch 1, no output differs; other hazards change one."));
}

TEST(Check, SaysWhatMakesTwoTensorsShareBytes) {
  const auto relation = [](std::string_view tensors) {
    const CheckReport report =
        check(program_on_abc(std::string(tensors) + "\ndispatch W writes y\ndispatch R reads z\n"));
    EXPECT_THAT(report.findings, Not(IsEmpty()));
    return report.findings.empty() ? "" : report.findings[0].details[1];
  };
  EXPECT_EQ(relation("tensor y u8[64] at a+0\ntensor z u8[16] view y+8"),
            "z views y, so both name a[8:24].");
  EXPECT_EQ(
      relation("tensor x u8[64] at a+0\ntensor y u8[64] donates x\ntensor z u8[64] donates y"),
      "z donates y, so both name the same 64 bytes.");
  EXPECT_EQ(relation("tensor x u8[64] at a+0\ntensor y u8[64] donates x\ntensor z u8[64] view x+0"),
            "y donates x and z views x, so both name the same 64 bytes.");
  EXPECT_EQ(relation("tensor y u8[64] at a+0\ntensor z u8[64] at a+32"),
            "y lies at a[0:64] and z at a[32:96].");
}

TEST(Check, ExplainsAReorderedRead) {
  const CheckReport report = check(program_on_abc(R"(
      tensor s u8[16] at a+0
      cpy: dispatch Cpy order=4 writes s
      barrier
      add: dispatch Add order=3 reads s writes b[0:16])"));
  ASSERT_THAT(report.findings, SizeIs(1));
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, FindingKind::kReordered);
  EXPECT_EQ(finding.first, (AccessRef{DispatchId(size_t{0}), 0}));
  EXPECT_EQ(finding.second, (AccessRef{DispatchId(1), 0}));
  EXPECT_EQ(
      finding.headline,
      "reordered: add (dispatch 1) reads a[0:16] as s and sees what cpy (dispatch 0) writes; in program order it sees the initial bytes.");
  EXPECT_THAT(
      finding.details,
      ElementsAre(
          "cpy (dispatch 0) has order=4 and add (dispatch 1) has order=3, but cpy (dispatch 0) is issued first. "
          "No barrier repairs this."));
  EXPECT_EQ(finding.fix, "issue add (dispatch 1) before cpy (dispatch 0).");
}

TEST(Check, NamesTheMissingWriterOfAnEarlyRead) {
  const CheckReport report = check(program_on_abc(R"(
      consume: dispatch Consume order=1 reads c[0:4] a[0:16] writes b[0:4]
      barrier
      produce: dispatch Produce order=0 writes a[0:16])"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].first, (AccessRef{DispatchId(size_t{0}), 1}));
  EXPECT_EQ(report.findings[0].second, (AccessRef{DispatchId(1), 0}));
  EXPECT_EQ(report.findings[0].fix, "issue produce (dispatch 1) before consume (dispatch 0).");
}

// The reader sees the first writer, which stands where it should.
TEST(Check, NamesThePairWhoseOrderIsWrong) {
  const CheckReport report = check(program_on_abc(R"(
      old: dispatch Old order=3 writes a[0:4]
      barrier
      reader: dispatch Reader order=10 reads a[0:4] writes b[0:4]
      barrier
      late: dispatch Late order=9 writes a[0:4])"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].first, (AccessRef{DispatchId(1), 0}));
  EXPECT_EQ(report.findings[0].second, (AccessRef{DispatchId(2), 0}));
  EXPECT_EQ(report.findings[0].fix, "issue late (dispatch 2) before reader (dispatch 1).");
}

TEST(Check, NamesTwoWritersWhereTheReaderStandsRight) {
  const CheckReport report = check(program_on_abc(R"(
      new: dispatch New order=2 writes a[0:4]
      barrier
      old: dispatch Old order=1 writes a[0:4]
      barrier
      reader: dispatch Reader order=3 reads a[0:4] writes b[0:4]
      barrier
      again: dispatch Again order=4 writes a[0:4])"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].first.dispatch, DispatchId(size_t{0}));
  EXPECT_EQ(report.findings[0].second->dispatch, DispatchId(1));
  EXPECT_EQ(report.findings[0].fix, "issue old (dispatch 1) before new (dispatch 0).");
}

TEST(Check, ExplainsAScratchAtomicOnALaterWriter) {
  const CheckReport report = check(program_on_abc(R"(
      memory pool 64 scratch
      fill: dispatch Fill order=6 writes pool[0:8]
      barrier
      add: dispatch Add order=3 atomics pool[0:8] atomic=add)"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(
      report.findings[0].headline,
      "reordered: add (dispatch 1) updates atomically pool[0:8] and sees what fill (dispatch 0) writes; in program order it sees the initial bytes.");
  EXPECT_EQ(report.findings[0].fix, "issue add (dispatch 1) before fill (dispatch 0).");
}

TEST(Check, NamesBothWritersAtTheEnd) {
  const CheckReport report = check(program_on_abc(R"(
      two: dispatch Two order=2 writes a[0:16]
      barrier
      one: dispatch One order=1 writes a[0:16])"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(report.findings[0].first.dispatch, DispatchId(size_t{0}));
  EXPECT_EQ(report.findings[0].second->dispatch, DispatchId(1));
  EXPECT_EQ(
      report.findings[0].headline,
      "reordered: at the end a[0:16] holds what one (dispatch 1) writes; in program order it holds what two (dispatch 0) writes.");
  EXPECT_EQ(report.findings[0].fix, "issue one (dispatch 1) before two (dispatch 0).");
}

TEST(Check, AnUnorderedAndInvertedPairIsBoth) {
  const CheckReport report = check(program_on_abc(R"(
      dispatch Overwrite order=1 writes a[0:8]
      dispatch Consume order=0 reads a[0:8])"));
  ASSERT_THAT(report.findings, SizeIs(2));
  EXPECT_EQ(report.findings[0].kind, FindingKind::kReadAfterWrite);
  EXPECT_EQ(report.findings[1].kind, FindingKind::kReordered);
}

TEST(Check, ExplainsAnAliasViolation) {
  const CheckReport report = check(program_on_abc(R"(
      tensor x u8[64] at a+0 = ones
      tensor y u8[64] at a+32
      step: dispatch Step reads x writes y)"));
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_EQ(
      report.findings[0].headline,
      "alias: step (dispatch 0) reads a[0:64] as x and writes a[32:96] as y; they share a[32:64].");
  EXPECT_THAT(
      report.findings[0].details,
      ElementsAre(
          "x lies at a[0:64] and y at a[32:96].",
          "An opaque dispatch may write exactly the range that it reads; a shifted overlap depends on the order of its slices."));
  EXPECT_EQ(report.findings[0].fix,
            "give the output bytes of its own, or exactly the range of the input.");
}

TEST(Check, CountsStatements) {
  const CheckReport report = check(program_on_abc(R"(
      dispatch A writes a[0:4]
      barrier execution
      barrier
      dispatch B reads a[0:4] b[0:4])"));
  EXPECT_EQ(report.dispatch_count, 2u);
  EXPECT_EQ(report.access_count, 3u);
  EXPECT_EQ(report.barrier_count, 2u);
  EXPECT_EQ(report.execution_barrier_count, 1u);
  EXPECT_EQ(report.fewest_barriers, 1u);
  EXPECT_EQ(report.longest_chain, 1u);
}

TEST(Check, SaysThatThereAreMoreHazardsThanTheLimit) {
  const Program program =
      program_on_abc("dispatch A writes a\ndispatch B writes a\ndispatch C writes a\n");
  EXPECT_FALSE(check(program, {.pair_limit = 2}).is_truncated());
  const CheckReport report = check(program, {.lists_all_pairs = true, .pair_limit = 2});
  EXPECT_TRUE(report.is_truncated());
  EXPECT_THAT(report.findings, SizeIs(2));
}

}  // namespace
}  // namespace interlock::check_test
