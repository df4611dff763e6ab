#include "fuzz/campaign/subject.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/hash.h"
#include "fuzz/campaign/guide.h"

namespace interlock {

void RunOutcome::add(const Fact& fact, std::string signature) {
  has_hazard |= std::holds_alternative<Hazard>(fact);
  add(std::move(signature));
}

void RunOutcome::add(std::string signature) {
  if (std::ranges::find(signatures, signature) != signatures.end()) return;
  signatures.push_back(std::move(signature));
}

void RunOutcome::add(const EncodeFailure& failure) {
  is_not_asked = failure.kind == EncodeFailureKind::kNotAsked;
  if (is_not_asked) {
    ran = false;
    return;
  }
  add(std::string(word_of(failure.kind)));
}

std::optional<Program> Subject::guided_program(uint64_t run_index) const {
  return options_.guide == nullptr ? std::nullopt : options_.guide->program_of_run(run_index);
}

bool Subject::counts_cells(uint64_t run_index) const {
  return options_.guide != nullptr && !options_.guide->is_counted_later(run_index);
}

bool Subject::breaks_contract(const std::vector<Fact>& facts) const {
  return options_.guide != nullptr && std::ranges::any_of(facts, [](const Fact& fact) {
           return std::holds_alternative<AliasViolation>(fact);
         });
}

OracleOptions Subject::oracles() const {
  OracleOptions oracles = options_.oracles;
  oracles.encoder = options_.encoder;
  return oracles;
}

MinimizeOptions Subject::minimize_options() const { return {.stop = options_.stop}; }

Program Subject::program(uint64_t run_index) const {
  return made_of(build(draft(run_index)).value(), run_index).value();
}

MinimizedDisagreement Subject::minimized_disagreement(uint64_t run_index, OracleStage stage) const {
  MinimizeOptions minimize_options = this->minimize_options();
  // A step may run a device several times.
  minimize_options.evaluation_limit = 2000;
  const Judgement judgement = judgement_of(run_index);
  const auto disagrees = [&](const Program& program) {
    return std::ranges::any_of(judgement(program),
                               [&](const InternalDisagreement& d) { return d.stage == stage; });
  };
  const ProgramDraft given = draft(run_index);
  MinimizedDisagreement result;
  result.original_dispatch_count = build(given).value().dispatches.size();
  const Program small = minimize(given, disagrees, minimize_options).program;
  // What disagrees can be that a pass has an error; then there is only what it was given.
  result.program = made_of(small, run_index).value_or(small);
  return result;
}

std::unique_ptr<Subject> subject_of(const CampaignOptions& options) {
  const bool is_of_passes =
      options.backward != nullptr || options.replay != nullptr || options.planner != nullptr;
  if (!is_of_passes && options.queue_encoder != nullptr) return queue_subject(options);
  if (!is_of_passes && options.generator.has_queues) return queue_program_subject(options);
  return is_of_passes ? pass_subject(options) : encoder_subject(options);
}

uint64_t seed_of_run(uint64_t seed, uint64_t run_index) {
  return scrambled(seed * kGolden64 + run_index + 0x632be59bd9b4e019);
}

ProgramDraft draft_of_run(const CampaignOptions& options, uint64_t run_index) {
  return subject_of(options)->draft(run_index);
}

PassChain chain_of(const CampaignOptions& options) {
  return {options.backward, options.replay,        options.planner,
          options.encoder,  options.queue_encoder, 0};
}

}  // namespace interlock
