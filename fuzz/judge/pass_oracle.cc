// The basic idea is that a pass may add no fault: whatever is wrong in the program that it made,
// and not in what the reference makes of the same program, is its own doing.
#include "fuzz/judge/pass_oracle.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "backends/registry.h"
#include "encoder/program/check.h"
#include "fuzz/judge/disagree.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/queue_judges.h"
#include "fuzz/judge/signature.h"

namespace interlock {
namespace {

// Which kernels meet on a byte says nothing about the pass; but each kernel has an alias contract
// of its own.
SignatureDetail detail_of(FindingKind kind) {
  return kind == FindingKind::kAlias ? SignatureDetail::kKernels : SignatureDetail::kShape;
}

std::optional<MemoryImage> image_on_cpu(const Program& program) {
  Backend* const cpu = find_backend("cpu");
  INTERLOCK_CHECK(cpu != nullptr);
  auto image = cpu->run(program, reference_order_schedule(program), ExecutionMode::kWitness);
  if (!image) return std::nullopt;
  return std::move(image).value();
}

bool has_value(const Program& program, TensorId id) {
  const Tensor& tensor = program.tensor(id);
  if (program.tensor(tensor.root).initial.kind != InitialKind::kNone) return true;
  return std::ranges::any_of(program.dispatches, [&](const Dispatch& dispatch) {
    return std::ranges::any_of(program.accesses_of(dispatch), [&](const Access& access) {
      return access.writes_plainly() && access.tensor.is_some() &&
             program.tensor(access.tensor).root == tensor.root;
    });
  });
}

// A value that is gone already has nothing to lose to an output on its bytes.
bool is_on_a_lost_value(const Fact& fact, const std::vector<Fact>& facts) {
  const auto* const violation = std::get_if<AliasViolation>(&fact);
  if (violation == nullptr) return false;
  const AccessRef input{violation->dispatch, violation->first};
  return std::ranges::any_of(facts, [&](const Fact& other) {
    const auto* const lifetime = std::get_if<LifetimeFinding>(&other);
    return lifetime != nullptr && lifetime->reader == input;
  });
}

}  // namespace

std::vector<SignedFact> find_signed(const Program& program) {
  const std::vector<Fact> facts = find_everything(program);
  std::vector<SignedFact> named;
  for (const Fact& fact : facts) {
    if (is_on_a_lost_value(fact, facts)) continue;
    std::string signature = signature_of(program, fact, detail_of(kind_of(fact)));
    // A replay takes a value from whoever reads it, and from an accumulation in its own way.
    const auto* const lifetime = std::get_if<LifetimeFinding>(&fact);
    const bool is_of_replay = lifetime != nullptr && !program.replays.empty();
    if (is_of_replay && lifetime->reader.dispatch.is_some()) {
      const Dispatch& reader = program.dispatch(lifetime->reader.dispatch);
      signature += '-' + std::string(program.name(reader.kernel_name));
    }
    named.push_back({fact, std::move(signature)});
  }
  return named;
}

std::vector<SignedFact> find_signed(const PassedProgram& program) {
  std::vector<SignedFact> named = find_signed(program.placed);
  for (const GradientFinding& finding : find_wrong_gradients(program.meant)) {
    named.push_back({finding, signature_of(program.meant, finding)});
  }
  return named;
}

std::vector<OutputComparison> compare_with_reference(const Program& program,
                                                     const Program& reference) {
  const auto image = image_on_cpu(program);
  const auto expected = image_on_cpu(reference);
  if (!image || !expected) return {};
  std::vector<OutputComparison> comparisons;
  for (const TensorId id : program.outputs) {
    // An output that nobody wrote has what was at its place, which differs from plan to plan.
    if (!has_value(program, id)) continue;
    const TensorId other = reference.find_tensor(program.name(program.tensor(id).name));
    if (!other.is_some()) continue;
    comparisons.push_back(compare_output(program, *image, id, reference, *expected, other));
  }
  return comparisons;
}

PassReport judge_passes(const PassChain& chain, const Program& program, const PlanOptions& plan,
                        const OracleOptions& options, uint64_t number) {
  PassReport report;
  auto passed = run_passes(chain, program, plan);
  if (!passed) {
    disagree(report.disagreements, OracleStage::kEncode, "A pass has an error: {}",
             passed.error().message);
    return report;
  }
  if (passed->failure) {
    report.failure = std::move(passed->failure);
    return report;
  }
  report.facts = find_signed(*passed);
  report.program = std::move(passed->placed);
  const bool is_cpu_turn = options.cpu_period > 0 && number % options.cpu_period == 0;
  if (report.facts.empty() && !is_cpu_turn) return report;
  const auto reference = run_passes(reference_chain(), program, plan);
  if (!reference) {
    disagree(report.disagreements, OracleStage::kEncode, "The reference has an error: {}",
             reference.error().message);
    return report;
  }
  for (const SignedFact& fact : find_signed(*reference)) {
    disagree(report.disagreements, OracleStage::kExactCheck,
             "The reference passes leave a finding, {}.", fact.signature);
  }
  if (!is_cpu_turn || !report.facts.empty()) return report;
  report.ran_on_cpu = true;
  // Backward passes may add up in another order, and round otherwise.
  const bool is_comparable = chain.backward == nullptr;
  if (is_comparable && differs_from_reference(report.program, reference->placed)) {
    disagree(
        report.disagreements, OracleStage::kCpu,
        "An output differs from that of the reference passes on the CPU, although no check finds anything.");
  }
  // Where frees take nothing away, the methods of other campaigns must agree, too.
  if (!report.program.lifetimes.empty()) return report;
  std::vector<InternalDisagreement> others =
      chain.queue_encoder != nullptr ? judge_queues(report.program, {}, number).disagreements
                                     : judge(report.program, options, number).disagreements;
  std::ranges::move(others, std::back_inserter(report.disagreements));
  return report;
}

Evidence best_pass_evidence(const Program& program, const std::string& signature,
                            EvidenceLevel sufficient) {
  const bool is_alias = signature.starts_with(word_of(FindingKind::kAlias));
  return best_evidence(program, signature,
                       detail_of(is_alias ? FindingKind::kAlias : FindingKind::kReadAfterWrite),
                       sufficient);
}

bool differs_from_reference(const Program& program, const Program& reference) {
  const std::vector<OutputComparison> outputs = compare_with_reference(program, reference);
  return std::ranges::any_of(
      outputs, [](const OutputComparison& output) { return output.differing_count > 0; });
}

Program passed_with_evidence(const PassChain& chain, const Program& program,
                             const PlanOptions& plan, const std::string& signature) {
  const PassedProgram passed = run_passes(chain, program, plan).value();
  if (is_of_gradient(signature)) return with_gradient_expectations(passed.meant);
  return with_evidence(passed.placed,
                       best_pass_evidence(passed.placed, signature, EvidenceLevel::kBackend).fact);
}

}  // namespace interlock
