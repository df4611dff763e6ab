// Where the search for a smaller program starts in a large one.
#include "fuzz/minimize/slice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimizer.h"
#include "fuzz/minimize/reduction.h"
#include "tests/corpus_files.h"
#include "tests/dense_program.h"
#include "tests/program_count.h"

namespace interlock::slice_test {
namespace {

using testing::ElementsAre;

Program parsed(const std::string& text) {
  auto program = parse("interlock 1\n" + text);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

// All slices of the first finding, in their last form, without the first line.
std::vector<std::string> slices_of(const std::string& text) {
  const Program program = parsed(text);
  const std::vector<Fact> facts = find_everything(program);
  EXPECT_FALSE(facts.empty());
  std::vector<std::string> slices;
  for_each_slice(program, facts.front(), [&](std::span<const Program> forms) {
    slices.push_back(print(forms.back()).substr(sizeof "interlock"));
    slices.back().erase(0, slices.back().find('\n') + 1);
    return false;
  });
  return slices;
}

// They touch nothing: neither the bytes of the hazard nor others.
TEST(Slice, LooksPastTheEndsOfCommandBuffers) {
  const auto program = parse(
      "interlock 1\nmemory m 64\nmemory n 64\ndispatch A writes m\nsplit\nsubmit\nsplit\n"
      "dispatch Beside writes n\nsplit\ndispatch B reads m\n",
      "test", every_queue());
  ASSERT_TRUE(program);
  size_t fewest = SIZE_MAX;
  for_each_slice(*program, find_everything(*program).front(), [&](std::span<const Program> forms) {
    fewest = std::min(fewest, forms.back().statements.size());
    EXPECT_EQ(find_everything(forms.back()).size(), 1u);
    return false;
  });
  EXPECT_EQ(fewest, 2u);
}

TEST(Slice, WidensFromWhatAHazardNames) {
  EXPECT_THAT(slices_of("memory m 64\nmemory n 64\nmemory o 64\n"
                        "dispatch Early writes n\n"
                        "barrier\n"
                        "dispatch Before reads m[0:4]\n"
                        "barrier\n"
                        "a: dispatch A writes m[0:8]\n"
                        "dispatch Beside writes o\n"
                        "barrier execution\nbarrier execution\n"
                        "b: dispatch B reads m[4:8]\n"
                        "dispatch Late reads o\n"),
              ElementsAre("memory m 64\n"
                          "a: dispatch A writes m[0:8]\nbarrier execution\n"
                          "b: dispatch B reads m[4:8]\n",
                          "memory m 64\nmemory o 64\n"
                          "a: dispatch A writes m[0:8]\ndispatch Beside writes o\n"
                          "barrier execution\nb: dispatch B reads m[4:8]\n",
                          "memory m 64\nmemory n 64\nmemory o 64\ndispatch Early writes n\n"
                          "barrier\ndispatch Before reads m[0:4]\nbarrier\n"
                          "a: dispatch A writes m[0:8]\ndispatch Beside writes o\n"
                          "barrier execution\nb: dispatch B reads m[4:8]\n"));
}

TEST(Slice, HasTheStatementsOnTheMemoryOfAValue) {
  const std::vector<std::string> slices = slices_of(
      "memory m 64\nmemory n 64\n"
      "tensor x f32[1] at m+0\ntensor y f32[1] at m+0\ntensor z f32[1] at n+0\n"
      "w: dispatch W writes x\nbarrier\nfree x\ndispatch Z writes z\n"
      "v: dispatch V writes y\nbarrier\nr: dispatch R reads x writes z\n");
  ASSERT_GE(slices.size(), 2u);
  EXPECT_EQ(slices[1],
            "memory m 64\nmemory n 64\n"
            "tensor x f32[1] at m+0\ntensor y f32[1] at m+0\ntensor z f32[1] at n+0\n"
            "w: dispatch W writes x\nbarrier\nfree x\n"
            "v: dispatch V writes y\nbarrier\nr: dispatch R reads x writes z\n");
}

TEST(Slice, IsNoneOfAGradient) {
  const Program program = parsed(
      "tensor x f32[1] = random(1)\ntensor y f32[1]\ndispatch silu reads x writes y\n"
      "backward y wrt x\n");
  GradientFinding finding;
  finding.tensor = TensorId(0);
  EXPECT_FALSE(for_each_slice(program, finding, [](std::span<const Program>) { return true; }));
}

// Counts where the search ends that starts at a slice, beside one that starts at the whole program.
struct Ends {
  int count = 0;
  int larger = 0;
};

ProgramCost cost_of(const Program& program) {
  return interlock::cost_of(without_evidence(draft_of(program)));
}

void compare_ends(const Program& program, Ends& ends) {
  MinimizeOptions from_whole;
  from_whole.whole_steps_max = UINT64_MAX;
  MinimizeOptions from_slice;
  from_slice.whole_steps_max = 0;
  const auto whole = minimize_program(program, from_whole);
  const auto sliced = minimize_program(program, from_slice);
  ASSERT_EQ(whole.has_value(), sliced.has_value());
  if (!whole) return;
  ++ends.count;
  ends.larger += cost_of(sliced->program) > cost_of(whole->program);
  EXPECT_TRUE(sliced->is_fixpoint);
  std::set<std::string> signatures;
  for (const Fact& fact : find_everything(program)) signatures.insert(signature_of(program, fact));
  for (const GradientFinding& fact : find_wrong_gradients(program)) {
    signatures.insert(signature_of(program, fact));
  }
  std::vector<Fact> left = find_everything(sliced->program);
  for (const GradientFinding& fact : find_wrong_gradients(sliced->program)) left.emplace_back(fact);
  EXPECT_TRUE(std::ranges::any_of(
      left,
      [&](const Fact& fact) { return signatures.count(signature_of(sliced->program, fact)) > 0; }))
      << print(program) << "became\n"
      << print(sliced->program);
}

// Two searches need not end at the same program. Of 4,000 runs 1 in 50 ends at a larger one from a
// slice, by some bytes or operands, and as many at a smaller one.
TEST(Slice, LeadsToProgramsAsSmallAsTheWholeOneDoes) {
  for (const char* encoder : {"none", "mlx-2024"}) {
    CampaignOptions options;
    options.encoder = find_encoder(encoder);
    Ends ends;
    for (uint64_t run = 0; ends.count < proof_count(300, 100, 14); ++run) {
      const Program program = build(draft_of_run(options, run)).value();
      compare_ends(encode_with(program, options.encoder), ends);
      if (HasFatalFailure()) return;
    }
    EXPECT_LE(ends.larger, 1 + ends.count / 20) << encoder;
  }
}

TEST(Slice, LeadsToProgramsAsSmallOnTheCorpus) {
  Ends ends;
  for (const auto& path : one_queue_corpus_files({"bugs", "seeds", "regressions"})) {
    if (is_slow_build() && path.string().find("order") == std::string::npos) continue;
    SCOPED_TRACE(path);
    compare_ends(corpus_program(path), ends);
  }
  EXPECT_EQ(ends.larger, 0);
  EXPECT_GE(ends.count, is_slow_build() ? 2 : 80);
}

// A stream as a runtime records it: each dispatch reads what the one before has written, over
// memory that no test can execute as a whole a hundred times.
TEST(Slice, MakesAnEvaluationOfALargeStreamSmall) {
  std::string text = "memory weights 200000000\nmemory pool 65536\n";
  for (int i = 0; i < 3000; ++i) {
    const int from = (i + 63) % 64 * 1024;
    const int to = i % 64 * 1024;
    if (i != 1500) text += "barrier\n";
    text += fmt::format("dispatch K{} reads weights pool[{}:{}] writes pool[{}:{}]\n", i, from,
                        from + 1024, to, to + 1024);
  }
  const auto report = minimize_program(parsed(text));
  ASSERT_TRUE(report);
  EXPECT_EQ(print(report->program),
            "interlock 1\nmemory weights 2\n"
            "d0: dispatch Opaque writes weights[0:1]\n"
            "d1: dispatch Opaque reads weights[0:1] writes weights[1:2]\n"
            "witness d0 after d1\nexpect RAW d0 d1\n");
  EXPECT_LT(report->evaluation_count, 100u);
}

// Also where many hazards have the same place: none of them needs more than its two dispatches.
TEST(Slice, LeavesTwoOfManyDispatchesThatOverlap) {
  MinimizeOptions options;
  options.whole_steps_max = 0;
  const auto report = minimize_program(dense_program(40, 20), options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->program.dispatches.size(), 2u);
  EXPECT_TRUE(report->is_fixpoint);
}

}  // namespace
}  // namespace interlock::slice_test
