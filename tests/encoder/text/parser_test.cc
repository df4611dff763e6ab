// What each statement of program text means, field by field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"

namespace interlock::parser_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Program parsed(std::string_view text) {
  auto program = parse("interlock 1\n" + std::string(text), "p.ilk");
  if (!program) {
    ADD_FAILURE() << program.error().message;
    return {};
  }
  return *std::move(program);
}

TEST(ParseMemory, ReadsSizeAndScratch) {
  const Program p = parsed("memory a 4096\nmemory pool 64 scratch # placed late\n");
  ASSERT_THAT(p.memories, SizeIs(2));
  EXPECT_EQ(p.name(p.memories[0].name), "a");
  EXPECT_EQ(p.memories[0].size_bytes, 4096);
  EXPECT_FALSE(p.memories[0].is_scratch);
  EXPECT_TRUE(p.memories[1].is_scratch);
}

TEST(ParseTensor, PlacesInAMemory) {
  const Program p = parsed("memory a 4096\ntensor x i32[3,5] at a+16 = iota\n");
  const Tensor& x = p.tensors.at(0);
  EXPECT_EQ(x.dtype, DType::kI32);
  EXPECT_THAT(x.shape, ElementsAre(3, 5));
  EXPECT_EQ(x.placement, Placement::kPlaced);
  EXPECT_EQ(x.memory, MemoryId(0));
  EXPECT_EQ(x.range, (ByteRange{16, 76}));
  EXPECT_EQ(x.initial.kind, InitialKind::kIota);
  EXPECT_EQ(x.root, TensorId(0));
  EXPECT_FALSE(x.source.is_some());
}

TEST(ParseTensor, AViewOfAViewHasTheRootOfTheFirst) {
  const Program p = parsed(
      "memory a 4096\n"
      "tensor x f32[8] at a+64\n"
      "tensor v f32[4] view x+8\n"
      "tensor w u8[3] view v+2\n");
  EXPECT_EQ(p.tensors.at(2).source, TensorId(1));
  EXPECT_EQ(p.tensors.at(2).root, TensorId(0));
  EXPECT_EQ(p.tensors.at(2).range, (ByteRange{74, 77}));
}

TEST(ParseTensor, ADonationIsItsOwnRootAndStartsWhereItsSourceStarts) {
  const Program p = parsed(
      "memory a 4096\n"
      "tensor x f32[8] at a+64\n"
      "tensor v f32[4] view x+8\n"
      "tensor d f32[2] donates v\n");
  EXPECT_EQ(p.tensors.at(2).placement, Placement::kDonation);
  EXPECT_EQ(p.tensors.at(2).source, TensorId(1));
  EXPECT_EQ(p.tensors.at(2).root, TensorId(2));
  EXPECT_EQ(p.tensors.at(2).range, (ByteRange{72, 80}));
}

TEST(ParseTensor, ReadsEveryInitialValue) {
  const Program p = parsed(
      "memory a 64\ntensor r f32[1] at a+0 = random(18446744073709551615)\n"
      "tensor z u8[1] at a+4 = zeros\ntensor o i32[1] at a+8 = ones\ntensor n u8[1] at a+12\n");
  EXPECT_EQ(p.tensors[0].initial, (InitialValue{InitialKind::kRandom, ~uint64_t{0}}));
  EXPECT_EQ(p.tensors[1].initial.kind, InitialKind::kZeros);
  EXPECT_EQ(p.tensors[2].initial.kind, InitialKind::kOnes);
  EXPECT_EQ(p.tensors[3].initial.kind, InitialKind::kNone);
}

TEST(ParseTensor, InitialValuesMayTouch) {
  const Program p = parsed(
      "memory a 64\nmemory b 64\ntensor y u8[4] at a+4 = ones\ntensor x u8[4] at a+0 = ones\n"
      "tensor z u8[4] at a+8 = ones\ntensor w u8[8] at b+4 = ones\n");
  EXPECT_THAT(p.tensors, SizeIs(4));
}

TEST(ParseOutput, GathersTheTensorsOfAllLines) {
  const Program p =
      parsed("memory a 64\ntensor x u8[4] at a+0\ntensor y u8[4] at a+4\noutput y\noutput x\n");
  EXPECT_THAT(p.outputs, ElementsAre(TensorId(1), TensorId(0)));
}

TEST(ParseDispatch, ResolvesTensorsBeforeMemories) {
  const Program p = parsed(
      "memory x 64\nmemory y 64\ntensor x u8[4] at y+8\n"
      "dispatch K reads x x[1:3] writes y y[8:8]\n");
  ASSERT_THAT(p.accesses, SizeIs(4));
  EXPECT_EQ(p.accesses[0].tensor, TensorId(0));
  EXPECT_EQ(p.accesses[0].memory, MemoryId(1));
  EXPECT_EQ(p.accesses[0].range, (ByteRange{8, 12}));
  EXPECT_FALSE(p.accesses[0].is_sliced);
  EXPECT_EQ(p.accesses[1].range, (ByteRange{9, 11}));
  EXPECT_TRUE(p.accesses[1].is_sliced);
  EXPECT_FALSE(p.accesses[2].tensor.is_some());
  EXPECT_EQ(p.accesses[2].range, (ByteRange{0, 64}));
  EXPECT_TRUE(p.accesses[3].range.is_empty());
  EXPECT_EQ(p.text_of(p.accesses[0]), "x");
  EXPECT_EQ(p.text_of(p.accesses[1]), "x[1:3]");
  EXPECT_EQ(p.text_of(p.accesses[3]), "y[8:8]");
}

// In canonical text declarations come first, and the operand would mean the tensor.
TEST(ParseDispatch, KeepsATensorFromHidingAMemoryThatIsInUse) {
  const std::string head = "interlock 1\nmemory x 64\n";
  const std::string dispatch = "dispatch K reads x\n";
  const std::string tensor = "tensor x u8[4] at x+8\n";
  EXPECT_EQ(
      parse(head + dispatch + tensor, "p.ilk").error().message,
      "p.ilk:4:8: error: tensor 'x' has the name of a memory that an earlier dispatch has as an operand; rename one of them.");
  EXPECT_TRUE(parse(head + tensor + dispatch));
}

TEST(ParseDispatch, ReadsEveryMode) {
  const Program p = parsed(
      "memory m 64\n"
      "dispatch K reads m[0:4] m[4:8] writes m[8:12] updates m[12:16] atomics m[16:20] atomic=max\n");
  ASSERT_THAT(p.accesses, SizeIs(5));
  EXPECT_EQ(p.accesses[1].mode, AccessMode::kRead);
  EXPECT_EQ(p.accesses[2].mode, AccessMode::kWrite);
  EXPECT_EQ(p.accesses[3].mode, AccessMode::kUpdate);
  EXPECT_EQ(p.accesses[4].mode, AccessMode::kAtomic);
  EXPECT_EQ(p.dispatches[0].atomic_op, AtomicOp::kMax);
  EXPECT_THAT(p.attributes, IsEmpty());
}

TEST(ParseDispatch, ReadsPartialAndAttributes) {
  const Program p =
      parsed("memory m 64\ndispatch K writes m partial eps=1.0e-5 n=007 mode=fast-math z=-0\n");
  EXPECT_TRUE(p.dispatches[0].is_partial);
  const auto attributes = p.attributes_of(p.dispatches[0]);
  ASSERT_EQ(attributes.size(), 4);
  EXPECT_EQ(p.name(attributes[0].key), "eps");
  EXPECT_EQ(p.name(attributes[0].text), "1e-05");
  EXPECT_EQ(attributes[0].number, 1e-5);
  EXPECT_TRUE(attributes[0].is_number);
  EXPECT_EQ(p.name(attributes[1].text), "7");
  EXPECT_EQ(p.name(attributes[2].text), "fast-math");
  EXPECT_FALSE(attributes[2].is_number);
  EXPECT_EQ(p.name(attributes[3].text), "-0");
}

TEST(ParseDispatch, WordsThatSpellNumbersStayWords) {
  const Program p = parsed("dispatch K a=inf b=nan c=infinity\n");
  for (const Attribute& attribute : p.attributes) {
    EXPECT_FALSE(attribute.is_number) << p.name(attribute.text);
  }
  EXPECT_FALSE(parse("interlock 1\ndispatch K a=-inf\n"));
}

TEST(ParseDispatch, IntegersUpToTwoToThe53HaveNoExponent) {
  const Program p = parsed("dispatch K a=9007199254740992 b=1e15 c=18014398509481984 d=4096.0\n");
  EXPECT_EQ(p.name(p.attributes[0].text), "9007199254740992");
  EXPECT_EQ(p.name(p.attributes[1].text), "1000000000000000");
  EXPECT_EQ(p.name(p.attributes[2].text), "1.8014398509481984e+16");
  EXPECT_EQ(p.name(p.attributes[3].text), "4096");
}

TEST(ParseDispatch, AnUpperCaseInitialOfAnyPartIsOpaque) {
  const Program p = parsed(
      "memory m 64\ndispatch Scatter reads m\ndispatch s00.GET_ROWS.0 reads m\n"
      "dispatch mix reads m[0:4] writes m[4:8]\n");
  EXPECT_TRUE(is_opaque(p, p.dispatches[0]));
  EXPECT_TRUE(is_opaque(p, p.dispatches[1]));
  EXPECT_FALSE(is_opaque(p, p.dispatches[2]));
  EXPECT_EQ(p.dispatches[1].kernel, mix_kernel());
  EXPECT_FALSE(parse("interlock 1\nmemory m 64\ndispatch s00.gET_ROWS.0 reads m\n"));
}

TEST(ParseDispatch, ProgramOrderIsTheDispatchIndexUnlessItIsGiven) {
  const Program implicit = parsed("dispatch A\nbarrier\ndispatch B\n");
  EXPECT_FALSE(implicit.has_program_order);
  EXPECT_EQ(implicit.dispatches[1].order, 1);
  const Program given = parsed("dispatch A order=18446744073709551615\ndispatch B order=0\n");
  EXPECT_TRUE(given.has_program_order);
  EXPECT_EQ(given.dispatches[0].order, ~uint64_t{0});
  EXPECT_EQ(given.dispatches[1].order, 0);
}

TEST(ParseDispatch, IsReferredToByLabelOrIndex) {
  const Program p = parsed("dispatch A\nb: dispatch B\n");
  EXPECT_EQ(p.reference_of(DispatchId(0)), "0");
  EXPECT_EQ(p.reference_of(DispatchId(1)), "b");
  EXPECT_EQ(p.description_of(DispatchId(0)), "A (dispatch 0)");
  EXPECT_EQ(p.description_of(DispatchId(1)), "b (dispatch 1)");
}

TEST(ParseBarrier, ReadsKindAndLabel) {
  const Program p = parsed("barrier\nweak: barrier execution\n");
  ASSERT_THAT(p.barriers, SizeIs(2));
  EXPECT_EQ(p.barriers[0].kind, BarrierKind::kFull);
  EXPECT_EQ(p.barriers[1].kind, BarrierKind::kExecution);
  EXPECT_EQ(p.statements[1].kind, StatementKind::kBarrier);
  EXPECT_EQ(p.statements[1].index, 1);
  EXPECT_EQ(p.name(p.statements[1].label), "weak");
}

TEST(ParseWitness, ReadsEveryKind) {
  const Program p = parsed(
      "memory m 64\ntensor x f32[2,4] at m+0\ntensor y f32[4] at m+32\n"
      "dispatch A\nb: dispatch col_sum reads x writes y\nwitness b before 0\n"
      "witness b[0:1] after 0\nwitness 0 commits after b\nwitness b fetches before 0 commits\n");
  EXPECT_THAT(
      p.witness,
      ElementsAre(Displacement{DispatchId(1), DispatchId(0), DisplacementKind::kBefore},
                  Displacement{DispatchId(1), DispatchId(0), DisplacementKind::kAfter, true, 0, 1},
                  Displacement{DispatchId(0), DispatchId(1), DisplacementKind::kCommitsAfter},
                  Displacement{DispatchId(1), DispatchId(0), DisplacementKind::kFetchesBefore}));
}

TEST(ParseExpect, ReadsKindsDispatchesAndEncoders) {
  const Program p = parsed(
      "dispatch A\nb: dispatch B\nexpect clean\nexpect RAW 0 b\nexpect alias b\n"
      "expect encoder=mlx-2024 reordered b 0\nexpect encoder=none clean\n");
  ASSERT_THAT(p.expectations, SizeIs(5));
  EXPECT_TRUE(p.expectations[0].is_clean);
  EXPECT_FALSE(p.expectations[0].encoder.is_some());
  EXPECT_EQ(p.expectations[1].kind, FindingKind::kReadAfterWrite);
  EXPECT_EQ(p.expectations[1].second, DispatchId(1));
  EXPECT_EQ(p.expectations[2].kind, FindingKind::kAlias);
  EXPECT_FALSE(p.expectations[2].second.is_some());
  EXPECT_EQ(p.name(p.expectations[3].encoder), "mlx-2024");
  EXPECT_EQ(p.expectations[3].first, DispatchId(1));
  EXPECT_TRUE(p.expectations[4].is_clean);
}

TEST(ParseExpect, ReadsRedundantBarriersByLabelAndByPosition) {
  const Program p = parsed(
      "barrier\nfence: barrier execution\nexpect redundant 0\nexpect redundant 1\n"
      "expect redundant fence\nexpect encoder=none redundant 7\n");
  ASSERT_THAT(p.expectations, SizeIs(4));
  EXPECT_EQ(p.expectations[0].kind, FindingKind::kRedundant);
  EXPECT_EQ(p.expectations[0].barrier, BarrierId(0));
  EXPECT_EQ(p.expectations[1].barrier, BarrierId(1));
  EXPECT_EQ(p.expectations[2].barrier, BarrierId(1));
  EXPECT_EQ(p.expectations[3].barrier, BarrierId(7));
  EXPECT_THAT(print(p), testing::HasSubstr("expect redundant 0\nexpect redundant fence\n"
                                           "expect redundant fence\n"
                                           "expect encoder=none redundant 7\n"));
}

TEST(ParseText, AcceptsAnyLineEndAndWhiteSpace) {
  EXPECT_EQ(print(*parse("\r\n# first\r\ninterlock\t1 # x\r\n\tmemory  m   16\r\nbarrier")),
            "interlock 1\nmemory m 16\nbarrier\n");
}

TEST(ParseText, CommentsMayHaveAnyPrintableBytes) {
  EXPECT_EQ(print(*parse("interlock 1\nbarrier # caf\xc3\xa9: 'x'\n")), "interlock 1\nbarrier\n");
}

// Names of operands are first compared with the last one that was as long and ended alike.
TEST(ParseDispatch, TellsOperandsApartThatAreAsLongAndEndAlike) {
  const Program p =
      parsed("memory a1 64\nmemory b1 64\ndispatch A reads a1 b1 a1\ndispatch B reads b1 b1 a1\n");
  std::vector<uint32_t> memories;
  for (const Access& access : p.accesses) memories.push_back(access.memory.index);
  EXPECT_THAT(memories, ElementsAre(0, 1, 0, 1, 1, 0));
}

// A line that is left out takes the numbers of its names with it.
TEST(LenientParse, TakesNoOperandForAnotherThatWasForgotten) {
  ParseOptions options;
  options.skips_invalid_lines = true;
  const auto p = parse(
      "interlock 1\nmemory m 64\ndispatch Foo reads Foo\nmemory Boo 64\n"
      "dispatch Bar reads Foo\ndispatch Bar reads Boo\n",
      "p.ilk", options);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(print(*p), "interlock 1\nmemory m 64\nmemory Boo 64\ndispatch Bar reads Boo\n");
}

// Where names are many, what is known of the next line is fetched before it is read: here the text
// ends within a name, and there is no byte after it.
TEST(ParseText, WithManyNamesMayEndWithoutANewline) {
  std::string text = "interlock 1\nmemory m 64\n";
  for (int i = 0; i < 5000; ++i) {
    text += "dispatch K" + std::to_string(i) + " reads m\n" + (i % 3 == 0 ? "barrier\n" : "");
  }
  const auto whole = parse(text);
  ASSERT_TRUE(whole);
  for (const std::string_view last : {"dispatch K", "dispatch ", "dispatch Last reads m", "x"}) {
    std::vector<char> bytes(text.begin(), text.end());
    bytes.insert(bytes.end(), last.begin(), last.end());
    bytes.shrink_to_fit();
    const auto p = parse({bytes.data(), bytes.size()});
    const bool is_complete = last.ends_with("m");
    ASSERT_EQ(p.has_value(), is_complete || last == "dispatch K") << last;
    if (!p) continue;
    EXPECT_EQ(p->dispatches.size(), 5001);
  }
}

TEST(LenientParse, LeavesOutLinesThatDoNotFit) {
  ParseOptions options;
  options.skips_invalid_lines = true;
  const auto p = parse(
      "interlock 1\nmemory m 64\nmemory m 128\ntensor t f32[99] at m+0\nnonsense\n"
      "a: dispatch A reads m[0:99]\na: dispatch A reads t\na: dispatch A reads m[0:9]\n"
      "a: barrier\ndispatch matmul_nn reads m\nwitness a before b\nbarrier\x01\nexpect WAR a\n",
      "p.ilk", options);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_EQ(print(*p), "interlock 1\nmemory m 64\na: dispatch A reads m[0:9]\n");
}

TEST(LenientParse, StaysStrictAboutHeaderAndLimits) {
  ParseOptions options;
  options.skips_invalid_lines = true;
  options.limits.line_bytes = 16;
  EXPECT_FALSE(parse("interlock 3\n", "p.ilk", options));
  EXPECT_TRUE(parse("interlock 1\n# 56789abcdef16\n", "p.ilk", options));
  EXPECT_EQ(parse("interlock 1\n# 56789abcdef1617\n", "p.ilk", options).error().message,
            "p.ilk:2:1: error: the line has 17 bytes, more than the limit of 16.");
}

}  // namespace
}  // namespace interlock::parser_test
