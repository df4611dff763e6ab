// Canonical text, item by item.
#include <gtest/gtest.h>

#include <string>

#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::printer_test {
namespace {

TEST(Print, OrdersDeclarationsBeforeStatements) {
  const auto p = parse(R"(interlock 1
      memory a 64
      first: dispatch A reads a[00:08]   # comment
      expect clean
      tensor  x  f32 [ 2 , 03 ]  at  a + 08  =  random ( 1 )
      tensor d u8[5] donates x
      output d
      memory b 16 scratch
      weak : barrier   execution
      output x
      dispatch Count  atomics b [0:4]  n = 1e3 atomic = add
      witness first after 1
      barrier
      )");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(print(*p), R"(interlock 1
memory a 64
memory b 16 scratch
tensor x f32[2,3] at a+8 = random(1)
tensor d u8[5] donates x
output d x
first: dispatch A reads a[0:8]
weak: barrier execution
dispatch Count atomics b[0:4] atomic=add n=1000
barrier
witness first after 1
expect clean
)");
}

TEST(Print, WritesTheClausesOfADispatchInTheOrderOfTheFormat) {
  DispatchDraft item;
  item.label = "l";
  item.kernel = "K";
  item.order = 7;
  item.operands = {{AccessMode::kRead, "x", {}},
                   {AccessMode::kRead, "y", ByteRange{0, 4}},
                   {AccessMode::kUpdate, "z", {}},
                   {AccessMode::kAtomic, "c", {}}};
  item.is_partial = true;
  item.attributes = {{"atomic", "add"}, {"lr", "0.1"}};
  EXPECT_EQ(print(ItemDraft(item)),
            "l: dispatch K order=7 reads x y[0:4] updates z atomics c partial atomic=add lr=0.1");
}

TEST(Print, WritesWitnessAndExpectations) {
  EXPECT_EQ(print(ItemDraft(WitnessDraft{"a", std::pair<uint64_t, uint64_t>(0, 8),
                                         DisplacementKind::kBefore, "3"})),
            "witness a[0:8] before 3");
  EXPECT_EQ(print(ItemDraft(WitnessDraft{"a", {}, DisplacementKind::kCommitsAfter, "b"})),
            "witness a commits after b");
  EXPECT_EQ(print(ItemDraft(WitnessDraft{"a", {}, DisplacementKind::kFetchesBefore, "b"})),
            "witness a fetches before b commits");
  EXPECT_EQ(print(ItemDraft(ExpectDraft{"", true, FindingKind::kAlias, "", ""})), "expect clean");
  EXPECT_EQ(print(ItemDraft(ExpectDraft{"none", false, FindingKind::kWriteAfterWrite, "a", "b"})),
            "expect encoder=none WAW a b");
}

TEST(Print, WritesValuesAsTheShortestTextThatReadsBack) {
  const auto p = parse(R"(interlock 1
tensor x f32[6] = values( 1.10 , -0.7,0.1000000014901161,1e20,-0,16777216)
tensor i i32[2] = values(-2147483648,1e3)
)");
  ASSERT_TRUE(p) << p.error().message;
  const std::string printed = print(*p);
  EXPECT_EQ(printed, R"(interlock 1
tensor x f32[6] = values(1.1,-0.7,0.1,1e+20,-0,16777216)
tensor i i32[2] = values(-2147483648,1000)
)");
  const auto again = parse(printed);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->tensors[0].initial, p->tensors[0].initial);
}

// Read as 64 bits first, the decimal lies on the middle between two f32 values and goes to the even
// one, which is the farther one.
TEST(Print, RoundsValuesOnce) {
  const auto p = parse("interlock 1\ntensor x f32[1] = values(1.00000017881393432617187499)\n");
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->tensors[0].initial.values[0], static_cast<double>(0x1.000002p0f));
}

// A program of many outputs must still be readable under the limit of a line.
TEST(Print, SplitsAnOutputLineThatWouldBeTooLong) {
  std::string text = "interlock 1\nmemory m 5000\n";
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "tensor_with_a_long_name_" + std::to_string(i);
    text += "tensor " + name + " u8[1] at m+" + std::to_string(i) + "\noutput " + name + "\n";
  }
  const auto p = parse(text);
  ASSERT_TRUE(p) << p.error().message;
  const std::string printed = print(*p);
  const auto again = parse(printed);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->outputs.size(), 5000);
  EXPECT_EQ(print(*again), printed);
}

TEST(Print, OfADraftKeepsItsItemsInPlace) {
  ProgramDraft draft;
  draft.items = {MemoryDraft{"a", 16, false}, BarrierDraft{}, MemoryDraft{"b", 16, true}};
  EXPECT_EQ(print(draft), "interlock 1\nmemory a 16\nbarrier\nmemory b 16 scratch\n");
  const auto p = build(draft);
  ASSERT_TRUE(p);
  EXPECT_EQ(print(*p), "interlock 1\nmemory a 16\nmemory b 16 scratch\nbarrier\n");
}

}  // namespace
}  // namespace interlock::printer_test
