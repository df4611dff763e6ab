// The basic idea is that a statement begins with an id, and the token after it says which one it
// is.
#include "encoder/import/dot_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "encoder/import/dot_scanner.h"
#include "encoder/program/names.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr size_t kScopesMax = 64;
constexpr uint64_t kPortBytesMax = 16;  // Each edge of a chain keeps its own.
constexpr size_t kNoGraph = SIZE_MAX;

// Where a node stands.
struct NodePlace {
  size_t graph = kNoGraph;
  size_t node = kNoGraph;
};

// An edge before all nodes are known.
struct NamedEdge {
  std::string from, to, head_port, tail_port;
  uint64_t line = 0;
  uint64_t column = 0;
};

class DotReader {
 public:
  DotReader(std::string_view text, std::string_view file_name, const Limits& limits)
      : scanner_(text), file_name_(file_name), limits_(limits) {}

  Result<DotFile> read() {
    const bool is_read = read_file() && resolve_edges();
    if (!is_read) return Error{error_};
    // The file's own graph prints itself first; empty clusters say nothing.
    return std::move(file_);
  }

 private:
  bool fail(uint64_t line, uint64_t column, std::string_view message) {
    error_ = fmt::format("{}:{}:{}: error: {}", file_name_, line, column, message);
    return false;
  }
  bool fail_expecting(const DotToken& token, std::string_view expected) {
    return fail(token.line, token.column,
                fmt::format("found {}; expected {}.", description_of(token), expected));
  }

  bool read_file() {
    DotToken token = scanner_.next();
    if (token.text == "strict") token = scanner_.next();
    if (token.kind != DotTokenKind::kWord || token.text != "digraph") {
      return fail_expecting(token, "'digraph', as cudaGraphDebugDotPrint() writes it");
    }
    if (scanner_.peek().is_id()) scanner_.next();
    token = scanner_.next();
    if (!token.is('{')) return fail_expecting(token, "'{' and the statements of the graph");
    scopes_.push_back(kNoGraph);
    while (!scopes_.empty()) {
      if (is_stopped()) return fail(scanner_.peek().line, 1, "reading was stopped here.");
      if (!read_statement()) return false;
    }
    token = scanner_.next();
    if (token.kind != DotTokenKind::kEnd) return fail_expecting(token, "the end of the file");
    return !places_.empty() || fail(token.line, token.column, "the file ends without a node.");
  }

  // Reads a statement, or the end of a scope.
  bool read_statement() {
    const DotToken token = scanner_.next();
    if (token.is(';')) return true;
    if (token.is('}')) {
      scopes_.pop_back();
      return true;
    }
    if (token.is('{')) return open_scope(token, scopes_.back());
    if (!token.is_id()) {
      return fail_expecting(token, "a node, an edge, 'subgraph' or '}'");
    }
    const bool is_word = token.kind == DotTokenKind::kWord;
    if (is_word && token.text == "subgraph") return read_subgraph(token);
    const DotToken& after = scanner_.peek();
    if (after.is('=')) return read_assignment(token);
    if (after.kind == DotTokenKind::kArrow) return read_edges(token);
    const bool is_default =
        is_word && (token.text == "graph" || token.text == "node" || token.text == "edge");
    Attributes attributes;
    if (!read_attributes(attributes)) return false;
    const bool has_ports =
        std::ranges::any_of(attributes, [](const auto& entry) { return is_port(entry.first); });
    if (is_default && has_ports) {
      return fail(token.line, token.column,
                  "ports stand on the edges themselves, not on all that come later.");
    }
    return is_default || add_node(token, attributes);
  }

  bool open_scope(const DotToken& token, size_t graph) {
    if (scopes_.size() == kScopesMax) {
      return fail(
          token.line, token.column,
          fmt::format("subgraphs stand in each other, more than the limit of {}.", kScopesMax));
    }
    scopes_.push_back(graph);
    return true;
  }

  bool read_subgraph(const DotToken& token) {
    DotToken name = scanner_.next();
    const bool is_cluster = name.is_id() && name.text.starts_with("cluster");
    if (name.is_id()) name = scanner_.next();
    if (!name.is('{')) return fail_expecting(name, "'{' and the statements of the subgraph");
    if (!is_cluster) return open_scope(token, scopes_.back());
    if (file_.graphs.size() == limits_.statement_count) {
      return fail(token.line, token.column, "the file has too many graphs.");
    }
    DotGraph& graph = file_.graphs.emplace_back();
    graph.line = token.line;
    graph.column = token.column;
    return open_scope(token, file_.graphs.size() - 1);
  }

  bool read_assignment(const DotToken& key) {
    scanner_.next();
    DotToken value = scanner_.next();
    if (!value.is_id()) return fail_expecting(value, "a value");
    if (key.text == "label" && scopes_.back() != kNoGraph) {
      if (!check_length(value)) return false;
      file_.graphs[scopes_.back()].name = std::move(value.text);
    }
    return true;
  }

  using Attributes = std::map<std::string, std::string, std::less<>>;

  static std::string taken(Attributes& attributes, std::string_view key) {
    const auto found = attributes.find(key);
    return found == attributes.end() ? "" : std::move(found->second);
  }

  static bool is_port(std::string_view key) { return key == "headlabel" || key == "taillabel"; }

  // Reads "[style="bold" shape="octagon" label="…"]", as often as it stands there.
  bool read_attributes(Attributes& attributes) {
    while (scanner_.peek().is('[')) {
      scanner_.next();
      for (DotToken key = scanner_.next(); !key.is(']'); key = scanner_.next()) {
        if (key.is(',') || key.is(';')) continue;
        if (!key.is_id()) return fail_expecting(key, "an attribute or ']'");
        if (!scanner_.peek().is('=')) {
          return fail_expecting(scanner_.peek(), fmt::format("'=' after {}", description_of(key)));
        }
        scanner_.next();
        DotToken value = scanner_.next();
        if (!value.is_id()) return fail_expecting(value, "a value");
        const uint64_t limit = is_port(key.text) ? kPortBytesMax : limits_.line_bytes;
        if (!check_length(value, limit)) return false;
        attributes[std::move(key.text)] = std::move(value.text);
      }
    }
    return true;
  }

  bool check_length(const DotToken& token, uint64_t limit) {
    return token.text.size() <= limit ||
           fail(token.line, token.column,
                fmt::format("{} has {} bytes, more than the limit of {}.", description_of(token),
                            token.text.size(), limit));
  }
  bool check_length(const DotToken& token) { return check_length(token, limits_.line_bytes); }

  bool add_node(const DotToken& id, Attributes& attributes) {
    if (!check_length(id, limits_.name_bytes)) return false;
    if (scopes_.back() == kNoGraph && outer_graph_ == kNoGraph) {
      outer_graph_ = file_.graphs.size();
      file_.graphs.emplace_back();
    }
    const size_t graph = scopes_.back() == kNoGraph ? outer_graph_ : scopes_.back();
    std::vector<DotNode>& nodes = file_.graphs[graph].nodes;
    if (!places_.try_emplace(id.text, NodePlace{graph, nodes.size()}).second) {
      return fail(id.line, id.column,
                  fmt::format("node {} stands twice; ids differ.", in_quotes(id.text)));
    }
    if (places_.size() > limits_.expansion_count) {
      return fail(
          id.line, id.column,
          fmt::format("there are more nodes than the limit of {}.", limits_.expansion_count));
    }
    nodes.push_back(
        {id.text, taken(attributes, "label"), taken(attributes, "shape"), id.line, id.column});
    return true;
  }

  // Reads "-> b -> c [headlabel=0]" after "a".
  bool read_edges(const DotToken& first) {
    std::vector<DotToken> ids = {first};
    while (scanner_.peek().kind == DotTokenKind::kArrow) {
      scanner_.next();
      ids.push_back(scanner_.next());
      if (!ids.back().is_id()) return fail_expecting(ids.back(), "the node that the edge leads to");
      if (!check_length(ids.back(), limits_.name_bytes)) return false;
      if (is_stopped()) return fail(first.line, 1, "reading was stopped here.");
      if (edges_.size() + ids.size() > limits_.expansion_count) {
        return fail(
            first.line, first.column,
            fmt::format("there are more edges than the limit of {}.", limits_.expansion_count));
      }
    }
    Attributes attributes;
    if (!check_length(first, limits_.name_bytes) || !read_attributes(attributes)) return false;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      edges_.push_back({ids[i].text, ids[i + 1].text, attributes["headlabel"],
                        attributes["taillabel"], ids[i].line, ids[i].column});
    }
    return true;
  }

  bool resolve_edges() {
    for (NamedEdge& edge : edges_) {
      if (is_stopped()) return fail(edge.line, 1, "reading was stopped here.");
      NodePlace ends[2];
      const std::string* const ids[] = {&edge.from, &edge.to};
      for (int i = 0; i < 2; ++i) {
        const auto found = places_.find(*ids[i]);
        if (found == places_.end()) {
          return fail(edge.line, edge.column,
                      fmt::format("the file has no node {}.", in_quotes(*ids[i])));
        }
        ends[i] = found->second;
      }
      if (ends[0].graph != ends[1].graph) {
        return fail(edge.line, edge.column,
                    fmt::format("the edge leads from {} to {}, which is of another graph.",
                                in_quotes(edge.from), in_quotes(edge.to)));
      }
      file_.graphs[ends[0].graph].edges.push_back(
          {ends[0].node, ends[1].node, std::move(edge.head_port), std::move(edge.tail_port)});
    }
    return true;
  }

  DotScanner scanner_;
  std::string_view file_name_;
  const Limits& limits_;
  DotFile file_;
  std::vector<size_t> scopes_;     // The graph of each; kNoGraph: of none.
  size_t outer_graph_ = kNoGraph;  // Of nodes that stand in no cluster.
  std::map<std::string, NodePlace, std::less<>> places_;
  std::vector<NamedEdge> edges_;
  std::string error_;
};

}  // namespace

Result<DotFile> read_dot_file(std::string_view text, std::string_view file_name,
                              const Limits& limits) {
  if (text.size() > limits.input_bytes) {
    return Error{fmt::format("{}:1:1: error: the text has {} bytes, more than the limit of {}.",
                             file_name, text.size(), limits.input_bytes)};
  }
  return DotReader(text, file_name, limits).read();
}

}  // namespace interlock
