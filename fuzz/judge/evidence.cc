#include "fuzz/judge/evidence.h"

#include <algorithm>
#include <set>
#include <utility>

#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/oracles.h"
#include "fuzz/judge/replay.h"
#include "simulator/order/happens_before.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/witness.h"

namespace interlock {
namespace {

bool differs_in_shadow(const Program& program, const Schedule& schedule) {
  ShadowMachine machine(program);
  return !(machine.run(issue_order_schedule(program), ShadowMode::kObservable) ==
           machine.run(schedule, ShadowMode::kObservable));
}

// Decides whether a schedule changes an output on the CPU: of issue order, because a program may be
// reordered besides, and of the reference, because that is what a replay compares with. Both run
// once.
class CpuJudge {
 public:
  explicit CpuJudge(const Program& program) : program_(program), cpu_(find_backend("cpu")) {
    INTERLOCK_CHECK(cpu_ != nullptr);
    auto image = cpu_->run(program, issue_order_schedule(program), ExecutionMode::kWitness);
    if (image) in_issue_order_ = std::move(image).value();
    if (!program.has_program_order) return;
    auto reference = reference_image(program, *cpu_);
    if (reference) reference_ = std::move(reference).value();
  }

  // False too if the CPU cannot run the program: it is too large.
  bool differs(const Schedule& schedule) const {
    const bool has_reference = reference_ || !program_.has_program_order;
    if (!in_issue_order_ || !has_reference) return false;
    const auto image = cpu_->run(program_, schedule, ExecutionMode::kWitness);
    return image && outputs_differ(program_, *in_issue_order_, *image) &&
           (!reference_ || outputs_differ(program_, *reference_, *image));
  }

 private:
  const Program& program_;
  Backend* cpu_;
  std::optional<MemoryImage> in_issue_order_;
  std::optional<MemoryImage> reference_;  // None if it is issue order.
};

// Requires: `facts` are those of the program.
PairKinds kinds_of_pair(const Program& program, const std::vector<Fact>& facts,
                        const Hazard& hazard) {
  const DispatchId first = hazard.first.dispatch;
  const DispatchId second = hazard.second.dispatch;
  PairKinds kinds;
  for (const Fact& fact : facts) {
    const auto* const other = std::get_if<Hazard>(&fact);
    const bool is_same_pair =
        other != nullptr && other->first.dispatch == first && other->second.dispatch == second;
    if (!is_same_pair) continue;
    kinds.listed.raw |= other->kind == FindingKind::kReadAfterWrite;
    kinds.listed.war |= other->kind == FindingKind::kWriteAfterRead;
    kinds.listed.waw |= other->kind == FindingKind::kWriteAfterWrite;
  }
  kinds.all = hazard_kinds(program, HappensBefore(program), first, second);
  return kinds;
}

ExpectDraft lifetime_expectation_of(const Program& program, const LifetimeFinding& finding) {
  const DispatchId reader_id = finding.reader.dispatch;
  const std::string reader = reader_id.is_some() ? program.reference_of(reader_id) : "";
  ExpectDraft expect;
  expect.kind = finding.kind;
  if (finding.kind == FindingKind::kUninitialized) {
    expect.first = reader;
    return expect;
  }
  expect.first = finding.kind == FindingKind::kClobber
                     ? program.reference_of(finding.overwriter.dispatch)
                     : program.reference_of(finding.ended_by);
  expect.second = reader;
  return expect;
}

}  // namespace

std::vector<Sink> sinks_of_fact(const Program& program, const HappensBefore& order,
                                const Fact& fact) {
  const auto* const hazard = std::get_if<Hazard>(&fact);
  return hazard == nullptr ? std::vector<Sink>() : sinks_of(program, order, *hazard);
}

Evidence find_evidence(const Program& program, const Fact& fact, EvidenceLevel sufficient) {
  Evidence evidence{EvidenceLevel::kExact, fact, {}};
  if (sufficient <= EvidenceLevel::kExact) return evidence;
  const HappensBefore order(program);
  for (Sink& sink : sinks_of_fact(program, order, fact)) {
    const auto schedule = schedule_of(program, order, sink.displacements);
    if (!schedule || !differs_in_shadow(program, *schedule)) continue;
    const bool on_cpu = sufficient > EvidenceLevel::kShadow && CpuJudge(program).differs(*schedule);
    if (evidence.level < EvidenceLevel::kShadow || on_cpu)
      evidence.witness = std::move(sink.displacements);
    evidence.level = on_cpu ? EvidenceLevel::kBackend : EvidenceLevel::kShadow;
    if (evidence.level >= sufficient) break;
  }
  return evidence;
}

PairKinds kinds_of_pair(const Program& program, const Fact& fact) {
  const auto* const hazard = std::get_if<Hazard>(&fact);
  return hazard == nullptr ? kAllKinds : kinds_of_pair(program, find_exactly(program), *hazard);
}

Evidence best_evidence(const Program& program, const std::string& signature, SignatureDetail detail,
                       EvidenceLevel sufficient, const PairKinds& allowed) {
  Evidence best;
  const std::vector<Fact> facts = find_exactly(program);
  for (const Fact& fact : facts) {
    if (is_stopped()) return {};
    if (signature_of(program, fact, detail) != signature) continue;
    const auto* const hazard = std::get_if<Hazard>(&fact);
    const bool adds_kinds =
        hazard != nullptr && !allowed.includes(kinds_of_pair(program, facts, *hazard));
    if (adds_kinds) continue;
    Evidence evidence = find_evidence(program, fact, sufficient);
    if (evidence.level > best.level) best = std::move(evidence);
    if (best.level >= sufficient) break;
  }
  return best;
}

ExpectDraft expectation_of(const Program& program, const Fact& fact) {
  if (const auto* finding = std::get_if<LifetimeFinding>(&fact)) {
    return lifetime_expectation_of(program, *finding);
  }
  ExpectDraft expect;
  expect.kind = kind_of(fact);
  const FactPlace place = place_of(program, fact);
  if (place.tensor.is_some()) {
    expect.first = program.name(program.tensor(place.tensor).name);
    return expect;
  }
  expect.first = program.reference_of(place.first.dispatch);
  // Aliasing concerns two operands of one dispatch.
  const bool has_other = place.second && place.second->dispatch != place.first.dispatch;
  if (has_other) expect.second = program.reference_of(place.second->dispatch);
  return expect;
}

Program with_evidence(const Program& program, const std::optional<Fact>& fact) {
  ProgramDraft draft = without_evidence(draft_of(program));
  if (fact && std::holds_alternative<ExcessBarriers>(*fact)) return build(draft).value();

  const Evidence evidence =
      fact ? find_evidence(program, *fact, EvidenceLevel::kBackend) : Evidence();
  std::vector<Displacement> witness = evidence.witness;
  if (!witness.empty()) {
    const HappensBefore order(program);
    const CpuJudge judge(program);
    const bool on_cpu = evidence.level == EvidenceLevel::kBackend;
    witness = shrink_witness(program, order, std::move(witness), [&](const Schedule& schedule) {
      return on_cpu ? judge.differs(schedule) : differs_in_shadow(program, schedule);
    });
  }
  for (const Displacement& displacement : witness) {
    draft.items.emplace_back(draft_of(program, displacement));
  }
  std::set<std::string> lines;
  for (const Fact& found : find_everything(program)) {
    ExpectDraft expect = expectation_of(program, found);
    if (!lines.insert(print(ItemDraft(expect))).second) continue;
    draft.items.emplace_back(std::move(expect));
  }
  return build(draft).value();
}

Program with_gradient_expectations(const Program& program) {
  ProgramDraft draft = draft_of(with_evidence(program, std::nullopt));
  for (const GradientFinding& finding : find_wrong_gradients(program)) {
    draft.items.emplace_back(expectation_of(program, finding));
  }
  return build(draft).value();
}

}  // namespace interlock
