// Files are untrusted: whatever they hold, parsing ends soon, in bounded memory, with an error or a
// program. A method that is quadratic would not end within the time that ctest allows: each of
// these files has at least a hundred thousand items.
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "tests/program_count.h"

namespace interlock::hostile_text_test {
namespace {

constexpr int kCount = is_slow_build() ? 20'000 : 100'000;

std::string number(int i) { return std::to_string(i); }

TEST(HostileText, ManyLabels) {
  std::string text = "interlock 1\n";
  for (int i = 0; i < kCount; ++i) text += "label_" + number(i) + ": barrier\n";
  EXPECT_EQ(parse(text)->barriers.size(), size_t{kCount});
  text += "label_7: barrier\n";
  EXPECT_FALSE(parse(text));
}

TEST(HostileText, ManyInitialValues) {
  std::string text = "interlock 1\nmemory m 1000000\n";
  for (int i = 0; i < kCount; ++i) {
    text += "tensor t" + number(i) + " u8[4] at m+" + number((i * 7919 % kCount) * 4) + " = ones\n";
  }
  EXPECT_EQ(parse(text)->tensors.size(), size_t{kCount});
  text += "tensor last u8[3] at m+201 = ones\n";
  EXPECT_FALSE(parse(text));
}

TEST(HostileText, ALongChainOfViews) {
  std::string text = "interlock 1\nmemory m 16\ntensor t0 f32[4] at m+0\n";
  for (int i = 1; i < kCount; ++i) {
    text += "tensor t" + number(i) + " f32[4] view t" + number(i - 1) + "+0\n";
  }
  EXPECT_EQ(parse(text)->tensors.back().root, TensorId(0));
}

TEST(HostileText, ManyNumbersOfProgramOrder) {
  std::string text = "interlock 1\n";
  for (int i = 0; i < kCount; ++i)
    text += "dispatch K order=" + number(i * 7919 % kCount * 2) + "\n";
  EXPECT_EQ(parse(text)->dispatches.size(), size_t{kCount});
  text += "dispatch K order=4\n";
  EXPECT_FALSE(parse(text));
}

TEST(HostileText, ManyMisspeltNamesThatALenientParseSkips) {
  ParseOptions lenient;
  lenient.skips_invalid_lines = true;
  std::string text = "interlock 1\nmemory m 16\n";
  for (int i = 0; i < kCount; ++i) text += "tensor tensor_" + number(i) + " u8[1] at m+0\n";
  for (int i = 0; i < kCount; ++i) text += "dispatch K reads tensot_" + number(i) + "\n";
  EXPECT_EQ(parse(text, "p.ilk", lenient)->tensors.size(), size_t{kCount});
}

TEST(HostileText, TooManyOperandsOnALine) {
  std::string text = "interlock 1\nmemory m 16\ndispatch K reads";
  for (int i = 0; i < 256; ++i) text += " m";
  EXPECT_EQ(parse(text)->accesses.size(), 256);
  text += " m";
  EXPECT_EQ(parse(text, "p.ilk").error().message,
            "p.ilk:3:530: error: the dispatch has 257 operands, more than the limit of 256.\n"
            "  - While adding 'K' as dispatch 0.");
  for (int i = 0; i < 100'000; ++i) text += " m";
  EXPECT_EQ(parse(text, "p.ilk").error().message,
            "p.ilk:3:1: error: the line has 200530 bytes, more than the limit of 65536.");
}

TEST(HostileText, TooManyAttributesOnALine) {
  std::string text = "interlock 1\ndispatch K";
  for (int i = 0; i < 64; ++i) text += " a" + number(i) + "=1e15";
  EXPECT_EQ(parse(text)->attributes.size(), 64);
  EXPECT_FALSE(parse(text + " b=1"));
}

// Canonical numbers can be longer than those read. What is accepted must be readable again.
TEST(HostileText, ALineThatWouldGrowBeyondTheLimitIsRejected) {
  ParseOptions options;
  options.limits.line_bytes = 512;
  const auto parse_attributes = [&options](int count) {
    std::string text = "interlock 1\ndispatch K";
    for (int i = 0; i < count; ++i) text += " a" + number(10 + i) + "=1e15";
    return parse(text, "p.ilk", options);
  };
  const auto p = parse_attributes(10);
  ASSERT_TRUE(p) << p.error().message;
  EXPECT_TRUE(parse(print(*p), "again.ilk", options));
  EXPECT_FALSE(parse_attributes(40));
}

TEST(HostileText, TooManyItemsOfAKind) {
  ParseOptions options;
  options.limits.memory_count = 2;
  options.limits.tensor_count = 1;
  options.limits.statement_count = 3;
  options.limits.witness_count = 1;
  options.limits.expectation_count = 1;
  const std::string text =
      "interlock 1\n"
      "memory a 1\n"
      "memory b 1\n"
      "tensor t u8[1] at a+0\n"
      "dispatch A\n"
      "dispatch B\n"
      "barrier\n"
      "witness 0 after 1\nexpect clean\n";
  EXPECT_TRUE(parse(text, "p.ilk", options));
  const auto error_of = [&](const std::string& line) {
    return parse(text + line, "p.ilk", options).error().message;
  };
  EXPECT_EQ(error_of("memory c 1"),
            "p.ilk:10:1: error: the program has more memories than the limit of 2.");
  EXPECT_EQ(error_of("tensor u u8[1] at a+0"),
            "p.ilk:10:1: error: the program has more tensors than the limit of 1.");
  EXPECT_EQ(error_of("barrier"),
            "p.ilk:10:1: error: the program has more statements than the limit of 3.");
  EXPECT_EQ(error_of("dispatch C"),
            "p.ilk:10:1: error: the program has more statements than the limit of 3.");
  EXPECT_EQ(error_of("witness 1 after 0"),
            "p.ilk:10:1: error: the program has more witness lines than the limit of 1.");
  EXPECT_EQ(error_of("expect clean"),
            "p.ilk:10:1: error: the program has more expect lines than the limit of 1.");
}

TEST(HostileText, ALongName) {
  EXPECT_TRUE(parse("interlock 1\nmemory " + std::string(255, 'm') + " 16\n"));
  EXPECT_EQ(
      parse("interlock 1\nmemory " + std::string(256, 'm') + " 16\n", "p.ilk").error().message,
      "p.ilk:2:8: error: the name '" + std::string(48, 'm') +
          "…' has 256 bytes, more than the limit of 255.");
}

// In 64 bits, the offset and the size of this view add up to 0.
TEST(HostileText, AViewWhoseEndWraps) {
  const std::string text = "interlock 1\nmemory a 256\ntensor x f32[64] at a+0\n";
  EXPECT_TRUE(parse(text + "tensor y f32[63] view x+4"));
  EXPECT_EQ(
      parse(text + "tensor y f32[4611686018427387903] view x+4", "p.ilk").error().message,
      "p.ilk:4:42: error: view 'y' of 18446744073709551612 bytes at byte 4 ends past the end of 'x' (256 bytes).\n"
      "  - While placing 'y', f32[4611686018427387903] view x+4.");
}

TEST(HostileText, ATextAboveTheLimit) {
  ParseOptions options;
  options.limits.input_bytes = 12;
  EXPECT_TRUE(parse("interlock 1\n", "p.ilk", options));
  EXPECT_EQ(parse("interlock 1\n#", "p.ilk", options).error().message,
            "p.ilk:1:1: error: the text has 13 bytes, more than the limit of 12.");
}

// Two bytes of text are an operand of 32 bytes; each of these is a way to ask for much with little.
TEST(HostileText, AProgramThatTakesMoreMemoryThanTheLimit) {
  ParseOptions options;
  options.limits.input_bytes = 4 << 20;
  const std::string start = "interlock 1\nmemory m 16\n";
  std::string operands;
  for (int i = 0; i < 100; ++i) operands += " m";
  // A text of 1 MiB of such lines, each with a number of its own in place of '$'.
  const auto is_refused = [&](const std::string& line, const std::string& before = "") {
    std::string text = start + before;
    for (int i = 0; text.size() < 1 << 20; ++i) {
      const size_t place = line.find('$');
      text += place == std::string::npos ? line : std::string(line).replace(place, 1, number(i));
      text += '\n';
    }
    const auto p = parse(text, "p.ilk", options);
    return !p && p.error().message.find(":1: error: up to here the text and its program take ") !=
                     std::string::npos;
  };
  EXPECT_TRUE(is_refused("dispatch K reads" + operands));
  EXPECT_TRUE(is_refused("dispatch K reads" + operands, "capture c\n"));
  EXPECT_TRUE(is_refused("barrier compute -> compute" + operands));
  EXPECT_TRUE(is_refused("a$: barrier"));
  EXPECT_TRUE(is_refused("tensor t$ u8[1]"));
  EXPECT_TRUE(is_refused("dispatch K a=$"));
  EXPECT_TRUE(is_refused("dispatch K order=$00"));
  EXPECT_FALSE(is_refused("# dispatch K reads" + operands));
}

TEST(HostileText, SaysWhereAProgramTakesMoreMemoryThanTheLimit) {
  ParseOptions options;
  options.limits.input_bytes = 100'000;
  std::string text = "interlock 1\n";
  for (int i = 0; i < 1'000; ++i) text += "barrier\n";
  EXPECT_TRUE(parse(text, "p.ilk", options));
  for (int i = 0; i < 2'000; ++i) text += "barrier\n";
  EXPECT_EQ(parse(text, "p.ilk", options).error().message,
            "p.ilk:3001:1: error: up to here the text and its program take 108012 bytes of memory, "
            "more than the limit of 100000.");
}

TEST(HostileText, EveryTruncationIsAProgramOrAnError) {
  const std::string text =
      "interlock 1\nmemory m 64\ntensor x f32[2,4] at m+0 = random(7)\ntensor y f32[4] at m+32\n"
      "output y\na: dispatch col_sum reads x writes y\nbarrier execution\n"
      "dispatch Count reads x[0:4] atomics m[48:52] atomic=add k=1e-05\n"
      "witness 1 commits after a\n"
      "expect encoder=mlx-2024 WAR a 1\n";
  ASSERT_TRUE(parse(text));
  for (size_t length = 0; length < text.size(); ++length) {
    const auto p = parse(text.substr(0, length), "p.ilk");
    EXPECT_TRUE(p || p.error().message.substr(0, 6) == "p.ilk:");
  }
}

TEST(ParseErrorQuotes, ShortensLongWordsAndEscapesUnprintableBytes) {
  const std::string word(300, 'w');
  EXPECT_EQ(
      parse("interlock 1\n" + word, "p.ilk").error().message,
      "p.ilk:2:1: error: found '" + word.substr(0, 48) +
          "…'; expected a statement: memory, tensor, output, dispatch, barrier, signal, wait, set, await, split, submit, host, free, destroy, pin, unpin, reset, adopt, capture, end, replay, backward, witness or expect.");
  EXPECT_EQ(
      parse("interlock 1\nbarrier \xc3\xa9", "p.ilk").error().message,
      "p.ilk:2:9: error: found '\\xc3\\xa9'; expected 'execution', a scope such as compute.write, 'on' or the end of the line.");
}

}  // namespace
}  // namespace interlock::hostile_text_test
