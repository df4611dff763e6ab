#include "fuzz/judge/evidence.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "backends/reference/reference.h"
#include "backends/registry.h"
#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/fresh_names.h"
#include "encoder/program/stop.h"
#include "encoder/text/printer.h"
#include "fuzz/judge/findings.h"
#include "fuzz/judge/replay.h"
#include "simulator/order/happens_before.h"
#include "simulator/order/in_reference_order.h"
#include "simulator/schedules/displacements.h"
#include "simulator/schedules/shadow_machine.h"
#include "simulator/schedules/witness.h"

namespace interlock {
namespace {

// Takes `steps` from what is left; all of it, and returns false, if that is less.
bool take(uint64_t& steps_left, uint64_t steps) {
  const bool are_left = steps <= steps_left;
  steps_left -= std::min(steps, steps_left);
  return are_left;
}

bool differs_in_shadow(const Program& program, const Schedule& schedule, uint64_t& steps_left) {
  constexpr uint64_t kStepsPerOperand = 64;  // To make the machine.
  if (!take(steps_left, kStepsPerOperand * program.accesses.size())) return false;
  ShadowMachine machine(program);
  if (!take(steps_left, 2 * machine.touched_segment_count())) return false;
  return !(machine.run(reference_order_schedule(program), ShadowMode::kObservable) ==
           machine.run(schedule, ShadowMode::kObservable));
}

// Decides whether a schedule changes an output on the CPU: of the reference order, because a
// program may be reordered besides, and of what a replay compares with. Both run once.
class CpuJudge {
 public:
  explicit CpuJudge(const Program& program) : program_(program), cpu_(find_backend("cpu")) {
    INTERLOCK_CHECK(cpu_ != nullptr);
    auto image = cpu_->run(program, reference_order_schedule(program), ExecutionMode::kWitness);
    if (image) in_reference_order_ = std::move(image).value();
    if (!program.has_program_order) return;
    auto reference = reference_image(program, *cpu_);
    if (reference) reference_ = std::move(reference).value();
  }

  // What it takes to make one and to ask it once.
  static uint64_t steps_of(const Program& program) {
    return (program.has_program_order ? 3 : 2) * execution_steps(program);
  }

  // False too if the CPU cannot run the program: it is too large.
  bool differs(const Schedule& schedule) const {
    const bool has_reference = reference_ || !program_.has_program_order;
    if (!in_reference_order_ || !has_reference) return false;
    const auto image = cpu_->run(program_, schedule, ExecutionMode::kWitness);
    return image && outputs_differ(program_, *in_reference_order_, *image) &&
           (!reference_ || outputs_differ(program_, *reference_, *image));
  }

 private:
  const Program& program_;
  Backend* cpu_;
  std::optional<MemoryImage> in_reference_order_;
  std::optional<MemoryImage> reference_;  // What a replay compares with; none if it is that.
};

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

uint64_t execution_steps(const Program& program) {
  constexpr uint64_t kMost = UINT64_MAX / 4;  // Four times as many are a number.
  uint64_t steps = 0;
  for (const Memory& memory : program.memories) steps = std::min(kMost, steps + memory.size_bytes);
  for (const Access& access : program.accesses) {
    steps = std::min(kMost, steps + access.range.size_bytes());
  }
  return steps;
}

std::vector<Sink> sinks_of_fact(const Program& program, const HappensBefore& order,
                                const Fact& fact) {
  const auto* const hazard = std::get_if<Hazard>(&fact);
  return hazard == nullptr ? std::vector<Sink>() : sinks_of(program, order, *hazard);
}

Evidence find_evidence(const Program& program, const Fact& fact, EvidenceLevel sufficient,
                       uint64_t* steps_left) {
  uint64_t own_steps = kEvidenceStepsMax;
  uint64_t& left = steps_left == nullptr ? own_steps : *steps_left;
  Evidence evidence{EvidenceLevel::kExact, fact, {}};
  if (sufficient <= EvidenceLevel::kExact) return evidence;
  const HappensBefore order(program);
  for (Sink& sink : sinks_of_fact(program, order, fact)) {
    const auto schedule = schedule_of(program, order, sink.displacements);
    if (!schedule || !differs_in_shadow(program, *schedule, left)) continue;
    const bool on_cpu = sufficient > EvidenceLevel::kShadow &&
                        take(left, CpuJudge::steps_of(program)) &&
                        CpuJudge(program).differs(*schedule);
    if (evidence.level < EvidenceLevel::kShadow || on_cpu)
      evidence.witness = std::move(sink.displacements);
    evidence.level = on_cpu ? EvidenceLevel::kBackend : EvidenceLevel::kShadow;
    if (evidence.level >= sufficient) break;
  }
  return evidence;
}

PairKinds kinds_of_pair(const Program& program, const Fact& fact) {
  if (!std::holds_alternative<Hazard>(fact)) return kAllKinds;
  return kinds_of_pair(program, find_exactly(program), fact);
}

PairKinds kinds_of_pair(const Program& program, const std::vector<Fact>& facts, const Fact& fact) {
  const auto* const hazard = std::get_if<Hazard>(&fact);
  if (hazard == nullptr) return kAllKinds;
  const DispatchId first = hazard->first.dispatch;
  const DispatchId second = hazard->second.dispatch;
  PairKinds kinds;
  for (const Fact& one : facts) {
    const auto* const other = std::get_if<Hazard>(&one);
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

Evidence best_evidence(const Program& program, const std::string& signature, SignatureDetail detail,
                       EvidenceLevel sufficient, const PairKinds& allowed) {
  Evidence best;
  uint64_t steps_left = kEvidenceStepsMax;
  const std::vector<Fact> facts = find_exactly(program);
  for (const Fact& fact : facts) {
    if (is_stopped()) return {};
    if (signature_of(program, fact, detail) != signature) continue;
    const bool adds_kinds = std::holds_alternative<Hazard>(fact) &&
                            !allowed.includes(kinds_of_pair(program, facts, fact));
    if (adds_kinds) continue;
    Evidence evidence = find_evidence(program, fact, sufficient, &steps_left);
    if (evidence.level > best.level) best = std::move(evidence);
    if (best.level >= sufficient) break;
    if (steps_left == 0 && best.level != EvidenceLevel::kNone) break;
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

namespace {

// `program` with labels for what only labels name: of the host, and what barriers do to operands.
Program with_names(const Program& program) {
  ProgramDraft draft = draft_of(program);
  FreshNames names(label_names(program));
  bool has_new = false;
  const auto name = [&](std::string& label, const std::string& stem) {
    if (!label.empty()) return;
    label = names.claim_numbered(stem);
    has_new = true;
  };
  for (ItemDraft& item : draft.items) {
    if (auto* const access = std::get_if<HostAccessDraft>(&item)) name(access->label, "h");
    auto* const barrier = std::get_if<BarrierDraft>(&item);
    if (barrier == nullptr) continue;
    const bool has_transition =
        std::ranges::any_of(barrier->dependencies, [](const DependencyDraft& dependency) {
          return dependency.transition != TransitionKind::kNone;
        });
    if (has_transition) name(barrier->label, "b");
  }
  return has_new ? build(draft).value() : program;
}

}  // namespace

Program with_evidence(const Program& unnamed, const std::optional<Fact>& fact) {
  const Program program = with_names(unnamed);
  ProgramDraft draft = without_evidence(draft_of(program));
  if (fact && std::holds_alternative<ExcessBarriers>(*fact)) return build(draft).value();

  // Facts and schedules are of the reference run; lines name what they are about.
  const Program run = reference_run(program);
  const Evidence evidence = fact ? find_evidence(run, *fact, EvidenceLevel::kBackend) : Evidence();
  std::vector<Displacement> witness = evidence.witness;
  if (!witness.empty()) {
    const HappensBefore order(run);
    const CpuJudge judge(run);
    const bool on_cpu = evidence.level == EvidenceLevel::kBackend;
    witness = shrink_witness(run, order, std::move(witness), [&](const Schedule& schedule) {
      uint64_t steps = UINT64_MAX;
      return on_cpu ? judge.differs(schedule) : differs_in_shadow(run, schedule, steps);
    });
  }
  for (const Displacement& displacement : witness) {
    draft.items.emplace_back(draft_of(run, displacement));
  }
  std::set<std::string> lines;
  const auto* const hazard = fact ? std::get_if<Hazard>(&*fact) : nullptr;
  const bool lists_possible = hazard != nullptr && hazard->is_possible;
  for (const Fact& found : findings_of(run, lists_possible)) {
    ExpectDraft expect = expectation_of(run, found);
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
