#include "simulator/gradient_requests.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "encoder/names.h"

namespace interlock {
namespace {

using TensorsByName = std::map<std::string_view, TensorId>;

TensorId gradient_of(const TensorsByName& tensors, std::string_view name) {
  const std::string wanted = fmt::format("d_{}", name);
  if (const auto found = tensors.find(wanted); found != tensors.end()) return found->second;
  const std::string stem = wanted + ".";
  TensorId gradient;
  uint64_t lowest = UINT64_MAX;
  for (auto next = tensors.lower_bound(stem); next != tensors.end(); ++next) {
    if (next->first.substr(0, stem.size()) != stem) break;
    const auto number = decimal_of(next->first.substr(stem.size()));
    if (!number || *number >= lowest) continue;
    lowest = *number;
    gradient = next->second;
  }
  return gradient;
}

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
    TensorsByName tensors;
    for (uint32_t i = 0; i < backward.tensor_count; ++i) {
      const TensorId id(backward.first_tensor.index + i);
      tensors.emplace(program.name(program.tensor(id).name), id);
    }
    GradientRequest request;
    request.loss = backward.loss;
    for (const TensorId wrt : backward.wrt) {
      const TensorId gradient = gradient_of(tensors, program.name(program.tensor(wrt).name));
      if (!gradient.is_some()) continue;
      request.wrt.push_back(wrt);
      request.gradients.push_back(gradient);
    }
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
