// The backward passes by name, ours first, then the models.
#include "encoder/backward/backward.h"

#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "encoder/backward/backward_graph.h"
#include "encoder/backward/backward_writer.h"
#include "encoder/backward/split_backward.h"
#include "encoder/program/error_of.h"
#include "encoder/program/registry.h"

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

constexpr std::array kBackwardPasses = {
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

Result<WrittenBackward> write_backward(const Program& program, const BackwardDraft& request,
                                       BackwardRoom& room) {
  const BackwardEntry* const entry = find_backward(request.mode);
  if (entry == nullptr) {
    return error_of("There is {} `interlock list backwards` names them.",
                    no_entry_text(backward_registry(), "backward pass", request.mode));
  }
  Result<BackwardGraph> graph = backward_graph(program, request);
  if (!graph) return graph.error();
  BackwardWriter writer(program, *graph, room);
  entry->write(writer);
  if (writer.error()) return *writer.error();
  return WrittenBackward{writer.finish(), writer.gradients()};
}

std::span<const BackwardEntry> backward_registry() { return kBackwardPasses; }

const BackwardEntry* find_backward(std::string_view name) {
  return find_entry(backward_registry(), name);
}

Result<std::vector<ItemDraft>> backward_items(const Program& program,
                                              const BackwardDraft& request) {
  BackwardRoom room;
  Result<WrittenBackward> written = write_backward(program, request, room);
  if (!written) return written.error();
  return std::move(written->items);
}

}  // namespace interlock
