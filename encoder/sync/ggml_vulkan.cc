#include "encoder/sync/ggml_vulkan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "encoder/program/range.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr size_t kNodesToCheck = 20;

bool share_a_byte_in_conflict(const Access& a, const Access& b) {
  const bool only_read = a.only_reads() && b.only_reads();
  return !only_read && a.memory == b.memory && share_a_byte(a.range, b.range);
}

}  // namespace

void GgmlVulkanEncoder::begin(std::span<const Tensor> tensors) {
  tensors_ = tensors;
  is_view_seen_.assign(tensors.size(), false);
}

// Views of views may be as many as there are tensors.
void GgmlVulkanEncoder::add_views(TensorId tensor) {
  std::vector<TensorId> views;
  while (tensors_[tensor.index].placement == Placement::kView && !is_view_seen_[tensor.index]) {
    is_view_seen_[tensor.index] = true;
    views.push_back(tensor);
    tensor = tensors_[tensor.index].source;
  }
  for (size_t i = views.size(); i-- > 0;) {
    Node node;
    node.sources.push_back(tensors_[views[i].index].source);
    node.outputs.push_back(views[i]);
    nodes_.push_back(std::move(node));
  }
}

void GgmlVulkanEncoder::encode(const EncoderDispatch& dispatch, CommandSink& /*sink*/) {
  Node node;
  node.dispatch = dispatch.id;
  node.accesses.assign(dispatch.accesses.begin(), dispatch.accesses.end());
  for (const Access& access : dispatch.accesses) {
    if (access.tensor.is_some()) {
      add_views(access.tensor);
      if (access.mode != AccessMode::kWrite) node.sources.push_back(access.tensor);
      if (!access.only_reads()) node.outputs.push_back(access.tensor);
    }
  }
  nodes_.push_back(std::move(node));
}

bool GgmlVulkanEncoder::share_a_root(std::span<const TensorId> some,
                                     std::span<const TensorId> others) const {
  return std::ranges::any_of(some, [&](TensorId a) {
    return std::ranges::any_of(
        others, [&](TensorId b) { return tensors_[a.index].root == tensors_[b.index].root; });
  });
}

bool GgmlVulkanEncoder::is_source_of(const Node& later, const Node& earlier) const {
  const bool is_direct = std::ranges::any_of(later.sources, [&](TensorId source) {
    return std::ranges::find(earlier.outputs, source) != earlier.outputs.end();
  });
  if (is_direct || share_a_root(later.outputs, earlier.outputs)) return true;
  return knows_roots_ && (share_a_root(later.sources, earlier.outputs) ||
                          share_a_root(later.outputs, earlier.sources));
}

// What the allocator sees to once the order is settled.
bool GgmlVulkanEncoder::conflict_across_tensors(const Node& later, const Node& earlier) const {
  const auto root_of = [&](const Access& access) {
    return access.tensor.is_some() ? tensors_[access.tensor.index].root : TensorId();
  };
  for (const Access& a : later.accesses) {
    for (const Access& b : earlier.accesses) {
      const bool is_of_one_tensor = root_of(a).is_some() && root_of(a) == root_of(b);
      if (!is_of_one_tensor && share_a_byte_in_conflict(a, b)) return true;
    }
  }
  return false;
}

bool GgmlVulkanEncoder::depends(const Node& later, const Node& earlier) const {
  return is_source_of(later, earlier) || conflict_across_tensors(later, earlier);
}

std::vector<size_t> GgmlVulkanEncoder::next_set(size_t first) const {
  std::vector<size_t> set = {first};
  const size_t end = std::min(first + kNodesToCheck, nodes_.size());
  const auto is_in_set = [&](size_t i) { return std::ranges::find(set, i) != set.end(); };
  for (const bool is_view : {false, true}) {
    for (size_t j = first + 1; j < end; ++j) {
      if (is_used_[j] || is_in_set(j) || is_view == nodes_[j].dispatch.is_some()) continue;
      bool depends_on_some = false;
      for (size_t c = first; c < j && !depends_on_some; ++c) {
        if (is_used_[c] || (is_view && is_in_set(c))) continue;
        depends_on_some = depends(nodes_[j], nodes_[c]);
      }
      if (!depends_on_some) set.push_back(j);
    }
  }
  return set;
}

void GgmlVulkanEncoder::issue_graph(CommandSink& sink) {
  is_used_.assign(nodes_.size(), false);
  for (size_t first = 0; first < nodes_.size(); ++first) {
    if (is_stopped()) return;
    if (is_used_[first]) continue;
    for (const size_t i : next_set(first)) {
      is_used_[i] = true;
      issue(nodes_[i], sink);
    }
  }
  nodes_.clear();
}

void GgmlVulkanEncoder::issue(const Node& node, CommandSink& sink) {
  if (!node.dispatch.is_some()) return;
  const bool conflicts = std::ranges::any_of(node.accesses, [&](const Access& access) {
    return std::ranges::any_of(unsynced_, [&](const Access& earlier) {
      return share_a_byte_in_conflict(access, earlier);
    });
  });
  if (conflicts) {
    sink.issue_barrier(BarrierKind::kFull);
    unsynced_.clear();
  }
  unsynced_.insert(unsynced_.end(), node.accesses.begin(), node.accesses.end());
  sink.issue_dispatch(node.dispatch);
}

void GgmlVulkanEncoder::end_command_buffer(CommandSink& sink) {
  issue_graph(sink);
  sink.issue_split();
}

void GgmlVulkanEncoder::wait_for(std::span<const Access> bytes, bool /*is_pending*/,
                                 CommandSink& sink) {
  issue_graph(sink);
  const bool is_unsynced = std::ranges::any_of(bytes, [&](const Access& destroyed) {
    return std::ranges::any_of(unsynced_, [&](const Access& access) {
      return access.memory == destroyed.memory && share_a_byte(access.range, destroyed.range);
    });
  });
  if (is_unsynced) wait_for_all(sink);
}

void GgmlVulkanEncoder::wait_for_all(CommandSink& sink) {
  issue_graph(sink);
  sink.issue_barrier(BarrierKind::kFull);
  unsynced_.clear();
}

void GgmlVulkanEncoder::finish(CommandSink& sink) { issue_graph(sink); }

}  // namespace interlock
