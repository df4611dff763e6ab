#include "encoder/import/graph_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "encoder/assemble/build.h"
#include "encoder/build/program_builder.h"
#include "encoder/import/graph_names.h"
#include "encoder/import/node_label.h"
#include "encoder/program/error_of.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr std::string_view kGraphQueue = "g";
constexpr size_t kNestingMax = 64;

enum class EdgeSort : uint8_t { kFull, kProgrammatic, kUnknown };

// Ports are 0 or not said for an edge that orders all, 1 and 2 for one that orders execution
// (cudaGraphKernelNodePortProgrammatic, …LaunchCompletion).
EdgeSort sort_of(const DotEdge& edge) {
  EdgeSort sort = EdgeSort::kFull;
  for (const std::string* const port : {&edge.head_port, &edge.tail_port}) {
    if (port->empty() || *port == "0") continue;
    if (*port != "1" && *port != "2") return EdgeSort::kUnknown;
    sort = EdgeSort::kProgrammatic;
  }
  return sort;
}

// The edges to a node, by the positions of nodes in their graph.
struct NodePredecessors {
  std::vector<size_t> full;
  std::vector<size_t> programmatic;
};

class GraphImporter {
 public:
  GraphImporter(const DotFile& file, const AccessSets& sets, std::string_view file_name,
                const Limits& limits)
      : file_(file), sets_(sets), file_name_(file_name), limits_(limits) {
    for (size_t i = 0; i < file.graphs.size(); ++i) graph_of_.try_emplace(file.graphs[i].name, i);
    for (size_t i = 0; i < sets.sets.size(); ++i) {
      if (sets.sets[i].is_of_node) set_of_node_.try_emplace(sets.sets[i].name, i);
    }
    is_used_.resize(sets.sets.size());
    is_reached_.resize(file.graphs.size());
  }

  Result<ImportedGraph> run() {
    for (const AddressedMemory& known : sets_.memories) add(known.memory);
    QueueDraft queue;
    queue.name = kGraphQueue;
    queue.kind = QueueKind::kGraph;
    add(std::move(queue));
    const size_t root = root_graph();
    // What is wrong with the first graph as a whole is said where it begins.
    const DotGraph& graph = file_.graphs[root];
    const DotNode begin{.id = graph.name, .line = graph.line, .column = graph.column};
    if (const auto added = add_graph(root, "", "", begin); !added) return added.error();
    count_the_rest();
    if (const auto built = try_to_build(begin); !built) return built.error();
    return std::move(imported_);
  }

 private:
  template <typename Item>
  void add(Item item) {
    imported_.program.items.emplace_back(std::move(item));
    node_of_item_.push_back(node_);
  }

  // Errors: the program does not fit together; said of the node whose dispatch does not, or of the
  // graph.
  Result<Success> try_to_build(const DotNode& graph) const {
    ProgramBuilder builder = new_builder(limits_);
    for (size_t i = 0; i < imported_.program.items.size(); ++i) {
      const DotNode* const node = node_of_item_[i];
      if (const auto added = builder.add(imported_.program.items[i]); !added) {
        return error_at(node != nullptr ? *node : graph, added.error().message);
      }
    }
    const auto program = std::move(builder).finish();
    return program ? Result<Success>(Success{}) : error_at(graph, program.error().message);
  }

  Error error_at(const DotNode& node, std::string_view message) const {
    return error_of("{}:{}:{}: error: {}", file_name_, node.line, node.column, message);
  }

  // The first graph that has nodes and stands for none. If there is none, some contain themselves.
  size_t root_graph() const {
    std::set<std::string, std::less<>> children;
    for (const DotGraph& graph : file_.graphs) {
      for (const DotNode& node : graph.nodes) {
        if (is_stopped()) return 0;
        NodeContent content = content_of_node(node);
        if (content.kind == GraphNodeKind::kChildGraph) children.insert(std::move(content.name));
      }
    }
    const auto is_root = [&](const DotGraph& graph) {
      return !graph.nodes.empty() && !children.contains(graph.name);
    };
    const auto has_nodes = [](const DotGraph& graph) { return !graph.nodes.empty(); };
    auto found = std::ranges::find_if(file_.graphs, is_root);
    if (found == file_.graphs.end()) found = std::ranges::find_if(file_.graphs, has_nodes);
    return static_cast<size_t>(found - file_.graphs.begin());
  }

  NodeContent content_of_node(const DotNode& node) const {
    return content_of(
        node, [this](std::string_view name) { return !name.empty() && graph_of_.contains(name); });
  }

  // The nodes in an order in which edges lead forward: of those that may come next, the first.
  Result<std::vector<size_t>> sorted_nodes(const DotGraph& graph) const {
    std::vector<std::vector<size_t>> successors(graph.nodes.size());
    std::vector<size_t> missing(graph.nodes.size(), 0);
    for (const DotEdge& edge : graph.edges) {
      successors[edge.from].push_back(edge.to);
      ++missing[edge.to];
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t i = 0; i < missing.size(); ++i) {
      if (missing[i] == 0) ready.push(i);
    }
    std::vector<size_t> sorted;
    while (!ready.empty()) {
      const size_t node = ready.top();
      ready.pop();
      sorted.push_back(node);
      for (const size_t next : successors[node]) {
        if (--missing[next] == 0) ready.push(next);
      }
    }
    if (sorted.size() == graph.nodes.size()) return sorted;
    const auto left = std::ranges::find_if(missing, [](size_t count) { return count > 0; });
    const DotNode& node = graph.nodes[static_cast<size_t>(left - missing.begin())];
    return error_at(node, fmt::format("edges lead in a circle to {}.", in_quotes(node.id)));
  }

  std::vector<NodePredecessors> predecessors_of(const DotGraph& graph) {
    std::vector<NodePredecessors> all(graph.nodes.size());
    std::set<std::pair<size_t, size_t>> full;
    std::set<std::pair<size_t, size_t>> programmatic;
    for (const DotEdge& edge : graph.edges) {
      const EdgeSort sort = sort_of(edge);
      ++imported_.counts.edge_count;
      imported_.counts.programmatic_count += sort != EdgeSort::kFull ? 1 : 0;
      imported_.counts.other_port_count += sort == EdgeSort::kUnknown ? 1 : 0;
      if (sort == EdgeSort::kFull && full.emplace(edge.to, edge.from).second) {
        all[edge.to].full.push_back(edge.from);
      }
    }
    // A full edge beside it says more.
    for (const DotEdge& edge : graph.edges) {
      if (sort_of(edge) == EdgeSort::kFull || full.contains({edge.to, edge.from})) continue;
      if (programmatic.emplace(edge.to, edge.from).second) {
        all[edge.to].programmatic.push_back(edge.from);
      }
    }
    return all;
  }

  // Adds the nodes of a graph, whose labels begin with `prefix`. Those that come after no other
  // come after `entry`, unless it is empty. `stands_for_it` is its node: errors of it as a whole
  // are said there. Returns the labels of those that no other comes after.
  Result<std::vector<std::string>> add_graph(size_t index, const std::string& prefix,
                                             const std::string& entry,
                                             const DotNode& stands_for_it) {
    const DotGraph& graph = file_.graphs[index];
    is_reached_[index] = true;
    if (std::ranges::find(open_, index) != open_.end()) {
      return error_at(stands_for_it,
                      fmt::format("the graph {} contains itself.", in_quotes(graph.name)));
    }
    if (open_.size() == kNestingMax) {
      return error_at(
          stands_for_it,
          fmt::format("graphs stand in each other, more than the limit of {}.", kNestingMax));
    }
    if (graph.edges.size() > limits_.expansion_count - imported_.counts.edge_count) {
      return error_at(stands_for_it,
                      fmt::format("with child graphs there are more edges than the limit of {}.",
                                  limits_.expansion_count));
    }
    open_.push_back(index);
    const auto sorted = sorted_nodes(graph);
    if (!sorted) return sorted.error();
    const std::vector<NodePredecessors> predecessors = predecessors_of(graph);
    std::vector<std::string> labels(graph.nodes.size());  // What comes after a node comes after it.
    for (const size_t at : *sorted) {
      if (is_stopped()) return error_at(graph.nodes[at], "reading was stopped here.");
      if (++imported_.counts.node_count > limits_.expansion_count) {
        return error_at(graph.nodes[at],
                        fmt::format("with child graphs there are more nodes than the limit of {}.",
                                    limits_.expansion_count));
      }
      std::vector<std::string> after;
      for (const size_t from : predecessors[at].full) after.push_back(labels[from]);
      std::vector<std::string> started;
      for (const size_t from : predecessors[at].programmatic) started.push_back(labels[from]);
      if (after.empty() && started.empty() && !entry.empty()) after.push_back(entry);
      auto label = add_node(graph.nodes[at], prefix, std::move(after), std::move(started));
      if (!label) return label.error();
      labels[at] = std::move(label).value();
    }
    open_.pop_back();
    std::vector<bool> has_successor(graph.nodes.size());
    for (const DotEdge& edge : graph.edges) has_successor[edge.from] = true;
    std::vector<std::string> last;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (!has_successor[i]) last.push_back(labels[i]);
    }
    return last;
  }

  // Returns the label of what stands for the node to those after it.
  Result<std::string> add_node(const DotNode& node, const std::string& prefix,
                               std::vector<std::string> after, std::vector<std::string> started) {
    node_ = &node;
    const NodeContent content = content_of_node(node);
    const std::string label = labels_.add(prefix + legal_name(node.id));
    if (content.kind != GraphNodeKind::kChildGraph) {
      DispatchDraft dispatch = dispatch_of(node, content, label);
      operand_count_ += dispatch.operands.size();
      const uint64_t operand_max = 2 * limits_.expansion_count;
      if (operand_count_ > operand_max) {
        return error_at(
            node, fmt::format("the nodes have more operands than the limit of {}.", operand_max));
      }
      add_dispatch(label, std::move(dispatch), std::move(after), std::move(started));
      return label;
    }
    const std::string begin = labels_.add(label + ".begin");
    add_dispatch(begin, empty_dispatch("GraphBegin"), std::move(after), std::move(started));
    auto last = add_graph(graph_of_.find(content.name)->second, label + ".", begin, node);
    node_ = &node;
    if (!last) return last.error();
    std::vector<std::string> ends = std::move(last).value();
    if (ends.empty()) ends.push_back(begin);
    add_dispatch(label, empty_dispatch("GraphEnd"), std::move(ends), {});
    return label;
  }

  static DispatchDraft empty_dispatch(std::string_view kernel) {
    DispatchDraft dispatch;
    dispatch.kernel = kernel;
    return dispatch;
  }

  // All edges to a dispatch are of one sort. Where a node has both, an empty dispatch comes after
  // those that started, and the node after it: it so follows them, and sees nothing of theirs.
  void add_dispatch(const std::string& label, DispatchDraft dispatch,
                    std::vector<std::string> after, std::vector<std::string> started) {
    if (!after.empty() && !started.empty()) {
      const std::string first = labels_.add(label + ".started");
      add_dispatch(first, empty_dispatch("Started"), {}, std::move(started));
      after.push_back(first);
      started.clear();
    }
    join(label, after, false);
    join(label, started, true);
    dispatch.label = label;
    dispatch.is_programmatic = !started.empty();
    dispatch.after = std::move(dispatch.is_programmatic ? started : after);
    dispatch.queue = kGraphQueue;
    add(std::move(dispatch));
  }

  // A dispatch comes after so many others: where there are more, empty dispatches each come after
  // as many, and stand for them.
  void join(const std::string& label, std::vector<std::string>& before, bool is_programmatic) {
    const size_t count_max = std::max<size_t>(limits_.edge_count_per_dispatch, 2);
    while (before.size() > count_max) {
      std::vector<std::string> joined;
      for (size_t begin = 0; begin < before.size(); begin += count_max) {
        const size_t end = std::min(before.size(), begin + count_max);
        DispatchDraft dispatch = empty_dispatch("Joined");
        dispatch.label = labels_.add(label + ".joined");
        dispatch.after.assign(before.begin() + static_cast<ptrdiff_t>(begin),
                              before.begin() + static_cast<ptrdiff_t>(end));
        dispatch.is_programmatic = is_programmatic;
        dispatch.queue = kGraphQueue;
        joined.push_back(dispatch.label);
        add(std::move(dispatch));
      }
      before = std::move(joined);
    }
  }

  DispatchDraft dispatch_of(const DotNode& node, const NodeContent& content,
                            const std::string& label) {
    if (content.kind == GraphNodeKind::kEmpty) return empty_dispatch("Empty");
    const bool is_outside = content.kind == GraphNodeKind::kOutside;
    imported_.counts.outside_count += is_outside ? 1 : 0;
    if (const AccessSet* const set = find_set(node, content)) {
      DispatchDraft stated = set->accesses;
      stated.kernel = opaque_name_of(content.name);
      return stated;
    }
    DispatchDraft dispatch = work_of(content);
    if (dispatch.operands.empty() && !is_outside) imported_.counts.unknown.push_back(label);
    const bool is_half_known = content.source && dispatch.operands.size() == 1;
    imported_.counts.half_known_count += is_half_known ? 1 : 0;
    return dispatch;
  }

  // What the label says of it: of a memset and a memcpy the bytes, where memories have addresses.
  DispatchDraft work_of(const NodeContent& content) {
    DispatchDraft dispatch = empty_dispatch(opaque_name_of(content.name));
    const auto add_operand = [&](const std::optional<StridedRange>& bytes, AccessMode mode) {
      std::optional<OperandDraft> operand = bytes ? operand_at(sets_, *bytes) : std::nullopt;
      if (!operand) return;
      operand->mode = mode;
      dispatch.operands.push_back(std::move(*operand));
    };
    add_operand(content.source, AccessMode::kRead);
    add_operand(content.destination, AccessMode::kWrite);
    const bool has_rows = std::ranges::any_of(
        dispatch.operands, [](const OperandDraft& operand) { return operand.stride.has_value(); });
    const size_t operand_count = content.kind == GraphNodeKind::kMemcpy ? 2 : 1;
    if (!has_rows && dispatch.operands.size() == operand_count) {
      // The kernels of the copy stage.
      if (content.kind == GraphNodeKind::kMemcpy) dispatch.kernel = "copy";
      if (content.kind == GraphNodeKind::kMemset) dispatch.kernel = "fill";
    }
    return dispatch;
  }

  // A line for the node itself, else the first one whose name matches. What a copy or a memset
  // does, its label says: a name with stars is not about them.
  const AccessSet* find_set(const DotNode& node, const NodeContent& content) {
    size_t found = sets_.sets.size();
    if (const auto own = set_of_node_.find(node.id); own != set_of_node_.end()) {
      found = own->second;
    } else {
      const bool is_moved_by_label =
          content.kind == GraphNodeKind::kMemcpy || content.kind == GraphNodeKind::kMemset;
      const auto [known, is_new] = set_of_kernel_.try_emplace(content.name, found);
      for (size_t i = 0; is_new && i < found && !is_stopped(); ++i) {
        const AccessSet& set = sets_.sets[i];
        const bool is_named =
            is_moved_by_label ? set.name == content.name : matches(set.name, content.name);
        if (!set.is_of_node && is_named) known->second = found = i;
      }
      found = known->second;
    }
    if (found == sets_.sets.size()) return nullptr;
    is_used_[found] = true;
    return &sets_.sets[found];
  }

  void count_the_rest() {
    for (size_t i = 0; i < file_.graphs.size(); ++i) {
      if (!is_reached_[i]) imported_.counts.left_out_count += file_.graphs[i].nodes.size();
    }
    for (size_t i = 0; i < is_used_.size(); ++i) {
      if (!is_used_[i]) imported_.counts.unused_lines.push_back(sets_.sets[i].line);
    }
  }

  const DotFile& file_;
  const AccessSets& sets_;
  std::string_view file_name_;
  const Limits& limits_;
  uint64_t operand_count_ = 0;
  std::map<std::string, size_t, std::less<>> graph_of_;       // By name.
  std::map<std::string, size_t, std::less<>> set_of_node_;    // By id.
  std::map<std::string, size_t, std::less<>> set_of_kernel_;  // By name, once it was looked for.
  std::vector<bool> is_used_;                                 // Of the access sets.
  std::vector<bool> is_reached_;                              // Of the graphs.
  std::vector<size_t> open_;                                  // Graphs within each other.
  LabelSet labels_;
  std::vector<const DotNode*> node_of_item_;  // That it was made for, or null.
  const DotNode* node_ = nullptr;             // That items are made for.
  ImportedGraph imported_;
};

}  // namespace

Result<ImportedGraph> import_graph(const DotFile& file, const AccessSets& sets,
                                   std::string_view file_name, const Limits& limits) {
  return GraphImporter(file, sets, file_name, limits).run();
}

}  // namespace interlock
