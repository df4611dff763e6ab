// The basic idea is that of most bytes there is one last writer and few readers since, so that
// their history is two numbers; the readers are lists in one vector, where a write gives back its
// own.
#include "encoder/plan/data_dependencies.h"

#include <algorithm>
#include <utility>

#include "encoder/plan/byte_pieces.h"
#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// What the dispatches so far have done to each piece of the bytes.
class ByteHistories {
 public:
  explicit ByteHistories(size_t piece_count) : pieces_(piece_count) {}

  // Appends to `edges` what `dispatch` must follow, and takes its access to the piece.
  void visit(uint32_t piece, uint32_t dispatch, AccessMode mode, AtomicOp op,
             std::vector<uint32_t>& edges) {
    Piece& bytes = pieces_[piece];
    if (bytes.group != kNone) {
      AtomicGroup& group = groups_[bytes.group];
      if (mode == AccessMode::kAtomic && group.op == op && bytes.readers == kNone) {
        append(group.before, edges);
        group.writers.push_back(dispatch);
        return;
      }
      append(group.writers, edges);
    } else if (bytes.writer != kNone) {
      edges.push_back(bytes.writer);
    }
    if (mode <= AccessMode::kRead) {
      add_reader(bytes, dispatch);
      return;
    }
    const uint32_t ended = std::exchange(bytes.group, kNone);
    if (mode == AccessMode::kAtomic) bytes.group = new_group(bytes, ended, op, dispatch);
    if (ended != kNone) free_groups_.push_back(ended);
    bytes.writer = dispatch;
    take_readers(bytes, edges);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Piece {
    uint32_t writer = kNone;   // The last one.
    uint32_t readers = kNone;  // Since, the last one first: into readers_.
    uint32_t group = kNone;    // Where atomics of one operation wrote last: into groups_.
  };
  struct Reader {
    uint32_t dispatch;
    uint32_t next;
  };
  struct AtomicGroup {
    std::vector<uint32_t> writers;
    std::vector<uint32_t> before;  // What the first of them had to follow.
    AtomicOp op = AtomicOp::kNone;
  };

  // Mostly one or none.
  static void append(const std::vector<uint32_t>& from, std::vector<uint32_t>& to) {
    for (const uint32_t dispatch : from) to.push_back(dispatch);
  }

  void add_reader(Piece& bytes, uint32_t dispatch) {
    if (bytes.readers != kNone && readers_[bytes.readers].dispatch == dispatch) return;
    uint32_t place = free_readers_;
    if (place == kNone) {
      place = static_cast<uint32_t>(readers_.size());
      readers_.emplace_back();
    } else {
      free_readers_ = readers_[place].next;
    }
    readers_[place] = {dispatch, bytes.readers};
    bytes.readers = place;
  }

  // The readers of the piece, which has none then.
  void take_readers(Piece& bytes, std::vector<uint32_t>& edges) {
    if (bytes.readers == kNone) return;
    uint32_t last = kNone;
    for (uint32_t at = bytes.readers; at != kNone; at = readers_[at].next) {
      edges.push_back(readers_[at].dispatch);
      last = at;
    }
    readers_[last].next = free_readers_;
    free_readers_ = bytes.readers;
    bytes.readers = kNone;
  }

  // Of the first atomic after other accesses, or after atomics of another operation: `ended`.
  uint32_t new_group(const Piece& bytes, uint32_t ended, AtomicOp op, uint32_t dispatch) {
    uint32_t place = static_cast<uint32_t>(groups_.size());
    if (free_groups_.empty()) {
      groups_.emplace_back();
    } else {
      place = free_groups_.back();
      free_groups_.pop_back();
    }
    AtomicGroup& group = groups_[place];
    group.op = op;
    group.writers.assign(1, dispatch);
    group.before.clear();
    if (ended != kNone) {
      append(groups_[ended].writers, group.before);
    } else if (bytes.writer != kNone) {
      group.before.push_back(bytes.writer);
    }
    for (uint32_t at = bytes.readers; at != kNone; at = readers_[at].next) {
      group.before.push_back(readers_[at].dispatch);
    }
    return place;
  }

  std::vector<Piece> pieces_;
  std::vector<Reader> readers_;
  std::vector<AtomicGroup> groups_;
  uint32_t free_readers_ = kNone;      // A list in readers_.
  std::vector<uint32_t> free_groups_;  // In groups_.
};

constexpr size_t kFoundMax = 1 << 16;

// Of an access: what takes about as long as a poll may wait.
constexpr uint32_t kPolledPieces = 256;

void make_distinct(std::vector<uint32_t>& dispatches) {
  if (dispatches.size() < 2) return;
  if (dispatches.size() == 2) {
    if (dispatches[0] > dispatches[1]) std::swap(dispatches[0], dispatches[1]);
    if (dispatches[0] == dispatches[1]) dispatches.pop_back();
    return;
  }
  if (!std::ranges::is_sorted(dispatches)) std::sort(dispatches.begin(), dispatches.end());
  dispatches.erase(std::unique(dispatches.begin(), dispatches.end()), dispatches.end());
}

}  // namespace

DataDependencies::DataDependencies(const Program& program, bool sees_undeclared) {
  const auto accesses_of = [&](const Dispatch& dispatch) {
    return sees_undeclared ? program.accesses_of(dispatch) : program.declared_accesses_of(dispatch);
  };
  BytePieces pieces;
  std::vector<uint32_t> range_of;  // By access, as they come.
  range_of.reserve(program.accesses.size());
  for (const Dispatch& dispatch : program.dispatches) {
    if (is_stopped()) break;
    for (const Access& access : accesses_of(dispatch)) {
      range_of.push_back(pieces.add(access.memory, access.range));
    }
  }
  pieces.settle();
  ByteHistories histories(pieces.piece_count());
  auto range = range_of.begin();
  std::vector<uint32_t> found;
  predecessors_.reserve(program.dispatches.size(), program.accesses.size());
  for (uint32_t i = 0; i < program.dispatches.size(); ++i) {
    const Dispatch& dispatch = program.dispatches[i];
    if (is_stopped()) break;
    found.clear();
    size_t kept = kFoundMax;
    for (const Access& access : accesses_of(dispatch)) {
      const BytePieces::Span span = pieces.pieces_of(*range++);
      if (span.end - span.first >= kPolledPieces && is_stopped()) break;
      // Many pieces name the same dispatches: they would fill the memory.
      if (found.size() > kept) {
        make_distinct(found);
        kept = 2 * found.size() + kFoundMax;
      }
      for (uint32_t piece = span.first; piece < span.end; ++piece) {
        histories.visit(piece, i, access.mode, dispatch.atomic_op, found);
      }
    }
    make_distinct(found);
    if (!found.empty() && found.back() == i) found.pop_back();
    predecessors_.append(found);
  }
  while (predecessors_.size() < program.dispatches.size()) predecessors_.end_operation();
}

DispatchOrder::DispatchOrder(const Program& program, const DataDependencies& dependencies) {
  const size_t count = dependencies.dispatch_count();
  INTERLOCK_CHECK(count <= kDispatchCountMax);
  // What orders a pair for its data, and makes visible what that needs, need not be enough for a
  // write on the same bytes.
  const bool has_partial_sync =
      std::any_of(program.barriers.begin(), program.barriers.end(),
                  [](const Barrier& barrier) { return barrier.kind != BarrierKind::kFull; });
  uint32_t epoch = 0;
  for (const Statement& statement : program.statements) {
    if (statement.kind == StatementKind::kDispatch) {
      epochs_.push_back(epoch);
    } else if (statement.kind == StatementKind::kBarrier &&
               program.barriers[statement.index].kind == BarrierKind::kFull) {
      ++epoch;
    }
  }
  size_t word_count = 0;
  for (size_t i = 0; i < count; ++i) {
    first_word_.push_back(word_count);
    word_count += i / 64 + 1;
  }
  bits_.assign(word_count, 0);
  if (has_partial_sync) return;
  for (size_t i = 0; i < count; ++i) {
    if (is_stopped()) return;
    uint64_t* const ancestors = bits_.data() + first_word_[i];
    for (const uint32_t earlier : dependencies.predecessors(i)) {
      const uint64_t* const theirs = row(earlier);
      for (size_t word = 0; word <= earlier / 64; ++word) ancestors[word] |= theirs[word];
      ancestors[earlier / 64] |= uint64_t{1} << (earlier % 64);
    }
  }
}

}  // namespace interlock
