// Words of the format where they may not stand: the message says where they stand. By hand; and
// every word at every place of one statement of each sort.
#include "encoder/program/word_places.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/text/parser.h"

namespace interlock::word_places_test {
namespace {

using testing::HasSubstr;

// Its last line is line 12.
constexpr std::string_view kPreamble =
    "interlock 1\n"
    "memory a 4096\n"
    "memory b 4096\n"
    "tensor x f32[16] at a+0\n"
    "tensor y f32[16] at b+0\n"
    "g: queue graph\n"
    "q1: queue concurrent\n"
    "t: semaphore\n"
    "n: dispatch N writes a on g\n"
    "d: dispatch D reads x writes y\n"
    "w: semaphore\n"
    "u: semaphore\n";

// What is said of the line after the preamble, as "column: sentence"; empty if it can be read.
std::string error_of(const std::string& line) {
  ParseOptions options;
  options.reads_every_queue = true;
  const Result<Program> program = parse(std::string(kPreamble) + line + "\n", "p.ilk", options);
  if (program) return "";
  const std::string place = "p.ilk:13:";
  const std::string& message = program.error().message;
  EXPECT_TRUE(message.starts_with(place)) << line << "\n" << message;
  return message.substr(place.size());
}

struct Misplaced {
  std::string_view line;
  std::string_view message;   // "column: error: sentence", its beginning.
  std::string_view repaired;  // That can be read; empty if nothing is meant by the line.
};

void PrintTo(const Misplaced& misplaced, std::ostream* out) { *out << misplaced.line; }

class MisplacedWord : public testing::TestWithParam<Misplaced> {};

TEST_P(MisplacedWord, IsSaidToStandElsewhere) {
  const Misplaced& misplaced = GetParam();
  const std::string error = error_of(std::string(misplaced.line));
  EXPECT_EQ(error.substr(0, misplaced.message.size()), misplaced.message);
  if (misplaced.repaired.empty()) return;
  EXPECT_EQ(error_of(std::string(misplaced.repaired)), "");
}

INSTANTIATE_TEST_SUITE_P(
    OfDispatches, MisplacedWord,
    testing::Values(
        Misplaced{
            "dispatch K reads a programmatic on g",
            "20: error: no tensor or memory 'programmatic' is declared before this line. "
            "'programmatic' stands after 'after OPERATION…', at the end of a dispatch on a graph queue.",
            "dispatch K reads a after n programmatic on g"},
        Misplaced{
            "dispatch K programmatic after n on g",
            "12: error: found 'programmatic'; expected uniform, reads, writes, updates, atomics, partial, approximate or KEY=VALUE. "
            "'programmatic' stands after 'after OPERATION…', at the end of a dispatch on a graph queue.",
            "dispatch K after n programmatic on g"},
        Misplaced{"dispatch K after n on g programmatic",
                  "25: error: found 'programmatic'; expected the end of the line. "
                  "'programmatic' stands after 'after OPERATION…', at the end of a dispatch on",
                  "dispatch K after n programmatic on g"},
        Misplaced{"dispatch K reads a in copy",
                  "20: error: no tensor or memory 'in' is declared before this line. "
                  "'in' stands right after the kernel of a dispatch, as in 'in copy'.",
                  "dispatch K in copy reads a"},
        Misplaced{"dispatch K lr=1 in copy",
                  "17: error: found 'in'; expected KEY=VALUE, 'after', 'on' or the end of the "
                  "line. 'in' stands right after the kernel of a dispatch, as in 'in copy'.",
                  "dispatch K in copy lr=1"},
        Misplaced{"dispatch K lr=1 partial",
                  "17: error: found 'partial' out of order; the clauses stand once each",
                  "dispatch K partial lr=1"},
        Misplaced{"dispatch K reads a approximate partial",
                  "32: error: found 'partial' out of order; the clauses stand once each",
                  "dispatch K reads a partial approximate"},
        Misplaced{"dispatch K reads a actual reads b actual writes b",
                  "35: error: found 'actual' out of order; the clauses stand once each",
                  "dispatch K reads a actual reads b writes b"},
        Misplaced{"dispatch K reads a execution",
                  "20: error: no tensor or memory 'execution' is declared before this line. "
                  "'execution' stands right after 'barrier' or 'set EVENT'.",
                  ""},
        Misplaced{"dispatch K after n approximate on g",
                  "20: error: no dispatch before this line has the label 'approximate'. "
                  "'approximate' stands after the operands of a dispatch, or of what the host",
                  "dispatch K approximate after n on g"},
        Misplaced{"dispatch K after n lr=1 on g",
                  "20: error: the attribute 'lr' stands after the edges; expected it before "
                  "'after'.",
                  "dispatch K lr=1 after n on g"},
        Misplaced{"dispatch K on g after n",
                  "17: error: found 'after'; expected the end of the line. 'after' stands after "
                  "the operands and attributes of a dispatch on a graph queue, or after 'signal",
                  "dispatch K after n on g"},
        Misplaced{"dispatch K reads a rows 4 pitch 16 width 8",
                  "25: error: found '4'; expected a clause, an operand or KEY=VALUE.",
                  "dispatch K reads a[0:64 rows 4 pitch 16 width 8]"}));

INSTANTIATE_TEST_SUITE_P(
    OfSync, MisplacedWord,
    testing::Values(
        Misplaced{"wait t=1 after copy",
                  "10: error: found 'after'; expected the end of the line. 'after' stands after "
                  "the operands and attributes of a dispatch on a graph queue, or after 'signal "
                  "S=N'.",
                  "signal t=1 after copy"},
        Misplaced{"signal t=1 before copy",
                  "12: error: found 'before'; expected the end of the line. 'before' stands after "
                  "'wait S=N', or between the two dispatches of a witness.",
                  "signal t=1 after copy"},
        Misplaced{"signal t=1 from outside",
                  "12: error: found 'from'; expected the end of the line. 'from' stands after the "
                  "semaphore of a wait, as in 'from outside'.",
                  "wait t=1 from outside"},
        Misplaced{"wait t=1 before copy from outside",
                  "22: error: found 'from'; expected the end of the line. 'from' stands after the "
                  "semaphore of a wait, as in 'from outside'.",
                  "wait t=1 from outside before copy"},
        Misplaced{"barrier compute -> compute execution",
                  "28: error: no tensor or memory 'execution' is declared before this line. "
                  "'execution' stands right after 'barrier' or 'set EVENT'.",
                  "barrier execution"},
        Misplaced{"barrier compute -> compute a programmatic",
                  "30: error: no tensor or memory 'programmatic' is declared before this line. "
                  "'programmatic' stands after 'after OPERATION…'",
                  ""},
        Misplaced{"barrier transitions a",
                  "9: error: found 'transitions'; expected 'execution', a scope such as "
                  "compute.write, 'on' or the end of the line. 'transitions' stands after the two "
                  "scopes of a barrier, before operands.",
                  "barrier none -> copy transitions a"},
        Misplaced{"host reads a on q1",
                  "14: error: found 'on'; expected a tensor or a memory. 'on' stands at the end of "
                  "what a queue executes, as in 'on q1'.",
                  "host reads a"},
        Misplaced{"host idle from outside",
                  "11: error: found 'from'; expected the end of the line. 'from' stands after the "
                  "semaphore of a wait",
                  "host waits t=1 from outside"}));

INSTANTIATE_TEST_SUITE_P(
    OfOthers, MisplacedWord,
    testing::Values(
        Misplaced{"memory k 16 unified scratch",
                  "21: error: found 'scratch'; expected the end of the line. 'scratch' stands "
                  "right after the bytes of a memory.",
                  "memory k 16 scratch unified"},
        Misplaced{"tensor z f32[2] = zeros at a+64",
                  "25: error: found 'at'; expected the end of the line. 'at' stands after the "
                  "extents of a tensor.",
                  "tensor z f32[2] at a+64 = zeros"},
        Misplaced{"z: semaphore = 3 binary",
                  "18: error: found 'binary'; expected the end of the line. 'binary' stands after "
                  "'NAME: semaphore'.",
                  "z: semaphore binary"},
        Misplaced{"z: queue concurrent blocking",
                  "21: error: found 'blocking'; expected the end of the line. 'blocking' stands "
                  "after 'NAME: queue serial'.",
                  "z: queue serial blocking"},
        Misplaced{"output x on q1",
                  "10: error: no tensor 'on' is declared before this output. 'on' stands at the "
                  "end of what a queue executes, as in 'on q1'.",
                  "output x"},
        Misplaced{
            "witness d before n commits",
            "20: error: found 'commits'; expected the end of the line. 'commits' stands after "
            "the first dispatch of a witness.",
            "witness d commits after n"},
        Misplaced{
            "programmatic",
            "1: error: found 'programmatic'; expected a statement: memory, tensor, output, "
            "dispatch, barrier, signal, wait, set, await, split, submit, host, free, destroy, "
            "pin, unpin, reset, adopt, capture, end, replay, backward, witness or expect. "
            "'programmatic' stands after 'after OPERATION…'",
            ""}));

constexpr std::string_view kWords[] = {
    "actual",   "after",   "approximate", "at",          "atomics",     "before",    "binary",
    "blocking", "commits", "discards",    "donates",     "encoder",     "execution", "fetches",
    "from",     "in",      "noncoherent", "on",          "order",       "partial",   "pitch",
    "reads",    "rows",    "scratch",     "transitions", "unified",     "uniform",   "updates",
    "view",     "width",   "writes",      "wrt",         "programmatic"};

// One of each sort, each with all that it can have.
constexpr std::string_view kStatements[] = {
    "memory k 16 scratch unified",
    "memory k 16 noncoherent=64",
    "tensor z f32[2] at a+64 = zeros",
    "output x",
    "z: queue serial blocking",
    "z: semaphore = 3",
    "dispatch K in compute reads a writes b actual writes a partial approximate lr=1 on q1",
    "dispatch K reads a after n programmatic on g",
    "barrier execution on q1",
    "barrier compute.write -> copy.read a, copy -> copy b on q1",
    "barrier none -> copy transitions a on q1",
    "signal t=1 after copy on q1",
    "wait t=1 from outside before copy on q1",
    "set e compute -> copy a on q1",
    "host reads a[0:64 rows 4 pitch 16 width 8] approximate",
    "host writes x = zeros",
    "host flushes a",
    "host waits t=1 from outside",
    "host idle on q1",
    "submit on q1",
    "free x on q1",
    "adopt x = y",
    "backward x wrt y mode=split",
    "witness d commits after n",
    "expect encoder=none RAW d n"};

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::string line_of(const std::vector<std::string>& words, size_t place, std::string_view word) {
  std::string line;
  for (size_t i = 0; i <= words.size(); ++i) {
    if (i == place) line += std::string(line.empty() ? "" : " ") + std::string(word);
    if (i < words.size()) line += (line.empty() ? "" : " ") + words[i];
  }
  return line;
}

TEST(Words, AreSaidToStandElsewhereWhereverTheyAreTakenForNames) {
  int error_count = 0;
  int place_count = 0;
  for (const std::string_view word : kWords) {
    const std::string place = place_of_word(word);
    EXPECT_THAT(place, HasSubstr(fmt::format(" '{}' stands ", word)));
    for (const std::string_view statement : kStatements) {
      const std::vector<std::string> words = words_of(statement);
      for (size_t at = 0; at <= words.size(); ++at) {
        const std::string line = line_of(words, at, word);
        const std::string error = error_of(line);
        if (error.empty()) continue;
        ++error_count;
        size_t column = 0;
        std::from_chars(error.data(), error.data() + error.size(), column);
        EXPECT_GE(column, 1u) << line;
        EXPECT_LE(column, line.size() + 1) << line << "\n" << error;
        place_count += error.find(place) != std::string::npos ? 1 : 0;
        const std::string quoted = fmt::format("'{}'", word);
        const bool is_a_name = error.find(quoted + " is declared") != std::string::npos ||
                               error.find("label " + quoted) != std::string::npos ||
                               error.find("found " + quoted + ";") != std::string::npos;
        EXPECT_TRUE(!is_a_name || error.find(place) != std::string::npos) << line << "\n" << error;
      }
    }
  }
  EXPECT_GT(error_count, 4000);
  EXPECT_GT(place_count, error_count / 3);
}

TEST(Words, ThatBeginStatementsHaveNoOtherPlace) {
  for (const char* const word : {"dispatch", "barrier", "x", "", "K", "interlock"}) {
    EXPECT_EQ(place_of_word(word), "") << word;
  }
}

}  // namespace
}  // namespace interlock::word_places_test
