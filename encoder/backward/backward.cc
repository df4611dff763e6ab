// The backward passes by name, ours first, then the models.
#include "encoder/backward/backward.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/backward/backward_graph.h"
#include "encoder/backward/backward_writer.h"
#include "encoder/backward/pytorch_split.h"
#include "encoder/backward/split_backward.h"
#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

// Each dispatch once, from the loss back, with all the cotangents that are wanted of it.
void write_one_shot(BackwardWriter& writer) {
  const std::vector<BackwardNode>& nodes = writer.graph().nodes;
  for (size_t i = nodes.size(); i-- > 0;) {
    writer.run(i, nodes[i].inputs, writer.result(), writer.result());
  }
}

void write_one_shot_stream(BackwardWriter& writer) {
  writer.use_streaming_kernels();
  write_one_shot(writer);
}

constexpr std::array kBackwards = {
    BackwardEntry{"one-shot", "the reference: each dispatch once, from the loss back", false,
                  &write_one_shot},
    BackwardEntry{"one-shot-stream",
                  "as one-shot, with VJP kernels that stream through memory, as ggml's do", false,
                  &write_one_shot_stream},
    BackwardEntry{"split", "inputs and activations first, weights later, as pipelines have it",
                  false, &write_split},
    BackwardEntry{"split-pytorch-180952",
                  "split, whose second half walks on through what it starts from", true,
                  &write_split_pytorch_180952},
};

}  // namespace

Result<WrittenBackward> write_backward(const Program& program, const BackwardRequest& request,
                                       BackwardRoom& room) {
  const BackwardEntry* const entry = find_backward(request.mode);
  if (entry == nullptr) {
    NearestName nearest(request.mode);
    for (const BackwardEntry& known : kBackwards) nearest.offer(known.name);
    return Error{
        fmt::format("There is no backward pass {}.{} `interlock list backwards` names them.",
                    in_quotes(request.mode), nearest.advice())};
  }
  Result<BackwardGraph> graph = backward_graph(program, request);
  if (!graph) return graph.error();
  BackwardWriter writer(program, *graph, room);
  entry->write(writer);
  if (writer.error()) return *writer.error();
  return WrittenBackward{writer.finish(), writer.gradients()};
}

std::span<const BackwardEntry> backward_registry() { return kBackwards; }

const BackwardEntry* find_backward(std::string_view name) {
  for (const BackwardEntry& entry : kBackwards) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

Result<std::vector<ItemDraft>> backward_items(const Program& program,
                                              const BackwardRequest& request) {
  BackwardRoom room;
  Result<WrittenBackward> written = write_backward(program, request, room);
  if (!written) return written.error();
  return std::move(written->items);
}

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
Backward place_of(const Program& program, const BackwardRequest& request,
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

Result<AppendedBackward> append_backward(const Program& program, const BackwardRequest& request,
                                         const Limits& limits) {
  BackwardRoom room(limits);
  Result<WrittenBackward> written = write_backward(program, request, room);
  if (!written) return written.error();
  ProgramDraft draft;
  for (ItemDraft& item : expanded_draft_of(program).items) {
    const bool is_about_schedules =
        std::holds_alternative<WitnessDraft>(item) || std::holds_alternative<ExpectDraft>(item);
    if (!is_about_schedules) draft.items.push_back(std::move(item));
  }
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

Result<Program> apply_backward(const Program& program, const BackwardRequest& request,
                               const Limits& limits) {
  Result<AppendedBackward> appended = append_backward(program, request, limits);
  if (!appended) return appended.error();
  return std::move(appended->program);
}

}  // namespace interlock
