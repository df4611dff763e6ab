// Campaigns on programs of several queues as they stand, with sync of their own.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_launches.h"
#include "fuzz/generate/queue_meanings.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/queue_judges.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimize_queues.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/order/signal_order.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

constexpr uint64_t kMeaningsSeed = 0x6d65616e696e6773;
constexpr uint64_t kLaunchesSeed = 0x6c61756e63686573;

// Small ones are as likely as long ones, in which most is ordered or nothing is.
QueueGeneratorOptions draw_options(Choice& choice, const GeneratorOptions& options) {
  QueueGeneratorOptions queues;
  uint64_t longest = 4;
  while (longest < options.max_dispatches && choice.chance(1, 2)) longest *= 2;
  queues.operation_count_max =
      std::max<uint64_t>(2, std::min<uint64_t>(longest, options.max_dispatches));
  queues.sync_count_max = longest + choice.below(longest + 4);
  queues.memory_bytes = choice.chance(3, 4) ? 8 : 24;
  return queues;
}

class QueueProgramSubject final : public Subject {
 public:
  explicit QueueProgramSubject(const CampaignOptions& options) : Subject(options) {}

  ProgramDraft draft(uint64_t run_index) const override {
    SeededChoice choice(seed_of_run(options().seed, run_index));
    const QueueGeneratorOptions queues = draw_options(choice, options().generator);
    ProgramDraft draft = generate_queues(choice, queues);
    // From numbers of their own: what is drawn here changes no other program of the seed.
    SeededChoice meanings(seed_of_run(options().seed ^ kMeaningsSeed, run_index));
    if (meanings.chance(1, 3)) add_queue_meanings(draft, meanings);
    SeededChoice launches(seed_of_run(options().seed ^ kLaunchesSeed, run_index));
    if (launches.chance(1, 8)) add_queue_launches(draft, launches);
    return draft;
  }

  RunOutcome judge(uint64_t run_index) const override {
    RunOutcome outcome;
    QueueJudgement judgement = judge_queues(draft(run_index), judges(), run_index);
    outcome.ran = true;
    outcome.ran_on_cpu = judgement.ran_on_cpu;
    for (const Fact& fact : judgement.facts) outcome.add(fact, signature_in(judgement.run, fact));
    outcome.disagreements = std::move(judgement.disagreements);
    outcome.device = std::move(judgement.device);
    return outcome;
  }

  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const override {
    const Program program = build(draft(run_index)).value();
    const Program small = minimize_queues_for(program, signature, minimize_options()).program;
    const ReferenceOrder reference = find_reference_order(small);
    // As it was judged: in its own order it knows of its replays.
    const Program run = reference.is_text_order ? small : in_reference_order(small, reference);
    CampaignFind find;
    find.signature = signature;
    find.run_index = run_index;
    find.program = small;
    find.given = small;
    find.original_dispatch_count = program.dispatches.size();
    find.dispatch_count = small.dispatches.size();
    for (const Fact& fact : find_in_queues(run, reference)) {
      if (signature_in(run, fact) != signature) continue;
      const Evidence evidence = find_evidence(run, fact, EvidenceLevel::kBackend);
      if (find.fact && !(evidence.level >= EvidenceLevel::kShadow && !find.is_observable)) continue;
      find.fact = fact;
      find.is_observable = evidence.level >= EvidenceLevel::kShadow;
      find.differs_on_cpu = evidence.level >= EvidenceLevel::kBackend;
    }
    INTERLOCK_CHECK(find.fact.has_value());
    return find;
  }

  // Sync that a program came with nobody is to blame for.
  Cause cause_of(const CampaignFind& find) override { return {find.signature, "", false}; }
  bool has_causes() const override { return false; }
  bool has_one_cause_per_signature() const override { return true; }
  bool can_show(FindingKind kind) const override { return is_hazard(kind); }
  bool runs_on_devices() const override { return true; }

 private:
  QueueJudgeOptions judges() const {
    QueueJudgeOptions judges = options().queue_judges;
    judges.device = options().oracles.device;
    return judges;
  }

  static std::string signature_in(const Program& run, const Fact& fact) {
    return std::holds_alternative<Deadlock>(fact) ? "deadlock" : signature_of(run, fact);
  }

  std::optional<Program> made_of(const Program& given, uint64_t /*run_index*/) const override {
    return given;
  }

  Judgement judgement_of(uint64_t run_index) const override {
    return
        [judges = judges(), run_index](const Program& given) -> std::vector<InternalDisagreement> {
          if (find_unordered_signals(given)) return {};
          return judge_queues(given, judges, run_index).disagreements;
        };
  }
};

}  // namespace

std::unique_ptr<Subject> queue_program_subject(const CampaignOptions& options) {
  return std::make_unique<QueueProgramSubject>(options);
}

}  // namespace interlock
