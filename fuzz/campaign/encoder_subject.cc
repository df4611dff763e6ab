// Campaigns against an encoder, or on programs as they stand, with barriers of their own.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/result.h"
#include "fuzz/campaign/cells.h"
#include "fuzz/campaign/encoder_find.h"
#include "fuzz/campaign/guide.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/generate/generator.h"
#include "fuzz/generate/program_lengths.h"
#include "fuzz/generate/program_scopes.h"
#include "fuzz/judge/signature.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

class EncoderSubject final : public Subject {
 public:
  explicit EncoderSubject(const CampaignOptions& options) : Subject(options) {
    if (options.encoder != nullptr) causes_.emplace(*options.encoder);
  }

  ProgramDraft draft(uint64_t run_index) const override {
    const auto guided = guided_program(run_index);
    return guided ? draft_of(*guided) : unguided_draft(run_index);
  }

  RunOutcome judge(uint64_t run_index) const override {
    RunOutcome outcome;
    ConflictNotes notes;
    OracleReport report = judged(run_index, notes);
    outcome.ran = true;
    outcome.ran_on_cpu = report.ran_on_cpu;
    outcome.disagreements = std::move(report.disagreements);
    if (breaks_contract(report.facts)) return outcome;
    if (counts_cells(run_index)) {
      outcome.cells =
          new_cells_of(report.program, notes, report.branches, options().guide->cells());
    }
    if (report.failure) outcome.add(*report.failure);
    for (const Fact& fact : report.facts) outcome.add(fact, signature_of(report.program, fact));
    outcome.device = std::move(report.device);
    return outcome;
  }

  std::vector<Cell> new_cells(uint64_t run_index, const CellSet& known) const override {
    auto guided = guided_program(run_index);
    auto given = guided ? Result<Program>(*std::move(guided)) : unguided_program(run_index);
    if (!given) return {};
    return new_cells_of(encode_with(*std::move(given), options().encoder), known);
  }

  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const override {
    CampaignFind find =
        find_in(build(draft(run_index)).value(), options().encoder, signature, minimize_options());
    find.run_index = run_index;
    return find;
  }

  Cause cause_of(const CampaignFind& find) override {
    if (!find.failure.empty()) return find.cause;
    if (!causes_ || !find.fact) return {find.signature, "", false};
    return causes_->cause_of(find.given, find.program, *find.fact);
  }
  // Barriers that a program came with nobody is to blame for.
  bool has_causes() const override { return options().encoder != nullptr; }
  bool has_one_cause_per_signature() const override { return false; }
  bool can_show(FindingKind kind) const override { return is_hazard(kind); }
  bool runs_on_devices() const override { return true; }
  bool counts_barriers() const override { return true; }

 private:
  GeneratorOptions draw_options(Choice& choice) const {
    GeneratorOptions generator = options().generator;
    // Encoders place their own barriers; programs judged as they stand need some.
    generator.has_barriers = options().encoder == nullptr;
    // Some runtimes allocate per tensor, and encoders that know whole memories only are judged
    // fairly by such programs alone.
    generator.gives_roots_own_memories |= choice.chance(1, 3);
    return generator;
  }

  // Programs as they stand have barriers everywhere, and nobody who could forget.
  bool is_long(uint64_t run_index) const {
    return options().encoder != nullptr && run_index % kLongPeriod == kLongPeriod - 1;
  }

  bool has_scopes() const { return options().encoder != nullptr && options().encoder->has_scopes; }

  ProgramDraft unguided_draft(uint64_t run_index) const {
    SeededChoice choice(seed_of_run(options().seed, run_index));
    const GeneratorOptions generator = draw_options(choice);
    ProgramDraft draft = generate(choice, generator);
    if (is_long(run_index)) lengthen(draft, choice, generator.max_dispatches);
    // Drawn last, so that a seed gives all others the same programs.
    if (has_scopes() && choice.chance(1, 2)) give_uniforms(draft, choice);
    return draft;
  }

  // Most runs need no draft.
  Result<Program> unguided_program(uint64_t run_index) const {
    if (has_scopes() || is_long(run_index)) return build(unguided_draft(run_index));
    SeededChoice choice(seed_of_run(options().seed, run_index));
    const GeneratorOptions generator = draw_options(choice);
    return generate_program(choice, generator);
  }

  // Where texts have a turn, their draft is judged, too.
  OracleReport judged(uint64_t run_index, ConflictNotes& notes) const {
    OracleOptions oracles = this->oracles();
    if (counts_cells(run_index)) oracles.observer = &notes;
    auto guided = guided_program(run_index);
    if (guided) return judge_built(*std::move(guided), oracles, run_index);
    if (!has_text_turn(oracles, run_index)) {
      return judge_built(unguided_program(run_index), oracles, run_index);
    }
    return interlock::judge(unguided_draft(run_index), oracles, run_index);
  }

  std::optional<Program> made_of(const Program& given, uint64_t /*run_index*/) const override {
    return encode_with(given, options().encoder);
  }

  Judgement judgement_of(uint64_t run_index) const override {
    return [oracles = oracles(), run_index](const Program& given) {
      return interlock::judge(given, oracles, run_index).disagreements;
    };
  }

  std::optional<CauseFinder> causes_;  // Of the encoder, if there is one.
};

}  // namespace

std::unique_ptr<Subject> encoder_subject(const CampaignOptions& options) {
  return std::make_unique<EncoderSubject>(options);
}

}  // namespace interlock
