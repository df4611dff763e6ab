// Reordered reads, each beside the same program in the right order.
#include "simulator/hazards/data_flow.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "encoder/text/parser.h"
#include "simulator/order/in_reference_order.h"
#include "tests/simulator/programs/program_text.h"

namespace interlock::data_flow_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr DispatchId kNone;
const MemoryId kA(size_t{0});

std::vector<ReorderedRead> reordered_in(std::string_view body) {
  return find_reordered(program_on_abc(body));
}

DispatchId dispatch(size_t index) { return DispatchId(index); }

TEST(FindReordered, AReadMustNotSeeALaterWriter) {
  EXPECT_THAT(reordered_in(R"(
      dispatch Overwrite order=1 writes a[0:8]
      barrier
      dispatch Consume order=0 reads a[4:16])"),
              ElementsAre(ReorderedRead{dispatch(1), 0, dispatch(0), kNone, kA, {4, 8}}));
  EXPECT_THAT(reordered_in(R"(
      dispatch Consume order=0 reads a[4:16]
      barrier
      dispatch Overwrite order=1 writes a[0:8])"),
              IsEmpty());
}

TEST(FindReordered, AReadMustSeeItsWriter) {
  EXPECT_THAT(reordered_in(R"(
      dispatch Consume order=1 reads a[0:8]
      barrier
      dispatch Produce order=0 writes a[0:8])"),
              ElementsAre(ReorderedRead{dispatch(0), 0, kNone, dispatch(1), kA, {0, 8}}));
}

TEST(FindReordered, TheEndReadsEverything) {
  EXPECT_THAT(reordered_in(R"(
      dispatch Two order=2 writes a[0:8]
      barrier
      dispatch One order=1 writes a[0:8])"),
              ElementsAre(ReorderedRead{kNone, 0, dispatch(1), dispatch(0), kA, {0, 8}}));
}

TEST(FindReordered, IndependentDispatchesMayBeReordered) {
  EXPECT_THAT(reordered_in(R"(
      dispatch Two order=20 writes b
      dispatch One order=10 writes a)"),
              IsEmpty());
}

TEST(FindReordered, NeedsAProgramOrder) {
  EXPECT_THAT(reordered_in("dispatch One writes a\nbarrier\ndispatch Two reads a\n"), IsEmpty());
}

TEST(FindReordered, PartialWritesReadTheOldContent) {
  EXPECT_THAT(reordered_in(R"(
      dispatch Scatter order=1 writes a[0:8] partial
      barrier
      dispatch Zero order=0 writes a[0:8]
      barrier
      dispatch Last order=2 writes a[0:8])"),
              ElementsAre(ReorderedRead{dispatch(0), 0, kNone, dispatch(1), kA, {0, 8}}));
  // A full write does not care what was there.
  EXPECT_THAT(reordered_in(R"(
      dispatch Scatter order=1 writes a[0:8]
      barrier
      dispatch Zero order=0 writes a[0:8]
      barrier
      dispatch Last order=2 writes a[0:8])"),
              IsEmpty());
}

TEST(FindReordered, TheOrderOfCommutingAtomicsDoesNotMatter) {
  EXPECT_THAT(reordered_in(R"(
      dispatch Zero order=0 writes a[0:4]
      barrier
      dispatch Two order=2 atomics a[0:4] atomic=add
      dispatch One order=1 atomics a[0:4] atomic=add
      barrier
      dispatch Consume order=3 reads a[0:4])"),
              IsEmpty());
  EXPECT_THAT(reordered_in(R"(
      dispatch Zero order=0 writes a[0:4]
      barrier
      dispatch Two order=2 atomics a[0:4] atomic=max
      barrier
      dispatch One order=1 atomics a[0:4] atomic=add
      barrier
      dispatch Last order=3 writes a[0:4])"),
              IsEmpty());
  EXPECT_THAT(reordered_in(R"(
      dispatch Zero order=0 writes a[0:4]
      barrier
      dispatch Two order=2 atomics a[0:4] atomic=max
      barrier
      dispatch One order=1 atomics a[0:4] atomic=add)"),
              ElementsAre(ReorderedRead{kNone, 0, dispatch(2), dispatch(1), kA, {0, 4}}));
}

TEST(FindReordered, AReadMustSeeAllAtomicsOfItsRow) {
  EXPECT_THAT(reordered_in(R"(
      dispatch One order=0 atomics a[0:4] atomic=add
      barrier
      dispatch Consume order=2 reads a[0:4]
      barrier
      dispatch Two order=1 atomics a[0:4] atomic=add)"),
              ElementsAre(ReorderedRead{dispatch(1), 0, dispatch(0), dispatch(2), kA, {0, 4}}));
}

TEST(FindReordered, TheBaseOfARowOfAtomicsCounts) {
  EXPECT_THAT(reordered_in(R"(
      dispatch Late order=1 atomics a[0:4] atomic=add
      barrier
      dispatch Zero order=0 writes a[0:4]
      barrier
      dispatch Two order=2 atomics a[0:4] atomic=add
      barrier
      dispatch Consume order=3 reads a[0:2])"),
              ElementsAre(ReorderedRead{dispatch(3), 0, dispatch(2), dispatch(0), kA, {0, 2}},
                          ReorderedRead{kNone, 0, dispatch(2), dispatch(0), kA, {0, 4}}));
}

// The memories a, b and c are ordinary; these tests add one that is scratch.
TEST(FindReordered, ScratchBytesAreJudgedInIssueOrder) {
  // Placed after reordering: the slot is reused in issue order, which program order contradicts.
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch P1 order=0 writes pool[0:8]
      barrier
      dispatch C1 order=3 reads pool[0:8]
      barrier
      dispatch P2 order=1 writes pool[0:8]
      barrier
      dispatch C2 order=2 reads pool[0:8])"),
              IsEmpty());
}

TEST(FindReordered, ScratchReadsMustNotSeeALaterWriter) {
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch P order=1 writes pool[0:8]
      barrier
      dispatch C order=0 reads pool[0:8])"),
              ElementsAre(ReorderedRead{dispatch(1), 0, dispatch(0), kNone, MemoryId(3), {0, 8}}));
}

TEST(FindReordered, NobodyReadsScratchAtTheEnd) {
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch Two order=2 writes pool[0:8]
      barrier
      dispatch One order=1 writes pool[0:8])"),
              IsEmpty());
}

// An atomic adds to what it finds, whoever wrote it.
TEST(FindReordered, AScratchAtomicMustNotAddToALaterWriter) {
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch Fill order=6 writes pool[0:8]
      barrier
      dispatch Add order=3 atomics pool[4:12] atomic=add
      barrier
      dispatch Consume order=9 reads pool[0:12])"),
              ElementsAre(ReorderedRead{dispatch(1), 0, dispatch(0), kNone, MemoryId(3), {4, 8}}));
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch Fill order=3 writes pool[0:8]
      barrier
      dispatch Add order=6 atomics pool[4:12] atomic=add
      barrier
      dispatch Consume order=9 reads pool[0:12])"),
              IsEmpty());
}

TEST(FindReordered, ScratchAtomicsOfOneRowMayBeIssuedInAnyOrder) {
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch Fill order=0 writes pool[0:8]
      barrier
      dispatch Three order=3 atomics pool[0:8] atomic=add
      dispatch Two order=2 atomics pool[0:8] pool[4:8] atomic=add
      dispatch One order=1 atomics pool[0:8] atomic=add
      barrier
      dispatch Consume order=9 reads pool[0:8])"),
              IsEmpty());
  // They commute with each other, and not with what the row began on.
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch Fill order=2 writes pool[0:8]
      barrier
      dispatch Three order=3 atomics pool[0:8] atomic=add
      dispatch One order=1 atomics pool[0:8] atomic=add)"),
              ElementsAre(ReorderedRead{dispatch(2), 0, dispatch(0), kNone, MemoryId(3), {0, 8}}));
}

TEST(FindReordered, AScratchAtomicMustNotAddToALaterRow) {
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch Add order=2 atomics pool[0:8] atomic=add
      barrier
      dispatch Max order=1 atomics pool[0:8] atomic=max)"),
              ElementsAre(ReorderedRead{dispatch(1), 0, dispatch(0), kNone, MemoryId(3), {0, 8}}));
  // Of what a row began on, the latest counts, however far below.
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      dispatch Add order=5 atomics pool[0:8] atomic=add
      barrier
      dispatch Max order=6 atomics pool[0:8] atomic=max
      barrier
      dispatch Late order=4 atomics pool[0:8] atomic=max)"),
              ElementsAre(ReorderedRead{dispatch(2), 0, dispatch(0), kNone, MemoryId(3), {0, 8}}));
}

TEST(FindReordered, AScratchAtomicMustNotAddToALaterUpdateOrPartialWrite) {
  for (const char* change : {"updates pool[0:8]", "writes pool[0:8] partial"}) {
    EXPECT_THAT(
        reordered_in(fmt::format("memory pool 64 scratch\n"
                                 "dispatch Fill order=0 writes pool[0:8]\nbarrier\n"
                                 "dispatch Change order=2 {}\nbarrier\n"
                                 "dispatch Add order=1 atomics pool[0:8] atomic=add\n",
                                 change)),
        ElementsAre(ReorderedRead{dispatch(2), 0, dispatch(1), dispatch(0), MemoryId(3), {0, 8}}))
        << change;
  }
}

TEST(FindReordered, AScratchAtomicThroughAViewIsOneOfTheSameBytes) {
  EXPECT_THAT(reordered_in(R"(
      memory pool 64 scratch
      tensor x u8[16] at pool+0
      tensor y u8[4] view x+8
      dispatch Fill order=1 writes x
      barrier
      dispatch Add order=0 atomics y atomic=add)"),
              ElementsAre(ReorderedRead{dispatch(1), 0, dispatch(0), kNone, MemoryId(3), {8, 12}}));
}

TEST(FindReordered, ListsOneEntryPerPairOfWriters) {
  // Two runs of the same pair: the lowest stands for both.
  EXPECT_THAT(reordered_in(R"(
      dispatch Wrong order=2 writes a[0:4] a[8:12]
      dispatch Other order=3 writes a[4:8]
      barrier
      dispatch Consume order=1 reads a[0:12])"),
              ElementsAre(ReorderedRead{dispatch(2), 0, dispatch(0), kNone, kA, {0, 4}},
                          ReorderedRead{dispatch(2), 0, dispatch(1), kNone, kA, {4, 8}}));
}

// The host has no order=N: it comes after all dispatches before it.
TEST(FindReordered, TheHostComesAfterWhatRunsBeforeIt) {
  const auto reordered = [](std::string_view body) {
    ParseOptions options;
    options.reads_every_queue = true;
    const std::string text = "interlock 1\nmemory a 64\n" + std::string(body);
    const Program run = reference_run(parse(text, "test", options).value());
    return find_reordered(run).size();
  };
  EXPECT_EQ(reordered("host writes a[0:16]\n"
                      "first: dispatch Make order=0 writes a[16:32]\n"
                      "second: dispatch Make order=9 writes a[32:48]\n"
                      "look: host reads a[0:48]\n"),
            0u);
  // `use` waits for what the host does later in the text.
  EXPECT_EQ(reordered("make: dispatch Make order=1 writes a[16:32]\n"
                      "wait go=1\n"
                      "use: dispatch Use order=2 reads a[0:16]\n"
                      "host writes a[0:16]\n"
                      "host signals go=1\n"),
            0u);
  // The writes of the two are meant the other way round, and the host looks at both.
  EXPECT_EQ(reordered("first: dispatch Make order=9 writes a[0:16]\n"
                      "second: dispatch Make order=0 writes a[0:16]\n"
                      "look: host reads a[0:16]\n"),
            2u);
}

}  // namespace
}  // namespace interlock::data_flow_test
