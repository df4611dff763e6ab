// Campaigns against an encoder for several queues.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/generate/generator.h"
#include "fuzz/generate/program_host.h"
#include "fuzz/generate/program_lengths.h"
#include "fuzz/generate/program_queues.h"
#include "fuzz/generate/program_splits.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/queue_oracle.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

const Fact* find_by_signature(const QueueReport& report, const std::string& signature) {
  const auto found = std::ranges::find_if(report.facts, [&](const Fact& fact) {
    return signature_of(report.program, fact) == signature;
  });
  return found == report.facts.end() ? nullptr : &*found;
}

class QueueSubject final : public Subject {
 public:
  explicit QueueSubject(const CampaignOptions& options)
      : Subject(options), encoder_(*options.queue_encoder) {}

  ProgramDraft draft(uint64_t run_index) const override {
    const auto guided = guided_program(run_index);
    if (guided) return draft_of(*guided);
    SeededChoice choice(seed_of_run(options().seed, run_index));
    GeneratorOptions generator = options().generator;
    generator.has_barriers = false;
    // As in campaigns against other encoders: some know whole memories only.
    generator.gives_roots_own_memories |= choice.chance(1, 3);
    ProgramDraft draft = generate(choice, generator);
    if (run_index % kLongPeriod == kLongPeriod - 1) {
      lengthen(draft, choice, generator.max_dispatches);
    }
    // Drawn last, so that a seed gives all others the same programs.
    if (encoder_.knows_splits) give_splits(draft, choice);
    if (encoder_.takes_host_work) give_queues_and_host(draft, choice);
    return draft;
  }

  RunOutcome judge(uint64_t run_index) const override {
    RunOutcome outcome;
    const QueueJudgeOptions judges = judge_options();
    outcome.ran = true;
    const auto program = parsed_queue_draft(draft(run_index), outcome.disagreements);
    if (!program) return outcome;
    QueueReport report = judge_on_queues(*program, encoder_, run_index, &judges);
    outcome.disagreements = std::move(report.disagreements);
    outcome.ran_on_cpu = report.ran_on_cpu;
    outcome.device = std::move(report.device);
    if (breaks_contract(report.facts)) return outcome;
    if (counts_cells(run_index)) {
      outcome.cells = new_cells_of(report.program, options().guide->cells());
    }
    for (const Fact& fact : report.facts) outcome.add(fact, signature_of(report.program, fact));
    return outcome;
  }

  std::vector<Cell> new_cells(uint64_t run_index, const CellSet& known) const override {
    const auto given = build(draft(run_index));
    if (!given) return {};
    const auto encoded = encode_in_run_order(*given, encoder_, run_index);
    return encoded ? new_cells_of(*encoded, known) : std::vector<Cell>();
  }

  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const override {
    const ProgramDraft given = draft(run_index);
    const auto evidence_in = [&](const Program& encoded, EvidenceLevel sufficient) {
      return best_evidence(encoded, signature, SignatureDetail::kKernels, sufficient);
    };
    const Program meant = build(given).value();
    const EvidenceLevel level =
        evidence_in(judge_on_queues(meant, encoder_, run_index).program, EvidenceLevel::kBackend)
            .level;
    INTERLOCK_CHECK(level != EvidenceLevel::kNone);
    const auto is_found = [&](const Program& program) {
      const QueueReport report = judge_on_queues(program, encoder_, run_index);
      return find_by_signature(report, signature) != nullptr &&
             evidence_in(report.program, level).level >= level;
    };
    CampaignFind find;
    find.signature = signature;
    find.run_index = run_index;
    find.given = minimize(given, is_found, minimize_options()).program;
    const Program encoded = judge_on_queues(find.given, encoder_, run_index).program;
    const Evidence evidence = evidence_in(encoded, EvidenceLevel::kBackend);
    INTERLOCK_CHECK(evidence.fact.has_value());
    find.fact = evidence.fact;
    find.program = with_evidence(encoded, evidence.fact);
    find.is_observable = evidence.level >= EvidenceLevel::kShadow;
    find.differs_on_cpu = evidence.level >= EvidenceLevel::kBackend;
    find.original_dispatch_count = meant.dispatches.size();
    find.dispatch_count = find.program.dispatches.size();
    return find;
  }

  // The kind of hazard, and how the two operands alias each other.
  Cause cause_of(const CampaignFind& find) override {
    return {signature_of(find.program, *find.fact, SignatureDetail::kShape), "", false};
  }
  bool has_causes() const override { return true; }
  bool has_one_cause_per_signature() const override { return true; }
  bool can_show(FindingKind kind) const override { return is_hazard(kind); }
  bool runs_on_devices() const override { return true; }

 private:
  QueueJudgeOptions judge_options() const {
    QueueJudgeOptions judges = options().queue_judges;
    judges.device = options().oracles.device;
    return judges;
  }

  void give_queues_and_host(ProgramDraft& draft, Choice& choice) const {
    const bool has_queues = encoder_.takes_given_queues && choice.chance(1, 3);
    if (has_queues) give_splits(draft, choice);
    if (choice.chance(1, 2)) give_host_work(draft, choice);
    if (has_queues) give_queues(draft, choice);
  }

  std::optional<Program> made_of(const Program& given, uint64_t run_index) const override {
    return judge_on_queues(given, encoder_, run_index).program;
  }

  Judgement judgement_of(uint64_t run_index) const override {
    return [this, judges = judge_options(), run_index](const Program& given) {
      return judge_on_queues(given, encoder_, run_index, &judges).disagreements;
    };
  }

  const QueueEncoderEntry& encoder_;
};

}  // namespace

std::unique_ptr<Subject> queue_subject(const CampaignOptions& options) {
  return std::make_unique<QueueSubject>(options);
}

}  // namespace interlock
