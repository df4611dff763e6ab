// The builder as mutators use it: drafts that no parser has checked, and items that do not fit.
#include "encoder/build/program_builder.h"
#include "encoder/assemble/build.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/text/printer.h"

namespace interlock::program_builder_test {
namespace {

std::vector<ItemDraft> fitting_items() {
  DispatchDraft first{"a", "A", {}, {{AccessMode::kRead, "m", {}}}, false, {{"n", "1"}}};
  DispatchDraft second{"b", "B", {}, {{AccessMode::kWrite, "x", ByteRange{0, 4}}}, false, {}};
  return {MemoryDraft{"m", 64, false},
          TensorDraft{"x", DType::kF32, {4}, Placement::kPlaced, "m", 16, {InitialKind::kOnes}},
          OutputDraft{{"x"}},
          first,
          BarrierDraft{"f", BarrierKind::kExecution},
          second,
          WitnessDraft{"b", {}, DisplacementKind::kBefore, "a"},
          ExpectDraft{"", true, FindingKind::kAlias, "", ""}};
}

std::vector<ItemDraft> misfits() {
  const OperandDraft good{AccessMode::kRead, "x", {}};
  const OperandDraft unknown{AccessMode::kRead, "new_name", {}};
  const OperandDraft too_long{AccessMode::kWrite, "m", ByteRange{0, 65}};
  return {
      MemoryDraft{"m", 8, false},
      MemoryDraft{"1m", 8, false},
      MemoryDraft{"", 8, false},
      MemoryDraft{std::string(256, 'm'), 8, false},
      TensorDraft{"y", DType::kF32, {4}, Placement::kPlaced, "m", 16, {InitialKind::kOnes}},
      TensorDraft{"y", DType::kF32, {}, Placement::kPlaced, "m", 0, {}},
      TensorDraft{"a b", DType::kF32, {1}, Placement::kPlaced, "m", 0, {}},
      OutputDraft{{}},
      OutputDraft{{"x"}},
      DispatchDraft{"new_label", "New", {}, {good, unknown}, false, {{"k", "1"}}},
      DispatchDraft{"new_label", "New", {}, {good, too_long}, false, {}},
      DispatchDraft{"new_label", "New", {}, {too_long, good}, false, {}},
      DispatchDraft{"new_label", "New", {}, {good}, false, {{"k", "v"}, {"k2", "1 2"}}},
      DispatchDraft{"new_label", "New", {}, {good}, false, {{"k", "v"}, {"reads", "1"}}},
      DispatchDraft{"new_label", "New", {}, {good}, false, {{"k", "v"}, {"atomic", "add"}}},
      DispatchDraft{"new_label", "new", {}, {good}, false, {{"k", "v"}}},
      DispatchDraft{"new_label", "col_sum", {}, {good}, false, {{"k", "v"}}},
      DispatchDraft{"new_label", "New", 3, {good}, false, {}},
      DispatchDraft{"f", "New", {}, {good}, false, {}},
      DispatchDraft{"on", "New", {}, {good}, false, {}},
      BarrierDraft{"a", BarrierKind::kFull},
      WitnessDraft{"f", {}, DisplacementKind::kAfter, "a"},
      WitnessDraft{"", {}, DisplacementKind::kAfter, "a"},
      ExpectDraft{"a=b", true, FindingKind::kAlias, "", ""},
      ExpectDraft{"", false, FindingKind::kAlias, "", ""},
      ExpectDraft{"", false, FindingKind::kDivergence, "a", ""},
      ExpectDraft{"", false, FindingKind::kWriteAfterRead, "a", "9"},
      ExpectDraft{"", false, FindingKind::kRedundant, "a", ""},
      ExpectDraft{"", false, FindingKind::kRedundant, "9", ""},
      ExpectDraft{"", false, FindingKind::kRedundant, "", ""},
  };
}

TEST(ProgramBuilder, IsAsItWasAfterAnError) {
  const std::vector<ItemDraft> items = fitting_items();
  ProgramBuilder clean;
  ProgramBuilder disturbed;
  for (const ItemDraft& item : items) {
    ASSERT_TRUE(clean.add(item));
    ASSERT_TRUE(disturbed.add(item));
  }
  for (const ItemDraft& misfit : misfits()) {
    EXPECT_FALSE(disturbed.add(misfit)) << print(misfit);
  }
  const Program a = *clean.finish();
  const Program b = *disturbed.finish();
  EXPECT_EQ(print(a), print(b));
  EXPECT_EQ(a.names, b.names);
  EXPECT_EQ(a.accesses.size(), b.accesses.size());
  EXPECT_EQ(a.attributes.size(), b.attributes.size());
}

TEST(ProgramBuilder, TakesANameAgainThatAFailedItemHad) {
  ProgramBuilder builder;
  EXPECT_FALSE(builder.add(DispatchDraft{"a", "A", {}, {{AccessMode::kRead, "m", {}}}, false, {}}));
  EXPECT_TRUE(builder.add(MemoryDraft{"m", 16, false}));
  EXPECT_TRUE(builder.add(DispatchDraft{"a", "A", {}, {{AccessMode::kRead, "m", {}}}, false, {}}));
  EXPECT_FALSE(builder.add(OutputDraft{{"x", "y"}}));
  EXPECT_TRUE(builder.add(TensorDraft{"x", DType::kU8, {1}, Placement::kPlaced, "m", 0, {}}));
  EXPECT_FALSE(builder.add(OutputDraft{{"x", "y"}}));
  EXPECT_TRUE(builder.add(OutputDraft{{"x"}}));
}

TEST(ProgramBuilder, SaysWhichPartAnErrorIsAbout) {
  ProgramBuilder builder;
  ASSERT_TRUE(builder.add(MemoryDraft{"m", 16, false}));
  EXPECT_FALSE(builder.add(DispatchDraft{
      "a", "A", {}, {{AccessMode::kRead, "m", {}}, {AccessMode::kRead, "n", {}}}, false, {}}));
  EXPECT_EQ(builder.error_place().part, ItemPart::kOperand);
  EXPECT_EQ(builder.error_place().index, 1);
}

// The rules of a valid program and the backward passes know each other only through this.
TEST(ProgramBuilder, TakesABackwardPassOnlyWithSomebodyWhoWritesIt) {
  const auto add_backward = [](ProgramBuilder builder) {
    EXPECT_TRUE(builder.add(MemoryDraft{"m", 16, false}));
    EXPECT_TRUE(builder.add(TensorDraft{"x", DType::kF32, {4}, Placement::kPlaced, "m", 0, {}}));
    const auto added = builder.add(BackwardDraft{"x", {"x"}, "one-shot"});
    return added ? std::string() : added.error().message;
  };
  EXPECT_EQ(add_backward(new_builder()), "");
  EXPECT_EQ(add_backward(ProgramBuilder()), "a backward pass stands where none can be computed.");
}

TEST(Build, StopsAtTheFirstItemThatDoesNotFit) {
  ProgramDraft draft;
  draft.items = fitting_items();
  EXPECT_TRUE(build(draft));
  draft.items.erase(draft.items.begin());
  const auto p = build(draft);
  ASSERT_FALSE(p);
  EXPECT_EQ(p.error().message, "no memory 'm' is declared before tensor 'x'.");
}

}  // namespace
}  // namespace interlock::program_builder_test
