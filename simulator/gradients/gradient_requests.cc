#include "simulator/gradients/gradient_requests.h"

namespace interlock {
namespace {

// The first dispatch from a statement on; the number of dispatches if none follows.
DispatchId first_dispatch_from(const Program& program, StatementId first) {
  for (size_t i = first.index; i < program.statements.size(); ++i) {
    const Statement& statement = program.statements[i];
    if (statement.kind == StatementKind::kDispatch) return DispatchId(statement.index);
  }
  return DispatchId(program.dispatches.size());
}

}  // namespace

GradientRequest gradient_request_of(const Program& program, const Backward& pass) {
  GradientRequest request;
  request.loss = pass.loss;
  request.wrt = pass.wrt;
  request.gradients = pass.gradients;
  // All statements of a pass are dispatches.
  request.first = first_dispatch_from(program, pass.first);
  request.dispatch_count = pass.statement_count;
  request.first_tensor = pass.first_tensor;
  request.tensor_count = pass.tensor_count;
  return request;
}

std::vector<GradientRequest> gradient_requests_of(const Program& program) {
  std::vector<GradientRequest> requests;
  for (const Backward& pass : program.backwards) {
    requests.push_back(gradient_request_of(program, pass));
  }
  return requests;
}

}  // namespace interlock
