#include "encoder/assemble/append_backward.h"

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
namespace {

// What to look for once the items are in the program.
struct WrittenNames {
  explicit WrittenNames(const WrittenBackward& written) : gradients(written.gradients) {
    for (const ItemDraft& item : written.items) {
      if (const auto* tensor = std::get_if<TensorDraft>(&item)) {
        if (tensor_count++ == 0) first_tensor = tensor->name;
      } else {
        ++statement_count;
      }
    }
  }

  std::vector<std::string> gradients;
  std::string first_tensor;
  uint32_t tensor_count = 0;
  uint32_t statement_count = 0;
};

// Requires: the statements of `program` end with those that were written.
Backward place_of(const Program& program, const BackwardDraft& request,
                  const WrittenNames& written) {
  std::map<std::string_view, TensorId> tensors;
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    tensors.emplace(program.name(program.tensors[i].name), TensorId(i));
  }
  Backward pass;
  pass.loss = tensors.at(request.loss);
  for (const std::string& name : request.wrt) pass.wrt.push_back(tensors.at(name));
  for (const std::string& name : written.gradients) pass.gradients.push_back(tensors.at(name));
  pass.first = StatementId(program.statements.size() - written.statement_count);
  pass.statement_count = written.statement_count;
  if (written.tensor_count > 0) pass.first_tensor = tensors.at(written.first_tensor);
  pass.tensor_count = written.tensor_count;
  return pass;
}

}  // namespace

Result<AppendedBackward> append_backward(const Program& program, const BackwardDraft& request,
                                         const Limits& limits) {
  BackwardRoom room(limits);
  Result<WrittenBackward> written = write_backward(program, request, room);
  if (!written) return written.error();
  ProgramDraft draft = without_evidence(expanded_draft_of(program));
  const WrittenNames names(*written);
  draft.items.insert(draft.items.end(), std::make_move_iterator(written->items.begin()),
                     std::make_move_iterator(written->items.end()));
  // Without any output all memory is live at the end anyway.
  if (!program.outputs.empty()) draft.items.emplace_back(OutputDraft{names.gradients});
  Result<Program> appended = build(draft, limits);
  if (!appended) return appended.error();
  const Backward pass = place_of(*appended, request, names);
  return AppendedBackward{std::move(*appended), pass};
}

Result<Program> apply_backward(const Program& program, const BackwardDraft& request,
                               const Limits& limits) {
  Result<AppendedBackward> appended = append_backward(program, request, limits);
  if (!appended) return appended.error();
  return std::move(appended->program);
}

}  // namespace interlock
