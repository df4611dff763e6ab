// Errors of program text: each broken line beside its smallest repair. The message says where, what
// was found and what was expected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include "encoder/program/release.h"
#include "encoder/text/parser.h"

namespace interlock::parse_errors_test {
namespace {

// Its last line is line 11.
constexpr std::string_view kPreamble =
    "interlock 1\n"
    "memory a 4096\n"
    "memory arena 8192\n"
    "memory bytes 64\n"
    "tensor x f32[16,64] at a+0 = random(1)\n"
    "tensor g f32[16,64] at arena+0\n"
    "tensor gb f32[64] at arena+4096\n"
    "tensor t u8[7] at bytes+1\n"
    "reduce: dispatch col_sum reads g writes gb\n"
    "fence: barrier\n"
    "step: dispatch Step reads x writes g\n";

struct ErrorCase {
  std::string_view broken;    // One line.
  std::string_view message;   // "column: sentence", and context lines.
  std::string_view repaired;  // One line.
};

void PrintTo(const ErrorCase& error_case, std::ostream* out) { *out << error_case.broken; }

class ParseError : public testing::TestWithParam<ErrorCase> {};

TEST_P(ParseError, SaysWhatIsWrongAndItsRepairParses) {
  const ErrorCase& error_case = GetParam();
  const auto broken = parse(std::string(kPreamble) + std::string(error_case.broken), "p.ilk");
  ASSERT_FALSE(broken);
  const std::string_view message = error_case.message;
  const size_t colon = message.find(": ");
  EXPECT_EQ(broken.error().message, "p.ilk:12:" + std::string(message.substr(0, colon)) +
                                        ": error: " + std::string(message.substr(colon + 2)));
  const auto repaired = parse(std::string(kPreamble) + std::string(error_case.repaired), "p.ilk");
  EXPECT_TRUE(repaired) << repaired.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, ParseError,
    testing::Values(
        ErrorCase{
            "dispach K",
            "1: found 'dispach'; expected a statement: memory, tensor, output, dispatch, barrier, signal, wait, set, await, split, submit, host, free, destroy, pin, unpin, reset, adopt, capture, end, replay, backward, witness or expect. "
            "Did you mean 'dispatch'?",
            "dispatch K"},
        ErrorCase{"memory", "7: found the end of the line; expected the name of the memory.",
                  "memory m 1"},
        ErrorCase{
            "memory m 4k",
            "10: '4k' is not a decimal number of at most 64 bits; expected the size of the memory in bytes.",
            "memory m 4096"},
        ErrorCase{
            "memory m 18446744073709551616",
            "10: '18446744073709551616' is not a decimal number of at most 64 bits; expected the size of the memory in bytes.",
            "memory m 281474976710656"},
        ErrorCase{
            "memory m 16 scratchy",
            "13: found 'scratchy'; expected 'scratch', 'unified', 'noncoherent' or the end of the line.",
            "memory m 16 scratch"},
        ErrorCase{"tensor y f64[2] at a+0",
                  "10: found 'f64'; expected an element type: f32, i32 or u8.",
                  "tensor y f32[2] at a+0"},
        ErrorCase{"tensor y f32[2;3] at a+0", "15: found ';'; expected ']' or ',' after an extent.",
                  "tensor y f32[2,3] at a+0"},
        ErrorCase{"tensor y f32[] at a+0", "14: found ']'; expected an extent.",
                  "tensor y f32[1] at a+0"},
        ErrorCase{
            "tensor y f32[2] in a+0",
            "17: found 'in'; expected a place ('at MEMORY+OFFSET', 'view TENSOR+OFFSET' or 'donates TENSOR'), '=' or the end of the line. "
            "'in' stands right after the kernel of a dispatch, as in 'in copy'.",
            "tensor y f32[2] at a+0"},
        ErrorCase{"tensor y f32[2] at a",
                  "21: found the end of the line; expected '+' and an offset in bytes.",
                  "tensor y f32[2] at a+0"},
        ErrorCase{
            "tensor y f32[2] donates g = one",
            "29: found 'one'; expected an initial value: random(N), zeros, ones, iota or values(V,…).",
            "tensor y f32[2] donates g = ones"},
        ErrorCase{"tensor y f32[2] donates g = values(1)",
                  "29: tensor 'y' has 2 elements and 1 values; each element needs one.\n"
                  "  - While placing 'y', f32[2] donates g.",
                  "tensor y f32[2] donates g = values(1,2)"},
        ErrorCase{"tensor y u8[2] donates g = values(1,256)",
                  "37: found '256'; expected a number that an element of type u8 can hold.",
                  "tensor y u8[2] donates g = values(1,255)"},
        ErrorCase{"tensor y i32[1] donates g = values(0.5)",
                  "36: found '0.5'; expected a number that an element of type i32 can hold.",
                  "tensor y i32[1] donates g = values(5)"},
        ErrorCase{"tensor y f32[1] donates g = values(nan)",
                  "36: found 'nan'; expected a number that an element of type f32 can hold.",
                  "tensor y f32[1] donates g = values(-1e-3)"},
        ErrorCase{"tensor y f32[1] donates g = values(1e39)",
                  "36: found '1e39'; expected a number that an element of type f32 can hold.",
                  "tensor y f32[1] donates g = values(1e38)"},
        ErrorCase{"output gb, x", "10: found ','; expected the name of a tensor.", "output gb x"},
        ErrorCase{
            "tag: output gb",
            "6: label 'tag' stands before 'output'; only dispatches, barriers, sync statements and those of lifetimes and the host have labels.",
            "output gb"},
        ErrorCase{"dispatch K reads writes gb",
                  "18: found 'writes'; expected an operand after 'reads'. "
                  "'writes' stands after the kernel of a dispatch or 'host', before operands.",
                  "dispatch K reads x writes gb"},
        ErrorCase{
            "dispatch K writes gb reads x",
            "22: found 'reads' out of order; the clauses stand once each, as indirect, uniform, reads, writes, updates, atomics, actual with the same again, partial, approximate, KEY=VALUE, after, on.",
            "dispatch K reads x writes gb"},
        ErrorCase{"dispatch K reads x[0:4]gb", "24: found 'gb'; expected a space before this word.",
                  "dispatch K reads x[0:4] gb"},
        ErrorCase{
            "dispatch K x",
            "12: found 'x'; expected uniform, reads, writes, updates, atomics, partial, approximate or KEY=VALUE.",
            "dispatch K reads x"},
        ErrorCase{"dispatch K lr=", "15: found the end of the line; expected a value of 'lr'.",
                  "dispatch K lr=1"},
        ErrorCase{
            "barrier executing",
            "9: found 'executing'; expected 'execution', a scope such as compute.write, 'on' or the end of the line.",
            "barrier execution"},
        ErrorCase{
            "witness step until reduce",
            "14: found 'until'; expected 'before', 'after', 'commits after' or 'fetches before'.",
            "witness step before reduce"},
        ErrorCase{
            "expect war reduce step",
            "8: found 'war'; expected 'clean' or what a check finds: RAW, WAR, WAW, reordered, clobber, uninitialized, use-after-free, alias, gradient, undeclared, deadlock or redundant.",
            "expect WAR reduce step"},
        ErrorCase{
            "expect divergence step",
            "8: found 'divergence'; expected 'clean' or what a check finds: RAW, WAR, WAW, reordered, clobber, uninitialized, use-after-free, alias, gradient, undeclared, deadlock or redundant.",
            "expect undeclared step"},
        ErrorCase{"interlock 1", "1: found a second header line; only the first statement is one.",
                  "# interlock 1"},
        ErrorCase{
            "dispatch K reads x\v",
            "19: found the control byte '\\x0b'; program text has none but tabs and line ends.",
            "dispatch K\treads x\r\n"}));

INSTANTIATE_TEST_SUITE_P(
    Values, ParseError,
    testing::Values(
        ErrorCase{"memory a 16", "8: memory 'a' is declared twice; names of memories must differ.",
                  "memory x 16"},
        ErrorCase{"memory m 0", "10: memory 'm' has 0 bytes; it needs at least 1.", "memory m 1"},
        ErrorCase{
            "memory m 281474976710657",
            "10: memory 'm' has 281474976710657 bytes, more than the limit of 281474976710656.",
            "memory m 281474976710656"},
        ErrorCase{"memory on 16", "8: 'on' is a word of the format and cannot name a memory.",
                  "memory On 16"},
        ErrorCase{"tensor x f32[1] at bytes+0",
                  "8: tensor 'x' is declared twice; names of tensors must differ.",
                  "tensor a f32[1] at bytes+0"},
        ErrorCase{
            "tensor gx f32[16,64] at arena+8192",
            "31: tensor 'gx' ends at byte 12288, past the end of memory 'arena' (8192 bytes).\n"
            "  - While placing 'gx', f32[16,64] at arena+8192.",
            "tensor gx f32[16,64] at arena+4096"},
        ErrorCase{"tensor y f32[2] at a+18446744073709551612",
                  "22: tensor 'y' ends beyond 64 bits, past the end of memory 'a' (4096 bytes).\n"
                  "  - While placing 'y', f32[2] at a+18446744073709551612.",
                  "tensor y f32[2] at a+4088"},
        ErrorCase{
            "tensor y f32[4294967296,4294967296] at a+0",
            "10: tensor 'y' with f32[4294967296,4294967296] has more bytes than fit in 64 bits.",
            "tensor y f32[32,32] at a+0"},
        ErrorCase{"tensor y f32[2,0] at a+0",
                  "10: tensor 'y' has an extent of 0 in f32[2,0]; extents are at least 1.",
                  "tensor y f32[2,1] at a+0"},
        ErrorCase{"tensor y u8[1,1,1,1,1,1,1,1,1] at a+0",
                  "10: tensor 'y' has 9 extents, more than the limit of 8.",
                  "tensor y u8[1,1,1,1,1,1,1,1] at a+0"},
        ErrorCase{
            "tensor y f32[2] at a+6",
            "22: tensor 'y' starts at byte 6 of memory 'a', which is not a multiple of 4, the bytes of an element (f32).\n"
            "  - While placing 'y', f32[2] at a+6.",
            "tensor y f32[2] at a+8"},
        ErrorCase{
            "tensor y i32[1] view t+1",
            "24: tensor 'y' starts at byte 2 of memory 'bytes', which is not a multiple of 4, the bytes of an element (i32).\n"
            "  - While placing 'y', i32[1] view t+1.",
            "tensor y i32[1] view t+3"},
        ErrorCase{"tensor y f32[2] at aren+0",
                  "20: no memory 'aren' is declared before tensor 'y'. Did you mean 'arena'?",
                  "tensor y f32[2] at arena+0"},
        ErrorCase{"tensor y f32[2] view gg+0",
                  "22: no tensor 'gg' is declared before 'y', which views it.",
                  "tensor y f32[2] view g+0"},
        ErrorCase{"tensor y f32[2] donates arena",
                  "25: no tensor 'arena' is declared before 'y', which donates it.",
                  "tensor y f32[2] donates g"},
        ErrorCase{"tensor y f32[2] view gb+252",
                  "25: view 'y' of 8 bytes at byte 252 ends past the end of 'gb' (256 bytes).\n"
                  "  - While placing 'y', f32[2] view gb+252.",
                  "tensor y f32[2] view gb+248"},
        ErrorCase{"tensor y f32[65] donates gb",
                  "26: tensor 'y' has 260 bytes, more than 'gb' (256 bytes), which it donates.\n"
                  "  - While placing 'y', f32[65] donates gb.",
                  "tensor y f32[64] donates gb"},
        ErrorCase{
            "tensor y f32[2] view x+0 = ones",
            "28: view 'y' has an initial value; a view shows the value of 'x', so the initial value belongs there.",
            "tensor y f32[2] view x+0"},
        ErrorCase{"tensor y i32[2] at arena+0 = random(1)",
                  "30: tensor 'y' has i32 elements; random initial values are f32.",
                  "tensor y f32[2] at arena+0 = random(1)"},
        ErrorCase{
            "tensor y f32[2] at a+4088 = zeros",
            "29: tensors 'x' and 'y' both have an initial value for a[4088:4096]; at most one may.",
            "tensor y f32[2] at a+4088"},
        ErrorCase{
            "tensor y f32[4] donates x = zeros",
            "29: tensors 'x' and 'y' both have an initial value for a[0:16]; at most one may.",
            "tensor y f32[4] donates g = zeros"},
        ErrorCase{"output gb x gb", "13: tensor 'gb' is an output already.", "output gb x"},
        ErrorCase{"output gb a", "11: no tensor 'a' is declared before this output.",
                  "output gb g"}));

INSTANTIATE_TEST_SUITE_P(
    Statements, ParseError,
    testing::Values(
        ErrorCase{"reduce: dispatch K",
                  "1: label 'reduce' already stands on dispatch 0; labels must differ.",
                  "reduce2: dispatch K"},
        ErrorCase{"fence: barrier",
                  "1: label 'fence' already stands on barrier 0; labels must differ.",
                  "x: barrier"},
        ErrorCase{"dispatch col_sun reads g writes gb",
                  "10: the kernel table has no 'col_sun'. Did you mean 'col_sum'?\n"
                  "  - While adding 'col_sun' as dispatch 2.",
                  "dispatch col_sum reads g writes gb"},
        ErrorCase{
            "dispatch flash_attention reads g",
            "10: the kernel table has no 'flash_attention'. "
            "A kernel that is not in the table starts with an upper-case letter and is opaque.\n"
            "  - While adding 'flash_attention' as dispatch 2.",
            "dispatch Flash_attention reads g"},
        ErrorCase{"up: dispatch K reads arenas",
                  "22: no tensor or memory 'arenas' is declared before this line. "
                  "Did you mean 'arena'?\n"
                  "  - While adding 'up' as dispatch 2.",
                  "up: dispatch K reads arena"},
        ErrorCase{"dispatch K reads x arena[8:4]",
                  "20: the range [8:4] of 'arena' ends before it starts.\n"
                  "  - While adding 'K' as dispatch 2.",
                  "dispatch K reads x arena[4:4]"},
        ErrorCase{"dispatch K reads gb[0:257]",
                  "18: the range [0:257] ends past the end of 'gb' (256 bytes).\n"
                  "  - While adding 'K' as dispatch 2.",
                  "dispatch K reads gb[0:256]"},
        ErrorCase{"dispatch K lr=1 lr=2",
                  "17: attribute 'lr' stands twice; at most once is allowed.\n"
                  "  - While adding 'K' as dispatch 2.",
                  "dispatch K lr=1 lr2=2"},
        ErrorCase{
            "dispatch K lr=1e999",
            "12: the value '1e999' of attribute 'lr' is neither a word nor a finite 64-bit number.\n"
            "  - While adding 'K' as dispatch 2.",
            "dispatch K lr=1e300"},
        ErrorCase{
            "dispatch K atomics gb",
            "20: the dispatch has atomics and does not say which; expected atomic=OP, where OP is add, min, max, and, or or xor.\n"
            "  - While adding 'K' as dispatch 2.",
            "dispatch K atomics gb atomic=min"},
        ErrorCase{"dispatch K updates gb atomic=add",
                  "1: the dispatch has the attribute 'atomic' and no operand of 'atomics'.\n"
                  "  - While adding 'K' as dispatch 2.",
                  "dispatch K atomics gb atomic=add"},
        ErrorCase{"dispatch K atomics gb atomic=sub",
                  "23: 'sub' is not an atomic operation; expected add, min, max, and, or or xor.\n"
                  "  - While adding 'K' as dispatch 2.",
                  "dispatch K atomics gb atomic=xor"},
        ErrorCase{
            "dispatch K order=2",
            "12: this dispatch has 'order=' and earlier ones do not; it stands on all dispatches or on none.\n"
            "  - While adding 'K' as dispatch 2.",
            "dispatch K"},
        ErrorCase{"witness stop before reduce",
                  "9: no dispatch before this line has the label 'stop'. Did you mean 'step'?",
                  "witness step before reduce"},
        ErrorCase{"witness step before 2",
                  "21: there is no dispatch '2'; 2 stand before this line.",
                  "witness step before 0"},
        ErrorCase{"witness step before fence",
                  "21: label 'fence' stands on a barrier; expected a dispatch.",
                  "witness step before reduce"},
        ErrorCase{"witness step before 1",
                  "21: the witness moves 'step' relative to itself; expected two dispatches.",
                  "witness step before 0"},
        ErrorCase{"witness step[0:2] before reduce",
                  "13: the slices [0:2] end past the last of step (dispatch 1), which has 1.",
                  "witness step[0:1] before reduce"},
        ErrorCase{"witness step[1:1] before reduce",
                  "13: the slices [1:1] of 'step' are none; expected at least one.",
                  "witness step[0:1] before reduce"},
        ErrorCase{"expect WAR reduce",
                  "12: WAR concerns two dispatches, and only 'reduce' is named.",
                  "expect WAR reduce step"},
        ErrorCase{"expect alias reduce step",
                  "21: 'alias' concerns one dispatch, and 'step' is a second.",
                  "expect alias reduce"},
        ErrorCase{"expect redundant step",
                  "18: label 'step' stands on a dispatch; expected a barrier.",
                  "expect redundant fence"},
        ErrorCase{"expect redundant fense",
                  "18: no barrier before this line has the label 'fense'. Did you mean 'fence'?",
                  "expect redundant fence"},
        ErrorCase{"expect redundant 1", "18: there is no barrier '1'; 1 stand before this line.",
                  "expect redundant 0"},
        ErrorCase{"expect redundant fence step",
                  "24: 'redundant' concerns one barrier, and 'step' is a second.",
                  "expect redundant fence"},
        ErrorCase{
            "expect encoder=none redundant fence",
            "31: 'fence' names no barrier of an encoder; such barriers have no labels, only positions.",
            "expect encoder=none redundant 12"},
        ErrorCase{"expect encoder=interlok clean",
                  "16: there is no encoder 'interlok'. "
                  "Did you mean 'interlock'? `interlock list encoders` names them.",
                  "expect encoder=interlock clean"}));

TEST(ParseErrorOfHeader, SaysThatTheFirstStatementIsTheHeader) {
  EXPECT_EQ(parse("\n# comment\nmemory a 16\n", "p.ilk").error().message,
            "p.ilk:3:1: error: found 'memory'; expected the header line 'interlock 1'.");
  EXPECT_EQ(parse("\xef\xbb\xbfinterlock 1\n", "p.ilk").error().message,
            "p.ilk:1:1: error: the text begins with a byte order mark; write it as UTF-8 without "
            "one.");
  EXPECT_TRUE(parse("\n# comment\ninterlock 1\nmemory a 16\n"));
}

TEST(ParseErrorOfHeader, NamesTheVersionThatItFound) {
  EXPECT_EQ(parse("interlock 2\n", "p.ilk").error().message,
            "p.ilk:1:11: error: the file has format version 2; this release reads version 1.");
}

TEST(ParseErrorOfHeader, NamesTheReleaseThatTheFileNeeds) {
  const std::string own(release_text());
  EXPECT_EQ(
      parse("interlock 1 needs 99.1\nfence a b\n", "p.ilk").error().message,
      "p.ilk:1:19: error: the file needs release 99.1 of Interlock, or a later one; this is " +
          own + ".");
  for (const std::string& release : {std::string("0"), std::string("0.1"), own}) {
    EXPECT_TRUE(parse("interlock 1 needs " + release + "  # Read.\nmemory a 16\n")) << release;
  }
  for (const char* wrong : {"", "x", "0.1.0.0", "0.", "0.1 0.2", "99999999999999999999"}) {
    EXPECT_FALSE(parse(std::string("interlock 1 needs ") + wrong + "\n")) << wrong;
  }
}

TEST(Release, IsAtLeastWhatItIsComparedWithNumberByNumber) {
  EXPECT_EQ(is_at_least("0.9.1", "0.10"), false);
  EXPECT_EQ(is_at_least("0.10.0", "0.9.9"), true);
  EXPECT_EQ(is_at_least("1.0.0", "1"), true);
  EXPECT_EQ(is_at_least("1.0.0", "1.0.1"), false);
  EXPECT_EQ(is_at_least("1.0.0", "1.x"), std::nullopt);
}

TEST(ParseErrorOfHeader, SaysThatTheTextIsEmpty) {
  EXPECT_EQ(
      parse("", "p.ilk").error().message,
      "p.ilk:1:1: error: the text ends without a statement; expected the header line 'interlock 1'.");
}

}  // namespace
}  // namespace interlock::parse_errors_test
