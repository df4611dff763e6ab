// The basic idea: what comes after an operation of a graph queue does so by a path of edges that
// begins there. Where another path leads from a to b, it orders and makes visible all that the edge
// from a to b does (if it is no weaker), whatever chain the edge is a part of: the edge can go.
// Where none does, nothing orders a and b without the edge; if they conflict, it is needed.
//
// The last edge of another path comes from another operation with an edge to b. So that asks of
// each two of these whether the one comes before the other, and only of operations that an edge
// still names: a row of bits begins at the oldest of them.
#include "simulator/barriers/edge_needs.h"

#include <algorithm>

#include "encoder/program/stop.h"
#include "simulator/hazards/hazards.h"
#include "simulator/order/edge_cursor.h"

namespace interlock {
namespace {

bool is_of_a_graph(const Program& program, const Statement& statement) {
  return statement.queue != kNoQueue && program.kind_of(statement.queue) == QueueKind::kGraph;
}

// By dispatch: those that a path of edges leads from, as far as it or a later one has an edge from
// them or from an earlier one.
class EdgePaths {
 public:
  explicit EdgePaths(const Program& program) : program_(program) {
    const auto count = static_cast<uint32_t>(program.dispatches.size());
    first_words_.assign(count, 0);
    offsets_.assign(count, 0);
    uint32_t oldest = count;
    auto edge = program.edges.rbegin();
    for (uint32_t i = count; i-- > 0;) {
      for (; edge != program.edges.rend() && edge->to.index == i; ++edge) {
        oldest = std::min(oldest, edge->from.index);
        ++work_;
      }
      first_words_[i] = std::min(oldest, i) / 64;
    }
    for (uint32_t i = 0; i < count; ++i) {
      offsets_[i] = word_count_;
      word_count_ += i / 64 + 1 - first_words_[i];
    }
    for (const Edge& at : program.edges) {
      work_ += at.from.index / 64 + 1 - first_words_[at.to.index];
    }
  }

  // What find() takes; false: rows would take too much memory.
  bool fits() const { return word_count_ <= kWordsMax; }
  uint64_t work() const { return work_ + word_count_; }

  void find() {
    bits_.assign(word_count_, 0);
    for (const Edge& edge : program_.edges) {
      if (is_stopped()) return;
      const uint32_t first_word = first_words_[edge.to.index];
      const uint32_t from = edge.from.index;
      uint64_t* const row = bits_.data() + offsets_[edge.to.index];
      const uint64_t* const theirs =
          bits_.data() + offsets_[from] + (first_word - first_words_[from]);
      const uint32_t count = from / 64 + 1 - first_word;
      for (uint32_t i = 0; i < count; ++i) row[i] |= theirs[i];
      row[count - 1] |= uint64_t{1} << (from % 64);
    }
  }

  // Requires: find() was called; one operation has edges from both.
  bool has(DispatchId first, DispatchId second) const {
    if (first.index >= second.index) return false;
    const uint64_t word =
        bits_[offsets_[second.index] + first.index / 64 - first_words_[second.index]];
    return (word >> (first.index % 64) & 1) != 0;
  }

 private:
  static constexpr uint64_t kWordsMax = uint64_t{1} << 24;

  const Program& program_;
  std::vector<uint32_t> first_words_;  // By dispatch.
  std::vector<uint64_t> offsets_;      // Likewise: of its row in `bits_`.
  std::vector<uint64_t> bits_;
  uint64_t word_count_ = 0;
  uint64_t work_ = 0;
};

class EdgeSearch {
 public:
  EdgeSearch(const Program& program, std::span<const SyncPiece> pieces)
      : program_(program),
        pieces_(pieces),
        edges_(program),
        paths_(program),
        is_full_(std::ranges::none_of(program.edges, &Edge::is_programmatic)) {
    needs_.is_needed.resize(pieces.size());
    needs_.can_go.resize(pieces.size());
  }

  EdgeNeeds run(uint64_t& work_left) {
    const uint64_t work = paths_.work() + pieces_.size();
    if (!paths_.fits() || work > work_left) return std::move(needs_);
    work_left -= work;
    paths_.find();
    for (size_t i = 0; i < pieces_.size() && !is_stopped(); ++i) {
      if (pieces_[i].kind != SyncPieceKind::kEdge) continue;
      judge_edge(i, program_.edges[pieces_[i].edge]);
    }
    return std::move(needs_);
  }

 private:
  void judge_edge(size_t piece, const Edge& edge) {
    // Those of one operation stand together.
    if (edges_to_.empty() || edges_to_.front().to != edge.to) edges_to_ = edges_.to(edge.to);
    const bool has_other_path = std::ranges::any_of(edges_to_, [&](const Edge& other) {
      return other.from != edge.from && paths_.has(edge.from, other.from);
    });
    // A path of full edges does what any edge does.
    needs_.can_go[piece] = has_other_path && is_full_;
    needs_.is_needed[piece] = !has_other_path && conflict(edge.from, edge.to);
  }

  // Hazards of operands that only bound what is accessed are another matter.
  bool conflict(DispatchId first, DispatchId second) const {
    const Dispatch& a = program_.dispatch(first);
    const Dispatch& b = program_.dispatch(second);
    if (a.is_approximate || b.is_approximate) return false;
    for (const Access& x : program_.accesses_of(a)) {
      for (const Access& y : program_.accesses_of(b)) {
        if (x.memory != y.memory || !share_a_byte(x.range, y.range)) continue;
        const ConflictKinds kinds = conflict_kinds(x, a.atomic_op, y, b.atomic_op);
        if (kinds.any()) return true;
      }
    }
    return false;
  }

  const Program& program_;
  const std::span<const SyncPiece> pieces_;
  EdgeCursor edges_;
  std::span<const Edge> edges_to_;  // One operation.
  EdgePaths paths_;
  const bool is_full_;  // No edge is of execution alone.
  EdgeNeeds needs_;
};

}  // namespace

bool can_judge_edges(const Program& program) {
  return !program.edges.empty() && std::ranges::none_of(program.syncs, [&](const SyncStep& step) {
    const bool orders_nothing = step.kind == SyncKind::kSplit || step.kind == SyncKind::kSubmit;
    const bool is_near = is_of_a_graph(program, program.statements[step.statement.index]);
    return step.kind == SyncKind::kHostIdle || (is_near && !orders_nothing);
  });
}

EdgeNeeds find_edge_needs(const Program& program, std::span<const SyncPiece> pieces,
                          uint64_t& work_left) {
  return EdgeSearch(program, pieces).run(work_left);
}

}  // namespace interlock
