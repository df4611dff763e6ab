// Conformance of encoders for several queues: those that are right have the properties, and those
// that are known to be wrong lack one.
#include "fuzz/conform/conform_on_queues.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "fuzz/external/opened_queue_encoder.h"
#include "tests/fuzz/conform/report_parts.h"
#include "tests/program_count.h"

namespace interlock::conform_on_queues_test {
namespace {

using conform_test::names_of;
using conform_test::property_of;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ConformReport report_of(const QueueEncoderEntry& encoder) {
  ConformOptions options;
  options.run_count = is_slow_build() ? 40 : 300;
  options.distance_max = is_slow_build() ? 20 : 64;
  options.operand_count_max = is_slow_build() ? 10 : 64;
  options.stream_dispatches = 100;
  const auto report = conform_on_queues(encoder, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  EXPECT_THAT(report->disagreements, IsEmpty()) << encoder.name;
  return *report;
}

TEST(ConformOnQueues, TellsRightEncodersFromBrokenOnes) {
  for (const QueueEncoderEntry& encoder : queue_encoder_registry()) {
    const ConformReport report = report_of(encoder);
    if (encoder.is_broken) {
      EXPECT_TRUE(report.has_failure() || is_slow_build()) << encoder.name;
    } else {
      EXPECT_THAT(names_of(report, ConformVerdict::kFails), IsEmpty()) << encoder.name;
    }
    EXPECT_THAT(names_of(report, ConformVerdict::kNotJudged),
                ElementsAre("command-buffers", "fewest", "bounded-memory"))
        << encoder.name;
  }
}

TEST(ConformOnQueues, OursPlaceNothingThatCanGo) {
  for (const char* const name : {"semaphores", "edges"}) {
    const ConformReport report = report_of(*find_queue_encoder(name));
    EXPECT_THAT(names_of(report, ConformVerdict::kAdvice), IsEmpty()) << name;
  }
}

// Deals dispatches out to so many queues in turn, and orders none of them.
template <uint64_t kCount>
Result<Program> dealt_out(const Program& program, uint32_t /*queue_count*/) {
  ProgramDraft draft = draft_of(program);
  uint64_t next = 0;
  for (ItemDraft& item : draft.items) {
    auto* const dispatch = std::get_if<DispatchDraft>(&item);
    if (dispatch != nullptr) dispatch->queue = fmt::format("q{}", next++ % kCount);
  }
  for (uint64_t i = 0; i < kCount; ++i) {
    draft.items.insert(draft.items.begin(), QueueDraft{fmt::format("q{}", i), QueueKind::kSerial});
  }
  return build(draft);
}

// Conflicts that always lie on one queue, in order, would say nothing of it.
TEST(ConformOnQueues, StreamsHaveConflictsAcrossQueues) {
  for (const auto encode : {dealt_out<2>, dealt_out<3>, dealt_out<4>, dealt_out<8>}) {
    const QueueEncoderEntry encoder = {.name = "dealt-out",
                                       .summary = "no sync at all",
                                       .is_broken = true,
                                       .takes_queue_count = false,
                                       .encode = encode};
    ConformOptions options;
    options.run_count = 0;
    options.distance_max = 1;
    options.operand_count_max = 1;
    options.stream_dispatches = 40;
    const auto report = conform_on_queues(encoder, options);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(names_of(*report, ConformVerdict::kFails), Contains("survives"));
    EXPECT_THAT(property_of(*report, "survives").detail,
                HasSubstr(" in a stream of 40 dispatches"));
    EXPECT_TRUE(property_of(*report, "survives").counterexample);
  }
}

// Of processes: what does not answer lacks that, and what hangs is not waited for without end.
TEST(ConformOnQueues, SaysWhatAProcessDoesInsteadOfAnswering) {
  struct Fault {
    const char* name;
    const char* message;
    double timeout_seconds = 10;
  };
  constexpr Fault kFaults[] = {{"crash", "was ended by signal 11"},
                               {"hang", "did not answer within", 0.05},
                               {"drop", "dispatches, and the program"}};
  for (const auto& [fault, message, timeout_seconds] : kFaults) {
    const auto encoder =
        open_queue_encoder(std::string("exec:" FAULTY_ENCODER " ") + fault, "concurrent",
                           {.exec_timeout_seconds = timeout_seconds, .stop = nullptr});
    ASSERT_TRUE(encoder) << encoder.error().message;
    ConformOptions options;
    options.run_count = 30;
    options.distance_max = 2;
    options.operand_count_max = 2;
    options.stream_dispatches = 10;
    const auto report = conform_on_queues((*encoder)->entry, options);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_THAT(names_of(*report, ConformVerdict::kFails), Contains("answers")) << fault;
    EXPECT_THAT(property_of(*report, "answers").detail, HasSubstr(message));
  }
}

}  // namespace
}  // namespace interlock::conform_on_queues_test
