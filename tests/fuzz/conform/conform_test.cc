// Conformance: right encoders have the properties, wrong ones lack the one that they are wrong in,
// and the counterexample shows it.
#include "fuzz/conform/conform.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/registry.h"
#include "encoder/sync/interlock_encoder.h"
#include "encoder/sync/trivial_encoders.h"
#include "encoder/text/files.h"
#include "encoder/text/parser.h"
#include "fuzz/conform/probe_programs.h"
#include "fuzz/external/opened_encoder.h"
#include "fuzz/judge/replay.h"
#include "fuzz/testing/conformance.h"
#include "fuzz/testing/matchers.h"
#include "tests/encoder/sync/mutant_encoders.h"
#include "tests/fuzz/conform/report_parts.h"
#include "tests/fuzz/conform/ring_encoder.h"
#include "tests/program_count.h"

namespace interlock::conform_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ConformOptions quick_options() {
  ConformOptions options;
  options.run_count = is_slow_build() ? 50 : 200;
  options.distance_max = is_slow_build() ? 200 : 600;
  options.operand_count_max = is_slow_build() ? 20 : 64;
  options.stream_dispatches = is_slow_build() ? 2'000 : 20'000;
  return options;
}

ConformReport report_of(const EncoderEntry& encoder, const ConformOptions& options) {
  const auto report = conform(encoder, options);
  EXPECT_TRUE(report) << (report ? "" : report.error().message);
  if (!report) return {};
  EXPECT_THAT(report->disagreements, IsEmpty());
  return *report;
}

ConformReport report_of(std::unique_ptr<Encoder> (*create)(),
                        const ConformOptions& options = quick_options()) {
  return report_of({"tested", "", false, create}, options);
}

std::unique_ptr<OpenedEncoder> faulty(const std::string& arguments) {
  auto encoder = open_encoder("exec:" FAULTY_ENCODER " " + arguments, {});
  EXPECT_TRUE(encoder) << (encoder ? "" : encoder.error().message);
  return encoder ? std::move(*encoder) : nullptr;
}

TEST(Conform, OursHasEveryProperty) {
  ConformOptions options = quick_options();
  if (!is_slow_build()) options.distance_max = 4096;
  const ConformReport report = report_of(*find_encoder("interlock"), options);
  EXPECT_THAT(names_of(report, ConformVerdict::kFails), IsEmpty());
  EXPECT_THAT(names_of(report, ConformVerdict::kAdvice), IsEmpty());
  EXPECT_FALSE(report.has_failure());
}

TEST(Conform, MoreBarriersThanNeededAreAdvice) {
  const ConformReport report = report_of(*find_encoder("serial"), quick_options());
  EXPECT_THAT(names_of(report, ConformVerdict::kAdvice),
              ElementsAre("fewest", "nothing-redundant"));
  EXPECT_FALSE(report.has_failure());
  const ConformProperty& redundant = property_of(report, "nothing-redundant");
  EXPECT_EQ(redundant.counterexample->dispatches.size(), 2u);
  EXPECT_THAT(*redundant.counterexample, Not(HasNoUselessSync()));
}

// Ends a program, and each command buffer, with a barrier, so that nothing has to be known of it
// after.
class ClosingEncoder final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    encoder_.encode(dispatch, sink);
    has_dispatch_ = true;
  }
  void wait_for_all(CommandSink& sink) override { encoder_.wait_for_all(sink); }
  void finish(CommandSink& sink) override {
    if (has_dispatch_) wait_for_all(sink);
  }

 private:
  InterlockEncoder encoder_;
  bool has_dispatch_ = false;
};

std::unique_ptr<Encoder> make_closing_encoder() { return std::make_unique<ClosingEncoder>(); }

TEST(Conform, ABarrierAfterTheLastDispatchIsNoAdvice) {
  const ConformReport report =
      report_of({"closing", "", false, &make_closing_encoder}, quick_options());
  EXPECT_THAT(names_of(report, ConformVerdict::kFails), IsEmpty());
  EXPECT_EQ(property_of(report, "fewest").verdict, ConformVerdict::kHolds);
  EXPECT_EQ(property_of(report, "nothing-redundant").verdict, ConformVerdict::kHolds);
}

template <size_t kAccessesMax>
void expect_refuted(size_t dispatch_count, size_t operand_count) {
  ConformOptions options = quick_options();
  options.distance_max = 2 * kAccessesMax;  // At which it has forgotten.
  options.run_count = 50;
  if (operand_count == 0)
    options.operand_count_max = kAccessesMax / 2;  // Of which it forgets none.
  const ConformReport report = report_of(&make_ring_encoder<kAccessesMax>, options);
  EXPECT_TRUE(report.has_failure());
  const ConformProperty& distances = property_of(report, "distances");
  ASSERT_EQ(distances.verdict, ConformVerdict::kFails);
  EXPECT_THAT(*distances.counterexample, Not(IsHazardFree()));
  const ConformProperty& operands = property_of(report, "operands");
  if (operand_count == 0) {
    EXPECT_EQ(operands.verdict, ConformVerdict::kHolds);
    return;
  }
  ASSERT_EQ(operands.verdict, ConformVerdict::kFails);
  const Program& shown = *operands.counterexample;
  EXPECT_EQ(shown.dispatches.size(), dispatch_count);
  EXPECT_EQ(shown.accesses_of(shown.dispatches[0]).size(), operand_count);
  EXPECT_THAT(shown, Not(IsHazardFree()));
}

TEST(Conform, RefutesEncodersThatForget) {
  expect_refuted<16>(2, 17);
  if (!is_slow_build()) expect_refuted<40>(0, 0);
}

// As they are asked by whoever has an encoder in another language.
TEST(Conform, RefutesAProcessWithARingBeforeFiveThousandPrograms) {
  const auto encoder = faulty("ring 16");
  ConformOptions options = quick_options();
  options.run_count = 100;
  options.operand_count_max = 20;
  options.distance_max = 40;
  const ConformReport report = report_of(encoder->entry, options);
  EXPECT_LT(report.program_count, 5000u);
  const ConformProperty& operands = property_of(report, "operands");
  ASSERT_EQ(operands.verdict, ConformVerdict::kFails);
  const Program& shown = *operands.counterexample;
  ASSERT_EQ(shown.dispatches.size(), 2u);
  EXPECT_EQ(shown.accesses_of(shown.dispatches[0]).size(), 17u);
}

TEST(Conform, ARightProcessHasEveryProperty) {
  const auto encoder = faulty("none");
  ConformOptions options = quick_options();
  options.run_count = 100;
  options.operand_count_max = 8;
  options.distance_max = 100;
  const ConformReport report = report_of(encoder->entry, options);
  EXPECT_THAT(names_of(report, ConformVerdict::kHolds).size(), report.properties.size());
}

TEST(Conform, TellsFailuresStateAndMemoryApart) {
  const auto failing_of = [](const char* arguments) {
    const auto encoder = faulty(arguments);
    ConformOptions options;
    options.run_count = 20;
    options.operand_count_max = 2;
    options.distance_max = 3;
    options.stream_dispatches = 100;
    return report_of(encoder->entry, options);
  };
  const ConformReport crashes = failing_of("crash");
  EXPECT_THAT(names_of(crashes, ConformVerdict::kFails), ElementsAre("answers"));
  EXPECT_THAT(property_of(crashes, "answers").detail, HasSubstr("was ended by signal 11"));
  EXPECT_EQ(property_of(crashes, "answers").counterexample->dispatches.size(), 1u);
  const ConformReport forgetful = failing_of("forgetful 2");
  EXPECT_THAT(names_of(forgetful, ConformVerdict::kFails), testing::Contains("no-state"));
  const ConformReport leaks = failing_of("leak");
  EXPECT_THAT(names_of(leaks, ConformVerdict::kFails), IsEmpty());
  EXPECT_THAT(names_of(leaks, ConformVerdict::kAdvice), ElementsAre("bounded-memory"));
}

// What was not answered does not hold.
TEST(Conform, JudgesNothingWhereAnswersAreMissing) {
  const auto report_with = [](const std::string& fault, const ExternalOptions& open) {
    const auto encoder = open_encoder("exec:" FAULTY_ENCODER " " + fault, open);
    ConformOptions options = quick_options();
    options.run_count = 20;
    options.operand_count_max = 2;
    options.distance_max = 3;
    options.stream_dispatches = 100;
    return report_of(encoder.value()->entry, options);
  };
  for (const char* fault : {"dies", "garble", "endless", "deaf"}) {
    const ConformReport report = report_with(fault, {.exec_timeout_seconds = 0.1});
    EXPECT_EQ(report.program_count, 4u) << fault;
    EXPECT_THAT(names_of(report, ConformVerdict::kFails), ElementsAre("answers")) << fault;
    EXPECT_EQ(names_of(report, ConformVerdict::kNotJudged).size(), 10u) << fault;
    EXPECT_EQ(property_of(report, "distances").detail, "none of the first 4 programs is answered");
    EXPECT_EQ(property_of(report, "answers").counterexample->dispatches.size(), 2u);
  }
  // It answers some: of the properties that it was asked for with an atomic nothing is known.
  const ConformReport crashes = report_with("crash", {});
  EXPECT_THAT(names_of(crashes, ConformVerdict::kNotJudged),
              AllOf(testing::Contains("orders-hazards"), testing::Contains("command-buffers"),
                    testing::Contains("deterministic"), testing::Contains("fewest"),
                    testing::Contains("nothing-redundant")));
  EXPECT_THAT(property_of(crashes, "orders-hazards").detail,
              testing::MatchesRegex("[0-9]+ answers? (is|are) missing"));
  EXPECT_EQ(property_of(crashes, "operands").verdict, ConformVerdict::kHolds);
}

// An answer that comes when it is asked for again was missing all the same.
TEST(Conform, HoldsMissingAnswersAgainstTheEncoderThatGivesThemLater) {
  const auto encoder = open_encoder("exec:" FAULTY_ENCODER " faints 7", {});
  ConformOptions options = quick_options();
  options.run_count = 20;
  options.stream_dispatches = 100;
  const ConformReport report = report_of(encoder.value()->entry, options);
  EXPECT_EQ(property_of(report, "answers").verdict, ConformVerdict::kFails);
  EXPECT_THAT(names_of(report, ConformVerdict::kNotJudged),
              AllOf(testing::Contains("orders-hazards"), testing::Contains("fewest")));
}

// The probes and what is generated have outputs that show what is wrong, in numbers too.
TEST(Conform, ShowsWhatReplays) {
  ConformOptions options = quick_options();
  options.distance_max = 20;
  for (const char* name : {"mlx-2024", "none"}) {
    const ConformReport report = report_of(*find_encoder(name), options);
    for (const char* property : {"orders-hazards", "distances", "operands", "command-buffers"}) {
      const ConformProperty& shown = property_of(report, property);
      EXPECT_EQ(shown.verdict, ConformVerdict::kFails) << name << ' ' << property;
      ASSERT_TRUE(shown.counterexample) << name << ' ' << property;
      const auto replayed = replay(*shown.counterexample, *find_backend("cpu"));
      EXPECT_TRUE(replayed && replayed->diverges) << name << ' ' << property << "\n" << shown.text;
    }
  }
}

TEST(Conform, SaysWhatWasNotAskedFor) {
  ConformOptions options;
  options.run_count = 1;
  options.distance_max = 1;
  options.operand_count_max = 1;
  options.stream_dispatches = 0;
  const ConformReport report = report_of(*find_encoder("interlock"), options);
  for (const char* const name : {"survives", "bounded-memory"}) {
    EXPECT_EQ(property_of(report, name).verdict, ConformVerdict::kNotJudged) << name;
    EXPECT_EQ(property_of(report, name).detail, "no long program was asked for") << name;
  }
}

// Each fault of our mutants shows: a missing barrier as a failure, one too many as advice. One
// in three of them is tried, in a slow build one in nine, all where all is proven.
TEST(Conform, ShowsTheFaultsOfMutants) {
  ConformOptions options;
  options.run_count = is_slow_build() ? 300 : 400;
  options.operand_count_max = 20;  // The mutant that takes most drops the nineteenth output.
  options.distance_max = 17;
  options.stream_dispatches = 0;
  const size_t step = static_cast<size_t>(proof_count(1, is_slow_build() ? 9 : 3, 1));
  for (size_t i = 0; i < mutant_encoders().size(); i += step) {
    const MutantEncoder& mutant = mutant_encoders()[i];
    const EncoderEntry entry{mutant.name, mutant.fault, true, mutant.create};
    const ConformReport report = report_of(entry, options);
    EXPECT_EQ(report.has_failure(), mutant.kind == MutantKind::kUnsafe) << mutant.name;
    EXPECT_TRUE(report.has_failure() ||
                property_of(report, "fewest").verdict == ConformVerdict::kAdvice)
        << mutant.name;
  }
}

// An encoder that is right within a command buffer, and forgets where one ends.
class ForgetsAtSplits final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    inner_->encode(dispatch, sink);
  }
  void end_command_buffer(CommandSink& sink) override {
    inner_ = std::make_unique<InterlockEncoder>();
    sink.issue_split();
  }
  void wait_for_all(CommandSink& sink) override { inner_->wait_for_all(sink); }

 private:
  std::unique_ptr<Encoder> inner_ = std::make_unique<InterlockEncoder>();
};

TEST(Conform, FindsStateThatIsLostBetweenCommandBuffers) {
  const ConformReport report =
      report_of([]() -> std::unique_ptr<Encoder> { return std::make_unique<ForgetsAtSplits>(); });
  EXPECT_THAT(names_of(report, ConformVerdict::kFails), ElementsAre("command-buffers"));
  EXPECT_EQ(property_of(report, "command-buffers").counterexample->dispatches.size(), 2u);
}

TEST(Conform, WritesItsCounterexamples) {
  const std::string folder = testing::TempDir() + "conform_test";
  std::filesystem::remove_all(folder);
  ConformOptions options = quick_options();
  options.run_count = 50;
  options.distance_max = 20;
  options.out_dir = folder;
  const ConformReport report = report_of({"ring", "", true, &make_ring_encoder<4>}, options);
  const ConformProperty& operands = property_of(report, "operands");
  EXPECT_EQ(operands.path, folder + "/operands.ilk");
  EXPECT_EQ(read_file(operands.path).value(), operands.text);
  EXPECT_THAT(program_in(operands.path), Not(IsHazardFree()));
  std::filesystem::remove_all(folder);
}

TEST(Conform, AStopLeavesTheRestNotJudged) {
  Stop stop;
  stop.request();
  ConformOptions options = quick_options();
  options.stop = &stop;
  const ConformReport report = report_of(*find_encoder("interlock"), options);
  EXPECT_EQ(names_of(report, ConformVerdict::kNotJudged).size(), report.properties.size());
  // As a command has it: whatever of this thread looks for a stop finds it.
  const StopScope scope(&stop);
  const ConformReport again = report_of(*find_encoder("interlock"), options);
  EXPECT_EQ(names_of(again, ConformVerdict::kNotJudged).size(), again.properties.size());
}

TEST(ProbePrograms, HaveOneConflictAtTheDistance) {
  for (const ConflictProbe& probe : conflict_probes()) {
    for (const uint64_t distance : {1u, 2u, 40u}) {
      const std::string text = text_at_distance(probe, distance);
      EXPECT_THAT(text, HasHazard(probe.kind, 0, static_cast<int>(distance)));
      EXPECT_THAT(encode_with(InterlockEncoder(), text), HasBarrierCount(1));
    }
    EXPECT_THAT(text_of_operands(probe, 17, 3), HasHazard(probe.kind, 0, 1));
  }
  EXPECT_THAT(probe_distances(40), testing::Contains(33u));
  EXPECT_THAT(probe_distances(4096), testing::Contains(4096u));
}

INTERLOCK_CONFORMANCE(InterlockEncoder);

using Ring16 = RingEncoder<16>;

TEST(ConformanceMacro, FailsWithTheFileAndTheCommand) {
  ConformOptions options;
  options.run_count = 0;
  options.distance_max = 1;
  options.stream_dispatches = 0;
  testing::TestPartResultArray failures;
  auto reporter = std::make_unique<testing::ScopedFakeTestPartResultReporter>(
      testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
  expect_conformance_of<Ring16>("Ring16", options);
  reporter.reset();
  ASSERT_EQ(failures.size(), 2);  // Across command buffers, too.
  const std::string file = conformance_folder("Ring16") + "/operands.ilk";
  EXPECT_THAT(failures.GetTestPartResult(0).message(),
              AllOf(HasSubstr("operands: RAW-same_range-Opaque-Opaque at 17 operands"),
                    HasSubstr("Replay: interlock replay " + file)));
  EXPECT_THAT(program_in(file), Not(IsHazardFree()));
}

}  // namespace
}  // namespace interlock::conform_test
