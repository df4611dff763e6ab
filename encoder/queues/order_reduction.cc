// The basic idea is to look at the predecessors of an operation from the latest to the earliest:
// one that already comes before a later one is reached through it, and any other is reached by no
// path, since a path leads through later operations only.
//
// Who comes before whom is asked of predecessors alone. So a row of bits begins at the oldest
// operation that the operation itself or a later one names, and ends when nothing names its own.
#include "encoder/queues/order_reduction.h"

#include <algorithm>
#include <functional>

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

  // The row of `operation`, empty. Requires: called for each in turn.
  void begin(uint32_t operation) {
    while (oldest_ < operation && last_user_[oldest_] < operation) ++oldest_;
    drop_rows_before_oldest();
    Row& row = rows_[operation];
    row.first_word = oldest_ / 64;
    row.offset = dropped_ + bits_.size();
    bits_.resize(bits_.size() + operation / 64 + 1 - row.first_word, 0);
  }

  // Requires: something from `operation` on names `earlier`. So below.
  bool has(uint32_t operation, uint32_t earlier) const {
    const uint64_t word = words_of(operation)[earlier / 64 - rows_[operation].first_word];
    return (word >> (earlier % 64) & 1) != 0;
  }

  // `earlier`, and all that come before it.
  void add(uint32_t operation, uint32_t earlier) {
    const Row& row = rows_[operation];
    const size_t skipped = row.first_word - rows_[earlier].first_word;
    const size_t count = earlier / 64 + 1 - row.first_word;
    uint64_t* const words = bits_.data() + (row.offset - dropped_);
    const uint64_t* const theirs = words_of(earlier) + skipped;
    for (size_t i = 0; i < count; ++i) words[i] |= theirs[i];
    words[count - 1] |= uint64_t{1} << (earlier % 64);
  }

 private:
  static constexpr size_t kDroppedWordsMin = 4096;
  struct Row {
    size_t offset = 0;  // In all words there ever were.
    uint32_t first_word = 0;
  };

  const uint64_t* words_of(uint32_t operation) const {
    return bits_.data() + (rows_[operation].offset - dropped_);
  }

  // Once they are most of all.
  void drop_rows_before_oldest() {
    const size_t count =
        std::min(rows_[oldest_].offset - std::min(rows_[oldest_].offset, dropped_), bits_.size());
    if (count < kDroppedWordsMin || 2 * count < bits_.size()) return;
    bits_.erase(bits_.begin(), bits_.begin() + static_cast<std::ptrdiff_t>(count));
    dropped_ += count;
  }

  std::vector<uint32_t> last_user_;  // By operation; 0: nothing names it.
  std::vector<Row> rows_;
  std::vector<uint64_t> bits_;  // Of the rows since `oldest_`, and some before.
  size_t dropped_ = 0;          // Words of rows that are gone.
  uint32_t oldest_ = 0;         // That the operation, or a later one, names; else the operation.
};

}  // namespace

OrderReduction::OrderReduction(const Predecessors& predecessors) {
  INTERLOCK_CHECK(predecessors.size() <= kCountMax);
  kept_.reserve(predecessors.size(), predecessors.pair_count());
  AncestorRows ancestors(predecessors);
  std::vector<uint32_t> latest_first;
  uint32_t i = 0;
  for (; i < predecessors.size() && !is_stopped(); ++i) {
    ancestors.begin(i);
    latest_first.assign(predecessors[i].rbegin(), predecessors[i].rend());
    if (!std::is_sorted(latest_first.begin(), latest_first.end(), std::greater<>())) {
      std::sort(latest_first.begin(), latest_first.end(), std::greater<>());
    }
    for (const uint32_t earlier : latest_first) {
      if (ancestors.has(i, earlier)) continue;
      kept_.push_back(earlier);
      ancestors.add(i, earlier);
    }
    std::ranges::reverse(kept_.unended());
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
