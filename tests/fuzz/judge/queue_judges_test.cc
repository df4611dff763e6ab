// Programs of several queues, judged by every method: they agree on what campaigns generate; and
// each stage sees a fault that is planted in what it is held against.
#include "fuzz/judge/queue_judges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/registry.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_launches.h"
#include "fuzz/generate/queue_meanings.h"
#include "simulator/schedules/choice.h"
#include "tests/program_count.h"
#include "tests/simulator/programs/queue_texts.h"

namespace interlock::queue_judges_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

QueueJudgeOptions thorough() {
  return {.text_period = 1, .advice_period = 1, .reversal_period = 1, .cpu_period = 1};
}

std::vector<std::string> disagreements_on(const std::string& text,
                                          const QueueJudgeOptions& options) {
  std::vector<std::string> messages;
  const Program program = program_with_queues("interlock 1\n" + text);
  for (const InternalDisagreement& d : judge_queues(program, options, 0).disagreements) {
    messages.push_back(std::string(word_of(d.stage)) + ": " + d.message);
  }
  return messages;
}

TEST(QueueJudges, AgreeOnGeneratedPrograms) {
  const int count = proof_count(20'000, 300, 15);
  int finding_count = 0;
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    ProgramDraft draft = generate_queues(choice);
    // Two in three are without, to have more of the rest.
    if (seed % 3 == 2) add_queue_meanings(draft, choice);
    if (seed % 5 == 4) add_queue_launches(draft, choice);
    const QueueJudgement judgement = judge_queues(draft, thorough(), static_cast<uint64_t>(seed));
    finding_count += !judgement.facts.empty();
    for (const InternalDisagreement& d : judgement.disagreements) {
      FAIL() << "seed " << seed << ", " << word_of(d.stage) << ": " << d.message << "\n"
             << print(draft);
    }
  }
  EXPECT_GT(finding_count, count / 4);
  print_proof(count, "all judges of programs of several queues agree");
}

// One of those of the full count. Their commits, which do nothing then, come in the order of the
// writes; the drops in any.
TEST(QueueJudges, AgreeWhereTheHostLosesTwoWritesToOneAtom) {
  constexpr uint64_t kSeed = 11641;
  SeededChoice choice(kSeed);
  EXPECT_THAT(judge_queues(generate_queues(choice), thorough(), kSeed).disagreements, IsEmpty());
}

constexpr const char* kTwoQueues =
    "memory m 8\nq1: queue serial\nd0: dispatch Work writes m[0:4]\n"
    "d1: dispatch Work reads m[0:4] writes m[4:8] on q1\n";
constexpr const char* kSignaled =
    "memory m 8\nq1: queue serial\nd0: dispatch Work writes m[0:4]\nsignal s=1\n"
    "wait s=1 on q1\nd1: dispatch Work reads m[0:4] on q1\n";
constexpr const char* kWaitFirst =
    "memory m 8\nq1: queue serial\nwait s=1 on q1\nd1: dispatch Work reads m[0:4] on q1\n"
    "d0: dispatch Work writes m[0:4]\nsignal s=1\n";

TEST(QueueJudges, AgreeOnAFewByHand) {
  EXPECT_THAT(disagreements_on(kTwoQueues, thorough()), IsEmpty());
  EXPECT_THAT(disagreements_on(kSignaled, thorough()), IsEmpty());
  EXPECT_THAT(disagreements_on(kWaitFirst, thorough()), IsEmpty());
}

OrderFindings find_no_hazard(const Program& text, HazardsListed listed, uint64_t& work_left) {
  OrderFindings findings = find_order_findings(text, listed, work_left);
  findings.hazards.clear();
  return findings;
}

TEST(QueueJudges, SeeAHazardThatTheExactCheckMisses) {
  QueueJudgeOptions options = thorough();
  options.methods.find_order = find_no_hazard;
  EXPECT_THAT(
      disagreements_on(kTwoQueues, options),
      testing::IsSupersetOf(
          {StartsWith("chains: The search of chains finds the RAW of d0 and d1 on byte 0 of m"),
           StartsWith("exact-check: The list of hazards is not empty"),
           StartsWith("cpu: A legal schedule leaves other bytes on the CPU")}));
}

TEST(QueueJudges, ExecuteTheSchedulesThatShowAHazard) {
  QueueJudgeOptions options = thorough();
  options.methods.find_order = find_no_hazard;
  options.random_schedule_count = 0;
  EXPECT_THAT(disagreements_on(kTwoQueues, options),
              testing::Contains(StartsWith("cpu: A legal schedule leaves other bytes")));
}

OrderFindings find_a_hazard(const Program& text, HazardsListed listed, uint64_t& work_left) {
  OrderFindings findings = find_order_findings(text, listed, work_left);
  findings.hazards.push_back({.first = DispatchId(size_t{0}),
                              .second = DispatchId(size_t{1}),
                              .memory = MemoryId(size_t{0}),
                              .begin = 2,
                              .end = 3});
  return findings;
}

TEST(QueueJudges, SeeAHazardThatIsNone) {
  QueueJudgeOptions options = thorough();
  options.methods.find_order = find_a_hazard;
  EXPECT_THAT(
      disagreements_on(kSignaled, options),
      ElementsAre(StartsWith("chains: The exact check finds the RAW of d0 and d1 on byte 2 of m"),
                  StartsWith("exact-check: The list of hazards is empty")));
}

// The text as it stands, although a wait comes before its signal.
ReferenceOrder run_as_it_stands(const Program& text) {
  ReferenceOrder reference;
  for (size_t i = 0; i < text.statements.size(); ++i) reference.statements.emplace_back(i);
  reference.is_text_order = true;
  return reference;
}

TEST(QueueJudges, SeeAReferenceRunThatIsNone) {
  QueueJudgeOptions options;
  options.methods.find_run = run_as_it_stands;
  EXPECT_THAT(disagreements_on(kWaitFirst, options),
              testing::IsSupersetOf({StartsWith("reference-run: The reference run has 4 of 4"),
                                     StartsWith("machine: d0 in compute is not before d1")}));
}

SyncRedundancy let_all_go(const Program& text, const SyncRedundancyOptions& /*options*/) {
  return {.redundant = sync_pieces_of(text)};
}
SyncRedundancy let_none_go(const Program& /*text*/, const SyncRedundancyOptions& /*options*/) {
  return {};
}

TEST(QueueJudges, SeeWrongAdvice) {
  QueueJudgeOptions options = thorough();
  options.methods.find_redundant = let_all_go;
  EXPECT_THAT(disagreements_on(kSignaled, options),
              ElementsAre(StartsWith("advice: The check lets the wait for s=1 on q1")));
  options.methods.find_redundant = let_none_go;
  EXPECT_THAT(disagreements_on("memory m 8\nq1: queue serial\nd0: dispatch Work writes m[0:4]\n"
                               "signal s=1\nwait s=1 on q1\nd1: dispatch Work reads m[4:8] on q1\n",
                               options),
              ElementsAre(StartsWith("advice: The check does not let the wait for s=1 on q1")));
}

enum class DeviceFault : uint8_t { kNone, kIgnoresSchedules, kOverlapsWrongly, kRefusesBytes };

// The CPU under another name, with a fault.
class FaultyDevice final : public Backend {
 public:
  explicit FaultyDevice(DeviceFault fault) : fault_(fault) {}

  std::string_view name() const override { return "faulty"; }
  Availability availability() const override { return cpu().availability(); }
  bool supports(ExecutionMode /*mode*/) const override { return true; }
  Capabilities capabilities() const override { return cpu().capabilities(); }
  Result<MemoryImage> run(const Program& program, const Schedule& schedule,
                          ExecutionMode mode) override {
    if (fault_ == DeviceFault::kRefusesBytes && !schedule.bytes.empty()) {
      return Error{"It has no such steps.", ErrorKind::kRefused};
    }
    const bool obeys = mode == ExecutionMode::kWitness && fault_ != DeviceFault::kIgnoresSchedules;
    auto image = cpu().run(program, obeys ? schedule : reference_order_schedule(program),
                           ExecutionMode::kWitness);
    const bool is_wrong =
        mode == ExecutionMode::kOverlap && fault_ == DeviceFault::kOverlapsWrongly;
    if (image && is_wrong) image->memories[0][0] ^= 1;
    return image;
  }

 private:
  static Backend& cpu() { return *find_backend("cpu"); }

  DeviceFault fault_;
};

TEST(QueueJudges, HoldADeviceAgainstTheOthers) {
  const auto said_of = [](DeviceFault fault, const std::string& text) {
    FaultyDevice device(fault);
    QueueJudgeOptions options = thorough();
    options.device.backend = &device;
    return disagreements_on(text, options);
  };
  for (const char* text : {kTwoQueues, kSignaled, kWaitFirst}) {
    EXPECT_THAT(said_of(DeviceFault::kNone, text), IsEmpty());
    EXPECT_THAT(said_of(DeviceFault::kRefusesBytes, text), IsEmpty());
  }
  EXPECT_THAT(said_of(DeviceFault::kIgnoresSchedules, kTwoQueues),
              ElementsAre(testing::HasSubstr("leaves other bytes on faulty than on the CPU")));
  EXPECT_THAT(said_of(DeviceFault::kOverlapsWrongly, kSignaled),
              ElementsAre(StartsWith("device: Overlap mode leaves other bytes on faulty")));
  // With a hazard it may.
  EXPECT_THAT(said_of(DeviceFault::kOverlapsWrongly, kTwoQueues), IsEmpty());
}

TEST(QueueJudges, AgreeWithTheEmulatedDevice) {
  QueueJudgeOptions options;
  options.device.backend = find_backend("cuda-emulated");
  uint64_t ran_count = 0;
  uint64_t clean_trial_count = 0;
  const int count = program_count(60, 4);
  for (int seed = 0; seed < count; ++seed) {
    SeededChoice choice(static_cast<uint64_t>(seed));
    const ProgramDraft draft = generate_queues(choice);
    const QueueJudgement judgement = judge_queues(draft, options, static_cast<uint64_t>(seed));
    EXPECT_EQ(judgement.device.failure, "") << print(draft);
    ran_count += judgement.device.ran ? 1 : 0;
    const bool is_clean = judgement.facts.empty();
    clean_trial_count += is_clean ? judgement.device.overlap_trial_count : 0;
    for (const InternalDisagreement& d : judgement.disagreements) {
      FAIL() << "seed " << seed << ", " << word_of(d.stage) << ": " << d.message << "\n"
             << print(draft);
    }
  }
  EXPECT_GT(ran_count, static_cast<uint64_t>(count) / 4);
  EXPECT_GT(clean_trial_count, static_cast<uint64_t>(count) / 4);
}

}  // namespace
}  // namespace interlock::queue_judges_test
