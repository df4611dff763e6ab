// Dispatches and declarations have two readers: the grammar, which explains every error, and one
// pass that knows only lines without any. The property: what the one reads, the other reads too,
// and a text means the same to both, its errors and their positions included.
#include "encoder/text/plain_dispatch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/line_reader.h"
#include "encoder/text/parser.h"
#include "encoder/text/plain_cursor.h"
#include "encoder/text/plain_declarations.h"
#include "encoder/text/printer.h"
#include "tests/encoder/text/round_trip.h"
#include "tests/program_count.h"

namespace interlock::plain_dispatch_test {
namespace {

using testing::ElementsAre;

// The line, with the newline that the reader may look at.
bool reads(const std::string& line, DispatchWords& words) {
  static std::string ended;  // Outlives the words.
  ended = line + '\n';
  return read_plain_dispatch(std::string_view(ended).substr(0, line.size()), words);
}

bool reads(const std::string& line) {
  DispatchWords words;
  return reads(line, words);
}

TEST(PlainDispatch, IsReadWithAllOfItsParts) {
  DispatchWords words;
  ASSERT_TRUE(
      reads("a.1: dispatch Big order=7 reads x m[0:64] writes y actual updates z # for y", words));
  EXPECT_EQ(words.label, "a.1");
  EXPECT_EQ(words.kernel, "Big");
  EXPECT_EQ(words.order, 7);
  EXPECT_THAT(words.operands,
              ElementsAre(OperandWords{"x", {}, AccessMode::kRead, false, false},
                          OperandWords{"m", {0, 64}, AccessMode::kRead, true, false},
                          OperandWords{"y", {}, AccessMode::kWrite, false, false},
                          OperandWords{"z", {}, AccessMode::kUpdate, false, true}));
  ASSERT_TRUE(reads("dispatch K atomics x partial atomic=add k=-1e-05", words));
  EXPECT_EQ(words.label, "");
  EXPECT_FALSE(words.order.has_value());
  EXPECT_TRUE(words.is_partial);
  EXPECT_THAT(words.attributes, ElementsAre(std::pair("atomic", "add"), std::pair("k", "-1e-05")));
  ASSERT_TRUE(reads("dispatch K", words));
  EXPECT_TRUE(words.operands.empty() && words.attributes.empty() && !words.is_partial);
}

TEST(PlainDispatch, LeavesWhatItCannotReadToTheGrammar) {
  EXPECT_FALSE(reads(""));
  EXPECT_FALSE(reads("barrier"));
  EXPECT_FALSE(reads("dispatch"));
  EXPECT_FALSE(reads("dispatch 1"));
  EXPECT_FALSE(reads("dispatch\tK"));
  EXPECT_FALSE(reads("dispatch K reads"));
  EXPECT_FALSE(reads("dispatch K writes x reads x"));
  EXPECT_FALSE(reads("dispatch K actual"));
  EXPECT_FALSE(reads("dispatch K reads x [0:4]"));
  EXPECT_FALSE(reads("dispatch K reads x[0:4]y"));
  EXPECT_FALSE(reads("dispatch K reads x[0:99999999999999999999]"));
  EXPECT_FALSE(reads("dispatch K a=1 reads x"));
  EXPECT_FALSE(reads("dispatch K # \x01"));
  EXPECT_TRUE(reads("dispatch K # \t\xc3\xa9"));
}

TEST(PlainDispatch, NoControlByteIsMissed) {
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
    for (const size_t place : {size_t{0}, size_t{7}, size_t{20}}) {
      std::string text(21, 'x');
      text[place] = static_cast<char>(byte);
      EXPECT_EQ(has_control_byte(text), is_control) << byte;
    }
  }
}

// A line that may be anything: words of dispatches, mostly in an order that makes one.
std::string random_line(Numbers& numbers) {
  constexpr std::string_view kWords[] = {" reads",
                                         " writes",
                                         " updates",
                                         " atomics",
                                         " uniform",
                                         " actual",
                                         " partial",
                                         " order=3",
                                         " order",
                                         " on",
                                         " x",
                                         " y1",
                                         " m[0:64]",
                                         " m[07:8]",
                                         "[1:2]",
                                         " a=1",
                                         " atomic=add",
                                         " k=-1e+5",
                                         " order=9",
                                         " b=",
                                         " x=.5",
                                         " s00.K@2",
                                         " #",
                                         " # \t",
                                         "\t",
                                         "  ",
                                         ":",
                                         ",",
                                         "\x7f",
                                         "\xc3\xa9",
                                         " 18446744073709551616",
                                         " m[0:18446744073709551615]",
                                         " m[0:9999999999999999999]",
                                         " m[9:rows]",
                                         " _",
                                         " .",
                                         " indirect"};
  const auto word = [&] { return std::string(kWords[numbers.below(std::size(kWords))]); };
  std::string line = numbers.below(3) == 0 ? "l.1: " : "";
  line += numbers.below(20) == 0 ? "dispatch" : "dispatch K";
  if (numbers.below(4) == 0) line += " order=12";
  for (const std::string_view clause : {" reads", " writes", " atomics"}) {
    if (numbers.below(2) == 0) continue;
    line += clause;
    for (size_t i = 1 + numbers.below(3); i > 0; --i)
      line += numbers.below(2) == 0 ? " x" : " m[0:64]";
  }
  for (size_t i = numbers.below(3); i > 0; --i) line += word();
  for (size_t edits = numbers.below(3); edits > 0; --edits) {
    line.insert(numbers.below(line.size() + 1), word());
  }
  if (numbers.below(4) == 0) line.erase(numbers.below(line.size()), 1);
  return line;
}

TEST(PlainDispatch, AgreesWithTheGrammarOnRandomLines) {
  Numbers numbers(7);
  LineReader grammar;
  int plain_count = 0;
  int other_count = 0;
  for (int i = 0; i < program_count(20'000, 4); ++i) {
    const std::string line = random_line(numbers);
    SCOPED_TRACE(line);
    DispatchWords words;
    const bool is_plain = reads(line, words);
    (is_plain ? plain_count : other_count) += 1;
    const bool is_read = grammar.read(line) && !has_control_byte(line);
    if (!is_plain) continue;
    ASSERT_TRUE(is_read);
    ASSERT_TRUE(grammar.item() && std::holds_alternative<DispatchDraft>(*grammar.item()));
    DispatchWords expected;
    assign(expected, std::get<DispatchDraft>(*grammar.item()));
    ASSERT_EQ(words, expected);
    // What is printed is plain: no program is read slowly for how it is written.
    ASSERT_TRUE(reads(print(ItemDraft(std::get<DispatchDraft>(*grammar.item()))), words));
  }
  EXPECT_GE(plain_count, program_count(2'500, 5));
  EXPECT_GE(other_count, program_count(5'000, 5));
}

// A memory or a tensor, or what looks like one.
std::string random_declaration(Numbers& numbers) {
  constexpr std::string_view kWords[] = {" ",
                                         "\t",
                                         "[",
                                         "]",
                                         ",",
                                         "+",
                                         "=",
                                         "(",
                                         ")",
                                         "#",
                                         "# \t",
                                         " scratch",
                                         " noncoherent",
                                         " at",
                                         "x",
                                         " at m+4",
                                         " view x+8",
                                         " donates x",
                                         " view",
                                         "9",
                                         "99999999999999999999",
                                         " = zeros",
                                         " = ones",
                                         " = iota",
                                         " = random(7)",
                                         " = random",
                                         " = values(1)",
                                         " =",
                                         "= ",
                                         " = ",
                                         "f32",
                                         "memory ",
                                         "\x7f"};
  const auto word = [&] { return std::string(kWords[numbers.below(std::size(kWords))]); };
  const std::string name = "a" + std::to_string(numbers.below(30));
  std::string line;
  if (numbers.below(3) == 0) {
    line = "memory " + name + " 4096" + (numbers.below(3) == 0 ? " scratch" : "");
  } else {
    constexpr std::string_view kTypes[] = {" f32[4]", " u8[16]", " i32[2,2]", " f32[1,1,1,4]"};
    constexpr std::string_view kPlaces[] = {"", " at m+128", " view x+16", " donates x", " at x+0"};
    constexpr std::string_view kValues[] = {"", " = zeros", " = random(3)", " = values(1,2)"};
    line = "tensor " + name + std::string(kTypes[numbers.below(4)]) +
           std::string(kPlaces[numbers.below(5)]) + std::string(kValues[numbers.below(4)]);
  }
  if (numbers.below(8) == 0) line += " # said";
  for (size_t edits = numbers.below(3); edits > 0; --edits) {
    line.insert(numbers.below(line.size() + 1), word());
  }
  if (numbers.below(4) == 0) line.erase(numbers.below(line.size()), 1);
  return line;
}

TEST(PlainDeclarations, AgreeWithTheGrammarOnRandomLines) {
  Numbers numbers(3);
  LineReader grammar;
  TensorDraft tensor;  // Used again, as the parser does: nothing of the last line may stay.
  MemoryDraft memory;
  int plain_count = 0;
  for (int i = 0; i < program_count(20'000, 4); ++i) {
    const std::string line = random_declaration(numbers);
    SCOPED_TRACE(line);
    const std::string ended = line + '\n';
    const std::string_view view = std::string_view(ended).substr(0, line.size());
    const bool is_memory = read_plain_memory(view, memory);
    const bool is_tensor = read_plain_tensor(view, tensor);
    if (!is_memory && !is_tensor) continue;
    ASSERT_FALSE(is_memory && is_tensor);
    ++plain_count;
    ASSERT_TRUE(grammar.read(line) && !has_control_byte(line) && grammar.item());
    ASSERT_EQ(print(is_memory ? ItemDraft(memory) : ItemDraft(tensor)), print(*grammar.item()));
    if (is_memory) continue;
    const auto& expected = std::get<TensorDraft>(*grammar.item());
    ASSERT_EQ(tensor.base, expected.base);
    ASSERT_EQ(tensor.offset_bytes, expected.offset_bytes);
    ASSERT_EQ(tensor.initial, expected.initial);
  }
  EXPECT_GE(plain_count, program_count(5'000, 5));
}

// The same text with a tab where the fast readers want a space, so that the grammar reads it all.
std::string for_the_grammar(std::string text) {
  for (const std::string_view start : {"dispatch ", "memory ", "tensor "}) {
    for (size_t at = text.find(start); at != std::string::npos; at = text.find(start, at)) {
      text[at + start.size() - 1] = '\t';
    }
  }
  return text;
}

TEST(PlainDispatch, ATextMeansTheSameToTheGrammarAlone) {
  const std::string start =
      "interlock 1\nmemory m 4096\ntensor x f32[16] at m+0\ntensor y1 f32[16] at m+64\n";
  Numbers numbers(11);
  int parsed_count = 0;
  for (int i = 0; i < share_count(4'000, 2, 12); ++i) {
    std::string text = start;
    for (size_t lines = 1 + numbers.below(4); lines > 0; --lines) {
      if (numbers.below(3) == 0) text += random_declaration(numbers) + '\n';
      text += random_line(numbers) + (numbers.below(8) == 0 ? "\r\n" : "\n");
    }
    SCOPED_TRACE(text);
    for (const bool skips : {false, true}) {
      ParseOptions options;
      options.skips_invalid_lines = skips;
      const auto fast = parse(text, "t.ilk", options);
      const auto slow = parse(for_the_grammar(text), "t.ilk", options);
      ASSERT_EQ(fast.has_value(), slow.has_value());
      if (fast) {
        parsed_count += 1;
        ASSERT_EQ(print(*fast), print(*slow));
        ASSERT_EQ(fast->names, slow->names);
      } else {
        ASSERT_EQ(fast.error().message, slow.error().message);
      }
    }
  }
  EXPECT_GE(parsed_count, share_count(2'000, 2, 15));
}

}  // namespace
}  // namespace interlock::plain_dispatch_test
