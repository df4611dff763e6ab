// Scoped barriers as text: what they read as, how they print, and which ones are none.
#include "encoder/program/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::scope_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kPreamble =
    "interlock 1\n"
    "memory a 64\n"
    "memory b 64\n"
    "tensor x f32[4] at a+16\n";

Program program_with(const std::string& line) {
  Result<Program> program = parse(std::string(kPreamble) + line + "\n");
  EXPECT_TRUE(program.has_value()) << program.error().message;
  return program.has_value() ? std::move(program).value() : Program();
}

std::string printed(const std::string& line) {
  const std::string text = print(program_with(line));
  return text.substr(kPreamble.size(), text.size() - kPreamble.size() - 1);
}

std::string error_of(const std::string& line) {
  const Result<Program> program = parse(std::string(kPreamble) + line + "\n", "p.ilk");
  EXPECT_FALSE(program.has_value()) << line;
  return program.has_value() ? "" : program.error().message;
}

TEST(Scope, IsAUnionOfPairsAndNotStagesTimesAccesses) {
  const Program program = program_with("barrier compute.write|copy.read -> all");
  const Dependency& dependency = program.dependencies.at(0);
  EXPECT_EQ(dependency.source.stages, bit_of(Stage::kCompute) | bit_of(Stage::kCopy));
  EXPECT_EQ(dependency.source.accesses,
            bit_of(StageAccess::kComputeWrite) | bit_of(StageAccess::kCopyRead));
}

TEST(Scope, WithoutAnAccessIsExecutionOnly) {
  const Program program = program_with("barrier copy -> all");
  EXPECT_EQ(program.dependencies.at(0).source, (Scope{bit_of(Stage::kCopy), 0}));
  EXPECT_EQ(program.dependencies.at(0).destination, (Scope{kAllStages, 0}));
}

TEST(Scope, ComputeReadLeavesTheUniformReadOutAndAllReadHasIt) {
  const AccessMask uniform = bit_of(StageAccess::kComputeUniform);
  EXPECT_EQ(scope_of("compute.read")->accesses & uniform, 0);
  EXPECT_NE(scope_of("all.read")->accesses & uniform, 0);
  EXPECT_NE(scope_of("all.read")->accesses & bit_of(StageAccess::kIndirectRead), 0);
  EXPECT_EQ(scope_of("all.write")->accesses & uniform, 0);
}

// Every scope has a text, and the words of the text joined are the scope.
TEST(Scope, OfEveryStageAndAccessSetReadsBackFromItsText) {
  int scope_count = 0;
  for (unsigned stages = 0; stages <= kAllStages; ++stages) {
    const bool has_transitions = (stages & bit_of(Stage::kTransition)) != 0;
    if (has_transitions && (stages & kDeviceStages) != kDeviceStages) continue;
    for (unsigned accesses = 0; accesses <= kAllAccesses; ++accesses) {
      Scope scope{static_cast<StageMask>(stages), static_cast<AccessMask>(accesses)};
      bool fits = true;
      for (size_t i = 0; i < kStageAccessCount; ++i) {
        const auto access = static_cast<StageAccess>(i);
        fits = fits && ((accesses & bit_of(access)) == 0 || (stages & bit_of(stage_of(access))));
      }
      if (!fits) continue;
      ++scope_count;
      const Program program = program_with("barrier " + text_of(scope) + " -> all");
      ASSERT_EQ(program.dependencies.at(0).source, scope) << text_of(scope);
    }
  }
  // A stage is absent, or present with any subset of its 3, 2, 1, 3 and 2 accesses; or all of
  // devices are there, with transitions.
  EXPECT_EQ(scope_count, (1 + 8) * (1 + 4) * (1 + 2) * (1 + 8) * (1 + 4) + 8 * 4 * 2 * 8 * (1 + 4));
}

TEST(ScopedBarrier, HasDependenciesWithOperandsOfTheirOwn) {
  const Program program = program_with(
      "fence: barrier compute.write -> copy.read x b[0:8], copy -> compute.write, all -> all a");
  const Barrier& barrier = program.barriers.at(0);
  EXPECT_EQ(barrier.kind, BarrierKind::kScoped);
  const auto dependencies = program.dependencies_of(barrier);
  ASSERT_EQ(dependencies.size(), 3u);
  const auto operands = program.operands_of(dependencies[0]);
  ASSERT_EQ(operands.size(), 2u);
  EXPECT_EQ(operands[0].range, (ByteRange{16, 32}));
  EXPECT_EQ(operands[1].range, (ByteRange{0, 8}));
  EXPECT_TRUE(program.operands_of(dependencies[1]).empty());
  EXPECT_EQ(program.text_of(program.operands_of(dependencies[2])[0]), "a");
}

TEST(ScopedBarrier, PrintsCanonically) {
  EXPECT_EQ(printed("barrier  copy.write|compute.read->all.read|all.write   x"),
            "barrier compute.read|copy.write -> all.read|all.write x");
  EXPECT_EQ(printed("barrier device|host -> all|compute.uniform , copy->copy"),
            "barrier all -> all|compute.uniform, copy -> copy");
  EXPECT_EQ(printed("barrier graphics|host|copy|compute|indirect -> device.write|graphics.write"),
            "barrier compute|copy|indirect|graphics|host -> device.write");
  EXPECT_EQ(printed("barrier none -> device|graphics.uniform"),
            "barrier none -> device|graphics.uniform");
  EXPECT_EQ(printed("barrier compute|compute.read -> copy"), "barrier compute.read -> copy");
}

TEST(ScopedBarrier, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("barrier compute.write"),
              HasSubstr("p.ilk:5:22: error: found the end of the line; expected '->' between"));
  EXPECT_THAT(error_of("barrier compute - > copy"),
              HasSubstr("17: error: found '-'; expected '->'"));
  EXPECT_THAT(
      error_of("barrier copy.uniform -> copy"),
      HasSubstr("9: error: 'copy.uniform' is no scope: compute and graphics have the accesses"));
  EXPECT_THAT(error_of("barrier none.read -> copy"),
              HasSubstr("9: error: 'none.read' is no scope"));
  EXPECT_THAT(error_of("barrier none|copy -> copy"),
              HasSubstr("9: error: 'none' is joined with another scope; it stands alone."));
  EXPECT_THAT(error_of("barrier copy -> copy|none"),
              HasSubstr("22: error: 'none' is joined with another scope; it stands alone."));
  EXPECT_THAT(error_of("barrier transition -> copy"),
              HasSubstr("9: error: found 'transition'; expected 'execution', a scope"));
  EXPECT_THAT(error_of("barrier copy -> gpu"),
              HasSubstr("17: error: found 'gpu'; expected a scope"));
  EXPECT_THAT(error_of("barrier copy -> copy,"),
              HasSubstr("22: error: found the end of the line; expected a scope"));
  EXPECT_THAT(error_of("barrier copy -> copy| x"),
              HasSubstr("23: error: found 'x'; expected a scope"));
  EXPECT_THAT(error_of("barrier copy -> copy y"),
              HasSubstr("22: error: no tensor or memory 'y' is declared before this line"));
  EXPECT_THAT(error_of("barrier copy -> copy x[0:17]"),
              HasSubstr("22: error: the range [0:17] ends past the end of 'x' (16 bytes)"));
  EXPECT_THAT(error_of("barrier copy -> copy a, copy -> copy c"),
              HasSubstr("38: error: no tensor"));
  EXPECT_THAT(error_of("barrier copy -> copy reads x"),
              HasSubstr("22: error: found 'reads'; expected ','"));
}

TEST(ScopedBarrier, HasBoundsOnItsParts) {
  std::string many = "barrier compute -> copy";
  for (int i = 0; i < 64; ++i) many += ", compute -> copy";
  EXPECT_THAT(error_of(many), HasSubstr("65 dependencies, more than the limit of 64"));
  many = "barrier compute -> copy";
  for (int i = 0; i < 257; ++i) many += " x";
  EXPECT_THAT(error_of(many), HasSubstr("more operands than the limit of 256"));
}

TEST(ScopedBarrier, ThatDoesNotFitLeavesNoTrace) {
  ProgramBuilder builder;
  ASSERT_TRUE(builder.add(MemoryDraft{"a", 64}));
  BarrierDraft barrier{"", BarrierKind::kScoped, {{kEverything, kEverything, {}}}};
  barrier.dependencies.push_back({kEverything, kEverything, {{AccessMode::kRead, "gone", {}}}});
  EXPECT_FALSE(builder.add(barrier));
  EXPECT_FALSE(builder.add(BarrierDraft{"", BarrierKind::kScoped, {}}));
  EXPECT_FALSE(builder.add(BarrierDraft{"", BarrierKind::kFull, {{kEverything, kEverything, {}}}}));
  const Scope outside{bit_of(Stage::kCopy), bit_of(StageAccess::kComputeRead)};
  EXPECT_FALSE(builder.add(BarrierDraft{"", BarrierKind::kScoped, {{outside, kEverything, {}}}}));
  const Scope transitions{bit_of(Stage::kTransition), 0};
  EXPECT_FALSE(
      builder.add(BarrierDraft{"", BarrierKind::kScoped, {{transitions, kEverything, {}}}}));
  EXPECT_EQ(print(builder.finish().value()), "interlock 1\nmemory a 64\n");
}

TEST(UniformOperands, StandFirstAndReadAsOthersDo) {
  const Program program = program_with("dispatch K uniform x reads a[0:4] writes b");
  ASSERT_EQ(program.accesses.size(), 3u);
  EXPECT_EQ(program.accesses[0].mode, AccessMode::kUniform);
  EXPECT_TRUE(program.accesses[0].reads_plainly());
  EXPECT_TRUE(program.accesses[0].only_reads());
  EXPECT_EQ(printed("dispatch K uniform x reads a[0:4] writes b"),
            "dispatch K uniform x reads a[0:4] writes b");
  EXPECT_THAT(error_of("dispatch K reads a uniform x"), HasSubstr("found 'uniform' out of order"));
}

}  // namespace
}  // namespace interlock::scope_test
