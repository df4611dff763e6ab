// What trackers are measured against: each says of a dispatch whether it needs a barrier first, and
// can be told of a barrier of the caller's. Models of real encoders are in encoder/sync.
#pragma once

#include <bit>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "encoder/program/hash.h"
#include "encoder/program/program.h"

namespace interlock {

// Exact: every access against all of the epoch.
class LinearScan {
 public:
  bool add(std::span<const Access> accesses) {
    const bool is_conflict = conflicts(accesses);
    if (is_conflict) epoch_.clear();
    epoch_.insert(epoch_.end(), accesses.begin(), accesses.end());
    return is_conflict;
  }
  void begin_epoch() { epoch_.clear(); }

 private:
  bool conflicts(std::span<const Access> accesses) const {
    for (const Access& access : accesses) {
      for (const Access& earlier : epoch_) {
        if (earlier.memory == access.memory && earlier.range.begin < access.range.end &&
            access.range.begin < earlier.range.end &&
            (access.has_write_side() || earlier.has_write_side())) {
          return true;
        }
      }
    }
    return false;
  }

  std::vector<Access> epoch_;
};

// Exact: the bytes of the epoch as disjoint runs in a balanced tree, cut where accesses end.
class OrderedMap {
 public:
  bool add(std::span<const Access> accesses) {
    bool is_conflict = false;
    for (const Access& access : accesses) is_conflict = is_conflict || conflicts(access);
    if (is_conflict) begin_epoch();
    for (const Access& access : accesses) record(access);
    return is_conflict;
  }
  void begin_epoch() { runs_.clear(); }

 private:
  using Key = std::pair<uint32_t, uint64_t>;  // Memory, begin.
  struct Run {
    uint64_t end;
    bool is_written;
  };
  using Runs = std::map<Key, Run>;

  // The first run that ends after the access begins.
  Runs::const_iterator first_of(const Access& access) const {
    auto run = runs_.upper_bound({access.memory.index, access.range.begin});
    if (run != runs_.begin()) {
      const auto before = std::prev(run);
      const bool reaches = before->second.end > access.range.begin;
      if (before->first.first == access.memory.index && reaches) return before;
    }
    return run;
  }

  bool is_in(Runs::const_iterator run, const Access& access) const {
    return run != runs_.end() && run->first.first == access.memory.index &&
           run->first.second < access.range.end;
  }

  bool conflicts(const Access& access) const {
    for (auto run = first_of(access); is_in(run, access); ++run) {
      if (access.has_write_side() || run->second.is_written) return true;
    }
    return false;
  }

  void record(const Access& access) {
    const uint32_t memory = access.memory.index;
    const bool is_write = access.has_write_side();
    uint64_t at = access.range.begin;
    const auto first = first_of(access);
    auto run = runs_.erase(first, first);  // The same, and it may change.
    while (is_in(run, access)) {
      if (run->first.second < at) {
        const uint64_t end = run->second.end;
        run->second.end = at;
        run = runs_.emplace_hint(std::next(run), Key{memory, at}, Run{end, run->second.is_written});
      }
      if (at < run->first.second) {
        runs_.emplace_hint(run, Key{memory, at}, Run{run->first.second, is_write});
      }
      if (run->second.end > access.range.end) {
        runs_.emplace_hint(std::next(run), Key{memory, access.range.end}, run->second);
        run->second.end = access.range.end;
      }
      run->second.is_written |= is_write;
      at = run->second.end;
      ++run;
    }
    if (at < access.range.end) {
      runs_.emplace_hint(run, Key{memory, at}, Run{access.range.end, is_write});
    }
  }

  Runs runs_;
};

// Inexact: a flat hash table of ranges; ranges that differ never conflict.
class FlatHash {
 public:
  FlatHash() : slots_(size_t{1} << 10) {}

  bool add(std::span<const Access> accesses) {
    if (2 * (count_ + accesses.size()) > slots_.size()) grow();
    places_.clear();
    bool is_conflict = false;
    for (const Access& access : accesses) {
      const size_t place = place_of(slots_, access.memory.index, access.range);
      if (slots_[place].stamp == 0) {
        ++count_;
        slots_[place] = {access.range, epoch_ - 2, access.memory.index};
      }
      const uint64_t earlier = slots_[place].stamp - epoch_;
      is_conflict |= access.has_write_side() ? earlier < 2 : earlier == 1;
      places_.push_back(place);
    }
    if (is_conflict) begin_epoch();
    for (size_t i = 0; i < accesses.size(); ++i) {
      Slot& slot = slots_[places_[i]];
      const uint64_t earlier = slot.stamp - epoch_;
      slot.stamp = epoch_ + (accesses[i].has_write_side() || earlier == 1 ? 1 : 0);
    }
    return is_conflict;
  }
  void begin_epoch() { epoch_ += 2; }

 private:
  struct Slot {
    ByteRange range;
    uint64_t stamp = 0;  // 0: free. Else an epoch, and 1 if it has written.
    uint32_t memory = 0;
  };

  static size_t place_of(const std::vector<Slot>& slots, uint32_t memory, ByteRange range) {
    const uint64_t key = range.begin + range.end * 0x2545f4914f6cdd1d + memory;
    size_t place = (key * kGolden64) >> (64 - std::countr_zero(slots.size()));
    while (slots[place].stamp != 0 &&
           (slots[place].range != range || slots[place].memory != memory)) {
      place = (place + 1) & (slots.size() - 1);
    }
    return place;
  }

  void grow() {
    std::vector<Slot> larger(2 * slots_.size());
    for (const Slot& slot : slots_) {
      if (slot.stamp != 0) larger[place_of(larger, slot.memory, slot.range)] = slot;
    }
    slots_ = std::move(larger);
  }

  std::vector<Slot> slots_;  // A power of two, at most half of them in use.
  size_t count_ = 0;
  uint64_t epoch_ = 4;
  std::vector<size_t> places_;  // Of the dispatch at hand.
};

// The ideal where buffers have numbers and never overlap: one stamp for each.
class DenseEpochs {
 public:
  explicit DenseEpochs(size_t buffer_count) : stamps_(buffer_count) {}

  bool add(std::span<const uint32_t> buffers, std::span<const Access> accesses) {
    bool is_conflict = false;
    for (size_t i = 0; i < buffers.size(); ++i) {
      const uint64_t earlier = stamps_[buffers[i]] - epoch_;
      is_conflict |= accesses[i].has_write_side() ? earlier < 2 : earlier == 1;
    }
    if (is_conflict) begin_epoch();
    for (size_t i = 0; i < buffers.size(); ++i) {
      uint64_t& stamp = stamps_[buffers[i]];
      stamp = epoch_ + (accesses[i].has_write_side() || stamp - epoch_ == 1 ? 1 : 0);
    }
    return is_conflict;
  }
  void begin_epoch() { epoch_ += 2; }

 private:
  std::vector<uint64_t> stamps_;
  uint64_t epoch_ = 2;
};

}  // namespace interlock
