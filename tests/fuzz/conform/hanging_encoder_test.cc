// Encoders that hang on part of their programs: they are given up before that takes hours, and what
// was not asked is no answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "encoder/sync/encoder.h"
#include "encoder/sync/external_encoder.h"
#include "fuzz/conform/conform.h"
#include "fuzz/conform/patient_encoder.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/judge/oracles.h"
#include "tests/fuzz/conform/report_parts.h"

namespace interlock::hanging_encoder_test {
namespace {

using conform_test::names_of;
using conform_test::property_of;
using testing::ElementsAre;
using testing::IsEmpty;

ConformOptions few_programs() {
  ConformOptions options;
  options.run_count = 100;
  options.distance_max = 20;
  options.operand_count_max = 4;
  options.stream_dispatches = 100;
  return options;
}

ConformReport report_of(const EncoderEntry& entry, const ConformOptions& options) {
  const auto report = conform(entry, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  return report ? *report : ConformReport{};
}

// Answers as ours does, and as one that hangs where a program has an atomic.
class HangsOnAtomics final : public ExternalEncoder {
 public:
  explicit HangsOnAtomics(EncodeFailureKind kind) : kind_(kind) {}

  Encoding encode(const Program& program) override {
    ++count;
    const auto has_atomic = [](const Dispatch& dispatch) {
      return dispatch.atomic_op != AtomicOp::kNone;
    };
    if (std::ranges::none_of(program.dispatches, has_atomic)) {
      return {encode_with(program, find_encoder("interlock")), std::nullopt, {}};
    }
    ++hang_count;
    return {{}, EncodeFailure{kind_, "It says nothing to atomics."}, {}};
  }

  uint64_t count = 0;
  uint64_t hang_count = 0;

 private:
  EncodeFailureKind kind_;
};

ConformReport report_of_external(ExternalEncoder& encoder) {
  const EncoderEntry entry{"tested", "", false, nullptr, false, &encoder};
  return report_of(entry, few_programs());
}

// A tenth of the programs has an atomic: each would be waited for.
TEST(Conform, GivesUpAnEncoderThatHangsOnPartOfItsPrograms) {
  HangsOnAtomics encoder(EncodeFailureKind::kHang);
  const ConformReport report = report_of_external(encoder);
  EXPECT_LE(encoder.hang_count, kHangsInAllMax);
  EXPECT_GT(encoder.count, encoder.hang_count);
  EXPECT_THAT(names_of(report, ConformVerdict::kFails), ElementsAre("answers"));
  const ConformProperty& answers = property_of(report, "answers");
  EXPECT_EQ(answers.detail, "It says nothing to atomics.");
  EXPECT_EQ(answers.counterexample->dispatches.size(), 1u);
  EXPECT_EQ(property_of(report, "distances").verdict, ConformVerdict::kHolds);
  for (const char* const name : {"orders-hazards", "fewest", "survives", "bounded-memory"}) {
    EXPECT_EQ(property_of(report, name).verdict, ConformVerdict::kNotJudged) << name;
    EXPECT_EQ(property_of(report, name).detail, "it hangs") << name;
  }
}

// That nothing was asked is no other answer than the one before.
TEST(Conform, ComparesNoAnswerWithAQuestionThatWasNotAsked) {
  HangsOnAtomics encoder(EncodeFailureKind::kNotAsked);
  const ConformReport report = report_of_external(encoder);
  EXPECT_EQ(encoder.hang_count, 1u);
  EXPECT_THAT(names_of(report, ConformVerdict::kFails), IsEmpty());
  EXPECT_EQ(property_of(report, "deterministic").detail, "it hangs");
  EXPECT_EQ(property_of(report, "answers").detail, "it hangs");
  EXPECT_EQ(property_of(report, "operands").verdict, ConformVerdict::kHolds);
}

// Answers as ours does, and of fresh encoders the first alone.
class HasOneFreshEncoder final : public ExternalEncoder {
 public:
  Encoding encode(const Program& program) override {
    return {encode_with(program, find_encoder("interlock")), std::nullopt, {}};
  }
  Encoding encode_afresh(const Program& program) override {
    if (++fresh_count_ == 1) return encode(program);
    return {{}, EncodeFailure{EncodeFailureKind::kNotAsked, "There is no other."}, {}};
  }

 private:
  int fresh_count_ = 0;
};

TEST(Conform, SaysNothingOfDeterminismWhereTheSecondAnswerWasNotAskedFor) {
  HasOneFreshEncoder encoder;
  const ConformReport report = report_of_external(encoder);
  EXPECT_THAT(names_of(report, ConformVerdict::kFails), IsEmpty());
  for (const char* const name : {"deterministic", "no-state"}) {
    EXPECT_EQ(property_of(report, name).detail, "it hangs") << name;
  }
}

// With a process: after sixteen hangs in a row it is not asked any more, and what it had answered
// before stands.
TEST(Conform, OfAProcessThatHangsNamesTheFirstProgramThatHung) {
  const auto encoder =
      open_encoder("exec:" FAULTY_ENCODER " hang", {.exec_timeout_seconds = 0.05, .stop = nullptr});
  ASSERT_TRUE(encoder);
  const ConformReport report = report_of((*encoder)->entry, few_programs());
  EXPECT_THAT(names_of(report, ConformVerdict::kFails), ElementsAre("answers"));
  EXPECT_EQ(property_of(report, "answers").detail, "The encoder did not answer within 0.05 s.");
}

}  // namespace
}  // namespace interlock::hanging_encoder_test
