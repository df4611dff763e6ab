// The basic idea is to look at the predecessors of an operation from the latest to the earliest:
// one that already comes before a later one is reached through it, and any other is reached by no
// path, since a path leads through later operations only.
#include "encoder/queues/order_reduction.h"

#include <algorithm>
#include <functional>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"

namespace interlock {

OrderReduction::OrderReduction(const Predecessors& predecessors) : kept_(predecessors.size()) {
  INTERLOCK_CHECK(predecessors.size() <= kCountMax);
  size_t word_count = 0;
  for (size_t i = 0; i < predecessors.size(); ++i) {
    first_word_.push_back(word_count);
    word_count += i / 64 + 1;
  }
  bits_.assign(word_count, 0);
  std::vector<uint32_t> latest_first;
  for (uint32_t i = 0; i < predecessors.size(); ++i) {
    if (is_stopped()) return;
    latest_first = predecessors[i];
    std::sort(latest_first.begin(), latest_first.end(), std::greater<>());
    uint64_t* const ancestors = bits_.data() + first_word_[i];
    for (const uint32_t earlier : latest_first) {
      INTERLOCK_CHECK(earlier < i);
      if (is_ordered(earlier, i)) continue;
      kept_[i].push_back(earlier);
      const uint64_t* const theirs = row(earlier);
      for (size_t word = 0; word <= earlier / 64; ++word) ancestors[word] |= theirs[word];
      ancestors[earlier / 64] |= uint64_t{1} << (earlier % 64);
    }
    std::reverse(kept_[i].begin(), kept_[i].end());
  }
}

}  // namespace interlock
