// What captured programs need, as text: stages of dispatches, transitions, bounds, and semaphores
// from outside. What is read is printed again, and what does not fit is an error with its position.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"

namespace interlock::image_statements_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kDeclarations =
    "interlock 1\n"
    "memory a 4096\n"
    "memory b 4096\n"
    "tensor x f32[16] at a+0 = random(1)\n"
    "p: queue concurrent\n"
    "g: queue graph\n";

Result<Program> read(const std::string& statements, bool skips_invalid_lines = false) {
  ParseOptions options;
  options.reads_every_queue = true;
  options.skips_invalid_lines = skips_invalid_lines;
  return parse(std::string(kDeclarations) + statements, "q.ilk", options);
}

Program program_of(const std::string& statements) {
  const Result<Program> program = read(statements);
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : Program{};
}

std::string canonical(const std::string& statements) {
  const std::string text = expect_round_trip(program_of(statements));
  return text.substr(std::min(kDeclarations.size(), text.size()));
}

// Without the name of the file; line 7 is the first of `statements`.
std::string error_of(const std::string& statements) {
  const Result<Program> program = read(statements);
  EXPECT_FALSE(program) << print(*program);
  return program ? "" : program.error().message.substr(std::string_view("q.ilk:").size());
}

TEST(ImageStatements, ArePrintedAsTheyAreRead) {
  for (
      const char* const statements :
      {"dispatch Blit in copy reads x writes b\n",
       "draw: dispatch Draw in graphics order=3 indirect b[0:12] uniform x updates b[64:128] on p\n",
       "dispatch K reads a writes b partial approximate atomic2=1\n",
       "barrier none -> graphics.write discards b\n",
       "fence: barrier graphics.write -> none transitions b[0:64] a on p\n",
       "barrier compute.write -> device.read x, none -> copy.write transitions b, all -> all\n",
       "wait s=3 from outside before copy|graphics on p\n",
       "s: semaphore binary\nwait s from outside\nhost waits s from outside\n",
       "signal s=1 after graphics\nwait s=1 from outside\nwait s=1\n",
       "wait s=1 before device\nsignal s=1 after device on p\n"}) {
    EXPECT_EQ(canonical(statements), statements);
  }
}

TEST(ImageStatements, AreReadInAnyCanonicalOrderOfWordsOnly) {
  EXPECT_EQ(canonical("dispatch K in compute reads x\n"), "dispatch K reads x\n");
  EXPECT_EQ(canonical("dispatch K  in  copy reads x # Two spaces.\n"),
            "dispatch K in copy reads x\n");
  EXPECT_EQ(canonical("dispatch K approximate\n"), "dispatch K approximate\n");
  EXPECT_EQ(canonical("dispatch K in=3\n"), "dispatch K in=3\n");
}

TEST(ImageStatements, SayWhatIsWrong) {
  EXPECT_EQ(error_of("dispatch K in gpu reads x\n"),
            "7:15: error: found 'gpu'; expected the stage of an opaque dispatch: compute, copy or "
            "graphics.");
  EXPECT_EQ(
      error_of("dispatch copy in graphics reads a[0:4] writes b[0:4]\n").substr(0, 87),
      "7:10: error: kernel 'copy' is in the kernel table and executes in its own stage; only o");
  EXPECT_EQ(error_of("dispatch copy reads a[0:4] writes b[0:4] approximate\n").substr(0, 78),
            "7:10: error: kernel 'copy' touches what the kernel table says; only opaque dis");
  EXPECT_EQ(error_of("dispatch K in copy uniform x reads a\n").substr(0, 101),
            "7:28: error: 'x' is an operand of 'uniform', which dispatches in the stage 'copy' do "
            "not have.\n  - Wh");
  EXPECT_EQ(error_of("dispatch K reads x approximate partial\n").substr(0, 50),
            "7:32: error: found 'partial' out of order; the cla");
  EXPECT_EQ(error_of("barrier copy -> copy transitions\n"),
            "7:33: error: found the end of the line; expected an operand after 'transitions'.");
  EXPECT_EQ(error_of("barrier copy -> copy discards on p\n"),
            "7:31: error: found 'on'; expected an operand after 'discards'. 'on' stands at the end "
            "of what a queue executes, as in 'on q1'.");
  EXPECT_EQ(
      error_of("barrier copy -> copy x transitions b\n"),
      "7:24: error: found 'transitions'; expected ',', an operand, 'on' or the end of the line. "
      "'transitions' stands after the two scopes of a barrier, before operands.");
  EXPECT_EQ(error_of("set e copy -> copy transitions x\n"),
            "7:1: error: an event has a dependency with 'transitions'; only those of barriers do "
            "something to their operands.");
  EXPECT_EQ(error_of("capture c\nbarrier copy -> copy transitions x\nend\n").substr(0, 12),
            "8:1: error: ");
  EXPECT_EQ(error_of("barrier copy -> copy transitions x on g\n").substr(0, 13), "7:39: error: ");
  EXPECT_EQ(error_of("fence@2: barrier\nfence: barrier none -> copy transitions x, none -> copy "
                     "transitions b\n"),
            "8:1: error: label 'fence@2' already stands on barrier 0; labels must differ.");
  EXPECT_EQ(error_of("signal s=1 from outside\n").substr(0, 13), "7:12: error: ");
  EXPECT_EQ(error_of("wait s=1 from inside\n"),
            "7:15: error: found 'inside'; expected 'outside': nobody in the program signals it.");
  EXPECT_EQ(error_of("memory transitions 16\n").substr(0, 20), "7:8: error: 'transit");
}

TEST(ImageStatements, KeepTheRestWhereLinesAreSkipped) {
  const Result<Program> program = read(
      "barrier copy -> copy transitions\nfence: barrier none -> copy transitions b\nwait s=1\n",
      true);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(print(*program).substr(kDeclarations.size()),
            "fence: barrier none -> copy transitions b\nsplit\n");
}

TEST(Transitions, AreDispatchesThatTheTextDoesNotCount) {
  const Program program = program_of(
      "dispatch K reads x\n"
      "fence: barrier none -> copy transitions a b, none -> copy x, none -> copy discards x\n"
      "dispatch K reads x\n");
  ASSERT_EQ(program.dispatches.size(), 4u);
  EXPECT_THAT(program.uncounted_dispatches, ElementsAre(DispatchId(1), DispatchId(2)));
  EXPECT_THAT(program.host_dispatches, IsEmpty());
  EXPECT_EQ(program.number_of(DispatchId(3)), 1u);
  EXPECT_EQ(program.dispatch_of_number(1), DispatchId(3));
  EXPECT_EQ(program.reference_of(DispatchId(1)), "fence");
  EXPECT_EQ(program.reference_of(DispatchId(2)), "fence@2");
  EXPECT_EQ(program.description_of(DispatchId(1)), "fence (transitions)");
  EXPECT_EQ(program.description_of(DispatchId(2)), "fence@2 (discards)");
  EXPECT_EQ(stage_of(program.dispatch(DispatchId(1))), Stage::kTransition);
  const auto kept = program.accesses_of(DispatchId(1));
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_TRUE(kept[0].reads_plainly() && kept[0].writes_plainly());
  const auto discarded = program.accesses_of(DispatchId(2));
  ASSERT_EQ(discarded.size(), 1u);
  EXPECT_TRUE(!discarded[0].reads_plainly() && discarded[0].writes_plainly());
}

TEST(Transitions, TouchEachByteOnce) {
  const Program program = program_of(
      "barrier none -> copy discards a[4:8] b[0:4] a[0:16] a[2:3] b[0:9 rows 2 pitch 6 width 3]\n");
  std::vector<std::string> texts;
  for (const Access& access : program.accesses_of(DispatchId(0))) {
    texts.push_back(program.text_of(access));
  }
  EXPECT_THAT(texts, ElementsAre("a[4:8]", "b[0:4]", "a[0:4]", "a[8:16]", "b[6:9]"));
}

TEST(Transitions, AreNamedByTheirNumberWhereTheirBarrierHasNoLabel) {
  const Program program = program_of("barrier none -> copy transitions b\n");
  EXPECT_EQ(program.reference_of(DispatchId(0)), "@0");
  EXPECT_EQ(program.description_of(DispatchId(0)), "transitions (statement 0)");
}

TEST(Transitions, AreNamedByTheLabelOfTheirBarrier) {
  const Program program = program_of(
      "k: dispatch K writes b\n"
      "fence: barrier none -> copy transitions b, none -> copy transitions a\n"
      "expect WAW k fence\n"
      "expect WAW k fence@2\n"
      "expect redundant fence\n");
  EXPECT_EQ(program.expectations[0].second, DispatchId(1));
  EXPECT_EQ(program.expectations[1].second, DispatchId(2));
  EXPECT_EQ(program.expectations[2].barrier, BarrierId(0));
  EXPECT_THAT(print(program), testing::HasSubstr("expect WAW k fence@2\nexpect redundant fence\n"));
}

TEST(Transitions, ThatDoNotFitLeaveNoTrace) {
  ProgramBuilder builder;
  ASSERT_TRUE(builder.add(MemoryDraft{"a", 64}));
  DependencyDraft empty{{}, kEverything, {}};
  empty.transition = TransitionKind::kKeeps;
  EXPECT_FALSE(builder.add(BarrierDraft{"", BarrierKind::kScoped, {empty}}));
  empty.operands = {{AccessMode::kRead, "gone", {}}};
  EXPECT_FALSE(builder.add(BarrierDraft{"f", BarrierKind::kScoped, {empty, empty}}));
  const Result<Program> program = builder.finish();
  ASSERT_TRUE(program);
  EXPECT_EQ(print(*program), "interlock 1\nmemory a 64\n");
  EXPECT_THAT(program->uncounted_dispatches, IsEmpty());
}

}  // namespace
}  // namespace interlock::image_statements_test
