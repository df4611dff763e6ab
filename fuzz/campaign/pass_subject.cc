// Campaigns against planners, backward passes and replay policies. Unplanned programs go through
// them, then through the encoder, and are compared with what the reference chain makes of them
// (pass_chain.h).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/text/printer.h"
#include "fuzz/campaign/failure_find.h"
#include "fuzz/campaign/remembered_passes.h"
#include "fuzz/campaign/subject.h"
#include "fuzz/generate/draft_positions.h"
#include "fuzz/generate/replay_generator.h"
#include "fuzz/generate/step_generator.h"
#include "fuzz/judge/cause.h"
#include "fuzz/judge/gradient_numbers.h"
#include "fuzz/judge/pass_chain.h"
#include "fuzz/judge/pass_oracle.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimizer.h"
#include "simulator/order/queue_order.h"
#include "simulator/order/reference_order.h"
#include "simulator/schedules/choice.h"

namespace interlock {
namespace {

// One run that puts an unplanned program to passes.
struct PassRun {
  ProgramDraft draft;
  PlanOptions plan;
  PassChain chain;
};

// The tensors with initial values; at least one of them.
std::vector<std::string> draw_inputs(const ProgramDraft& draft, Choice& choice) {
  std::vector<std::string> inputs;
  for (const TensorDraft* tensor : items_of<TensorDraft>(draft)) {
    if (tensor->initial.kind != InitialKind::kNone) inputs.push_back(tensor->name);
  }
  const std::string spare = inputs.front();
  std::erase_if(inputs, [&](const std::string&) { return choice.chance(1, 4); });
  return inputs.empty() ? std::vector<std::string>{spare} : inputs;
}

// The sum of what the last dispatch writes is differentiated by some of the inputs.
void append_backward(ProgramDraft& draft, Choice& choice) {
  const auto& last = std::get<DispatchDraft>(draft.items.back());
  BackwardDraft backward{last.operands.back().name, draw_inputs(draft, choice)};
  OutputDraft gradients;
  for (const std::string& input : backward.wrt) gradients.tensors.push_back("d_" + input);
  draft.items.emplace_back(std::move(backward));
  draft.items.emplace_back(std::move(gradients));
}

// Whether the sync is for several queues, and comes before the plan.
bool is_on_queues(const CampaignOptions& options) {
  return options.queue_encoder != nullptr || options.generator.has_queues;
}

ProgramDraft unplanned_draft(const CampaignOptions& options, Choice& choice) {
  if (options.replay != nullptr) return generate_replays(choice);
  StepOptions step;
  step.is_differentiable = options.backward != nullptr;
  step.has_lifetimes = !is_on_queues(options);
  step.max_dispatches = std::min(options.generator.max_dispatches, step.max_dispatches);
  ProgramDraft draft = generate_step(choice, step);
  if (options.backward != nullptr) append_backward(draft, choice);
  return draft;
}

// One that leaves no hazard, unless one is named; on up to four queues, or as many as it likes.
void draw_queues(PassChain& chain, Choice& choice) {
  if (chain.queue_encoder == nullptr) {
    std::vector<const QueueEncoderEntry*> right;
    for (const QueueEncoderEntry& entry : queue_encoder_registry()) {
      if (!entry.is_broken && !entry.is_of_one_queue) right.push_back(&entry);
    }
    chain.queue_encoder = right[choice.below(right.size())];
  }
  constexpr uint32_t kCounts[] = {0, 2, 3, 4};
  const uint32_t count = kCounts[choice.below(std::size(kCounts))];
  if (chain.queue_encoder->takes_queue_count) chain.queue_count = count;
}

// The options are part of the run: a right planner is right with any.
PassRun pass_run_of(const CampaignOptions& options, uint64_t run_index) {
  SeededChoice choice(seed_of_run(options.seed, run_index));
  PassRun run{unplanned_draft(options, choice), plan_options_of_campaign(), chain_of(options)};
  if (choice.chance(1, 4)) run.plan.alignment_bytes = 32;
  if (choice.chance(1, 4)) run.plan.slack_percent = static_cast<uint32_t>(choice.below(200));
  run.plan.is_antichain = choice.chance(1, 4);
  run.plan.keeps_inputs = choice.chance(1, 8);
  run.plan.is_opaque_in_place = !choice.chance(1, 8);
  if (is_on_queues(options)) draw_queues(run.chain, choice);
  return run;
}

// The dispatches that no `backward` statement has appended.
uint64_t forward_dispatch_count(const Program& program) {
  uint64_t count = program.dispatches.size();
  // All statements of a pass are dispatches.
  for (const Backward& pass : program.backwards) count -= pass.statement_count;
  return count;
}

// Where the numbers go wrong, and the program that the passes were given.
void add_notes(CampaignFind& find, const PassChain& chain, const Program& unplanned,
               const PlanOptions& plan) {
  const Program reference = run_passes(reference_chain(), unplanned, plan).value().placed;
  for (const OutputComparison& output : compare_with_reference(find.program, reference)) {
    if (output.differing_count == 0) continue;
    find.is_observable = true;
    find.notes.push_back(fmt::format(
        "In {} on the CPU {} of {} values of {} differ from those of {}.",
        name_of_reference_order(needs_queue_order(find.program)), output.differing_count,
        output.element_count, find.program.name(find.program.tensor(output.tensor).name),
        name_of_reference(chain)));
  }
  if (chain.queue_encoder != nullptr) {
    const bool has_count = chain.queue_count > 0;
    find.notes.push_back(
        fmt::format("The encoder {} has placed the sync first{}.", chain.queue_encoder->name,
                    has_count ? fmt::format(", on at most {} queues", chain.queue_count) : ""));
  }
  find.notes.push_back(fmt::format("What {} was given:", names_of(chain)));
  std::istringstream lines(print(unplanned));
  for (std::string line; std::getline(lines, line);) find.notes.push_back("  " + line);
}

bool has_signature_of(const PassReport& report, const std::string& signature) {
  if (report.failure) return word_of(report.failure->kind) == signature;
  return std::ranges::find(report.facts, signature, &SignedFact::signature) != report.facts.end();
}

// Of those that are no part of this build.
std::string_view noun_of_external(const PassChain& chain) {
  if (chain.backward != nullptr && chain.backward->external != nullptr) return "backward pass";
  if (chain.planner != nullptr && chain.planner->external != nullptr) return "planner";
  return chain.replay != nullptr && chain.replay->external != nullptr ? "replay policy" : "encoder";
}

// The smallest program reached, of those in which nothing is wrong, on which the passes fail in the
// same way.
CampaignFind minimized_failure_of_passes(const PassChain& chain, const Program& program,
                                         const PlanOptions& plan, const EncodeFailure& failure,
                                         const MinimizeOptions& options) {
  uint64_t hang_count = 0;
  const auto failure_of = [&](const Program& candidate) -> std::optional<EncodeFailure> {
    auto passed = run_passes(chain, candidate, plan);
    return passed ? std::move(passed->failure) : std::nullopt;
  };
  const auto fails = [&](const Program& candidate) {
    if (hang_count >= kHangsWhileMinimizing) return false;
    const auto reference = run_passes(reference_chain(), candidate, plan);
    if (!reference || !find_signed(*reference).empty()) return false;
    const auto candidate_failure = failure_of(candidate);
    hang_count += candidate_failure && candidate_failure->kind == EncodeFailureKind::kHang;
    return candidate_failure && candidate_failure->kind == failure.kind;
  };
  const Program small = minimize(draft_of(program), fails, options).program;
  const std::string word(word_of(failure.kind));
  return find_of_failure(word, word, failure_of(small).value_or(failure).message, program, small);
}

class PassSubject final : public Subject {
 public:
  explicit PassSubject(const CampaignOptions& options) : Subject(options) {}

  ProgramDraft draft(uint64_t run_index) const override {
    return pass_run_of(options(), run_index).draft;
  }

  RunOutcome judge(uint64_t run_index) const override {
    RunOutcome outcome;
    outcome.ran = true;
    const PassRun run = pass_run_of(options(), run_index);
    const auto program = parsed_draft(run.draft, outcome.disagreements);
    if (!program) return outcome;
    PassReport report = judge_passes(run.chain, *program, run.plan, options().oracles, run_index);
    outcome.ran_on_cpu = report.ran_on_cpu;
    if (report.failure) outcome.add(*report.failure);
    for (SignedFact& found : report.facts) outcome.add(found.fact, std::move(found.signature));
    outcome.disagreements = std::move(report.disagreements);
    return outcome;
  }

  CampaignFind minimized_find(uint64_t run_index, const std::string& signature) const override {
    const PassRun run = pass_run_of(options(), run_index);
    const Program program = build(run.draft).value();
    const RememberedChain remembered(run.chain);
    const PassChain& chain = remembered.chain();
    // The plain options, if they are enough.
    PlanOptions plan = plan_options_of_campaign();
    if (!has_signature_of(judge_passes(chain, program, plan, {}, 1), signature)) plan = run.plan;
    const PassReport report = judge_passes(chain, program, plan, {}, 1);
    if (report.failure || !has_signature_of(report, signature)) {
      CampaignFind find = find_without_answer(chain, program, plan, signature, report.failure);
      find.run_index = run_index;
      return find;
    }
    const MinimizeReport minimized =
        minimize_passes(chain, program, plan, signature, minimize_options());
    CampaignFind find;
    find.signature = signature;
    find.run_index = run_index;
    find.program = passed_with_evidence(chain, minimized.program, plan, signature);
    find.given = minimized.program;
    find.plan = plan;
    // A wrong gradient is wrong in numbers, whatever the outputs are.
    find.is_observable = !find.program.witness.empty() || is_of_gradient(signature);
    // Passes can append dispatches: to what they were given, and to what is left of it.
    const PassedProgram passed = run_passes(chain, program, plan).value();
    find.original_dispatch_count =
        forward_dispatch_count(is_of_gradient(signature) ? passed.meant : passed.placed);
    find.dispatch_count = forward_dispatch_count(find.program);
    add_notes(find, chain, minimized.program, plan);
    return find;
  }

  Cause cause_of(const CampaignFind& find) override {
    if (!find.failure.empty()) return find.cause;
    const PassChain chain = pass_run_of(options(), find.run_index).chain;
    return cause_of_passes(chain, find.given, find.plan, find.signature);
  }
  bool has_causes() const override { return true; }
  bool has_one_cause_per_signature() const override { return true; }
  bool can_show(FindingKind /*kind*/) const override { return true; }
  // The passes are compared on the CPU.
  bool runs_on_devices() const override { return false; }

 private:
  // Of a pass of others that did not answer, or not as it had when the run was judged. The program
  // is what the passes are asked, and its `backward` statements say who writes them.
  CampaignFind find_without_answer(const PassChain& chain, const Program& program,
                                   const PlanOptions& plan, const std::string& signature,
                                   const std::optional<EncodeFailure>& failure) const {
    const bool fails_again = failure && word_of(failure->kind) == signature;
    CampaignFind find =
        fails_again
            ? minimized_failure_of_passes(chain, program, plan, *failure, minimize_options())
            : find_that_does_not_repeat(program, signature, failure, noun_of_external(chain));
    find.plan = plan;
    find.original_dispatch_count = forward_dispatch_count(program);
    find.dispatch_count = forward_dispatch_count(find.program);
    if (chain.backward == nullptr) return find;
    if (chain.backward->external != nullptr) {
      // The text has no word for such a pass: the file has what it is asked, the command the rest.
      if (!find.program.backwards.empty()) find.program = forward_of(find.program);
      return find;
    }
    auto spelled = with_backward_mode(find.program, chain.backward->name);
    if (spelled) find.program = find.given = std::move(*spelled);
    return find;
  }

  std::optional<Program> made_of(const Program& given, uint64_t run_index) const override {
    const PassRun run = pass_run_of(options(), run_index);
    auto passed = run_passes(run.chain, given, run.plan);
    if (!passed || passed->failure) return std::nullopt;
    return std::move(passed->placed);
  }

  Judgement judgement_of(uint64_t run_index) const override {
    return [oracles = oracles(), run = pass_run_of(options(), run_index),
            run_index](const Program& given) {
      return judge_passes(run.chain, given, run.plan, oracles, run_index).disagreements;
    };
  }
};

}  // namespace

std::unique_ptr<Subject> pass_subject(const CampaignOptions& options) {
  return std::make_unique<PassSubject>(options);
}

}  // namespace interlock
