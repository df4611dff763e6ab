#include "fuzz/gradient_evidence.h"

#include <algorithm>
#include <string>
#include <utility>

#include "encoder/check.h"
#include "encoder/draft.h"
#include "encoder/program_builder.h"
#include "fuzz/evidence.h"

namespace interlock {
namespace {

constexpr std::string_view kWord = "gradient";

// d_w, or the first of d_w.2, d_w.3, … that the pass made.
TensorId gradient_in(const Program& program, const Backward& backward, TensorId tensor) {
  const std::string wanted = "d_" + std::string(program.name(program.tensor(tensor).name));
  TensorId numbered;
  for (uint32_t i = 0; i < backward.tensor_count; ++i) {
    const TensorId id(backward.first_tensor.index + i);
    const std::string_view name = program.name(program.tensor(id).name);
    if (name == wanted) return id;
    if (!numbered.is_some() && name.starts_with(wanted + '.')) numbered = id;
  }
  return numbered;
}

GradientRequest request_of(const Program& program, const Backward& backward) {
  GradientRequest request;
  request.loss = backward.loss;
  request.wrt = backward.wrt;
  for (const TensorId tensor : backward.wrt) {
    request.gradients.push_back(gradient_in(program, backward, tensor));
    INTERLOCK_CHECK(request.gradients.back().is_some());
  }
  for (uint32_t i = 0; i < backward.statement_count; ++i) {
    const Statement& statement = program.statements[backward.first.index + i];
    if (statement.kind != StatementKind::kDispatch) continue;
    if (request.dispatch_count++ == 0) request.first = DispatchId(statement.index);
  }
  request.first_tensor = backward.first_tensor;
  request.tensor_count = backward.tensor_count;
  return request;
}

}  // namespace

std::vector<GradientFinding> find_wrong_gradients(const Program& program) {
  std::vector<GradientRequest> requests;
  for (const Backward& backward : program.backwards) {
    requests.push_back(request_of(program, backward));
  }
  if (requests.empty()) return {};
  return check_gradients(program, requests).findings;
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
