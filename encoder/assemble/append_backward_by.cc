#include "encoder/assemble/append_backward_by.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "encoder/assemble/build.h"

namespace interlock {
namespace {

// Of the gradients of an appended pass.
std::vector<std::string> gradient_names(const AppendedBackward& appended) {
  std::vector<std::string> names;
  for (const TensorId id : appended.pass.gradients) {
    names.emplace_back(appended.program.name(appended.program.tensor(id).name));
  }
  return names;
}

}  // namespace

std::string remark_of(const BackwardDraft& request, const std::vector<std::string>& gradients) {
  std::vector<std::string> wrt;
  for (size_t i = 0; i < request.wrt.size(); ++i) {
    wrt.push_back(fmt::format("{}:{}", request.wrt[i], gradients[i]));
  }
  return fmt::format("backward loss={} wrt={}", request.loss, fmt::join(wrt, ","));
}

Result<AppendedBy> append_backward_by(const Program& program, BackwardDraft request,
                                      const BackwardEntry& backward, const Limits& limits) {
  if (backward.external == nullptr) {
    request.mode = backward.name;
    auto appended = append_backward(program, request, limits);
    if (!appended) return appended.error();
    return AppendedBy{std::move(*appended), std::nullopt, std::nullopt};
  }
  if (program.has_program_order) {
    return Error{
        "A backward pass of others is asked for programs without `order=` alone, since what it "
        "appends comes last."};
  }
  request.mode = kDefaultBackwardMode;
  auto reference = append_backward(program, request, limits);
  if (!reference) return reference.error();
  auto given = build(without_evidence(expanded_draft_of(program)), limits);
  if (!given) return given.error();
  const std::vector<std::string> gradients = gradient_names(*reference);
  Encoding encoding = backward.external->apply(*given, remark_of(request, gradients));
  AppendedBy by{{}, std::move(encoding.failure), std::move(*reference)};
  if (by.failure) return by;
  by.appended.pass = appended_pass(encoding.program, request, gradients,
                                   encoding.program.tensors.size() - given->tensors.size(),
                                   encoding.program.statements.size() - given->statements.size());
  by.appended.program = std::move(encoding.program);
  if (program.outputs.empty()) return by;
  ProgramDraft draft = draft_of(by.appended.program);
  draft.items.emplace_back(OutputDraft{gradients});
  auto with_outputs = build(draft, limits);
  if (!with_outputs) return with_outputs.error();
  by.appended.program = std::move(*with_outputs);
  return by;
}

}  // namespace interlock
