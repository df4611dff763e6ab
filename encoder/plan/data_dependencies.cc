#include "encoder/plan/data_dependencies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// What the dispatches so far have done to some bytes.
struct ByteHistory {
  uint64_t end = 0;
  std::vector<uint32_t> writers;  // The last one, or all atomics of one operation.
  std::vector<uint32_t> readers;  // Since.
  std::vector<uint32_t> before;   // Of atomics: what the first of them had to follow.
  AtomicOp atomic_op = AtomicOp::kNone;
};

void append(const std::vector<uint32_t>& from, std::vector<uint32_t>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

// Appends to `edges` what `dispatch` must follow, and takes its access into the history.
void visit(ByteHistory& bytes, uint32_t dispatch, AccessMode mode, AtomicOp op,
           std::vector<uint32_t>& edges) {
  const bool is_atomic = mode == AccessMode::kAtomic;
  if (is_atomic && bytes.atomic_op == op && bytes.readers.empty()) {
    append(bytes.before, edges);
    bytes.writers.push_back(dispatch);
    return;
  }
  append(bytes.writers, edges);
  if (mode <= AccessMode::kRead) {
    if (bytes.readers.empty() || bytes.readers.back() != dispatch) {
      bytes.readers.push_back(dispatch);
    }
    return;
  }
  append(bytes.readers, edges);
  bytes.before.clear();
  bytes.atomic_op = is_atomic ? op : AtomicOp::kNone;
  if (is_atomic) {
    append(bytes.writers, bytes.before);
    append(bytes.readers, bytes.before);
  }
  bytes.writers.assign(1, dispatch);
  bytes.readers.clear();
}

// The bytes of one memory, by where they begin. What is missing has not been used.
class MemoryHistory {
 public:
  template <typename Visit>
  void for_each_piece(ByteRange range, Visit&& visit_piece) {
    if (range.is_empty()) return;
    cut(range.begin);
    cut(range.end);
    uint64_t at = range.begin;
    for (auto piece = pieces_.lower_bound(at); at < range.end; ++piece) {
      if (piece == pieces_.end() || piece->first > at) {
        const uint64_t end = piece == pieces_.end() ? range.end : std::min(range.end, piece->first);
        piece = pieces_.emplace_hint(piece, at, ByteHistory{end, {}, {}, {}, AtomicOp::kNone});
      }
      visit_piece(piece->second);
      at = piece->second.end;
    }
  }

 private:
  void cut(uint64_t at) {
    auto piece = pieces_.upper_bound(at);
    if (piece == pieces_.begin()) return;
    --piece;
    if (piece->first == at || piece->second.end <= at) return;
    ByteHistory second = piece->second;
    piece->second.end = at;
    pieces_.emplace(at, std::move(second));
  }

  std::map<uint64_t, ByteHistory> pieces_;
};

constexpr size_t kFoundMax = 1 << 16;

void make_distinct(std::vector<uint32_t>& dispatches) {
  std::sort(dispatches.begin(), dispatches.end());
  dispatches.erase(std::unique(dispatches.begin(), dispatches.end()), dispatches.end());
}

}  // namespace

DataDependencies::DataDependencies(const Program& program) {
  std::vector<MemoryHistory> memories(program.memories.size());
  std::vector<uint32_t> found;
  first_.reserve(program.dispatches.size() + 1);
  first_.push_back(0);
  for (uint32_t i = 0; i < program.dispatches.size(); ++i) {
    const Dispatch& dispatch = program.dispatches[i];
    found.clear();
    size_t kept = kFoundMax;
    for (const Access& access : program.accesses_of(dispatch)) {
      if (is_stopped()) break;
      // Many pieces name the same dispatches: they would fill the memory.
      if (found.size() > kept) {
        make_distinct(found);
        kept = 2 * found.size() + kFoundMax;
      }
      memories[access.memory.index].for_each_piece(access.range, [&](ByteHistory& bytes) {
        visit(bytes, i, access.mode, dispatch.atomic_op, found);
      });
    }
    make_distinct(found);
    if (!found.empty() && found.back() == i) found.pop_back();
    edges_.insert(edges_.end(), found.begin(), found.end());
    first_.push_back(edges_.size());
  }
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
