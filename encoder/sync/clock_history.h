// ClockHistory: what comes before the dispatches of one serial queue, as it changed: clocks, each
// of which holds from one dispatch on, up to the next. What is in a clock is for others to know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace interlock {

class ClockHistory {
 public:
  // Each clock is so many words.
  explicit ClockHistory(size_t clock_words) : clock_words_(clock_words), clocks_(clock_words, 0) {}

  // Of the queue, those whose clocks are gone too.
  uint64_t dispatch_count() const { return dispatch_count_; }

  // Returns the number of the next dispatch.
  uint64_t begin_dispatch() {
    const uint64_t number = ++dispatch_count_;
    recent_[number % kRecent] = last_place_;
    return number;
  }

  // Those that are kept, but for the first: zeros, of dispatches before which nobody has waited.
  size_t clock_count() const { return latest_; }

  // The clock of a dispatch. Requires: it is not the next. Cost: constant for the last kRecent,
  // else logarithmic.
  const uint64_t* clock_of(uint64_t number) const {
    const bool is_recent = number + kRecent > dispatch_count_ && number >= recent_from_;
    const size_t place = is_recent ? recent_place_of(number) : place_of(number);
    return clocks_.data() + place * clock_words_;
  }

  // The dispatch from which on the latest clock holds; 0: the zeros do. And that clock.
  uint64_t latest_from() const { return first_[latest_]; }
  uint64_t* latest() { return clocks_.data() + latest_ * clock_words_; }

  // Makes another one, of any words, from this dispatch on: the last one, or the next. Cost:
  // amortized constant.
  void append(uint64_t number) {
    ++last_place_;
    if (++latest_ == first_.size()) add_room();
    first_[latest_] = number;
    // Of the next dispatch begin_dispatch() says it.
    if (number <= dispatch_count_) recent_[number % kRecent] = last_place_;
  }

  // The place of the clock that holds for a dispatch. Cost: logarithmic.
  size_t place_of(uint64_t number) const;

  // Lets go of the clocks before this place. What they held for finds zeros then.
  void drop_before(size_t place);

  // The same of those that are not marked since, but for the last. What they held for finds earlier
  // ones.
  void begin_marks() { is_marked_.assign(latest_ + 1, false); }
  void mark(size_t place) { is_marked_[place] = true; }
  void drop_unmarked();

  // Has convert(clock, to) write each clock anew, in so many words.
  template <typename Convert>
  void change_clocks(size_t clock_words, const Convert& convert) {
    std::vector<uint64_t> changed(first_.size() * clock_words, 0);
    for (size_t i = 0; i <= latest_; ++i) {
      convert(clocks_.data() + i * clock_words_, changed.data() + i * clock_words);
    }
    clock_words_ = clock_words;
    clocks_ = std::move(changed);
  }

  size_t size_bytes() const {
    return sizeof(*this) + (first_.capacity() + clocks_.capacity()) * sizeof(uint64_t) +
           is_marked_.capacity() / 8;
  }

 private:
  static constexpr uint32_t kRecent = 512;

  void add_room();
  size_t recent_place_of(uint64_t number) const {
    const auto place = static_cast<int32_t>(recent_[number % kRecent] - dropped_count_);
    return place > 0 ? static_cast<size_t>(place) : 0;
  }

  size_t clock_words_;
  uint64_t dispatch_count_ = 0;
  // By place, and room for some more.
  std::vector<uint64_t> first_ = {0};  // The dispatch from which on the clock holds.
  std::vector<uint64_t> clocks_;       // One after another.
  std::vector<bool> is_marked_;
  size_t latest_ = 0;  // The last place.
  // Of the last dispatches from `recent_from_` on: last_place_ as of then. Most waits are for one
  // of these, and need no search. Counts may wrap around: only differences matter.
  std::array<uint32_t, kRecent> recent_ = {};
  uint64_t recent_from_ = 1;
  uint32_t last_place_ = 0;  // As if none had been let go of.
  uint32_t dropped_count_ = 0;
};

}  // namespace interlock
