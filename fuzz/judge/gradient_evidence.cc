#include "fuzz/judge/gradient_evidence.h"

#include <string>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "fuzz/judge/evidence.h"
#include "simulator/gradients/gradient_requests.h"

namespace interlock {
namespace {

constexpr std::string_view kWord = "gradient";

}  // namespace

std::vector<GradientFinding> find_wrong_gradients(const Program& program) {
  if (program.backwards.empty()) return {};
  return check_gradients(program, gradient_requests_of(program)).findings;
}

std::string signature_of(const Program& program, const GradientFinding& finding) {
  std::string text(kWord);
  if (finding.counts.empty() || finding.counts[0].dispatches.empty()) return text;
  const Dispatch& reader = program.dispatch(finding.counts[0].dispatches[0]);
  return text + '-' + std::string(program.name(reader.kernel_name));
}

bool is_of_gradient(std::string_view signature) { return signature.starts_with(kWord); }

Program with_gradient_expectations(const Program& program) {
  OracleFinding nothing;
  nothing.kind = FindingKind::kGradient;
  ProgramDraft draft = draft_of(with_evidence(program, nothing));
  for (const GradientFinding& finding : find_wrong_gradients(program)) {
    ExpectDraft expect;
    expect.kind = FindingKind::kGradient;
    expect.first = program.name(program.tensor(finding.tensor).name);
    draft.items.emplace_back(std::move(expect));
  }
  return build(draft).value();
}

}  // namespace interlock
