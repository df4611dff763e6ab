#include "fuzz/judge/gradient_evidence.h"

#include <optional>
#include <string>

#include "encoder/assemble/build.h"
#include "encoder/program/draft.h"
#include "fuzz/judge/evidence.h"

namespace interlock {
namespace {

constexpr std::string_view kWord = "gradient";

}  // namespace

std::vector<GradientFinding> find_wrong_gradients(const Program& program) {
  if (program.backwards.empty()) return {};
  return check_gradients(program, program.backwards).findings;
}

std::string gradient_signature_of(const Program& program, const GradientFinding& finding) {
  std::string text(kWord);
  if (finding.counts.empty() || finding.counts[0].dispatches.empty()) return text;
  const Dispatch& reader = program.dispatch(finding.counts[0].dispatches[0]);
  return text + '-' + std::string(program.name(reader.kernel_name));
}

bool is_of_gradient(std::string_view signature) { return signature.starts_with(kWord); }

Program with_gradient_expectations(const Program& program) {
  ProgramDraft draft = draft_of(with_evidence(program, std::nullopt));
  for (const GradientFinding& finding : find_wrong_gradients(program)) {
    draft.items.emplace_back(expectation_of(program, finding));
  }
  return build(draft).value();
}

}  // namespace interlock
