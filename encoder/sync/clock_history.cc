#include "encoder/sync/clock_history.h"

#include <algorithm>

namespace interlock {

// A search without branches, since nothing tells where it ends.
size_t ClockHistory::place_of(uint64_t number) const {
  size_t place = 0;
  for (size_t count = clock_count(); count > 0;) {
    const size_t half = (count + 1) / 2;
    place += first_[place + half] <= number ? half : 0;
    count -= half;
  }
  return place;
}

void ClockHistory::add_room() {
  first_.resize(2 * first_.size());
  clocks_.resize(first_.size() * clock_words_);
}

void ClockHistory::drop_before(size_t place) {
  if (place <= 1) return;
  const auto at = [](std::vector<uint64_t>& all, size_t index) {
    return all.begin() + static_cast<std::ptrdiff_t>(index);
  };
  std::copy(at(first_, place), at(first_, latest_ + 1), at(first_, 1));
  std::copy(at(clocks_, place * clock_words_), at(clocks_, (latest_ + 1) * clock_words_),
            at(clocks_, clock_words_));
  latest_ -= place - 1;
  dropped_count_ += static_cast<uint32_t>(place - 1);
}

void ClockHistory::drop_unmarked() {
  size_t kept = 0;
  for (size_t place = 1; place <= latest_; ++place) {
    if (!is_marked_[place] && place < latest_) continue;
    if (++kept == place) continue;
    first_[kept] = first_[place];
    std::copy_n(clocks_.data() + place * clock_words_, clock_words_,
                clocks_.data() + kept * clock_words_);
  }
  if (kept == latest_) return;
  dropped_count_ += static_cast<uint32_t>(latest_ - kept);
  latest_ = kept;
  recent_from_ = first_[latest_];
}

}  // namespace interlock
