#include "fuzz/external/branch_counters.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace interlock {
namespace {

constexpr uint64_t kCountClasses = 8;

// 1 to 8 of a counter that is not 0: how AFL tells counts apart, so that a loop that runs once more
// is new only now and then.
uint64_t class_of_count(uint8_t count) {
  if (count < 4) return count;
  return count < 32 ? static_cast<uint64_t>(std::bit_width(count)) + 1 : count < 128 ? 7 : 8;
}

void count_up(uint8_t& counter) {
  if (counter < UINT8_MAX) ++counter;
}

}  // namespace

BranchCounters& BranchCounters::of_process() {
  static BranchCounters counters;
  return counters;
}

// One library at a time: what another one had is forgotten.
void BranchCounters::begin_loading() {
  is_loading_ = true;
  is_counting_ = false;
  inline_counters_.clear();
  guard_counters_.assign(1, 0);
  place_counters_.clear();
}

void BranchCounters::begin_counting(uintptr_t base) {
  base_ = base;
  place_counters_.assign(kPlaceCount, 0);
  is_counting_ = true;
}

void BranchCounters::end_counting() { is_counting_ = false; }

bool BranchCounters::has_some() const {
  return !inline_counters_.empty() || guard_counters_.size() > 1 ||
         std::ranges::any_of(place_counters_, [](uint8_t count) { return count > 0; });
}

void BranchCounters::clear() {
  for (const std::span<uint8_t> counters : inline_counters_) std::ranges::fill(counters, 0);
  std::ranges::fill(guard_counters_, 0);
  std::ranges::fill(place_counters_, 0);
}

std::vector<uint64_t> BranchCounters::taken() const {
  std::vector<uint64_t> taken;
  uint64_t begin = 0;
  const auto add = [&](std::span<const uint8_t> counters) {
    for (size_t at = 0; at < counters.size(); ++at) {
      // Most of them are 0: a word at once.
      uint64_t word = 1;
      if (at + sizeof(word) <= counters.size()) std::memcpy(&word, &counters[at], sizeof(word));
      if (word == 0) {
        at += sizeof(word) - 1;
      } else if (counters[at] > 0) {
        taken.push_back((begin + at) * kCountClasses + class_of_count(counters[at]) - 1);
      }
    }
    begin += counters.size();
  };
  for (const std::span<uint8_t> counters : inline_counters_) add(counters);
  add(guard_counters_);
  add(place_counters_);
  return taken;
}

void BranchCounters::add_counters(uint8_t* begin, uint8_t* end) {
  if (is_loading_ && begin < end) inline_counters_.emplace_back(begin, end);
}

// Guards of others stay 0, which counts nothing.
void BranchCounters::add_guards(uint32_t* begin, uint32_t* end) {
  if (!is_loading_ || begin == end || *begin != 0) return;
  for (uint32_t* guard = begin; guard != end; ++guard) {
    *guard = static_cast<uint32_t>(guard_counters_.size());
    guard_counters_.push_back(0);
  }
}

void BranchCounters::count_guard(uint32_t guard) {
  // Guards of a library that stays mapped keep their numbers when another one is loaded.
  const bool is_known = guard > 0 && guard < guard_counters_.size();
  if (is_known && is_counting_.load(std::memory_order_relaxed)) count_up(guard_counters_[guard]);
}

void BranchCounters::count_place(uintptr_t code) {
  if (!is_counting_.load(std::memory_order_relaxed)) return;
  count_up(place_counters_[(code - base_) % kPlaceCount]);
}

}  // namespace interlock
