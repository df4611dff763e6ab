#include "encoder/plan/data_dependencies.h"

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// What the dispatches so far have done to some bytes.
struct ByteHistory {
  std::vector<uint32_t> writers;  // The last one, or all atomics of one operation.
  std::vector<uint32_t> readers;  // Since.
  std::vector<uint32_t> before;   // Of atomics: what the first of them had to follow.
  AtomicOp atomic_op = AtomicOp::kNone;
};

// Mostly one or none.
void append(const std::vector<uint32_t>& from, std::vector<uint32_t>& to) {
  for (const uint32_t dispatch : from) to.push_back(dispatch);
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

// Begin or end of a range.
using Cut = std::pair<MemoryId, uint64_t>;

// Ends early at a stop.
void sort_in_steps(std::vector<Cut>& cuts) {
  constexpr size_t kStep = size_t{1} << 18;
  const auto at = [&](size_t index) {
    return cuts.begin() + static_cast<std::ptrdiff_t>(std::min(index, cuts.size()));
  };
  for (size_t i = 0; i < cuts.size() && !is_stopped(); i += kStep) std::sort(at(i), at(i + kStep));
  for (size_t width = kStep; width < cuts.size(); width *= 2) {
    for (size_t i = 0; i < cuts.size() && !is_stopped(); i += 2 * width) {
      std::inplace_merge(at(i), at(i + width), at(i + 2 * width));
    }
  }
}

// The bytes that ranges of a program name, in pieces that none of them cuts: found once for each
// distinct range, so that an access that comes again costs a look into a hash table.
class BytePieces {
 public:
  // The pieces of a range.
  struct Span {
    uint32_t first = 0;
    uint32_t end = 0;
  };

  // Returns the number of the range. Requires: all of them before settle().
  uint32_t add(const Access& access) {
    if (2 * (ranges_.size() + 1) > slots_.size()) grow();
    uint32_t& slot = slots_[slot_of(access.memory, access.range)];
    if (slot == kFree) {
      slot = static_cast<uint32_t>(ranges_.size());
      ranges_.push_back({access.memory, access.range, {}});
    }
    return slot;
  }

  // At a stop there are no pieces.
  void settle() {
    std::vector<Cut> cuts;
    cuts.reserve(2 * ranges_.size());
    for (const Range& range : ranges_) {
      if (range.bytes.is_empty()) continue;
      cuts.emplace_back(range.memory, range.bytes.begin);
      cuts.emplace_back(range.memory, range.bytes.end);
    }
    sort_in_steps(cuts);
    if (is_stopped()) return;
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    const auto piece_at = [&](MemoryId memory, uint64_t at) {
      return static_cast<uint32_t>(std::ranges::lower_bound(cuts, std::pair(memory, at)) -
                                   cuts.begin());
    };
    for (Range& range : ranges_) {
      if (range.bytes.is_empty()) continue;
      range.pieces = {piece_at(range.memory, range.bytes.begin),
                      piece_at(range.memory, range.bytes.end)};
    }
    piece_count_ = cuts.size();
  }

  // None of an empty one.
  Span pieces_of(uint32_t range) const { return ranges_[range].pieces; }

  size_t piece_count() const { return piece_count_; }

 private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Range {
    MemoryId memory;
    ByteRange bytes;
    Span pieces;
  };

  // Of the range, or a free one.
  size_t slot_of(MemoryId memory, const ByteRange& bytes) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = scrambled(bytes.begin * kGolden64 + bytes.end + memory.index) & mask;
    while (slots_[slot] != kFree) {
      const Range& range = ranges_[slots_[slot]];
      if (range.memory == memory && range.bytes == bytes) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void grow() {
    slots_.assign(std::max<size_t>(64, 2 * slots_.size()), kFree);
    for (uint32_t i = 0; i < ranges_.size(); ++i) {
      slots_[slot_of(ranges_[i].memory, ranges_[i].bytes)] = i;
    }
  }

  std::vector<Range> ranges_;
  std::vector<uint32_t> slots_;  // Into ranges_; a power of two of them, half of them free.
  size_t piece_count_ = 0;
};

constexpr size_t kFoundMax = 1 << 16;

void make_distinct(std::vector<uint32_t>& dispatches) {
  if (dispatches.size() < 2) return;
  std::sort(dispatches.begin(), dispatches.end());
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
    for (const Access& access : accesses_of(dispatch)) range_of.push_back(pieces.add(access));
  }
  pieces.settle();
  std::vector<ByteHistory> histories(pieces.piece_count());
  auto range = range_of.begin();
  std::vector<uint32_t> found;
  first_.reserve(program.dispatches.size() + 1);
  first_.push_back(0);
  for (uint32_t i = 0; i < program.dispatches.size(); ++i) {
    const Dispatch& dispatch = program.dispatches[i];
    found.clear();
    size_t kept = kFoundMax;
    for (const Access& access : accesses_of(dispatch)) {
      if (is_stopped()) break;
      // Many pieces name the same dispatches: they would fill the memory.
      if (found.size() > kept) {
        make_distinct(found);
        kept = 2 * found.size() + kFoundMax;
      }
      const BytePieces::Span span = pieces.pieces_of(*range++);
      for (uint32_t piece = span.first; piece < span.end; ++piece) {
        visit(histories[piece], i, access.mode, dispatch.atomic_op, found);
      }
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
