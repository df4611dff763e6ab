#include "simulator/barriers/open_marks.h"

#include <algorithm>
#include <bit>

namespace interlock {

void OpenMarks::clear() {
  ++round_;
  opens_.clear();
  makings_.clear();
  ends_.clear();
}

void OpenMarks::open(uint32_t token, uint32_t made, uint32_t waited) {
  if (opened_in_[token] == round_) {
    opens_[number_of_[token]].last = waited;
    return;
  }
  opened_in_[token] = round_;
  number_of_[token] = static_cast<uint32_t>(opens_.size());
  opens_.push_back({token, made, waited});
}

bool OpenMarks::give_out() {
  uint64_t free = marks_;
  const auto take = [&free] {
    const auto number = static_cast<uint32_t>(std::countr_zero(free));
    free &= free - 1;
    return number;
  };
  if (opens_.size() <= static_cast<size_t>(std::popcount(marks_))) {
    for (const Open& open : opens_) number_of_[open.token] = take();
    return true;
  }
  std::vector<Open> by_end = opens_;
  std::ranges::sort(by_end, {}, &Open::last);
  std::ranges::sort(opens_, {}, &Open::made);
  auto over = by_end.begin();
  for (const Open& open : opens_) {
    // What is over by then was made before, and has its mark.
    for (; over->last < open.made; ++over) free |= of(over->token);
    if (free == 0) return false;
    number_of_[open.token] = take();
    makings_.push_back({open.made, of(open.token)});
  }
  for (const Open& open : by_end) ends_.push_back({open.last, of(open.token)});
  return true;
}

void OpenMarks::restart() {
  next_end_ = 0;
  next_making_ = makings_.size();
}

uint64_t OpenMarks::over_before(uint32_t step) {
  uint64_t over = 0;
  for (; next_end_ < ends_.size() && ends_[next_end_].step < step; ++next_end_) {
    over |= ends_[next_end_].mark;
  }
  return over;
}

uint64_t OpenMarks::unmade_after(uint32_t step) {
  uint64_t unmade = 0;
  for (; next_making_ > 0 && makings_[next_making_ - 1].step > step; --next_making_) {
    unmade |= makings_[next_making_ - 1].mark;
  }
  return unmade;
}

}  // namespace interlock
