#include "simulator/gradient_requests.h"

#include <utility>

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

std::vector<GradientRequest> gradient_requests_of(const Program& program) {
  std::vector<GradientRequest> requests;
  for (const Backward& backward : program.backwards) {
    GradientRequest request;
    request.loss = backward.loss;
    request.wrt = backward.wrt;
    request.gradients = backward.gradients;
    // All statements of a pass are dispatches.
    request.first = first_dispatch_from(program, backward.first);
    request.dispatch_count = backward.statement_count;
    request.first_tensor = backward.first_tensor;
    request.tensor_count = backward.tensor_count;
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace interlock
