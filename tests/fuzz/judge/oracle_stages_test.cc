// Each stage of the oracle stack sees a fault that no other one sees: what it is held against is
// replaced by a faulty one. A stage that were switched off would be missed here, and only here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/campaign.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/oracles.h"
#include "tests/encoder/sync/mutant_encoders.h"
#include "tests/program_count.h"

namespace interlock::oracle_stages_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Facts = std::vector<Fact>;

Program parsed(const std::string& body) {
  auto program = parse("interlock 1\nmemory a 64\nmemory b 64\n" + body);
  EXPECT_TRUE(program) << program.error().message;
  return std::move(program).value();
}

constexpr const char* kOpenScope =
    "dispatch A writes a[0:4]\nbarrier copy -> copy\ndispatch B reads a[0:4] writes b[0:4]\n";

// The messages of all disagreements, after the names of their stages.
std::vector<std::string> disagreements_on(const Program& program, const OracleOptions& options,
                                          uint64_t number = 0) {
  std::vector<std::string> messages;
  for (const InternalDisagreement& d : judge(program, options, number).disagreements) {
    messages.push_back(std::string(word_of(d.stage)) + ": " + d.message);
  }
  return messages;
}

// Expects that judging `program` ends in one disagreement, which `message` tells.
void expect_disagreement(const Program& program, const OracleOptions& options,
                         std::string_view message) {
  EXPECT_THAT(disagreements_on(program, options), ElementsAre(message));
}

// Nothing is tried at random, and nothing on the CPU.
OracleOptions deciding_only() { return {.random_schedule_count = 0, .cpu_period = 0}; }

// All stages, on every program, but for the device's.
OracleOptions thorough() { return {.cpu_period = 1, .text_period = 1}; }

template <bool (*is_dropped)(const Fact&)>
Facts without(const Program& program, const HappensBefore& order, const ByteSegments& segments,
              std::span<ConflictObserver* const> observers) {
  Facts facts = find_exactly(program, order, segments, observers);
  std::erase_if(facts, is_dropped);
  return facts;
}

bool is_any_hazard(const Fact& fact) { return std::holds_alternative<Hazard>(fact); }
bool is_ordered(const Fact& fact) {
  const auto* const hazard = std::get_if<Hazard>(&fact);
  return hazard != nullptr && hazard->is_ordered;
}
bool is_write_after_read(const Fact& fact) { return kind_of(fact) == FindingKind::kWriteAfterRead; }
bool is_reordered(const Fact& fact) { return std::holds_alternative<ReorderedRead>(fact); }

// A hazard between the first two dispatches, whatever they touch.
Facts with_a_false_hazard(const Program& program, const HappensBefore& order,
                          const ByteSegments& segments,
                          std::span<ConflictObserver* const> observers) {
  Facts facts = find_exactly(program, order, segments, observers);
  facts.emplace_back(Hazard{.kind = FindingKind::kWriteAfterRead,
                            .first = {DispatchId{size_t{0}}, 0},
                            .second = {DispatchId{1}, 0}});
  return facts;
}

TEST(ThreeRuns, ContradictAHazardThatIsNone) {
  OracleOptions options = thorough();
  options.methods.find = with_a_false_hazard;
  const Program program = parsed("dispatch A reads a[0:4]\ndispatch B writes b[0:4]\n");
  EXPECT_THAT(disagreements_on(program, thorough()), IsEmpty());
  expect_disagreement(
      program, options,
      "three-runs: The exact check finds a hazard, but the three strict runs agree.");
}

template <bool (*is_missed)(const Fact&)>
void expect_three_runs_to_contradict(const std::string& text) {
  OracleOptions options = deciding_only();
  options.methods.find = without<is_missed>;
  expect_disagreement(
      parsed(text), options,
      "three-runs: The three strict runs differ, but the exact check finds no hazard.");
}

// The bound is content with the barriers that are there, and random schedules are not tried.
TEST(ThreeRuns, ContradictACheckThatMissesWhatTheReversedRunShows) {
  expect_three_runs_to_contradict<is_write_after_read>(
      "dispatch A reads a[0:4] writes b[0:4]\ndispatch B writes a[0:4]\nbarrier\ndispatch C\n");
}

TEST(ThreeRuns, ContradictACheckThatMissesWhatTheLazyRunShows) {
  expect_three_runs_to_contradict<is_ordered>(
      "dispatch A writes a[0:4]\nbarrier execution\ndispatch B reads a[0:4] writes b[0:4]\n");
}

// Beside scoped barriers there is no other method, unless the CPU has its turn.
TEST(RandomSchedules, AloneContradictACheckThatMissesWhatScopesLeaveOpen) {
  OracleOptions options = {.random_schedule_count = 8, .cpu_period = 0};
  const Program program = parsed(kOpenScope);
  EXPECT_THAT(disagreements_on(program, options), IsEmpty());
  options.methods.find = without<is_any_hazard>;
  // Half of the schedules keep the order; that eight of them do has odds of 1 to 255.
  for (uint64_t number = 0; number < 4; ++number) {
    EXPECT_THAT(
        disagreements_on(program, options, number),
        AllOf(
            Not(IsEmpty()),
            Each(
                "random-schedules: A random legal schedule ends differently, although no check finds a hazard.")))
        << number;
  }
}

TEST(RandomSchedules, AreAsManyAsAskedFor) {
  OracleOptions options = deciding_only();
  options.methods.find = without<is_any_hazard>;
  const Program program = parsed(kOpenScope);
  EXPECT_THAT(disagreements_on(program, options), IsEmpty());
  options.random_schedule_count = 200;
  // Some 100 of them show it.
  EXPECT_GT(disagreements_on(program, options).size(), 50u);
  EXPECT_LT(disagreements_on(program, options).size(), 150u);
}

// Nothing is executed where a dispatch breaks its alias contract, so that the bound is alone.
TEST(Bound, ContradictsACheckThatMissesAHazard) {
  OracleOptions options = thorough();
  options.methods.find = without<is_any_hazard>;
  expect_disagreement(
      parsed("dispatch Shift reads a[0:16] writes a[4:20]\n"
             "dispatch A writes b[0:4]\ndispatch B reads b[0:4]\n"),
      options,
      "exact-check: The program has 0 barriers and no hazard; the bound says that it needs at least 1.");
}

// That destroyed bytes are still in use is no hazard.
TEST(Bound, SaysNothingOfWhatDestroysWaitFor) {
  const Program program = parsed("tensor t u8[4]\nA: dispatch A writes t\ndestroy t\n");
  EXPECT_THAT(disagreements_on(program, thorough()), IsEmpty());
}

EncoderEntry entry_of(const MutantEncoder& mutant) {
  return {mutant.name, mutant.fault, true, mutant.create};
}

class CrossCheck : public testing::TestWithParam<MutantEncoder> {};

// Whoever is under test: another encoder, none, or the faulty one itself. The rarest that needs a
// hundred programs at most is seen after 44 of them.
TEST_P(CrossCheck, AloneContradictsAnEncoderWithAFault) {
  const EncoderEntry faulty = entry_of(GetParam());
  for (const EncoderEntry* under_test : {find_encoder("interlock"), &faulty}) {
    OracleOptions options;
    options.cpu_period = 0;
    options.encoder = under_test;
    options.methods.cross_check = &faulty;
    CampaignOptions campaign;
    campaign.encoder = under_test;
    std::vector<std::string> messages;
    for (uint64_t run = 0; run < 100 && messages.empty(); ++run) {
      messages = disagreements_on(build(draft_of_run(campaign, run)).value(), options, run);
    }
    ASSERT_THAT(messages, Not(IsEmpty()));
    EXPECT_THAT(messages, Each(HasSubstr(GetParam().kind == MutantKind::kExcess
                                             ? " barriers; the bound says "
                                             : "Encoder '" + std::string(faulty.name) + "' ")));
    EXPECT_THAT(messages, Each(testing::StartsWith("cross-check: ")));
  }
}

std::vector<MutantEncoder> mutants_that_show_soon() {
  const std::set<std::string_view> names = {"drops-raw", "drops-war", "drops-waw", "reads-conflict",
                                            "keeps-epoch"};
  std::vector<MutantEncoder> mutants;
  for (const MutantEncoder& mutant : mutant_encoders()) {
    if (names.count(mutant.name) > 0) mutants.push_back(mutant);
  }
  return mutants;
}

INSTANTIATE_TEST_SUITE_P(Encoder, CrossCheck, testing::ValuesIn(mutants_that_show_soon()));

// As many barriers as there should be, of which none makes anything visible.
class ExecutionBarriersOnly final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    Weakened weakened(sink);
    inner_->encode(dispatch, weakened);
  }

 private:
  struct Weakened final : CommandSink {
    explicit Weakened(CommandSink& all) : sink(all) {}
    void issue_dispatch(DispatchId id) override { sink.issue_dispatch(id); }
    void issue_barrier(BarrierKind) override { sink.issue_barrier(BarrierKind::kExecution); }

    CommandSink& sink;
  };

  std::unique_ptr<Encoder> inner_ = find_encoder("interlock")->create();
};

// Issues every second dispatch of four, a barrier, and then the others.
class OddOnesLast final : public Encoder {
 public:
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) override {
    if (seen_count_++ % 2 == 0) return sink.issue_dispatch(dispatch.id);
    held_.push_back(dispatch.id);
  }
  void finish(CommandSink& sink) override {
    sink.issue_barrier(BarrierKind::kFull);
    for (const DispatchId id : held_) sink.issue_dispatch(id);
  }

 private:
  std::vector<DispatchId> held_;
  size_t seen_count_ = 0;
};

template <typename Encoder_>
EncoderEntry entry_for(std::string_view name) {
  return {name, "", true,
          []() -> std::unique_ptr<Encoder> { return std::make_unique<Encoder_>(); }};
}

// The bound alone is content with those.
TEST(CrossCheckOfHazards, AloneContradictsBarriersThatAreTooWeak) {
  const EncoderEntry weak = entry_for<ExecutionBarriersOnly>("weak");
  const Program program =
      parsed("A: dispatch A writes a[0:4]\nB: dispatch B reads a[0:4] writes b[0:4]\n");
  for (const EncoderEntry* under_test : {find_encoder("interlock"), &weak}) {
    OracleOptions options = thorough();
    options.encoder = under_test;
    options.methods.cross_check = &weak;
    expect_disagreement(
        program, options,
        "cross-check: Encoder 'weak' leaves a RAW hazard between A (dispatch 0) and B (dispatch 1).");
  }
}

// Two barriers in the order of the text, and one in that of the encoder under test.
TEST(CrossCheckOfOrders, HoldsAnEncoderAgainstTheOrderThatItWasGiven) {
  const EncoderEntry reordering = entry_for<OddOnesLast>("odd-ones-last");
  OracleOptions options = thorough();
  options.encoder = &reordering;
  const Program program = parsed(
      "A: dispatch A writes a[0:4]\nB: dispatch B reads a[0:4] writes a[8:12]\n"
      "C: dispatch C writes b[0:4]\nD: dispatch D reads b[0:4] writes b[8:12]\n");
  const OracleReport report = judge(program, options, 0);
  EXPECT_EQ(report.program.dispatches[1].order, 2u) << print(report.program);
  EXPECT_THAT(report.facts, IsEmpty());
  EXPECT_THAT(disagreements_on(program, options), IsEmpty());
}

// One barrier, between C and D, would do for the unpin, too; encoders place one before the destroy.
TEST(CrossCheckOfDestroys, LetsAnEncoderWaitForAPinnedValue) {
  const Program program = parsed(
      "tensor t u8[4] at a+0\nA: dispatch A writes t\npin t\ndestroy t\n"
      "C: dispatch C writes b[0:4]\nbarrier\nD: dispatch D reads b[0:4]\nunpin t\n");
  EXPECT_THAT(disagreements_on(program, thorough()), IsEmpty());
}

// Executes as the CPU does; but whatever is not issue order leaves another first byte.
class FaultyCpu final : public Backend {
 public:
  std::string_view name() const override { return "faulty"; }
  Availability availability() const override { return {true, ""}; }
  bool supports(ExecutionMode mode) const override { return mode == ExecutionMode::kWitness; }
  Capabilities capabilities() const override { return find_backend("cpu")->capabilities(); }
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override {
    auto image = find_backend("cpu")->run(program, schedule, mode);
    if (image && !(schedule == reference_order_schedule(program))) ++image->memories[0][0];
    return image;
  }
};

TEST(CpuRuns, AloneContradictTheShadowMachine) {
  FaultyCpu faulty;
  OracleOptions options = thorough();
  options.methods.cpu = &faulty;
  const std::string text =
      "tensor o u8[4] at a+0\noutput o\ndispatch A writes b[0:4]\ndispatch B reads b[0:4]\n";
  EXPECT_THAT(disagreements_on(parsed(text), thorough()), IsEmpty());
  expect_disagreement(
      parsed(text), options,
      "cpu: An output differs on the CPU, although the shadow machine says that none can.");
}

TEST(CpuRuns, AloneContradictACheckThatMissesWhatScopesLeaveOpen) {
  OracleOptions options = thorough();
  options.random_schedule_count = 0;
  options.methods.find = without<is_any_hazard>;
  const Program program = parsed(kOpenScope);
  std::set<std::string> messages;
  for (uint64_t number = 0; number < 16; ++number) {
    const auto some = disagreements_on(program, options, number);
    messages.insert(some.begin(), some.end());
  }
  EXPECT_THAT(
      messages,
      ElementsAre(
          "cpu: A legal schedule leaves other bytes on the CPU, although no check finds a hazard."));
}

TEST(CpuRuns, AloneContradictACheckThatMissesAWrongOrder) {
  OracleOptions options = thorough();
  const Program program = parsed(
      "W: dispatch W order=1 writes a[0:4]\nbarrier\n"
      "R: dispatch R order=0 reads a[0:4] writes b[0:4]\n");
  EXPECT_THAT(disagreements_on(program, options), IsEmpty());
  options.methods.find = without<is_reordered>;
  expect_disagreement(
      program, options,
      "cpu: A legal schedule leaves other bytes on the CPU than the reference, although no check finds anything.");
}

// What is lost on the way is lost in issue order, too, and the reference has it.
TEST(CpuRuns, ExpectNoReferenceWhereValuesAreLost) {
  EXPECT_THAT(disagreements_on(parsed("tensor s u8[4] at a+0\ntensor t u8[4] at a+0\n"
                                      "tensor o u8[4] at b+0\noutput o\n"
                                      "dispatch A writes s\nbarrier\n"
                                      "dispatch B writes t\nbarrier\n"
                                      "dispatch C reads s writes o\n"),
                               thorough()),
              IsEmpty());
}

// Clean programs have their turn; where an output can differ, the CPU always runs, and never if it
// is not to run at all.
TEST(CpuRuns, ComeInTurnAndWhereAnOutputCanDiffer) {
  const Program clean = parsed("dispatch A writes a[0:4]\n");
  const Program broken =
      parsed("dispatch A writes a[0:4]\ndispatch B reads a[0:4] writes b[0:4]\n");
  for (uint64_t number = 0; number < 12; ++number) {
    OracleOptions options;
    options.cpu_period = 4;
    EXPECT_EQ(judge(clean, options, number).ran_on_cpu, number % 4 == 0) << number;
    EXPECT_TRUE(judge(broken, options, number).ran_on_cpu) << number;
    options.cpu_period = 0;
    EXPECT_FALSE(judge(clean, options, number).ran_on_cpu) << number;
    EXPECT_FALSE(judge(broken, options, number).ran_on_cpu) << number;
  }
}

// A program that no text gives: it parses no more.
TEST(PrintParse, AloneContradictsAProgramThatHasNoText) {
  Program program = parsed("dispatch A writes a[0:4]\n");
  program.memories[1].size_bytes = 0;
  EXPECT_THAT(
      disagreements_on(program, thorough()),
      ElementsAre(testing::StartsWith("print-parse: The printed program does not parse: ")));
  OracleOptions options;
  options.text_period = 3;
  for (uint64_t number = 0; number < 7; ++number) {
    EXPECT_EQ(disagreements_on(program, options, number).size(), number % 3 == 0 ? 1u : 0u);
  }
  options.text_period = 0;
  EXPECT_THAT(disagreements_on(program, options), IsEmpty());
}

// A sound stack is silent on the programs that the faults above were planted beside.
TEST(OracleStack, IsSilentAboutSoundMethods) {
  CampaignOptions campaign;
  for (uint64_t run = 0; run < (is_slow_build() ? 20 : 200); ++run) {
    EXPECT_THAT(disagreements_on(build(draft_of_run(campaign, run)).value(), thorough(), run),
                IsEmpty());
  }
}

}  // namespace
}  // namespace interlock::oracle_stages_test
