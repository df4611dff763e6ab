// The basic idea is that a step that is recorded again and again has few ranges that differ, and
// most of these are one segment or two. Once they are numbered, an access costs a look at its
// segments and no search. What no access writes, as weights, conflicts with nothing and has none.
//
// No number of a segment ever falls: stamps rise, and a write is of a higher level than all that it
// hides. So to record is to raise.
#include "simulator/bytes/recurring_ranges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "encoder/program/hash.h"

namespace interlock {
namespace {

// The numbers of a segment.
constexpr size_t kWrite = 0;
constexpr size_t kAny = 1;
constexpr size_t kWriteLevel = 2;
constexpr size_t kAnyLevel = 3;

template <typename Numbers>
void raise(Numbers& numbers, const Numbers& others) {
  numbers = numbers > others ? numbers : others;
}

struct NumberedRange {
  ByteRange bytes;
  uint32_t use_count = 0;
  bool is_written = false;  // By some use.
};

constexpr size_t kAccessesPerRange = 3;   // At least, on average.
constexpr size_t kSegmentsPerAccess = 8;  // At most, on average.
// Of one question. Ranges that were made to collide are left to RunTree.
constexpr size_t kProbesMax = 64;

// Numbers ranges of bytes in the order in which they come first.
class RangeNumbers {
 public:
  explicit RangeNumbers(size_t count_max)
      : count_max_(count_max), slots_(std::bit_ceil(std::max(count_max / 4, kSlotsMin)), 0) {}

  // kNone: there are too many, or too many that collide.
  uint32_t use(ByteRange bytes, bool writes) {
    const size_t mask = slots_.size() - 1;
    size_t at = place_of(bytes);
    for (size_t probe = 0; probe < kProbesMax; ++probe, at = (at + 1) & mask) {
      const uint32_t one_more = slots_[at];
      if (one_more == 0) return append({bytes, 1, writes}, at);
      NumberedRange& range = ranges_[one_more - 1];
      if (range.bytes != bytes) continue;
      ++range.use_count;
      range.is_written |= writes;
      return one_more - 1;
    }
    return kNone;
  }

  const std::vector<NumberedRange>& ranges() const { return ranges_; }

  static constexpr uint32_t kNone = UINT32_MAX;

 private:
  static constexpr size_t kSlotsMin = 256;

  size_t place_of(ByteRange bytes) const {
    const uint64_t mixed = (bytes.begin ^ std::rotr(bytes.end * kGolden64, 29)) * kGolden64;
    return mixed >> (64 - std::countr_zero(slots_.size()));
  }

  uint32_t append(const NumberedRange& range, size_t at) {
    if (ranges_.size() == count_max_) return kNone;
    ranges_.push_back(range);
    slots_[at] = static_cast<uint32_t>(ranges_.size());
    if (2 * ranges_.size() > slots_.size() && !grow()) return kNone;
    return static_cast<uint32_t>(ranges_.size() - 1);
  }

  bool grow() {
    slots_.assign(2 * slots_.size(), 0);
    const size_t mask = slots_.size() - 1;
    for (size_t i = 0; i < ranges_.size(); ++i) {
      size_t at = place_of(ranges_[i].bytes);
      for (size_t probe = 0; slots_[at] != 0; at = (at + 1) & mask) {
        if (++probe == kProbesMax) return false;
      }
      slots_[at] = static_cast<uint32_t>(i + 1);
    }
    return true;
  }

  const size_t count_max_;
  std::vector<uint32_t> slots_;  // One more than a number; 0: free.
  std::vector<NumberedRange> ranges_;
};

// Where the ends of each range stand among all that differ. Requires: at most kRangesMax ranges, of
// bytes below kBytesMax.
class RangeEnds {
 public:
  explicit RangeEnds(const std::vector<NumberedRange>& ranges) : ranks_(2 * ranges.size()) {
    // The byte, and below it the number of the end, so that numbers alone are sorted.
    std::vector<uint64_t> ends(2 * ranges.size());
    for (size_t i = 0; i < ranges.size(); ++i) {
      ends[2 * i] = ranges[i].bytes.begin << kNumberBits | (2 * i);
      ends[2 * i + 1] = ranges[i].bytes.end << kNumberBits | (2 * i + 1);
    }
    std::ranges::sort(ends);
    uint64_t last_byte = 0;
    for (const uint64_t end : ends) {
      const uint64_t byte = end >> kNumberBits;
      if (count_ == 0 || byte != last_byte) ++count_;
      last_byte = byte;
      ranks_[end & (kEndsMax - 1)] = count_ - 1;
    }
  }

  static constexpr uint64_t kBytesMax = uint64_t{1} << 48;

  // Of bytes where some range ends or begins.
  uint32_t count() const { return count_; }
  uint32_t rank_of_begin(size_t range) const { return ranks_[2 * range]; }
  uint32_t rank_of_end(size_t range) const { return ranks_[2 * range + 1]; }

 private:
  static constexpr int kNumberBits = 16;
  static constexpr uint64_t kEndsMax = uint64_t{1} << kNumberBits;
  static_assert(2 * RecurringRanges::kRangesMax <= kEndsMax);

  uint32_t count_ = 0;
  std::vector<uint32_t> ranks_;
};

}  // namespace

std::optional<RecurringRanges> RecurringRanges::of(const Program& program,
                                                   std::span<const uint64_t> memory_begins) {
  const size_t access_count = program.accesses.size();
  const bool fits =
      access_count >= kAccessesMin && memory_begins.back() < RangeEnds::kBytesMax &&
      program.memories.back().size_bytes < RangeEnds::kBytesMax - memory_begins.back() &&
      program.dispatches.size() < INT32_MAX;
  if (!fits) return std::nullopt;
  RecurringRanges made;
  RangeNumbers numbers(std::min(kRangesMax, access_count / kAccessesPerRange));
  // Ranges that do not recur are too many before long: until then they have no word for each
  // access.
  constexpr size_t kWordsAtFirst = 2 * kRangesMax;
  std::vector<uint16_t> words(std::min(access_count, kWordsAtFirst));
  size_t count = 0;
  bool has_atomics = false;
  for (const Access& access : program.accesses) {
    const uint64_t begin = memory_begins[access.memory.index];
    const uint64_t end = std::max(access.range.begin, access.range.end);
    const bool writes = access.has_write_side();
    const uint32_t number = numbers.use({begin + access.range.begin, begin + end}, writes);
    if (number == RangeNumbers::kNone) return std::nullopt;
    if (count == kWordsAtFirst) words.resize(access_count);
    words[count++] = static_cast<uint16_t>(2 * number + (writes ? 1 : 0));
    has_atomics |= access.is_atomic();
  }
  made.words_ = std::move(words);
  made.has_atomics_ = has_atomics;
  const RangeEnds ends(numbers.ranges());
  size_t segments_left = kSegmentsPerAccess * access_count;
  std::vector<uint8_t> is_written(ends.count(), 0);
  made.spans_.resize(numbers.ranges().size());
  for (size_t i = 0; i < made.spans_.size(); ++i) {
    const NumberedRange& range = numbers.ranges()[i];
    const Span span{ends.rank_of_begin(i), ends.rank_of_end(i)};
    const uint32_t size = span.last - span.first;
    const uint64_t looks = uint64_t{range.use_count} * size;
    const bool writes_nothing = range.is_written && size == 0;
    if (looks > segments_left || writes_nothing) return std::nullopt;
    segments_left -= looks;
    made.spans_[i] = span;
    if (!range.is_written) continue;
    std::fill(is_written.begin() + span.first, is_written.begin() + span.last, 1);
  }
  // A look at this segment finds no write.
  const uint32_t unwritten = ends.count();
  for (Span& span : made.spans_) {
    const auto begin = is_written.begin() + span.first;
    const auto end = is_written.begin() + span.last;
    span = std::find(begin, end, 1) == end ? Span{unwritten, unwritten}
                                           : Span{span.first, span.last - 1};
  }
  made.segments_.resize(ends.count() + 1, Segment{});
  return made;
}

// By those of the segments between the first and the last one.
void RecurringRanges::raise_by_middle(Span span, Segment& greatest) const {
  Segment other{};  // So that one does not wait for the next.
  uint32_t i = span.first + 1;
  for (; i + 1 < span.last; i += 2) {
    raise(greatest, segments_[i]);
    raise(other, segments_[i + 1]);
  }
  if (i < span.last) raise(other, segments_[i]);
  raise(greatest, other);
}

ScannedConflicts RecurringRanges::find(const Dispatch& dispatch) const {
  // Of what only reads, writes alone count.
  constexpr Segment kMasks[] = {{0, 0, 0, 0}, {-1, -1, -1, -1}};
  Segment found{};
  for (const uint16_t word : words_of(dispatch)) {
    // Most have one segment or two: no loop, whose end would be guessed wrong.
    const Span span = spans_[word / 2];
    Segment greatest = segments_[span.first];
    raise(greatest, segments_[span.last]);
    if (span.last - span.first > 1) raise_by_middle(span, greatest);
    const Segment writes =
        __builtin_shufflevector(greatest, greatest, kWrite, kWrite, kWriteLevel, kWriteLevel);
    const Segment mask = kMasks[word % 2];
    raise(found, (greatest & mask) | (writes & ~mask));
  }
  ScannedConflicts conflicts;
  conflicts.write = static_cast<Stamp>(found[kWrite]);
  conflicts.any = static_cast<Stamp>(found[kAny]);
  conflicts.level = static_cast<Stamp>(found[kAnyLevel]) + 1;
  return conflicts;
}

void RecurringRanges::record(const Dispatch& dispatch, Stamp stamp, Stamp level) {
  const auto at = static_cast<int32_t>(stamp);
  const auto high = static_cast<int32_t>(level);
  const Segment accesses[] = {{0, at, 0, high}, {at, at, high, high}};
  for (const uint16_t word : words_of(dispatch)) {
    const Span span = spans_[word / 2];
    const Segment access = accesses[word % 2];
    raise(segments_[span.first], access);
    for (uint32_t i = span.first + 1; i <= span.last; ++i) raise(segments_[i], access);
  }
}

}  // namespace interlock
