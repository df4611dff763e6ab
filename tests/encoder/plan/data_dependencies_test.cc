// What each dispatch must follow, against the definition: byte by byte, and pair by pair.
#include "encoder/plan/data_dependencies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "tests/encoder/sync/dispatch_programs.h"
#include "tests/encoder/sync/obvious_checks.h"
#include "tests/encoder/sync/random_dispatches.h"
#include "tests/program_count.h"

namespace interlock::data_dependencies_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kMemoryBytes = 12;

std::vector<uint32_t> predecessors_of(const DataDependencies& dependencies, size_t dispatch) {
  const auto found = dependencies.predecessors(dispatch);
  return {found.begin(), found.end()};
}

Program program_in(const std::string& dispatches) {
  return parse("interlock 1\nmemory a 64\nmemory b 64\n" + dispatches).value();
}

bool touches(const TestDispatch& dispatch, MemoryId memory, uint64_t byte, bool only_writes) {
  return std::any_of(dispatch.accesses.begin(), dispatch.accesses.end(), [&](const Access& access) {
    return access.memory == memory && access.range.begin <= byte && byte < access.range.end &&
           !(only_writes && access.only_reads());
  });
}

// Requires: no atomics. True if, of some byte, `earlier` is the last writer before `later`, or has
// read it since then and `later` writes it.
bool obviously_precedes(const std::vector<TestDispatch>& dispatches, size_t earlier, size_t later) {
  for (uint32_t memory = 0; memory < 2; ++memory) {
    for (uint64_t byte = 0; byte < kMemoryBytes; ++byte) {
      const MemoryId id(memory);
      const bool conflicts = (touches(dispatches[earlier], id, byte, true) &&
                              touches(dispatches[later], id, byte, false)) ||
                             (touches(dispatches[earlier], id, byte, false) &&
                              touches(dispatches[later], id, byte, true));
      if (!conflicts) continue;
      const bool is_hidden = std::any_of(
          dispatches.begin() + static_cast<std::ptrdiff_t>(earlier) + 1,
          dispatches.begin() + static_cast<std::ptrdiff_t>(later),
          [&](const TestDispatch& between) { return touches(between, id, byte, true); });
      if (!is_hidden) return true;
    }
  }
  return false;
}

TEST(DataDependencies, AreTheLastWriterAndTheReadersSinceOfEachByte) {
  TestRandom random(1);
  RandomDispatchesOptions options;
  options.has_atomics = false;
  for (int i = 0; i < share_count(3'000, 2); ++i) {
    const std::vector<TestDispatch> dispatches = random_dispatches(random, options);
    const DataDependencies dependencies(program_of(dispatches, kMemoryBytes));
    ASSERT_EQ(dependencies.dispatch_count(), dispatches.size());
    for (size_t later = 0; later < dispatches.size(); ++later) {
      std::vector<uint32_t> expected;
      for (size_t earlier = 0; earlier < later; ++earlier) {
        if (obviously_precedes(dispatches, earlier, later)) {
          expected.push_back(static_cast<uint32_t>(earlier));
        }
      }
      ASSERT_EQ(predecessors_of(dependencies, later), expected) << text_of(dispatches) << later;
    }
  }
}

// What follows through third dispatches is what any chain of conflicts orders, and no more.
TEST(DataDependencies, OrderWhatAnyChainOfConflictsOrders) {
  TestRandom random(2);
  for (int i = 0; i < program_count(5'000); ++i) {
    const std::vector<TestDispatch> dispatches = random_dispatches(random);
    const Program program = program_of(dispatches, kMemoryBytes);
    const DispatchOrder order(program, DataDependencies(program));
    const size_t count = dispatches.size();
    std::vector<std::vector<bool>> follows(count, std::vector<bool>(count, false));
    for (size_t later = 0; later < count; ++later) {
      follows[later][later] = true;
      for (size_t middle = 0; middle < later; ++middle) {
        if (!obviously_conflict(dispatches[middle], dispatches[later])) continue;
        for (size_t earlier = 0; earlier <= middle; ++earlier) {
          if (follows[middle][earlier]) follows[later][earlier] = true;
        }
      }
    }
    for (uint32_t later = 0; later < count; ++later) {
      for (uint32_t earlier = 0; earlier < count; ++earlier) {
        ASSERT_EQ(order.is_ordered(earlier, later), follows[later][earlier])
            << text_of(dispatches) << earlier << " before " << later;
      }
    }
  }
}

TEST(DataDependencies, OfAtomicsAreWhatTheFirstOfThemFollowed) {
  const DataDependencies dependencies(
      program_in("dispatch K writes a[0:8]\n"
                 "dispatch K reads a[4:8]\n"
                 "dispatch K atomics a[0:8] atomic=add\n"
                 "dispatch K atomics a[0:8] atomic=add\n"
                 "dispatch K reads a[0:4]\n"
                 "dispatch K atomics a[0:2] atomic=max\n"
                 "dispatch K reads b[0:4]\n"));
  EXPECT_THAT(predecessors_of(dependencies, 2), ElementsAre(0, 1));
  EXPECT_THAT(predecessors_of(dependencies, 3), ElementsAre(0, 1));
  EXPECT_THAT(predecessors_of(dependencies, 4), ElementsAre(2, 3));
  EXPECT_THAT(predecessors_of(dependencies, 5), ElementsAre(2, 3, 4));
  EXPECT_THAT(predecessors_of(dependencies, 6), IsEmpty());
}

TEST(DataDependencies, AreNoneOfRangesThatTouch) {
  const DataDependencies dependencies(
      program_in("dispatch K writes a[0:4]\ndispatch K writes a[4:8]\ndispatch K writes b[3:5]\n"
                 "dispatch K reads a[4:4] writes a[8:9]\n"));
  for (size_t i = 0; i < 4; ++i) EXPECT_THAT(predecessors_of(dependencies, i), IsEmpty()) << i;
}

bool is_ordered_by(const std::string& between) {
  const Program program =
      program_in("dispatch K writes a[0:4]\n" + between + "dispatch K writes b[0:4]\n");
  return DispatchOrder(program, DataDependencies(program)).is_ordered(0, 1);
}

TEST(DispatchOrder, IsThatOfFullBarriersToo) {
  EXPECT_TRUE(is_ordered_by("barrier\n"));
  EXPECT_FALSE(is_ordered_by(""));
  EXPECT_FALSE(is_ordered_by("barrier execution\n"));
  EXPECT_FALSE(is_ordered_by("barrier compute.write -> compute.read\n"));
}

// A lesser barrier does what the data asks that it was made for, and that need not order a write.
TEST(DispatchOrder, IsThatOfFullBarriersAloneBesideLesserOnes) {
  const auto orders = [](const std::string& barrier) {
    const Program program = program_in("dispatch K writes a[0:4]\n" + barrier +
                                       "dispatch K reads a[0:4]\nbarrier\ndispatch K reads b\n");
    const DispatchOrder order(program, DataDependencies(program));
    EXPECT_TRUE(order.is_ordered(0, 2));
    EXPECT_FALSE(order.is_ordered(1, 0));
    return order.is_ordered(0, 1);
  };
  EXPECT_TRUE(orders(""));
  EXPECT_TRUE(orders("barrier\n"));
  EXPECT_FALSE(orders("barrier execution\n"));
  EXPECT_FALSE(orders("barrier compute.write -> compute.read\n"));
}

// Each of the pieces names each of the readers: many more names than there are dispatches.
TEST(DataDependencies, NamesEachPredecessorOnceThoughManyPiecesDo) {
  constexpr uint32_t kPieces = 400;
  std::string text = "interlock 1\nmemory m 400\n";
  for (uint32_t i = 0; i < kPieces; ++i) {
    text += fmt::format("dispatch W writes m[{}:{}]\n", i, i + 1);
  }
  for (uint32_t i = 0; i < kPieces; ++i) text += "dispatch R reads m\n";
  text += "dispatch Last reads m[0:1] writes m[0:200] m[100:400]\n";
  const auto program = parse(text);
  ASSERT_TRUE(program);
  const DataDependencies dependencies(*program);
  const auto predecessors = dependencies.predecessors(2 * kPieces);
  ASSERT_EQ(predecessors.size(), 2 * kPieces);
  for (uint32_t i = 0; i < 2 * kPieces; ++i) EXPECT_EQ(predecessors[i], i);
}

}  // namespace
}  // namespace interlock::data_dependencies_test
