// The basic idea is to look at the predecessors of an operation from the latest to the earliest:
// one that already comes before a later one is reached through it, and any other is reached by no
// path, since a path leads through later operations only.
//
// Who comes before whom is asked of predecessors alone. So a row of bits begins at the oldest
// operation that the operation itself or a later one names, and ends when nothing names its own.
#include "encoder/queues/order_reduction.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

// By operation: those before it that come before it in the order, from some word of 64 on.
class AncestorRows {
 public:
  explicit AncestorRows(const Predecessors& predecessors)
      : last_user_(predecessors.size(), 0), rows_(predecessors.size()) {
    for (uint32_t i = 0; i < predecessors.size(); ++i) {
      for (const uint32_t earlier : predecessors[i]) {
        INTERLOCK_CHECK(earlier < i);
        last_user_[earlier] = i;
      }
    }
  }

  // Nothing comes before `operation`. Requires: this or the next is called for each in turn.
  void begin(uint32_t operation) {
    while (oldest_ < operation && last_user_[oldest_] < operation) ++oldest_;
    drop_rows_before_oldest();
    rows_[operation] = {dropped_ + used_, oldest_ / 64, oldest_ / 64};
  }

  // Before `operation` come `latest` and what is before that, and nothing later than `latest` will.
  void begin(uint32_t operation, uint32_t latest) {
    begin(operation);
    Row& row = rows_[operation];
    row.end_word = latest / 64 + 1;
    const size_t count = row.end_word - row.first_word;
    if (used_ + count > bits_.size()) bits_.resize(2 * bits_.size() + count);
    const Row& theirs = rows_[latest];
    const size_t inherited = theirs.end_word - std::min(theirs.end_word, row.first_word);
    uint64_t* const to = bits_.data() + used_;
    const uint64_t* const from =
        words_of(theirs) + (theirs.end_word - inherited - theirs.first_word);
    for (size_t i = 0; i < inherited; ++i) to[i] = from[i];
    for (size_t i = inherited; i < count; ++i) to[i] = 0;
    to[count - 1] |= uint64_t{1} << (latest % 64);
    used_ += count;
  }

  // Requires of these two: `operation` is the one that was begun last, `earlier` not after its
  // `latest`.
  bool has(uint32_t operation, uint32_t earlier) const {
    const Row& row = rows_[operation];
    return (words_of(row)[earlier / 64 - row.first_word] >> (earlier % 64) & 1) != 0;
  }

  // `earlier`, and all that come before it.
  void add(uint32_t operation, uint32_t earlier) {
    const Row& row = rows_[operation];
    inherit(row, rows_[earlier]);
    words_of(row)[earlier / 64 - row.first_word] |= uint64_t{1} << (earlier % 64);
  }

 private:
  static constexpr size_t kDroppedWordsMin = 4096;
  struct Row {
    size_t offset = 0;  // In all words there ever were.
    uint32_t first_word = 0;
    uint32_t end_word = 0;  // From here on nothing comes before the operation.
  };

  uint64_t* words_of(const Row& row) { return bits_.data() + (row.offset - dropped_); }
  const uint64_t* words_of(const Row& row) const { return bits_.data() + (row.offset - dropped_); }

  // Older operations than the oldest that is still named matter to nobody.
  void inherit(const Row& row, const Row& theirs) {
    if (theirs.end_word <= row.first_word) return;
    uint64_t* const to = words_of(row);
    const uint64_t* const from = words_of(theirs) + (row.first_word - theirs.first_word);
    const size_t count = theirs.end_word - row.first_word;
    for (size_t i = 0; i < count; ++i) to[i] |= from[i];
  }

  // Once they are most of all.
  void drop_rows_before_oldest() {
    const size_t offset = rows_[oldest_].offset;
    const size_t count = std::min(offset - std::min(offset, dropped_), used_);
    if (count < kDroppedWordsMin || 2 * count < used_) return;
    std::copy(bits_.data() + count, bits_.data() + used_, bits_.data());
    used_ -= count;
    dropped_ += count;
  }

  std::vector<uint32_t> last_user_;  // By operation; 0: nothing names it.
  std::vector<Row> rows_;
  std::vector<uint64_t> bits_;  // Of the rows since `oldest_`, and some before.
  size_t used_ = 0;             // Words of these; the others are room.
  size_t dropped_ = 0;          // Words of rows that are gone.
  uint32_t oldest_ = 0;         // That the operation, or a later one, names; else the operation.
};

}  // namespace

OrderReduction::OrderReduction(const Predecessors& predecessors) {
  INTERLOCK_CHECK(predecessors.size() <= kCountMax);
  kept_.reserve(predecessors.size(), predecessors.pair_count());
  AncestorRows ancestors(predecessors);
  std::vector<uint32_t> sorted;
  uint32_t i = 0;
  for (; i < predecessors.size() && !is_stopped(); ++i) {
    std::span<const uint32_t> earlier = predecessors[i];
    if (!std::ranges::is_sorted(earlier)) {
      sorted.assign(earlier.begin(), earlier.end());
      std::ranges::sort(sorted);
      earlier = sorted;
    }
    if (earlier.empty()) {
      ancestors.begin(i);
    } else {
      ancestors.begin(i, earlier.back());
      kept_.push_back(earlier.back());
      for (size_t k = earlier.size() - 1; k-- > 0;) {
        if (ancestors.has(i, earlier[k])) continue;
        kept_.push_back(earlier[k]);
        ancestors.add(i, earlier[k]);
      }
      if (earlier.size() > 1) std::ranges::reverse(kept_.unended());
    }
    kept_.end_operation();
  }
  for (; i < predecessors.size(); ++i) kept_.end_operation();
}

OrderClosure::OrderClosure(const OrderReduction& order) {
  size_t word_count = 0;
  for (size_t i = 0; i < order.count(); ++i) {
    first_word_.push_back(word_count);
    word_count += i / 64 + 1;
  }
  bits_.assign(word_count, 0);
  for (uint32_t i = 0; i < order.count() && !is_stopped(); ++i) {
    uint64_t* const ancestors = bits_.data() + first_word_[i];
    for (const uint32_t earlier : order.predecessors(i)) {
      const uint64_t* const theirs = row(earlier);
      for (size_t word = 0; word <= earlier / 64; ++word) ancestors[word] |= theirs[word];
      ancestors[earlier / 64] |= uint64_t{1} << (earlier % 64);
    }
  }
}

}  // namespace interlock
