// Which of its findings a program is minimized for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "tests/corpus_files.h"
#include "tests/program_count.h"

namespace interlock::minimize_program_test {
namespace {

std::string text_of(const std::string& text) {
  const auto program = parse("interlock 1\n" + text);
  if (!program) return program.error().message;
  const auto report = minimize_program(*program);
  return report ? print(report->program) : report.error().message;
}

// Missing sync is found in every program that a pass has not planned; what it is kept for is what
// its lines say beside.
TEST(MinimizeProgram, KeepsWhatTheExpectLinesSingleOut) {
  const std::string product =
      "tensor x f32[1,2] = random(1)\ntensor w f32[2,2] = random(2)\ntensor h f32[1,2]\n"
      "tensor g f32[1,2]\ntensor y f32[1,2]\nmm1: dispatch matmul_nn reads x w writes h\n"
      "dispatch silu reads h writes g\nmm2: dispatch matmul_nn reads g w writes y\n"
      "backward y wrt x w mode=split-pytorch-180952\n";
  EXPECT_THAT(text_of(product), testing::Not(testing::HasSubstr("expect gradient")));
  for (const char* subject : {"", "encoder=interlock "}) {
    const std::string text = text_of(product + "expect " + subject + "gradient w\n");
    EXPECT_THAT(text, testing::HasSubstr("wrt w mode=split-pytorch-180952\n"));
    EXPECT_THAT(text, testing::EndsWith("expect gradient w\n"));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("silu")));
  }
  const std::string clobber =
      "memory m 64\ntensor a u8[16] at m+0\ntensor b u8[16] at m+0\ntensor o u8[16]\n"
      "d0: dispatch A writes a\nd1: dispatch B writes b\nd2: dispatch C reads a writes o\n";
  EXPECT_THAT(text_of(clobber), testing::Not(testing::HasSubstr("expect clobber")));
  EXPECT_THAT(text_of(clobber + "expect clobber d1 d2\n"),
              testing::EndsWith("expect clobber d0 d1\n"));
  const std::string alias =
      "memory m 64\ntensor a f32[1,4] at m+0\ntensor b f32[1,4] at m+4\nd0: dispatch A writes a\n"
      "d1: dispatch silu reads a writes b\n";
  EXPECT_THAT(text_of(alias + "expect alias d1\n"), testing::HasSubstr("expect alias d0\n"));
}

// Whatever is found in what is left, also of the pairs whose order is wrong: there a reader may see
// no writer at all, or be the end of the program.
TEST(MinimizeProgram, ExpectsWhatCheckFinds) {
  int minimized_count = 0;
  for (const auto& path : one_queue_corpus_files({"seeds", "bugs"})) {
    if (is_slow_build() && path.string().find("order") == std::string::npos) continue;
    const auto report = minimize_program(corpus_program(path));
    if (!report) continue;  // There is nothing to find.
    ++minimized_count;
    const std::string text = print(report->program);
    const Program program = parse(text, "minimized", every_queue()).value();
    const CheckReport found = check(program);
    EXPECT_TRUE(is_as_expected(program, found, judge_expectations(program, found))) << path << "\n"
                                                                                    << text;
  }
  EXPECT_GE(minimized_count, is_slow_build() ? 2 : 50);
}

TEST(MinimizeProgram, KeepsAWrongOrderThatIsExpected) {
  const std::string text =
      "memory m 64\nmemory n 64\n"
      "w: dispatch W order=1 writes m[0:4]\n"
      "r: dispatch R order=0 reads m[0:4] writes m[8:12]\n"
      "v: dispatch copy order=3 reads n[0:4] writes n[8:12]\n"
      "u: dispatch copy order=2 reads n[8:12] writes n[16:20]\n"
      "x: dispatch X order=4 writes n[0:4]\n"
      "y: dispatch Y order=5 writes n[0:4]\n";
  EXPECT_THAT(text_of(text), testing::Not(testing::HasSubstr("expect reordered")));
  EXPECT_THAT(text_of(text + "expect reordered w r\n"),
              testing::HasSubstr("expect reordered w r\n"));
  EXPECT_THAT(text_of(text + "expect reordered v u\n"),
              testing::HasSubstr("expect reordered v u\n"));
}

TEST(MinimizeProgram, NamesWhoWritesWhatTheEndShouldNotHold) {
  EXPECT_THAT(text_of("memory m 64\n"
                      "d0: dispatch A order=1 writes m[0:4]\n"
                      "barrier\n"
                      "d1: dispatch B order=0 writes m[0:4]\n"),
              testing::HasSubstr("expect reordered d0 d1\n"));
}

}  // namespace
}  // namespace interlock::minimize_program_test
