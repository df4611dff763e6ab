// Minimizes programs for what passes do wrong on them.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "encoder/program/check.h"
#include "fuzz/judge/evidence.h"
#include "fuzz/judge/pass_oracle.h"
#include "fuzz/judge/signature.h"
#include "fuzz/minimize/minimizer.h"

namespace interlock {
namespace {

bool has_signature(const std::vector<SignedFact>& facts, const std::string& signature) {
  return std::ranges::find(facts, signature, &SignedFact::signature) != facts.end();
}

std::set<FindingKind> kinds_among(const std::vector<SignedFact>& facts) {
  std::set<FindingKind> kinds;
  for (const SignedFact& fact : facts) kinds.insert(kind_of(fact.fact));
  return kinds;
}

// What a minimized program must keep.
class PassTarget {
 public:
  PassTarget(const PassChain& chain, const PlanOptions& plan, std::string signature,
             const Program& program)
      : chain_(chain), plan_(plan), signature_(std::move(signature)) {
    const auto passed = run_passes(chain_, program, plan_);
    INTERLOCK_CHECK(passed.has_value() && !passed->failure);
    allowed_ = kinds_among(find_signed(*passed));
    level_ = level_of(program, passed->placed, EvidenceLevel::kBackend);
    INTERLOCK_CHECK(level_ > EvidenceLevel::kNone);
  }

  bool is_kept_by(const Program& program) const {
    const auto passed = run_passes(chain_, program, plan_);
    if (!passed || passed->failure) return false;
    const std::vector<SignedFact> facts = find_signed(*passed);
    if (!has_signature(facts, signature_)) return false;
    const std::set<FindingKind> kinds = kinds_among(facts);
    if (!std::ranges::includes(allowed_, kinds)) return false;
    const auto reference = run_passes(reference_chain(), program, plan_);
    if (!reference || !find_signed(*reference).empty()) return false;
    return level_of(program, passed->placed, level_) >= level_;
  }

 private:
  EvidenceLevel level_of(const Program& program, const Program& placed,
                         EvidenceLevel sufficient) const {
    if (is_of_gradient(signature_)) return EvidenceLevel::kExact;
    const Evidence evidence = best_pass_evidence(placed, signature_, sufficient);
    const EvidenceLevel level = std::max(evidence.level, EvidenceLevel::kExact);
    if (level >= sufficient) return level;
    const auto reference = run_passes(reference_chain(), program, plan_);
    const bool differs = reference && differs_from_reference(placed, reference->placed);
    return differs ? EvidenceLevel::kBackend : level;
  }

  const PassChain& chain_;
  const PlanOptions& plan_;
  const std::string signature_;
  std::set<FindingKind> allowed_;
  EvidenceLevel level_ = EvidenceLevel::kNone;
};

}  // namespace

MinimizeReport minimize_passes(const PassChain& chain, const Program& program,
                               const PlanOptions& plan, const std::string& signature,
                               const MinimizeOptions& options) {
  const PassTarget target(chain, plan, signature, program);
  return minimize(
      draft_of(program), [&](const Program& p) { return target.is_kept_by(p); }, options);
}

}  // namespace interlock
