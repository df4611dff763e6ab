// The lemmas of docs/theory.md on which the exact check of scoped barriers rests, on the definition
// itself: that it may ask the latest access of each stage only.
#include <gtest/gtest.h>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/printer.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/judges/reference_order.h"
#include "tests/simulator/programs/random_scoped_programs.h"

namespace interlock::scope_lemmas_test {
namespace {

constexpr StageAccess kSorts[] = {StageAccess::kComputeRead, StageAccess::kComputeWrite,
                                  StageAccess::kComputeUniform, StageAccess::kCopyRead,
                                  StageAccess::kCopyWrite};

// Calls claim(first, second, third) on all triples in issue order. Which bytes they touch does not
// matter: what barriers do to a byte depends on stages alone.
template <typename Claim>
void for_all_triples(const Program& program, const Claim& claim) {
  const size_t count = program.dispatches.size();
  for (size_t k = 2; k < count; ++k) {
    for (size_t j = 1; j < k; ++j) {
      for (size_t i = 0; i < j; ++i) claim(DispatchId(i), DispatchId(j), DispatchId(k));
    }
  }
}

template <typename Claim>
void for_random_programs(const Claim& claim) {
  SeededChoice choice(1);
  RandomScopedProgramOptions options;
  options.dispatch_count_min = 3;
  options.dispatch_count_max = 5;
  options.command_count_max = 5;
  for (int i = 0; i < program_count(20'000) && !testing::Test::HasFailure(); ++i) {
    claim(random_scoped_program(choice, options));
  }
}

Stage stage_at(const Program& program, DispatchId dispatch) {
  return stage_of(program.dispatch(dispatch));
}

StageAccess write_sort_at(const Program& program, DispatchId dispatch) {
  return stage_at(program, dispatch) == Stage::kCopy ? StageAccess::kCopyWrite
                                                     : StageAccess::kComputeWrite;
}

TEST(ScopeLemmas, WhatIsOrderedOrVisibleIsAPrefixOfEachStage) {
  uint64_t applied = 0;
  for_random_programs([&](const Program& program) {
    for_all_triples(program, [&](DispatchId a1, DispatchId a2, DispatchId b) {
      if (stage_at(program, a1) != stage_at(program, a2)) return;
      EXPECT_LE(reference_executes_before(program, a2, b),
                reference_executes_before(program, a1, b))
          << print(program);
      for (const StageAccess sort : kSorts) {
        if (stage_of(sort) != stage_at(program, b)) continue;
        if (!reference_is_visible(program, a2, b, sort, MemoryId(0), 0)) continue;
        EXPECT_TRUE(reference_is_visible(program, a1, b, sort, MemoryId(0), 0)) << print(program);
        ++applied;
      }
    });
  });
  EXPECT_GT(applied, static_cast<uint64_t>(share_count(20'000, 3, 120)));
}

TEST(ScopeLemmas, VisibilityGoesThroughTheWriteBetween) {
  uint64_t applied = 0;
  for_random_programs([&](const Program& program) {
    for_all_triples(program, [&](DispatchId w1, DispatchId w2, DispatchId x) {
      if (!reference_is_visible(program, w1, w2, write_sort_at(program, w2), MemoryId(0), 0))
        return;
      for (const StageAccess sort : kSorts) {
        if (stage_of(sort) != stage_at(program, x)) continue;
        if (!reference_is_visible(program, w2, x, sort, MemoryId(0), 0)) continue;
        EXPECT_TRUE(reference_is_visible(program, w1, x, sort, MemoryId(0), 0)) << print(program);
        ++applied;
      }
    });
  });
  EXPECT_GT(applied, static_cast<uint64_t>(share_count(4'000, 2, 80)));
}

TEST(ScopeLemmas, OrderIsTransitiveAndVisibleImpliesOrdered) {
  uint64_t applied = 0;
  for_random_programs([&](const Program& program) {
    for_all_triples(program, [&](DispatchId a, DispatchId b, DispatchId c) {
      const bool is_ordered = reference_executes_before(program, a, c);
      if (reference_executes_before(program, a, b) && reference_executes_before(program, b, c)) {
        EXPECT_TRUE(is_ordered) << print(program);
        ++applied;
      }
      for (const StageAccess sort : kSorts) {
        if (stage_of(sort) != stage_at(program, c)) continue;
        EXPECT_LE(reference_is_visible(program, a, c, sort, MemoryId(0), 0), is_ordered)
            << print(program);
      }
    });
  });
  EXPECT_GT(applied, static_cast<uint64_t>(share_count(20'000, 3, 120)));
}

}  // namespace
}  // namespace interlock::scope_lemmas_test
