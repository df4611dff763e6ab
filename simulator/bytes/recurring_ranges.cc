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

struct NumberedRange {
  ByteRange bytes;
  uint32_t use_count = 0;
  bool is_written = false;  // By some use.
};

constexpr size_t kAccessesPerRange = 3;   // At least, on average.
constexpr size_t kSegmentsPerAccess = 8;  // At most, on average.
// Of one question. Ranges that were made to collide are left to RunTree.
constexpr size_t kProbesMax = 64;

// Numbers ranges of bytes in the order in which they come first. It takes them as two numbers: a
// pair would be put together in memory, and loaded before it has got there.
class RangeNumbers {
 public:
  explicit RangeNumbers(size_t count_max)
      : count_max_(count_max), slots_(std::bit_ceil(std::max(count_max / 4, kSlotsMin)), 0) {}

  // Whether `number` is that of the range, which is then used once more.
  bool use_if_same(uint32_t number, uint64_t begin, uint64_t end, bool writes) {
    NumberedRange& range = ranges_[number];
    if (range.bytes.begin != begin || range.bytes.end != end) return false;
    ++range.use_count;
    range.is_written |= writes;
    return true;
  }

  // kNone: there are too many, or too many that collide. Apart, as most are used by use_if_same().
  [[gnu::noinline]] uint32_t use(uint64_t begin, uint64_t end, bool writes) {
    const size_t mask = slots_.size() - 1;
    size_t at = place_of(begin, end);
    for (size_t probe = 0; probe < kProbesMax; ++probe, at = (at + 1) & mask) {
      const uint32_t one_more = slots_[at];
      if (one_more == 0) return append(begin, end, writes, at);
      if (use_if_same(one_more - 1, begin, end, writes)) return one_more - 1;
    }
    return kNone;
  }

  const std::vector<NumberedRange>& ranges() const { return ranges_; }

  static constexpr uint32_t kNone = UINT32_MAX;

 private:
  static constexpr size_t kSlotsMin = 256;

  size_t place_of(uint64_t begin, uint64_t end) const {
    const uint64_t mixed = (begin ^ std::rotr(end * kGolden64, 29)) * kGolden64;
    return mixed >> (64 - std::countr_zero(slots_.size()));
  }

  uint32_t append(uint64_t begin, uint64_t end, bool writes, size_t at) {
    if (ranges_.size() == count_max_) return kNone;
    // Field by field: what is copied whole is put together in memory first.
    NumberedRange& range = ranges_.emplace_back();
    range.bytes.begin = begin;
    range.use_count = 1;
    range.is_written = writes;
    range.bytes.end = end;
    slots_[at] = static_cast<uint32_t>(ranges_.size());
    if (2 * ranges_.size() > slots_.size() && !grow()) return kNone;
    return static_cast<uint32_t>(ranges_.size() - 1);
  }

  bool grow() {
    slots_.assign(2 * slots_.size(), 0);
    const size_t mask = slots_.size() - 1;
    for (size_t i = 0; i < ranges_.size(); ++i) {
      size_t at = place_of(ranges_[i].bytes.begin, ranges_[i].bytes.end);
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
    sort_by_bytes(ends);
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
  // By digits, the lowest first: comparisons of few numbers are mostly guessed wrong.
  static void sort_by_bytes(std::vector<uint64_t>& ends) {
    constexpr int kSortedBits = 8;
    constexpr uint64_t kSortedMax = (1u << kSortedBits) - 1;
    uint64_t differing = 0;
    for (const uint64_t end : ends) differing |= end ^ ends.front();
    std::vector<uint64_t> sorted(ends.size());
    for (int shift = kNumberBits; shift < 64 && differing >> shift != 0; shift += kSortedBits) {
      if ((differing >> shift & kSortedMax) == 0) continue;
      std::array<uint32_t, kSortedMax + 1> places{};
      for (const uint64_t end : ends) ++places[end >> shift & kSortedMax];
      uint32_t place = 0;
      for (uint32_t& each : places) place += std::exchange(each, place);
      for (const uint64_t end : ends) sorted[places[end >> shift & kSortedMax]++] = end;
      ends.swap(sorted);
    }
  }

  static constexpr int kNumberBits = 16;
  static constexpr uint64_t kEndsMax = uint64_t{1} << kNumberBits;
  static_assert(2 * RecurringRanges::kRangesMax <= kEndsMax);

  uint32_t count_ = 0;
  std::vector<uint32_t> ranks_;
};

constexpr uint64_t kNoWrites = UINT64_MAX;

// By memory: where it begins, or kNoWrites if no access writes to it. What none does, as weights,
// needs no number. Of a single memory that is not asked.
std::vector<uint64_t> begins_of_written(const Program& program,
                                        std::span<const uint64_t> memory_begins) {
  std::vector<uint64_t> begins(memory_begins.begin(), memory_begins.end());
  if (begins.size() == 1) return begins;
  std::ranges::fill(begins, kNoWrites);
  for (const Access& access : program.accesses) {
    const size_t memory = access.memory.index;
    if (access.has_write_side()) begins[memory] = memory_begins[memory];
  }
  return begins;
}

// The word of an access to such a memory. Numbers of ranges are one more in words.
constexpr uint16_t kWordOfUnwritten = 0;

}  // namespace

// The greater of each two. Where a machine has no instruction for that, it has one for floats: none
// of the numbers is a denormal, which hosts may flush to zero (kNothing).
inline void RecurringRanges::raise(Segment& numbers, const Segment& others) {
#if defined(__SSE__) && !defined(__SSE4_1__)
  typedef float Floats __attribute__((vector_size(16)));
  numbers = reinterpret_cast<Segment>(
      __builtin_ia32_maxps(reinterpret_cast<Floats>(numbers), reinterpret_cast<Floats>(others)));
#else
  numbers = numbers > others ? numbers : others;
#endif
}

std::optional<RecurringRanges> RecurringRanges::of(const Program& program,
                                                   std::span<const uint64_t> memory_begins) {
  const size_t access_count = program.accesses.size();
  const bool fits =
      access_count >= kAccessesMin && memory_begins.back() < RangeEnds::kBytesMax &&
      program.memories.back().size_bytes < RangeEnds::kBytesMax - memory_begins.back() &&
      program.dispatches.size() < kNumbersMax;
  if (!fits) return std::nullopt;
  RecurringRanges made;
  RangeNumbers numbers(std::min(kRangesMax, access_count / kAccessesPerRange));
  const std::vector<uint64_t> begins = begins_of_written(program, memory_begins);
  // Ranges that do not recur are too many before long: until then they have no word for each
  // access.
  constexpr size_t kWordsAtFirst = 2 * kRangesMax;
  std::vector<uint16_t> room(std::min(access_count, kWordsAtFirst));
  uint16_t* words = room.data();
  size_t count = 0;
  // Most ranges come in the order in which they came before, so that the next one is looked at
  // first. Who is not there twice in a row is in another place of that order.
  size_t ahead = 0;
  bool was_ahead = true;
  std::vector<uint32_t> last_places;  // By range: where it came last and was not ahead.
  bool has_atomics = false;
  for (const Access& access : program.accesses) {
    if (count == kWordsAtFirst) {
      room.resize(access_count);
      words = room.data();
    }
    const uint64_t memory_begin = begins[access.memory.index];
    if (memory_begin == kNoWrites) {
      words[count++] = kWordOfUnwritten;
      ++ahead;
      continue;
    }
    const uint64_t begin = memory_begin + access.range.begin;
    const uint64_t end = memory_begin + std::max(access.range.begin, access.range.end);
    const bool writes = access.has_write_side();
    const uint32_t word_ahead = words[ahead] / 2;
    uint32_t number = word_ahead - 1;
    const bool is_ahead = word_ahead > 0 && numbers.use_if_same(number, begin, end, writes);
    if (!is_ahead) {
      number = numbers.use(begin, end, writes);
      if (number == RangeNumbers::kNone) return std::nullopt;
      const auto place = static_cast<uint32_t>(count);
      if (number == last_places.size()) {
        last_places.push_back(place);  // A new one says nothing of what comes next.
      } else {
        const uint32_t last_place = std::exchange(last_places[number], place);
        if (!was_ahead) ahead = last_place;
      }
    }
    was_ahead = is_ahead;
    ++ahead;
    words[count++] = static_cast<uint16_t>(2 * (number + 1) + (writes ? 1 : 0));
    has_atomics |= access.is_atomic();
  }
  made.words_ = std::move(room);
  made.has_atomics_ = has_atomics;
  const RangeEnds ends(numbers.ranges());
  size_t segments_left = kSegmentsPerAccess * access_count;
  // By segment: how many written ranges begin and end there; then how many segments before it some
  // access writes.
  std::vector<uint32_t> written(ends.count() + size_t{1}, 0);
  made.spans_.resize(1 + numbers.ranges().size());
  const auto spans = std::span(made.spans_).subspan(1);
  for (size_t i = 0; i < spans.size(); ++i) {
    const NumberedRange& range = numbers.ranges()[i];
    const Span span{ends.rank_of_begin(i), ends.rank_of_end(i)};
    const uint32_t size = span.last - span.first;
    const uint64_t looks = uint64_t{range.use_count} * size;
    const bool writes_nothing = range.is_written && size == 0;
    if (looks > segments_left || writes_nothing) return std::nullopt;
    segments_left -= looks;
    spans[i] = span;
    if (!range.is_written) continue;
    ++written[span.first];
    --written[span.last];
  }
  uint32_t open_count = 0;
  uint32_t written_count = 0;
  for (uint32_t& each : written) {
    open_count += each;
    each = written_count;
    written_count += open_count > 0 ? 1 : 0;
  }
  // A look at this segment finds no write.
  const uint32_t unwritten = ends.count();
  made.spans_.front() = {unwritten, unwritten};
  for (Span& span : spans) {
    const bool is_unwritten = written[span.first] == written[span.last];
    span = is_unwritten ? Span{unwritten, unwritten} : Span{span.first, span.last - 1};
  }
  made.segments_.resize(ends.count() + 1, Segment{kNothing, kNothing, kNothing, kNothing});
  return made;
}

// By those of the segments between the first and the last one.
void RecurringRanges::raise_by_middle(Span span, Segment& greatest) const {
  Segment most = greatest;  // Not in memory, and two, so that one does not wait for the next.
  Segment other = greatest;
  const Segment* segment = segments_.data() + span.first + 1;
  const Segment* const last = segments_.data() + span.last;
  for (; last - segment > 1; segment += 2) {
    raise(most, segment[0]);
    raise(other, segment[1]);
  }
  if (segment != last) raise(other, *segment);
  raise(most, other);
  greatest = most;
}

ScannedConflicts RecurringRanges::find(const Dispatch& dispatch) const {
  // Of what only reads, writes alone count.
  constexpr Segment kMasks[] = {{0, 0, 0, 0}, {-1, -1, -1, -1}};
  Segment found{kNothing, kNothing, kNothing, kNothing};
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
  conflicts.write = static_cast<Stamp>(found[kWrite] - kNothing);
  conflicts.any = static_cast<Stamp>(found[kAny] - kNothing);
  conflicts.level = static_cast<Stamp>(found[kAnyLevel] - kNothing) + 1;
  return conflicts;
}

void RecurringRanges::record(const Dispatch& dispatch, Stamp stamp, Stamp level) {
  const auto at = static_cast<int32_t>(stamp) + kNothing;
  const auto high = static_cast<int32_t>(level) + kNothing;
  const Segment read{kNothing, at, kNothing, high};
  const Segment write{at, at, high, high};
  for (const uint16_t word : words_of(dispatch)) {
    const Span span = spans_[word / 2];
    Segment* const end = segments_.data() + span.last + 1;
    if (word % 2 != 0) {
      for (Segment* it = segments_.data() + span.first; it != end; ++it) *it = write;
    } else {
      for (Segment* it = segments_.data() + span.first; it != end; ++it) raise(*it, read);
    }
  }
}

}  // namespace interlock
