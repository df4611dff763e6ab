#include "fuzz/campaign/campaign_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "encoder/assemble/append_backward.h"
#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "encoder/text/parser.h"
#include "encoder/text/printer.h"
#include "fuzz/generate/replay_generator.h"
#include "fuzz/generate/step_generator.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/gradient_evidence.h"
#include "fuzz/judge/pass_oracle.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimize_passes.h"
#include "simulator/facts/find_facts.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

// A step of minimization may run a device several times.
constexpr uint64_t kDisagreementEvaluationLimit = 2000;

// Runs of neighbouring seeds and numbers have nothing in common.
uint64_t seed_of_run(uint64_t seed, uint64_t run_index) {
  return scrambled(seed * kGolden64 + run_index + 0x632be59bd9b4e019);
}

// One run that puts an unplanned program to passes.
struct PassRun {
  ProgramDraft draft;
  PlanOptions plan;
};

// The tensors with initial values; at least one of them.
std::vector<std::string> draw_inputs(const ProgramDraft& draft, Choice& choice) {
  std::vector<std::string> inputs;
  for (const ItemDraft& item : draft.items) {
    const auto* tensor = std::get_if<TensorDraft>(&item);
    if (tensor != nullptr && tensor->initial.kind != InitialKind::kNone) {
      inputs.push_back(tensor->name);
    }
  }
  const std::string spare = inputs.front();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const std::string&) { return choice.chance(1, 4); }),
               inputs.end());
  return inputs.empty() ? std::vector<std::string>{spare} : inputs;
}

// The sum of what the last dispatch writes is differentiated by some of the inputs.
void append_backward(ProgramDraft& draft, Choice& choice) {
  const auto& last = std::get<DispatchDraft>(draft.items.back());
  BackwardDraft backward;
  backward.loss = last.operands.back().name;
  backward.wrt = draw_inputs(draft, choice);
  OutputDraft gradients;
  for (const std::string& input : backward.wrt) gradients.tensors.push_back("d_" + input);
  draft.items.emplace_back(std::move(backward));
  draft.items.emplace_back(std::move(gradients));
}

ProgramDraft unplanned_draft(const CampaignOptions& options, Choice& choice) {
  if (options.replay != nullptr) return generate_replays(choice);
  StepOptions step;
  step.is_differentiable = options.backward != nullptr;
  step.max_dispatches = std::min(options.generator.max_dispatches, step.max_dispatches);
  ProgramDraft draft = generate_step(choice, step);
  if (options.backward != nullptr) append_backward(draft, choice);
  return draft;
}

// The options are part of the run: a right planner is right with any.
PassRun pass_run_of(const CampaignOptions& options, uint64_t run_index) {
  SeededChoice choice(seed_of_run(options.seed, run_index));
  PassRun run;
  run.draft = unplanned_draft(options, choice);
  run.plan = plan_options_of_campaign();
  if (choice.chance(1, 4)) run.plan.alignment_bytes = 32;
  if (choice.chance(1, 4)) run.plan.slack_percent = static_cast<uint32_t>(choice.below(200));
  run.plan.is_antichain = choice.chance(1, 4);
  run.plan.keeps_inputs = choice.chance(1, 8);
  run.plan.is_opaque_in_place = !choice.chance(1, 8);
  return run;
}

// The dispatches that no `backward` statement has appended.
uint64_t forward_dispatch_count(const Program& program) {
  uint64_t count = program.dispatches.size();
  // All statements of a pass are dispatches.
  for (const Backward& pass : program.backwards) count -= pass.statement_count;
  return count;
}

void add_distinct(std::vector<std::string>& signatures, std::string signature) {
  if (std::find(signatures.begin(), signatures.end(), signature) != signatures.end()) return;
  signatures.push_back(std::move(signature));
}

// By way of the text, so that every program of a campaign tests the parser too.
PassReport judge_pass_run(const CampaignOptions& options, uint64_t run_index) {
  const PassRun run = pass_run_of(options, run_index);
  const auto program = parse(print(run.draft));
  if (program) {
    return judge_passes(chain_of(options), *program, run.plan, options.oracles, run_index);
  }
  PassReport report;
  report.disagreements.push_back(
      {OracleStage::kBuild, fmt::format("A draft does not parse: {}", program.error().message)});
  return report;
}

OracleOptions oracles_of(const CampaignOptions& options) {
  OracleOptions oracles = options.oracles;
  oracles.encoder = options.encoder;
  return oracles;
}

CampaignFind minimized_encoder_find(const CampaignOptions& options, uint64_t run_index,
                                    const std::string& signature) {
  const Program program = build(draft_of_run(options, run_index)).value();
  const Program encoded = encode_with(program, options.encoder);
  const std::vector<Fact> facts = find_exactly(encoded);
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& candidate) {
    return signature_of(encoded, candidate) == signature;
  });
  // Excess is no fact of accesses.
  const bool is_excess = found == facts.end();
  const Fact fact = is_excess ? Fact(find_excess(encoded).value()) : *found;
  MinimizeOptions minimize_options;
  minimize_options.stop = options.stop;
  const MinimizeReport minimized = minimize_fact(program, options.encoder, fact, minimize_options);
  const Program small = encode_with(minimized.program, options.encoder);
  const Evidence evidence =
      is_excess ? Evidence{EvidenceLevel::kExact, fact, {}}
                : best_evidence(small, signature, SignatureDetail::kKernels,
                                EvidenceLevel::kBackend, kinds_of_pair(encoded, fact));
  CampaignFind find;
  find.signature = signature;
  find.run_index = run_index;
  find.program = with_evidence(small, evidence.fact);
  find.given = minimized.program;
  find.fact = evidence.fact;
  find.is_observable = evidence.level >= EvidenceLevel::kShadow;
  find.differs_on_cpu = evidence.level >= EvidenceLevel::kBackend;
  find.evaluation_count = minimized.evaluation_count;
  find.original_dispatch_count = program.dispatches.size();
  find.dispatch_count = find.program.dispatches.size();
  return find;
}

// Where the numbers go wrong, and the program that the passes were given.
void add_notes(CampaignFind& find, const PassChain& chain, const Program& unplanned,
               const PlanOptions& plan) {
  const Program reference = run_passes(reference_chain(), unplanned, plan).value().placed;
  for (const OutputComparison& output : compare_with_reference(find.program, reference)) {
    if (output.differing_count == 0) continue;
    find.is_observable = true;
    find.notes.push_back(fmt::format(
        "In issue order on the CPU {} of {} values of {} differ from those of {}.",
        output.differing_count, output.element_count,
        find.program.name(find.program.tensor(output.tensor).name), name_of_reference(chain)));
  }
  find.notes.push_back(fmt::format("What {} was given:", names_of(chain)));
  std::istringstream lines(print(unplanned));
  for (std::string line; std::getline(lines, line);) find.notes.push_back("  " + line);
}

CampaignFind minimized_pass_find(const CampaignOptions& options, uint64_t run_index,
                                 const std::string& signature) {
  const PassChain chain = chain_of(options);
  const PassRun run = pass_run_of(options, run_index);
  const Program program = build(run.draft).value();
  MinimizeOptions minimize_options;
  minimize_options.stop = options.stop;
  // The plain options, if they are enough.
  PlanOptions plan = plan_options_of_campaign();
  const auto plain = judge_passes(chain, program, plan, {}, 1);
  const bool is_enough =
      std::any_of(plain.facts.begin(), plain.facts.end(),
                  [&](const SignedFact& fact) { return fact.signature == signature; });
  if (!is_enough) plan = run.plan;
  const MinimizeReport minimized =
      minimize_passes(chain, program, plan, signature, minimize_options);
  CampaignFind find;
  find.signature = signature;
  find.run_index = run_index;
  find.program = passed_with_evidence(chain, minimized.program, plan, signature);
  find.given = minimized.program;
  find.plan = plan;
  // A wrong gradient is wrong in numbers, whatever the outputs are.
  find.is_observable = !find.program.witness.empty() || is_of_gradient(signature);
  find.evaluation_count = minimized.evaluation_count;
  // Passes can append dispatches: to what they were given, and to what is left of it.
  const PassedProgram passed = run_passes(chain, program, plan).value();
  find.original_dispatch_count =
      forward_dispatch_count(is_of_gradient(signature) ? passed.meant : passed.placed);
  find.dispatch_count = forward_dispatch_count(find.program);
  add_notes(find, chain, minimized.program, plan);
  return find;
}

}  // namespace

PassChain chain_of(const CampaignOptions& options) {
  return {options.backward, options.replay, options.planner, options.encoder};
}

ProgramDraft draft_of_run(const CampaignOptions& options, uint64_t run_index) {
  if (chain_of(options).has_pass()) return pass_run_of(options, run_index).draft;
  SeededChoice choice(seed_of_run(options.seed, run_index));
  GeneratorOptions generator = options.generator;
  // Encoders place their own barriers; programs judged as they stand need some.
  generator.has_barriers = options.encoder == nullptr;
  // Some runtimes allocate per tensor, and encoders that know whole memories only are judged fairly
  // by such programs alone.
  generator.gives_roots_own_memories |= choice.chance(1, 3);
  return generate(choice, generator);
}

RunOutcome judge_run(const CampaignOptions& options, uint64_t run_index) {
  RunOutcome outcome;
  outcome.ran = true;
  if (chain_of(options).has_pass()) {
    PassReport report = judge_pass_run(options, run_index);
    outcome.ran_on_cpu = report.ran_on_cpu;
    for (SignedFact& found : report.facts) {
      outcome.has_hazard |= std::holds_alternative<Hazard>(found.fact);
      add_distinct(outcome.signatures, std::move(found.signature));
    }
    outcome.disagreements = std::move(report.disagreements);
    return outcome;
  }
  OracleReport report = judge(draft_of_run(options, run_index), oracles_of(options), run_index);
  outcome.ran_on_cpu = report.ran_on_cpu;
  for (const Fact& fact : report.facts) {
    outcome.has_hazard |= std::holds_alternative<Hazard>(fact);
    add_distinct(outcome.signatures, signature_of(report.program, fact));
  }
  outcome.disagreements = std::move(report.disagreements);
  outcome.device = std::move(report.device);
  return outcome;
}

Program judged_program(const CampaignOptions& options, uint64_t run_index) {
  const Program program = build(draft_of_run(options, run_index)).value();
  if (!chain_of(options).has_pass()) return encode_with(program, options.encoder);
  return run_passes(chain_of(options), program, pass_run_of(options, run_index).plan)
      .value()
      .placed;
}

CampaignFind minimized_find(const CampaignOptions& options, uint64_t run_index,
                            const std::string& signature) {
  return chain_of(options).has_pass() ? minimized_pass_find(options, run_index, signature)
                                      : minimized_encoder_find(options, run_index, signature);
}

MinimizedDisagreement minimized_disagreement(const CampaignOptions& options, uint64_t run_index,
                                             OracleStage stage) {
  const PassChain chain = chain_of(options);
  const ProgramDraft draft = draft_of_run(options, run_index);
  const PlanOptions plan =
      chain.has_pass() ? pass_run_of(options, run_index).plan : plan_options_of_campaign();
  const OracleOptions oracles = oracles_of(options);
  MinimizeOptions minimize_options;
  minimize_options.stop = options.stop;
  minimize_options.evaluation_limit = kDisagreementEvaluationLimit;
  const auto disagrees = [&](const Program& program) {
    const std::vector<InternalDisagreement> disagreements =
        chain.has_pass() ? judge_passes(chain, program, plan, oracles, run_index).disagreements
                         : judge(program, oracles, run_index).disagreements;
    return std::any_of(disagreements.begin(), disagreements.end(),
                       [&](const InternalDisagreement& d) { return d.stage == stage; });
  };
  MinimizedDisagreement result;
  result.original_dispatch_count = build(draft).value().dispatches.size();
  const Program small = minimize(draft, disagrees, minimize_options).program;
  // What disagrees can be that a pass has an error; then there is only what it was given.
  result.program = small;
  if (!chain.has_pass()) {
    result.program = encode_with(small, options.encoder);
  } else if (auto passed = run_passes(chain, small, plan)) {
    result.program = std::move(passed->placed);
  }
  return result;
}

}  // namespace interlock
