// Minimized programs that still speak in the words of who recorded them.
#include "fuzz/minimize/statement_origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/report/check.h"
#include "tests/corpus_files.h"

namespace interlock::statement_origins_test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Read {
  std::string text;
  std::vector<uint64_t> lines;
  Program program;

  explicit Read(std::string t) : text(std::move(t)) {
    ParseOptions options = every_queue();
    options.statement_lines = &lines;
    program = parse(text, "step.ilk", options).value();
  }
};

std::string minimized(const Read& read) {
  const LabelledProgram original = with_labels_of_origin(read.program);
  MinimizeOptions options;
  options.keeps_names = true;
  const MinimizeReport report = minimize_program(original.program, options).value();
  return text_with_origins(report.program, original, "step.ilk", read.lines);
}

constexpr const char* kStream = R"(interlock 1
memory weights 4096
memory compute 4096
memory unused 64

dispatch RMS_NORM.1 reads weights[0:64] writes compute[0:64]
barrier
dispatch MUL_MAT.198 reads weights[64:128] compute[0:64] writes compute[128:192]
last: dispatch CPY.3 reads weights[0:64] writes compute[256:320]
dispatch MUL_MAT.199 reads compute[128:192] writes compute[512:576]
)";

TEST(StatementOrigins, KeepNamesAndSayTheLine) {
  const std::string text = minimized(Read(kStream));
  EXPECT_THAT(text, HasSubstr("# Minimized: 2 of 4 dispatches of 'step.ilk'. Comments say in "
                              "which of its lines a statement stood.\n"));
  EXPECT_THAT(text, HasSubstr("memory compute "));
  EXPECT_THAT(text, Not(HasSubstr("unused")));
  EXPECT_THAT(text, testing::ContainsRegex("\nd1: dispatch MUL_MAT.198 [^\n]*  # line 8\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\nd3: dispatch MUL_MAT.199 [^\n]*  # line 10\n"));
  EXPECT_THAT(text, HasSubstr("expect RAW d1 d3\n"));
  EXPECT_TRUE(parse(text)) << text;
}

TEST(StatementOrigins, SayWhatAKernelWas) {
  const std::string text = minimized(Read(R"(interlock 1
memory m 4096
tensor x f32[4,8] at m+0 = random(1)
tensor y f32[4,8] at m+128
tensor z f32[4,8] at m+256
output z
norm: dispatch silu reads x writes y
use: dispatch copy reads y writes z
)"));
  EXPECT_THAT(text, HasSubstr("norm: dispatch "));
  EXPECT_THAT(text, HasSubstr("  # line 7"));
}

// Of statements that are no dispatches the label goes again, but where a line needs it.
TEST(StatementOrigins, LabelEveryStatementForAWhile) {
  const Read read(kStream);
  const LabelledProgram original = with_labels_of_origin(read.program);
  EXPECT_EQ(original.statement_count, 5u);
  EXPECT_EQ(original.dispatch_count, 4u);
  const std::string labelled = print(original.program);
  EXPECT_THAT(labelled, HasSubstr("\ns1: barrier\n"));
  EXPECT_THAT(labelled, HasSubstr("\nlast: dispatch CPY.3 "));
  const std::string back = text_with_origins(original.program, original, "step.ilk", read.lines);
  EXPECT_THAT(back, HasSubstr("\nbarrier  # line 7\n"));
  EXPECT_THAT(back, HasSubstr("\nd0: dispatch RMS_NORM.1 "));
}

// Each program of the corpus has the findings that it has with labels, and what is made of it is
// read again.
TEST(StatementOrigins, ChangeNoFinding) {
  uint64_t with_origins_count = 0;
  for (const auto& path : corpus_files({"bugs", "queues"})) {
    std::vector<uint64_t> lines;
    ParseOptions options = every_queue();
    options.statement_lines = &lines;
    const Program program = parse_file(path.string(), options).value();
    const LabelledProgram original = with_labels_of_origin(program);
    with_origins_count += !original.origins.empty();
    EXPECT_EQ(check(original.program).findings.size(), check(program).findings.size()) << path;
    const std::string text = text_with_origins(original.program, original, path.string(), lines);
    const auto again = parse(text, "again", every_queue());
    ASSERT_TRUE(again) << path << again.error().message << text;
    EXPECT_EQ(again->statements.size(), program.statements.size()) << path;
  }
  EXPECT_GT(with_origins_count, 100u);
}

}  // namespace
}  // namespace interlock::statement_origins_test
