// Reports and passes of the C library, on the corpus: they say what the library in C++ says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "bindings/c/interlock.h"
#include "encoder/text/parser.h"
#include "simulator/report/check.h"
#include "simulator/report/expectations.h"
#include "simulator/report/read_every_queue.h"
#include "simulator/report/report.h"
#include "tests/bindings/c/c_handles.h"

namespace interlock::reports_test {
namespace {

using testing::HasSubstr;

CallResult<ilk_program> program_at(const std::string& path) {
  return call<ilk_program>(ilk_program_read, path.c_str(), nullptr);
}

std::string corpus(const std::string& path) { return INTERLOCK_SOURCE_DIR "/corpus/" + path; }

// All that the two say of a program, against each other.
void expect_equal(const ilk_report* report, const Program& program, const std::string& name) {
  const CheckReport own = check(program);
  const ExpectationOutcome outcome = judge_expectations(program, own);
  EXPECT_EQ(ilk_report_text(report), text_report(program, own, name));
  EXPECT_EQ(ilk_report_json(report), json_report(program, own, outcome, name));
  EXPECT_EQ(ilk_report_summary(report), summary_of(own));
  ASSERT_EQ(ilk_report_finding_count(report), own.findings.size());
  EXPECT_EQ(ilk_report_number(report, ILK_BARRIERS), own.barrier_count);
  std::string findings;
  for (size_t i = 0; i < own.findings.size(); ++i) {
    const ilk_finding* const finding = ilk_report_finding(report, i);
    EXPECT_EQ(ilk_finding_text(finding), text_of_finding(program, own.findings[i], name));
    EXPECT_EQ(ilk_finding_word(finding), word_of(own.findings[i].kind));
    EXPECT_EQ(ilk_finding_witness_count(finding), own.findings[i].witness.size());
  }
  EXPECT_EQ(ilk_report_finding(report, own.findings.size()), nullptr);
}

TEST(CReports, OfTheCorpusAreThoseOfTheLibrary) {
  int count = 0;
  for (const char* folder : {"bugs", "seeds", "queues"}) {
    for (const auto& entry : std::filesystem::directory_iterator(corpus(folder))) {
      if (entry.path().extension() != ".ilk" || entry.file_size() > 16'384) continue;
      const std::string path = entry.path().string();
      SCOPED_TRACE(path);
      const auto program = program_at(path);
      ASSERT_EQ(program.status, ILK_OK) << program.message();
      const auto report = checked(program.made.get());
      ASSERT_EQ(report.status, ILK_OK) << report.message();
      ParseOptions options;
      read_every_queue(options);
      const auto own = parse(ilk_program_source(program.made.get()), path, options);
      ASSERT_TRUE(own);
      expect_equal(report.made.get(), *own, path);
      EXPECT_EQ(ilk_report_verdict(report.made.get()), ILK_AS_EXPECTED);
      ++count;
    }
  }
  EXPECT_GT(count, 60);
}

TEST(CReports, OutliveTheirProgramAndSayWhereEachAccessIs) {
  auto program = program_at(corpus("bugs/mlx-3630.ilk"));
  ASSERT_EQ(program.status, ILK_OK) << program.message();
  const auto report = checked(program.made.get());
  program.made.reset();
  ASSERT_EQ(ilk_report_finding_count(report.made.get()), 1u);
  const ilk_finding* const finding = ilk_report_finding(report.made.get(), 0);
  EXPECT_EQ(ilk_finding_kind(finding), ILK_WAR);
  EXPECT_EQ(ilk_finding_observability(finding), ILK_OBSERVABLE);
  EXPECT_STREQ(ilk_finding_memory(finding), "g_bytes");
  EXPECT_EQ(ilk_finding_begin(finding), 0u);
  EXPECT_EQ(ilk_finding_end(finding), 4096u);
  EXPECT_THAT(ilk_finding_headline(finding), HasSubstr("vjp (dispatch 1) writes g_bytes[0:4096]"));
  EXPECT_GT(ilk_finding_detail_count(finding), 0u);
  EXPECT_EQ(ilk_finding_detail(finding, 99), nullptr);
  EXPECT_STREQ(ilk_finding_witness(finding, 0), "reduce after vjp");
  EXPECT_EQ(ilk_finding_witness(finding, 1), nullptr);
  EXPECT_STREQ(ilk_finding_expectation(finding), "expect WAR reduce vjp");
  EXPECT_THAT(ilk_finding_fix(finding), HasSubstr("an execution dependency after dispatch 0"));
  const ilk_access* const first = ilk_finding_first(finding);
  EXPECT_EQ(ilk_access_dispatch(first), 0u);
  EXPECT_STREQ(ilk_access_label(first), "reduce");
  EXPECT_STREQ(ilk_access_kernel(first), "col_sum");
  EXPECT_STREQ(ilk_access_verb(first), "reads");
  EXPECT_STREQ(ilk_access_tensor(first), "g");
  const ilk_access* const second = ilk_finding_second(finding);
  EXPECT_STREQ(ilk_access_verb(second), "writes");
  EXPECT_EQ(ilk_access_begin(second), 0u);
  EXPECT_EQ(ilk_access_end(second), 4096u);
  EXPECT_EQ(ilk_access_line(second), ilk_access_line(first) + 1);
}

// The access that there is not is handed on as it is.
TEST(CReports, SayNothingOfFindingsAndAccessesThatAreNull) {
  EXPECT_EQ(ilk_finding_kind(nullptr), ILK_RAW);
  EXPECT_EQ(ilk_finding_observability(nullptr), ILK_UNKNOWN);
  EXPECT_EQ(ilk_finding_first(nullptr), nullptr);
  EXPECT_EQ(ilk_finding_second(nullptr), nullptr);
  for (const auto text : {ilk_finding_word, ilk_finding_memory, ilk_finding_headline,
                          ilk_finding_fix, ilk_finding_text, ilk_finding_expectation}) {
    EXPECT_EQ(text(nullptr), nullptr);
  }
  for (const auto count : {ilk_finding_detail_count, ilk_finding_witness_count}) {
    EXPECT_EQ(count(nullptr), 0u);
  }
  for (const auto text : {ilk_finding_detail, ilk_finding_witness}) {
    EXPECT_EQ(text(nullptr, 0), nullptr);
  }
  for (const auto number : {ilk_finding_begin, ilk_finding_end}) EXPECT_EQ(number(nullptr), 0u);
  for (const auto text :
       {ilk_access_label, ilk_access_kernel, ilk_access_verb, ilk_access_tensor}) {
    EXPECT_EQ(text(nullptr), nullptr);
  }
  for (const auto number : {ilk_access_begin, ilk_access_end, ilk_access_line}) {
    EXPECT_EQ(number(nullptr), 0u);
  }
  EXPECT_EQ(ilk_access_dispatch(nullptr), UINT64_MAX);
}

TEST(CReports, CanLeaveTheExpectLinesOut) {
  const auto program = program_at(corpus("bugs/mlx-3630.ilk"));
  const Owned<ilk_options> options(ilk_options_create());
  ASSERT_EQ(ilk_options_set(options.get(), ILK_IGNORE_EXPECT, 1), ILK_OK);
  const auto report = checked(program.made.get(), options.get());
  EXPECT_EQ(ilk_report_verdict(report.made.get()), ILK_UNEXPECTED);
}

TEST(CReports, OfAnAccessOfTheEndHaveNone) {
  const auto program = parsed(
      "interlock 1\nmemory m 64 scratch\ntensor t f32[4] at m+0\noutput t\n"
      "dispatch Look reads t\n");
  const auto report = checked(program.made.get());
  for (size_t i = 0; i < ilk_report_finding_count(report.made.get()); ++i) {
    const ilk_finding* const finding = ilk_report_finding(report.made.get(), i);
    EXPECT_EQ(ilk_finding_kind(finding), ILK_UNINITIALIZED);
    EXPECT_EQ(ilk_finding_second(finding), nullptr);
  }
  EXPECT_GT(ilk_report_finding_count(report.made.get()), 0u);
}

TEST(CPasses, RepairWhatTheCheckFinds) {
  const auto program = parsed(
      "interlock 1  # Kept.\nmemory a 64\ndispatch Make writes a\n"
      "dispatch Use reads a\n");
  const auto fixed = call<ilk_program>(ilk_fix, program.made.get(), nullptr);
  ASSERT_EQ(fixed.status, ILK_OK) << fixed.message();
  EXPECT_STREQ(ilk_program_source(fixed.made.get()),
               "interlock 1  # Kept.\nmemory a 64\ndispatch Make writes a\nbarrier\n"
               "dispatch Use reads a\n");
  const auto report = checked(fixed.made.get());
  EXPECT_EQ(ilk_report_finding_count(report.made.get()), 0u);
}

// What the sync of the program orders is what is kept, wherever its lines stand.
TEST(CPasses, EncodeInTheOrderOfTheRun) {
  const std::string head = "interlock 1\nmemory x 64\na: queue serial\nb: queue serial\n";
  const auto program = parsed(head +
                              "wait e=1 on b\nuse: dispatch R reads x on b\n"
                              "make: dispatch W writes x on a\nsignal e=1 on a\n");
  ASSERT_EQ(program.status, ILK_OK) << program.message();
  const auto encoded = call<ilk_program>(ilk_encode, program.made.get(), "edges", nullptr);
  ASSERT_EQ(encoded.status, ILK_OK) << encoded.message();
  EXPECT_THAT(ilk_program_text(encoded.made.get()),
              HasSubstr("use: dispatch R reads x after make"));
  const auto endless = parsed(head +
                              "wait e=1 on b\nsignal f=1 on b\nwait f=1 on a\n"
                              "signal e=1 on a\n");
  ASSERT_EQ(endless.status, ILK_OK) << endless.message();
  const auto refused = call<ilk_program>(ilk_encode, endless.made.get(), "edges", nullptr);
  EXPECT_EQ(refused.status, ILK_BAD_INPUT);
  EXPECT_THAT(refused.message(), HasSubstr("the program has a deadlock"));
}

TEST(CPasses, EncodeWithAnEncoderOfEitherRegistry) {
  const auto program = parsed(
      "interlock 1\nmemory a 64\nmemory b 64\ndispatch Make writes a\n"
      "dispatch Other writes b\ndispatch Use reads a\n");
  const auto one = call<ilk_program>(ilk_encode, program.made.get(), "interlock", nullptr);
  ASSERT_EQ(one.status, ILK_OK) << one.message();
  EXPECT_THAT(ilk_program_text(one.made.get()), HasSubstr("barrier\n"));
  const auto several = call<ilk_program>(ilk_encode, program.made.get(), "semaphores", nullptr);
  ASSERT_EQ(several.status, ILK_OK) << several.message();
  EXPECT_THAT(ilk_program_text(several.made.get()), HasSubstr("queue"));
  const auto report = checked(several.made.get());
  EXPECT_EQ(ilk_report_finding_count(report.made.get()), 0u);
  // What has several queues is not for an encoder of one.
  const auto refused = call<ilk_program>(ilk_encode, several.made.get(), "interlock", nullptr);
  EXPECT_EQ(refused.status, ILK_BAD_INPUT);
  EXPECT_GT(ilk_error_line(refused.error.get()), 0u);
}

TEST(CPasses, SayWhichNamesThereAre) {
  const auto program = parsed("interlock 1\nmemory a 64\n");
  const auto encoded = call<ilk_program>(ilk_encode, program.made.get(), "mlx-2027", nullptr);
  EXPECT_EQ(encoded.status, ILK_BAD_ARGUMENT);
  EXPECT_THAT(encoded.message(), HasSubstr("there is no encoder 'mlx-2027'. Did you mean"));
  const auto planned = call<ilk_program>(ilk_plan, program.made.get(), "livenes", nullptr);
  EXPECT_THAT(planned.message(), HasSubstr("Did you mean 'liveness'?"));
  EXPECT_EQ(call<ilk_program>(ilk_find, "lib:./nowhere.so", nullptr).status, ILK_FAILED);
}

TEST(CPasses, PlanGivesEachTensorItsPlace) {
  const auto program = parsed(
      "interlock 1\ntensor a f32[4]\ntensor b f32[4]\noutput b\n"
      "dispatch Make writes a\ndispatch Use reads a writes b\n");
  const auto planned = call<ilk_program>(ilk_plan, program.made.get(), "liveness", nullptr);
  ASSERT_EQ(planned.status, ILK_OK) << planned.message();
  EXPECT_THAT(ilk_program_text(planned.made.get()), HasSubstr(" at "));
}

TEST(CPasses, MinimizeKeepsTheFindingAndNothingElse) {
  const auto program = parsed(
      "interlock 1\nmemory a 64\nmemory b 64\ndispatch Other writes b\n"
      "dispatch Make writes a\ndispatch Use reads a\n"
      "dispatch Last reads b\n");
  const auto small = call<ilk_program>(ilk_minimize, program.made.get(), nullptr);
  ASSERT_EQ(small.status, ILK_OK) << small.message();
  EXPECT_EQ(ilk_program_dispatch_count(small.made.get()), 2u);
  EXPECT_THAT(ilk_program_text(small.made.get()), HasSubstr("expect RAW"));
  const auto report = checked(small.made.get());
  EXPECT_EQ(ilk_report_verdict(report.made.get()), ILK_AS_EXPECTED);
  const auto clean = parsed("interlock 1\nmemory a 64\ndispatch Make writes a\n");
  EXPECT_EQ(call<ilk_program>(ilk_minimize, clean.made.get(), nullptr).status, ILK_NOTHING);
}

TEST(CPasses, FindAProgramThatABrokenEncoderGetsWrongAndNoneOfARightOne) {
  const Owned<ilk_options> options(ilk_options_create());
  ASSERT_EQ(ilk_options_set(options.get(), ILK_RUN_COUNT, 500), ILK_OK);
  const auto found = call<ilk_program>(ilk_find, "none", options.get());
  ASSERT_EQ(found.status, ILK_OK) << found.message();
  ASSERT_NE(found.made, nullptr);
  EXPECT_EQ(ilk_program_dispatch_count(found.made.get()), 2u);
  EXPECT_THAT(ilk_program_text(found.made.get()), HasSubstr("expect "));
  const auto nothing = call<ilk_program>(ilk_find, "interlock", options.get());
  EXPECT_EQ(nothing.status, ILK_OK) << nothing.message();
  EXPECT_EQ(nothing.made, nullptr);
}

}  // namespace
}  // namespace interlock::reports_test
