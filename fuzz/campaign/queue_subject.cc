// Campaigns against an encoder for several queues.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/queues/dispatch_conflicts.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/queue_find.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/generate/generator.h"
#include "fuzz/generate/program_host.h"
#include "fuzz/generate/program_lengths.h"
#include "fuzz/generate/program_queues.h"
#include "fuzz/generate/program_splits.h"
#include "fuzz/judge/queue_oracle.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

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
    // A mutant, or a file of a corpus, may be more than encoders of others take.
    if (!program || (encoder_.external != nullptr && !check_is_dispatches(*program))) {
      return outcome;
    }
    QueueReport report = judge_on_queues(*program, encoder_, run_index, &judges);
    outcome.disagreements = std::move(report.disagreements);
    outcome.ran_on_cpu = report.ran_on_cpu;
    outcome.device = std::move(report.device);
    if (report.failure) {
      outcome.add(*report.failure);
      return outcome;
    }
    if (breaks_contract(report.facts)) return outcome;
    if (counts_cells(run_index)) {
      outcome.cells = new_cells_of(report.program, options().guide->cells());
    }
    for (const Fact& fact : report.facts) {
      outcome.add(fact, signature_on_queues(report.program, fact));
    }
    return outcome;
  }

  std::vector<Cell> new_cells(uint64_t run_index, const CellSet& known) const override {
    const auto given = build(draft(run_index));
    if (!given) return {};
    const auto encoded = encode_in_run_order(*given, encoder_, run_index);
    if (!encoded || encoded->failure) return {};
    return new_cells_of(encoded->program, known);
  }

  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const override {
    CampaignFind find =
        find_on_queues(draft(run_index), encoder_, run_index, signature, minimize_options());
    find.run_index = run_index;
    return find;
  }

  // The kind of hazard, and how the two operands alias each other.
  Cause cause_of(const CampaignFind& find) override {
    if (!find.failure.empty()) return find.cause;
    return {signature_on_queues(find.program, *find.fact, SignatureDetail::kShape), "", false};
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
