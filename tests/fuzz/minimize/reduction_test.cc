// What each pass of the minimizer does by itself, and that none of them does more than it may.
#include "fuzz/minimize/reduction.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/findings.h"
#include "tests/program_count.h"

namespace interlock::reduction_test {
namespace {

using Pass = void (*)(Reduction&);

Program parsed(const std::string& text) {
  auto program = parse("interlock 1\n" + text);
  EXPECT_TRUE(program) << program.error().message << "\n" << text;
  return std::move(program).value();
}

bool is_anything(const Program&) { return true; }

// What one pass leaves of a program of which `keeps` must hold.
std::string left_by(Pass pass, const std::string& text,
                    const ProgramPredicate& keeps = is_anything) {
  const MinimizeOptions options;
  Reduction reduction(draft_of(parsed(text)), keeps, options);
  pass(reduction);
  return print(build(reduction.current()).value()).substr(std::string("interlock 1\n").size());
}

const Access& access_of(const Program& program, size_t dispatch, size_t access = 0) {
  return program.accesses_of(program.dispatches[dispatch])[access];
}

// A step that is kept costs less, and what it leaves builds and keeps what it must; a pass that has
// nothing to do leaves everything.
TEST(Reduction, LowersTheCostWithEveryStepOfEveryPass) {
  constexpr Pass kPasses[] = {
      drop_statements,   drop_captures,     drop_outputs,          move_outputs,
      drop_declarations, drop_operands,     drop_sources,          simplify_kernels,
      simplify_operands, simplify_barriers, merge_memories,        shrink_shapes,
      shrink_ranges,     close_gaps,        settle_initial_values, rename_by_first_use};
  std::set<size_t> busy_passes;
  const MinimizeOptions options;
  for (uint64_t run = 0; run < (is_slow_build() ? 4 : 24); ++run) {
    CampaignOptions campaign;
    campaign.encoder = run % 2 == 0 ? nullptr : find_encoder("none");
    if (run % 8 == 7) campaign.replay = find_replay("pytorch");
    const ProgramDraft draft =
        without_evidence(draft_of(build(draft_of_run(campaign, run)).value()));
    const ProgramPredicate has_two = [](const Program& p) { return p.dispatches.size() >= 2; };
    if (!has_two(build(draft).value())) continue;
    for (size_t i = 0; i < std::size(kPasses); ++i) {
      Reduction reduction(draft, has_two, options);
      kPasses[i](reduction);
      const auto left = build(reduction.current());
      ASSERT_TRUE(left) << left.error().message;
      EXPECT_TRUE(has_two(*left));
      if (reduction.step_count() == 0) {
        EXPECT_EQ(print(*left), print(build(draft).value()));
        continue;
      }
      busy_passes.insert(i);
      EXPECT_LT(cost_of(reduction.current()), cost_of(draft)) << "pass " << i << ", run " << run;
    }
  }
  EXPECT_GE(busy_passes.size(), is_slow_build() ? 8u : 14u);
}

// What costs as much is refused, and so is what does not build or lacks what must be kept.
TEST(Reduction, TakesOverOnlyWhatCostsLessAndKeepsWhatItMust) {
  const Program program = parsed("memory a 4\nd0: dispatch K reads a\nd1: dispatch K writes a\n");
  const ProgramDraft draft = draft_of(program);
  const MinimizeOptions options;
  int evaluation_count = 0;
  const ProgramPredicate has_write = [&](const Program& p) {
    ++evaluation_count;
    return !p.accesses.empty() && p.accesses.back().writes_plainly();
  };
  Reduction reduction(draft, has_write, options);
  EXPECT_FALSE(reduction.attempt(draft));
  ProgramDraft unbuilt = draft;
  unbuilt.items.erase(unbuilt.items.begin());
  EXPECT_FALSE(reduction.attempt(unbuilt));
  EXPECT_EQ(evaluation_count, 0);
  ProgramDraft without_write = draft;
  without_write.items.pop_back();
  EXPECT_FALSE(reduction.attempt(without_write));
  ProgramDraft without_read = draft;
  without_read.items.erase(without_read.items.begin() + 1);
  EXPECT_TRUE(reduction.attempt(without_read));
  EXPECT_EQ(reduction.step_count(), 1u);
  EXPECT_EQ(reduction.evaluation_count(), 2u);
  EXPECT_EQ(reduction.current().items.size(), 2u);
}

TEST(Reduction, IsOverWhenItsEvaluationsAreSpent) {
  const Program program = parsed("memory a 4\nd0: dispatch K reads a\nd1: dispatch K writes a\n");
  MinimizeOptions options;
  options.evaluation_limit = 3;
  int evaluation_count = 0;
  const auto report = minimize(
      draft_of(program), [&](const Program&) { return ++evaluation_count > 100; }, options);
  EXPECT_EQ(evaluation_count, 3);
  EXPECT_EQ(report.evaluation_count, 3u);
  EXPECT_FALSE(report.is_fixpoint);
}

// The rest is what the text says; each pair of lines is a program and what the pass leaves of it.
TEST(DropCaptures, PutsWhatIsReplayedOnceInItsPlace) {
  const std::string tensors = "tensor x f32[4] = random(1)\ntensor y f32[4]\n";
  const std::string text =
      tensors + "capture c\nd0: dispatch silu reads x writes y\nend\nreplay c\n";
  EXPECT_EQ(left_by(drop_captures, text, [](const Program& p) { return p.dispatches.size() == 1; }),
            tensors + "d0: dispatch silu reads x writes y\n");
  EXPECT_EQ(left_by(drop_captures, text + "replay c\n"), tensors);
}

TEST(DropCaptures, MakesAnInputOfWhatARecordingMakes) {
  EXPECT_EQ(left_by(drop_captures,
                    "tensor x f32[4] = random(1)\ntensor y f32[4]\ntensor z f32[4]\ncapture c\n"
                    "d0: dispatch silu reads x writes y\n"
                    "d1: dispatch silu reads y writes z\n"
                    "end\n"
                    "replay c\nreplay c\n",
                    [](const Program& p) {
                      return p.replays.size() == 2 && !p.dispatches.empty() &&
                             p.name(p.tensor(p.accesses.back().tensor).name) == "z";
                    }),
            "tensor x f32[4] = random(1)\n"
            "tensor y f32[4] = random(1)\n"
            "tensor z f32[4]\n"
            "capture c\n"
            "d1: dispatch silu reads y writes z\nend\nreplay c\nreplay c\n");
}

TEST(DropOutputs, LeavesTheOneThatIsNeeded) {
  const std::string tensors = "tensor x f32[4]\ntensor y f32[4]\ntensor z f32[4]\n";
  const auto has_y = [](const Program& p) {
    for (const TensorId id : p.outputs) {
      if (p.name(p.tensor(id).name) == "y") return true;
    }
    return false;
  };
  EXPECT_EQ(left_by(drop_outputs, tensors + "output x y\noutput z\n", has_y),
            tensors + "output y\n");
}

TEST(MoveOutputs, MovesThemToWhatTheyAreMadeOfAndElseMakesInputs) {
  const std::string text =
      "tensor x f32[4] = random(1)\ntensor y f32[4]\ntensor z f32[4]\noutput z\n"
      "d0: dispatch silu reads x writes y\nd1: dispatch silu reads y writes z\n";
  EXPECT_EQ(left_by(move_outputs, text),
            "tensor x f32[4] = random(1)\ntensor y f32[4]\ntensor z f32[4]\noutput x\n");
  EXPECT_EQ(left_by(move_outputs, text, [](const Program& p) { return p.dispatches.size() == 1; }),
            "tensor x f32[4] = random(1)\ntensor y f32[4]\ntensor z f32[4]\noutput y\n"
            "d0: dispatch silu reads x writes y\n");
  const auto writes_z = [](const Program& p) {
    return !p.accesses.empty() && p.name(p.tensor(p.accesses.back().tensor).name) == "z";
  };
  EXPECT_EQ(left_by(move_outputs, text, writes_z),
            "tensor x f32[4] = random(1)\ntensor y f32[4] = random(2)\ntensor z f32[4]\n"
            "output z\nd1: dispatch silu reads y writes z\n");
}

// x @ w @ w is left of x @ v @ w @ w, and of the gradients that of w.
TEST(MoveOutputs, ClosesTheGapInTheWayOfAGradient) {
  const std::string tensors =
      "tensor x f32[2,2] = random(1)\ntensor v f32[2,2] = random(3)\n"
      "tensor w f32[2,2] = random(2)\ntensor h f32[2,2]\ntensor g f32[2,2]\n"
      "tensor y f32[2,2]\n";
  const auto is_wrong = [](const Program& p) { return !find_wrong_gradients(p).empty(); };
  EXPECT_EQ(left_by(move_outputs,
                    tensors + "d0: dispatch matmul_nn reads x w writes h\n"
                              "d1: dispatch matmul_nn reads h v writes g\n"
                              "d2: dispatch matmul_nn reads g w writes y\n"
                              "backward y wrt x v w mode=split-pytorch-180952\n",
                    is_wrong),
            tensors +
                "d0: dispatch matmul_nn reads x w writes h\n"
                "d2: dispatch matmul_nn reads h w writes y\n"
                "backward y wrt w mode=split-pytorch-180952\n");
}

TEST(DropDeclarations, KeepsWhatIsReferredToThroughViewsAndDonations) {
  const std::string used =
      "memory m 64\ntensor x f32[4] at m+0\ntensor y f32[4] donates x\n"
      "tensor v f32[2] view y+4\n";
  EXPECT_EQ(left_by(drop_declarations,
                    "memory n 64\n" + used + "tensor w f32[2]\nd0: dispatch K reads v\n"),
            used + "d0: dispatch K reads v\n");
}

TEST(DropOperands, DropsWhatStandsBesideTheOneThatIsNeeded) {
  const auto writes_last = [](const Program& p) {
    const auto accesses = p.accesses_of(p.dispatches[1]);
    return !accesses.empty() && accesses.back().writes_plainly();
  };
  EXPECT_EQ(
      left_by(drop_operands,
              "memory m 64\nmemory n 64\n"
              "d0: dispatch K order=1 reads m n writes n[0:4] atomics m[0:4] partial atomic=add\n"
              "d1: dispatch L order=0 reads m writes n partial\n",
              writes_last),
      "memory m 64\nmemory n 64\nd0: dispatch K\nd1: dispatch L writes n\n");
}

TEST(DropSources, MakesDonationsAndViewsPlain) {
  EXPECT_EQ(left_by(drop_sources,
                    "memory m 64\ntensor x f32[4] at m+8 = random(1)\ntensor y f32[4] donates x\n"
                    "tensor z f32[4] donates y\nd0: dispatch K reads x writes z\n"),
            "memory m 64\ntensor x f32[4] at m+8 = random(1)\ntensor y f32[4] at m+8\n"
            "tensor z f32[4] at m+8\nd0: dispatch K reads x writes z\n");
  EXPECT_EQ(left_by(drop_sources,
                    "memory m 64\ntensor x f32[4] at m+8 = random(1)\ntensor v f32[2] view x+4\n"
                    "d0: dispatch K reads x\nd1: dispatch L reads v\n"),
            "memory m 64\ntensor x f32[4] at m+8 = random(1)\nd0: dispatch K reads x\n"
            "d1: dispatch L reads x\n");
}

TEST(SimplifyKernels, TakesOpaqueOnesElseOneForAllElseCopies) {
  const std::string tensors = "tensor x f32[4] = random(1)\ntensor y f32[4]\ntensor z f32[4]\n";
  const std::string text = tensors +
                           "d0: dispatch silu reads x writes y\n"
                           "d1: dispatch scale reads y writes z factor=2\n";
  EXPECT_EQ(
      left_by(simplify_kernels, text),
      tensors + "d0: dispatch Opaque reads x writes y\nd1: dispatch Opaque reads y writes z\n");
  const auto has_silu_in_front = [](const Program& p) {
    return p.name(p.dispatches[0].kernel_name) == "silu" && !is_opaque(p, p.dispatches[1]);
  };
  EXPECT_EQ(left_by(simplify_kernels, text, has_silu_in_front),
            tensors + "d0: dispatch silu reads x writes y\nd1: dispatch silu reads y writes z\n");
  const auto has_none_opaque = [](const Program& p) {
    return !is_opaque(p, p.dispatches[0]) && !is_opaque(p, p.dispatches[1]);
  };
  EXPECT_EQ(left_by(simplify_kernels, text, has_none_opaque),
            tensors + "d0: dispatch copy reads x writes y\nd1: dispatch copy reads y writes z\n");
}

TEST(SimplifyOperands, TakesPlainModesAndDeclaresWhatIsNotDeclared) {
  EXPECT_EQ(left_by(simplify_operands,
                    "memory m 64 scratch\nmemory n 64\nd0: dispatch K updates m\n"
                    "d1: dispatch K uniform n atomics m[8:12] actual reads n[8:12] atomic=add\n"),
            "memory m 64\nmemory n 64\nd0: dispatch K reads m\n"
            "d1: dispatch K reads n m[8:12] n[8:12]\n");
  const auto all_write = [](const Program& p) {
    for (const Access& access : p.accesses) {
      if (access.only_reads()) return false;
    }
    return true;
  };
  EXPECT_EQ(left_by(simplify_operands,
                    "memory m 64\nd0: dispatch K updates m\n"
                    "d1: dispatch K atomics m[0:4] atomic=add\n",
                    all_write),
            "memory m 64\nd0: dispatch K writes m\nd1: dispatch K writes m[0:4]\n");
}

// An extent goes wherever it occurs; and where it must stay in one tensor, in the others alone.
TEST(ShrinkShapes, ShrinksAnExtentEverywhereAndElseInOneTensor) {
  const auto keeps_three_rows = [](const Program& p) { return p.tensors[0].shape[0] >= 3; };
  EXPECT_EQ(
      left_by(shrink_shapes,
              "tensor a f32[8,5] = random(1)\ntensor b f32[8,5]\n"
              "d0: dispatch silu reads a writes b\n",
              keeps_three_rows),
      "tensor a f32[4,1] = random(1)\ntensor b f32[4,1]\nd0: dispatch silu reads a writes b\n");
  const auto keeps_eight_of_a = [](const Program& p) {
    return p.tensors[0].shape[0] == 8 && p.tensors[2].shape[1] == 2;
  };
  EXPECT_EQ(left_by(shrink_shapes,
                    "tensor a f32[8,4] = random(1)\ntensor b f32[8] = random(2)\n"
                    "tensor c f32[4,2]\nd0: dispatch K reads a b writes c\n",
                    keeps_eight_of_a),
            "tensor a f32[8,1] = random(1)\ntensor b f32[1] = random(2)\ntensor c f32[1,2]\n"
            "d0: dispatch K reads a b writes c\n");
}

TEST(ShrinkShapes, LeavesAsManyValuesAsThereAreElements) {
  EXPECT_EQ(left_by(shrink_shapes, "tensor a f32[3] = values(1,2,3)\nd0: dispatch K reads a\n",
                    [](const Program& p) { return p.tensors[0].shape[0] >= 2; }),
            "tensor a f32[2] = values(1,2)\nd0: dispatch K reads a\n");
}

TEST(SettleInitialValues, KeepsThoseThatAreRead) {
  EXPECT_EQ(left_by(settle_initial_values,
                    "tensor a f32[2] = ones\ntensor b f32[2] = random(9)\n"
                    "tensor c f32[2] = iota\ntensor u f32[2]\n"
                    "d0: dispatch K reads b writes c\nd1: dispatch K reads u\n"),
            "tensor a f32[2]\ntensor b f32[2] = random(1)\ntensor c f32[2]\n"
            "tensor u f32[2] = random(2)\nd0: dispatch K reads b writes c\n"
            "d1: dispatch K reads u\n");
}

TEST(RenameByFirstUse, RenamesInEveryStatement) {
  EXPECT_EQ(left_by(rename_by_first_use,
                    "memory m3 64\ntensor t7 f32[2] at m3+0\ntensor t9 f32[1] view t7+4\n"
                    "output t9\nd5: dispatch K reads m3[0:4] writes t9\n"
                    "barrier compute.write -> compute.read m3[0:4] t7\ndispatch L reads t7\n"
                    "reset m3\nfree t7\n"),
            "memory m0 64\ntensor t0 f32[2] at m0+0\ntensor t1 f32[1] view t0+4\noutput t1\n"
            "d0: dispatch K reads m0[0:4] writes t1\n"
            "barrier compute.write -> compute.read m0[0:4] t0\nd1: dispatch L reads t0\n"
            "reset m0\nfree t0\n");
}

TEST(SimplifyBarriers, LeavesTheWeakestKindAndTheFewestWords) {
  const std::string head = "memory m 64\nmemory n 64\nd0: dispatch K writes m\n";
  const std::string tail = "d1: dispatch K reads m\n";
  const std::string text = head + "barrier copy -> copy, all.write -> all.read m n\n" + tail;
  EXPECT_EQ(left_by(simplify_barriers, text), head + "barrier\n" + tail);
  EXPECT_EQ(left_by(simplify_barriers, text,
                    [](const Program& p) { return p.barriers[0].kind != BarrierKind::kFull; }),
            head + "barrier execution\n" + tail);
  const auto is_clean_by_scope = [](const Program& p) {
    return p.barriers[0].kind == BarrierKind::kScoped && find_exactly(p).empty();
  };
  EXPECT_EQ(left_by(simplify_barriers, text, is_clean_by_scope),
            head + "barrier compute.write -> compute.read\n" + tail);
}

TEST(MergeMemories, PutsOneBehindTheOtherAtItsAlignment) {
  EXPECT_EQ(
      left_by(merge_memories,
              "memory m 6\nmemory n 8\ntensor t f32[1] at n+4\n"
              "d0: dispatch K reads n[0:2] m[1:3]\nd1: dispatch K reads n writes t\nreset n\n"),
      "memory m 16\ntensor t f32[1] at m+12\nd0: dispatch K reads m[8:10] m[1:3]\n"
      "d1: dispatch K reads m[8:16] writes t\nreset m\n");
}

TEST(ShrinkRanges, ShrinksAllOfOneRangeAndElseOneOfThem) {
  EXPECT_EQ(left_by(shrink_ranges,
                    "memory m 64\nd0: dispatch K reads m[8:40]\nd1: dispatch K writes m[8:40]\n",
                    [](const Program& p) { return access_of(p, 0).range.size_bytes() >= 3; }),
            "memory m 64\nd0: dispatch K reads m[8:12]\nd1: dispatch K writes m[8:9]\n");
  EXPECT_EQ(left_by(shrink_ranges,
                    "memory m 64\nd0: dispatch K reads m[8:40]\nd1: dispatch K writes m[8:40]\n",
                    [](const Program& p) { return access_of(p, 1).range.end == 40; }),
            "memory m 64\nd0: dispatch K reads m[8:9]\nd1: dispatch K writes m[39:40]\n");
}

// What touches no byte would say nothing of what the original touched.
TEST(ShrinkRanges, LeavesAByteOfWhatTouchedSome) {
  EXPECT_EQ(left_by(shrink_ranges, "memory m 64\nd0: dispatch K reads m[8:40] writes m[2:2]\n"),
            "memory m 64\nd0: dispatch K reads m[8:9] writes m[0:0]\n");
}

TEST(CloseGaps, KeepsTheOrderOfWhereRangesBeginAndEnd) {
  const std::string text =
      "memory m 64\nd0: dispatch K reads m[7:17]\nd1: dispatch K writes m[12:20]\n";
  EXPECT_EQ(left_by(close_gaps, text),
            "memory m 3\nd0: dispatch K reads m[0:2]\nd1: dispatch K writes m[1:3]\n");
  EXPECT_EQ(left_by(close_gaps, text,
                    [](const Program& p) { return access_of(p, 0).range.size_bytes() >= 10; }),
            "memory m 13\nd0: dispatch K reads m[0:10]\nd1: dispatch K writes m[5:13]\n");
}

}  // namespace
}  // namespace interlock::reduction_test
