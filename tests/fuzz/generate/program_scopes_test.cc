// Scopes of generated programs: barriers that mostly order something, of every stage and access;
// and all else as it was.
#include "fuzz/generate/program_scopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/scope.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/generator.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/choice.h"
#include "tests/fuzz/generate/shares.h"
#include "tests/program_count.h"

namespace interlock::program_scopes_test {
namespace {

using testing::Each;

constexpr uint64_t kBarrierCount = program_count(3000);

// The barrier comes between the two.
ProgramDraft write_and_read() {
  return draft_of(parse("interlock 1\nmemory a 16\ndispatch W writes a[0:8]\n"
                        "dispatch R reads a[0:8]\n")
                      .value());
}

Program with_barrier(ProgramDraft draft, const BarrierDraft& barrier) {
  draft.items.insert(draft.items.end() - 1, barrier);
  auto program = build(draft);
  EXPECT_TRUE(program) << program.error().message << "\n" << print(draft);
  return std::move(program).value();
}

TEST(DrawScopedBarrier, HasOneToThreeDependenciesAndNamesWhatIsThere) {
  const ProgramDraft draft = write_and_read();
  std::vector<uint64_t> counts(4);
  uint64_t dependency_count = 0;
  uint64_t with_operands = 0;
  for (uint64_t seed = 0; seed < kBarrierCount; ++seed) {
    SeededChoice choice(seed);
    const BarrierDraft barrier = draw_scoped_barrier(draft, choice);
    EXPECT_EQ(barrier.kind, BarrierKind::kScoped);
    ASSERT_GE(barrier.dependencies.size(), 1u);
    ASSERT_LE(barrier.dependencies.size(), 3u);
    ++counts[barrier.dependencies.size()];
    dependency_count += barrier.dependencies.size();
    for (const DependencyDraft& dependency : barrier.dependencies) {
      with_operands += !dependency.operands.empty();
      EXPECT_LE(dependency.operands.size(), 3u);
      for (const OperandDraft& operand : dependency.operands) {
        EXPECT_EQ(operand.name, "a");
        EXPECT_TRUE(!operand.slice || *operand.slice == (ByteRange{0, 8}));
      }
    }
    const Program program = with_barrier(draft, barrier);
    EXPECT_EQ(print(parse(print(program)).value()), print(program));
  }
  // One in three barriers has any number of them.
  expect_share("one dependency", counts[1], kBarrierCount, 7.0 / 9);
  expect_share("two dependencies", counts[2], kBarrierCount, 1.0 / 9);
  expect_share("three dependencies", counts[3], kBarrierCount, 1.0 / 9);
  expect_share("operands", with_operands, dependency_count, 1.0 / 3);
}

// Each is in one of the sixteen words at least, which are drawn with odds of 1/6: of some 2700
// words of a side that it is in none has odds below 1e-12.
TEST(DrawScopedBarrier, NamesEveryStageAndEveryAccessOnBothSides) {
  const ProgramDraft draft = write_and_read();
  Scope sources;
  Scope destinations;
  SeededChoice choice(1);
  for (int i = 0; i < 1000; ++i) {
    for (const DependencyDraft& dependency : draw_scoped_barrier(draft, choice).dependencies) {
      EXPECT_NE(dependency.source.stages, 0);
      EXPECT_NE(dependency.destination.stages, 0);
      sources.stages |= dependency.source.stages;
      sources.accesses |= dependency.source.accesses;
      destinations.stages |= dependency.destination.stages;
      destinations.accesses |= dependency.destination.accesses;
    }
  }
  EXPECT_EQ(sources, kEverything);
  EXPECT_EQ(destinations, kEverything);
}

// The shares are those of 20,000 barriers: most order compute work. Visible is what it writes
// after fewer, which name the very accesses, and no operand but its own.
TEST(DrawScopedBarrier, MostlyOrdersComputeWork) {
  const ProgramDraft draft = write_and_read();
  uint64_t ordered_count = 0;
  uint64_t visible_count = 0;
  for (uint64_t seed = 0; seed < kBarrierCount; ++seed) {
    SeededChoice choice(seed);
    const Program program = with_barrier(draft, draw_scoped_barrier(draft, choice));
    const HappensBefore order(program);
    ordered_count += order.executes_before(DispatchId{0}, DispatchId{1});
    visible_count += !order
                          .find_invisible(DispatchId{0}, DispatchId{1}, StageAccess::kComputeRead,
                                          MemoryId{0}, {0, 8})
                          .has_value();
  }
  expect_share("ordered", ordered_count, kBarrierCount, 0.878);
  expect_share("visible", visible_count, kBarrierCount, 0.311);
}

TEST(DrawScopedBarrier, NamesAMemoryWhereThereIsNothingElse) {
  const ProgramDraft draft = draft_of(parse("interlock 1\nmemory only 16\n").value());
  SeededChoice choice(1);
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) {
    for (const DependencyDraft& dependency : draw_scoped_barrier(draft, choice).dependencies) {
      for (const OperandDraft& operand : dependency.operands) names.push_back(operand.name);
    }
  }
  EXPECT_THAT(names, Each("only"));
  EXPECT_GT(names.size(), 20u);
}

// With plain reads, in an order of their own, and without barriers.
std::string text_without_scopes(ProgramDraft draft) {
  std::vector<ItemDraft> items;
  for (ItemDraft& item : draft.items) {
    if (std::holds_alternative<BarrierDraft>(item)) continue;
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
      const auto key = [](const OperandDraft& o) {
        const ByteRange range = o.slice.value_or(ByteRange{0, 0});
        return std::make_tuple(o.mode, o.name, o.slice.has_value(), range.begin, range.end);
      };
      for (OperandDraft& operand : dispatch->operands) {
        if (operand.mode == AccessMode::kUniform) operand.mode = AccessMode::kRead;
      }
      std::sort(dispatch->operands.begin(), dispatch->operands.end(),
                [&](const auto& a, const auto& b) { return key(a) < key(b); });
    }
    items.push_back(std::move(item));
  }
  return print(ProgramDraft{std::move(items)});
}

// Before each dispatch, and after the last.
std::vector<size_t> barriers_between_dispatches(const ProgramDraft& draft) {
  std::vector<size_t> counts(1);
  for (const ItemDraft& item : draft.items) {
    if (std::holds_alternative<DispatchDraft>(item)) counts.push_back(0);
    counts.back() += std::holds_alternative<BarrierDraft>(item);
  }
  return counts;
}

TEST(GiveScopes, LeavesAProgramWithTheSameDispatchesAndBarriersInTheSamePlaces) {
  for (int seed = 0; seed < program_count(400); ++seed) {
    SeededChoice choice(seed);
    GeneratorOptions options;
    options.has_barriers = true;
    const ProgramDraft draft = generate(choice, options);
    ProgramDraft scoped = draft;
    give_scopes(scoped, choice);
    EXPECT_TRUE(build(scoped)) << print(scoped);
    EXPECT_EQ(text_without_scopes(scoped), text_without_scopes(draft));
    const std::vector<size_t> before = barriers_between_dispatches(draft);
    const std::vector<size_t> after = barriers_between_dispatches(scoped);
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_GE(after[i], before[i]) << print(scoped);
      EXPECT_LE(after[i], 2 * before[i]) << print(scoped);
    }
  }
}

// Each barrier by itself: 7 of 8 become scoped, and of four of those one is there any number of
// times up to twice, which is one of eight. Each opaque dispatch reads as uniforms with odds of
// 1/3, and of its reads then every second one.
TEST(GiveScopes, MakesMostBarriersScopedRepeatsSomeAndSomeReadsUniform) {
  std::string text = "interlock 1\nmemory a 16\nmemory b 16\n";
  constexpr uint64_t kPairCount = 50;
  for (uint64_t i = 0; i < kPairCount; ++i) {
    text += "dispatch K reads a[0:4] writes b[0:4]\nbarrier\ndispatch copy reads a writes b\n";
  }
  const ProgramDraft draft = draft_of(parse(text).value());
  constexpr uint64_t kDraftCount = program_count(40);
  uint64_t scoped_count = 0;
  uint64_t repeated_count = 0;
  uint64_t uniform_count = 0;
  for (uint64_t seed = 0; seed < kDraftCount; ++seed) {
    ProgramDraft scoped = draft;
    SeededChoice choice(seed);
    give_scopes(scoped, choice);
    const std::vector<size_t> counts = barriers_between_dispatches(scoped);
    for (const size_t count : counts) repeated_count += count == 2;
    bool is_scoped = false;
    for (const ItemDraft& item : scoped.items) {
      if (const auto* barrier = std::get_if<BarrierDraft>(&item)) {
        is_scoped = barrier->kind == BarrierKind::kScoped;
      } else if (const auto* dispatch = std::get_if<DispatchDraft>(&item)) {
        scoped_count += is_scoped;
        is_scoped = false;
        const bool is_uniform = dispatch->operands[0].mode == AccessMode::kUniform;
        uniform_count += is_uniform;
        EXPECT_FALSE(is_uniform && dispatch->kernel == "copy");
      }
    }
  }
  constexpr uint64_t kCount = kPairCount * kDraftCount;
  expect_share("scoped barriers", scoped_count, kCount, 7.0 / 8);
  expect_share("repeated barriers", repeated_count, scoped_count, 1.0 / 8);
  expect_share("uniform reads", uniform_count, kCount, 1.0 / 3 / 2);
}

}  // namespace
}  // namespace interlock::program_scopes_test
