#include "encoder/assemble/append_backward.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/backward/backward.h"
#include "encoder/program/draft.h"

namespace interlock {

Result<AppendedBackward> append_backward(const Program& program, const BackwardDraft& request,
                                         const Limits& limits) {
  BackwardRoom room(limits);
  Result<WrittenBackward> written = write_backward(program, request, room);
  if (!written) return written.error();
  const auto tensor_count =
      static_cast<uint32_t>(std::ranges::count_if(written->items, [](const ItemDraft& item) {
        return std::holds_alternative<TensorDraft>(item);
      }));
  const auto statement_count = static_cast<uint32_t>(written->items.size()) - tensor_count;
  ProgramDraft draft = without_evidence(expanded_draft_of(program));
  std::ranges::move(written->items, std::back_inserter(draft.items));
  // Without any output all memory is live at the end anyway.
  if (!program.outputs.empty()) draft.items.emplace_back(OutputDraft{written->gradients});
  Result<Program> appended = build(draft, limits);
  if (!appended) return appended.error();
  const Backward pass =
      appended_pass(*appended, request, written->gradients, tensor_count, statement_count);
  return AppendedBackward{std::move(*appended), pass};
}

Backward appended_pass(const Program& program, const BackwardDraft& request,
                       const std::vector<std::string>& gradients, size_t tensor_count,
                       size_t statement_count) {
  std::map<std::string_view, TensorId> tensors;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    tensors.emplace(program.name(program.tensors[i].name), TensorId(i));
  }
  Backward pass;
  pass.loss = tensors.at(request.loss);
  for (const std::string& name : request.wrt) pass.wrt.push_back(tensors.at(name));
  for (const std::string& name : gradients) pass.gradients.push_back(tensors.at(name));
  pass.first = StatementId(program.statements.size() - statement_count);
  pass.statement_count = static_cast<uint32_t>(statement_count);
  pass.first_tensor = TensorId(program.tensors.size() - tensor_count);
  pass.tensor_count = static_cast<uint32_t>(tensor_count);
  return pass;
}

}  // namespace interlock
