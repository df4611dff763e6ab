// ggml's Vulkan encoder with its reordering of the graph.
//
// Restates ggml_vk_graph_optimize, and the lists of unsynchronized nodes in ggml_vk_build_graph, of
// ggml-org/llama.cpp, ggml/src/ggml-vulkan/ggml-vulkan.cpp as of 000651caa. The optimizer takes the
// first node that is left, and of the 19 after it all that depend on none before them that is left;
// views, which execute nothing, come after the others. Whether a node depends on another, is_src_of
// says: it has the other as a source, or both are views of one tensor. So it misses a node that
// reads through a view and one that later writes the tensor through another (or reads what the
// other wrote, if its own view was there before): llama.cpp#27805, repaired by #27812 (b387ddfd8),
// which compares the tensors below the views of all sources. Barriers are placed on the reordered
// nodes, so that they fit it and nothing looks wrong to a check of barriers: `reordered` does.
//
// A dispatch is a node, and a view is one right before the dispatch that first uses it. ggml
// allocates after it reorders; here bytes are given, so dispatches that conflict on bytes of two
// tensors, or of ranges, keep their order. Not modelled: fusions, which keep nodes side by side,
// and barriers by hand around scratch buffers. Cost: quadratic without barriers.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "encoder/sync/encoder.h"

namespace interlock {

class GgmlVulkanEncoder : public Encoder {
 public:
  void begin(std::span<const Tensor> tensors) final;
  void encode(const EncoderDispatch& dispatch, CommandSink& sink) final;
  // A graph does not go on beyond it.
  void end_command_buffer(CommandSink& sink) final;
  void wait_for(std::span<const Access> bytes, bool is_pending, CommandSink& sink) final;
  void wait_for_all(CommandSink& sink) final;
  void finish(CommandSink& sink) final;

 protected:
  explicit GgmlVulkanEncoder(bool knows_roots) : knows_roots_(knows_roots) {}

 private:
  struct Node {
    DispatchId dispatch;           // None: a view.
    std::vector<Access> accesses;  // Of a dispatch.
    std::vector<TensorId> sources;
    std::vector<TensorId> outputs;
  };

  void add_views(TensorId tensor);
  bool is_source_of(const Node& later, const Node& earlier) const;
  bool depends(const Node& later, const Node& earlier) const;
  bool share_a_root(std::span<const TensorId> some, std::span<const TensorId> others) const;
  bool conflict_across_tensors(const Node& later, const Node& earlier) const;
  std::vector<size_t> next_set(size_t first) const;
  void issue_graph(CommandSink& sink);
  void issue(const Node& node, CommandSink& sink);

  const bool knows_roots_;  // As since #27812.
  std::span<const Tensor> tensors_;
  std::vector<bool> is_view_seen_;  // By tensor.
  std::vector<Node> nodes_;         // Of the graph.
  std::vector<bool> is_used_;       // By node.
  std::vector<Access> unsynced_;    // Of the dispatches since the last barrier.
};

// Misses dependencies of two views of one tensor.
class GgmlVulkan27805Encoder final : public GgmlVulkanEncoder {
 public:
  GgmlVulkan27805Encoder() : GgmlVulkanEncoder(false) {}
};

class GgmlVulkanReorderEncoder final : public GgmlVulkanEncoder {
 public:
  GgmlVulkanReorderEncoder() : GgmlVulkanEncoder(true) {}
};

}  // namespace interlock
