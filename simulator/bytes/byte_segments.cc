// The basic idea is coordinate compression: sort the distinct endpoints of each memory; a segment
// lies between two of them. Each endpoint carries along where it came from, so that its rank goes
// back there without a search. Streams repeat their ranges: a small direct-mapped cache in front
// lets most accesses copy what an earlier one gets.
#include "simulator/bytes/byte_segments.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {

namespace {

constexpr size_t kCacheBitsMax = 13;

// A direct-mapped cache from ranges to the accesses that had them. It only saves work.
class RangeCache {
 public:
  // No larger than the program asks for: a campaign builds one per program, of some fifty accesses.
  explicit RangeCache(size_t access_count)
      : shift_(64 - std::clamp<size_t>(std::bit_width(access_count), 1, kCacheBitsMax)),
        entries_(size_t{1} << (64 - shift_), kNone) {}

  // Returns an earlier access of the same range, or else `index`, which it remembers.
  uint32_t find_or_add(const std::vector<Access>& accesses, uint32_t index) {
    const Access& access = accesses[index];
    const uint64_t mixed = (access.range.begin * 0x9e3779b97f4a7c15) ^
                           (access.range.end * 0xc2b2ae3d27d4eb4f) ^
                           (uint64_t{access.memory.index} * 0xd6e8feb86659fd93);
    uint32_t& entry = entries_[(mixed * 0x9e3779b97f4a7c15) >> shift_];
    if (entry == kNone || accesses[entry].memory != access.memory ||
        accesses[entry].range != access.range) {
      entry = index;
    }
    return entry;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  size_t shift_;
  std::vector<uint32_t> entries_;
};

constexpr int kDigitBits = 11;
constexpr size_t kDigitCount = size_t{1} << kDigitBits;

// The endpoints of ranges: where each lies, and 2 * access index, plus 1 for the end of the range.
// Two arrays, so that no padding counts: while they are sorted is when a check takes most memory.
struct Endpoints {
  std::vector<uint64_t> offsets_bytes;
  std::vector<uint32_t> places;

  void resize(size_t count) {
    offsets_bytes.resize(count);
    places.resize(count);
  }
};

// [begin, begin + size) of Endpoints.
struct EndpointRun {
  uint64_t* offsets_bytes;
  uint32_t* places;
  size_t size;
};

EndpointRun run_of(Endpoints& endpoints, size_t begin, size_t end) {
  return {endpoints.offsets_bytes.data() + begin, endpoints.places.data() + begin, end - begin};
}

void copy(const EndpointRun& from, const EndpointRun& to) {
  std::copy_n(from.offsets_bytes, from.size, to.offsets_bytes);
  std::copy_n(from.places, from.size, to.places);
}

void sort_few(const EndpointRun& run) {
  std::vector<std::pair<uint64_t, uint32_t>> sorted(run.size);
  for (size_t i = 0; i < run.size; ++i) sorted[i] = {run.offsets_bytes[i], run.places[i]};
  std::ranges::sort(sorted);
  for (size_t i = 0; i < run.size; ++i) {
    run.offsets_bytes[i] = sorted[i].first;
    run.places[i] = sorted[i].second;
  }
}

// Sorts by offset: by comparison if there are few, else by digits, the lowest first.
void sort_by_offset(const EndpointRun& run, Endpoints& scratch) {
  if (run.size < kDigitCount) {
    sort_few(run);
    return;
  }
  const uint64_t offset_max = *std::max_element(run.offsets_bytes, run.offsets_bytes + run.size);
  if (scratch.places.size() < run.size) scratch.resize(run.size);
  EndpointRun from = run;
  EndpointRun to = run_of(scratch, 0, run.size);
  std::vector<size_t> next(kDigitCount + 1);
  for (int shift = 0; shift < 64 && (offset_max >> shift) != 0; shift += kDigitBits) {
    const auto digit_of = [&](size_t i) {
      return (from.offsets_bytes[i] >> shift) & (kDigitCount - 1);
    };
    std::fill(next.begin(), next.end(), 0);
    for (size_t i = 0; i < run.size; ++i) ++next[digit_of(i) + 1];
    for (size_t digit = 1; digit < next.size(); ++digit) next[digit] += next[digit - 1];
    for (size_t i = 0; i < run.size; ++i) {
      const size_t at = next[digit_of(i)]++;
      to.offsets_bytes[at] = from.offsets_bytes[i];
      to.places[at] = from.places[i];
    }
    std::swap(from, to);
  }
  if (from.places != run.places) copy(from, run);
}

}  // namespace

ByteSegments::Ranks::Ranks(const Program& program) {
  std::vector<Access> with_operands;
  if (!program.barrier_operands.empty()) {
    with_operands = program.accesses;
    with_operands.insert(with_operands.end(), program.barrier_operands.begin(),
                         program.barrier_operands.end());
  }
  const std::vector<Access>& accesses = with_operands.empty() ? program.accesses : with_operands;
  INTERLOCK_CHECK(accesses.size() < UINT32_MAX / 2);
  RangeCache cache(accesses.size());
  std::vector<bool> is_repeat(accesses.size(), false);
  std::vector<uint32_t> sources;  // Of those that repeat a range, in order: where it came first.
  std::vector<size_t> bucket_begin(program.memories.size() + 1, 0);
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    const Access& access = accesses[i];
    if (access.range.is_empty()) continue;
    const uint32_t source = cache.find_or_add(accesses, i);
    is_repeat[i] = source != i;
    if (is_repeat[i]) sources.push_back(source);
    bucket_begin[access.memory.index + 1] += is_repeat[i] ? 0 : 2;
  }
  for (size_t m = 0; m < program.memories.size(); ++m) {
    bucket_begin[m + 1] += bucket_begin[m];
  }

  Endpoints sorted;
  sorted.resize(bucket_begin.back());
  std::vector<size_t> bucket_end(bucket_begin.begin(), bucket_begin.end());
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    const Access& access = accesses[i];
    if (is_repeat[i] || access.range.is_empty()) continue;
    size_t& end = bucket_end[access.memory.index];
    sorted.offsets_bytes[end] = access.range.begin;
    sorted.places[end++] = 2 * i;
    sorted.offsets_bytes[end] = access.range.end;
    sorted.places[end++] = 2 * i + 1;
  }
  Endpoints scratch;
  for (size_t m = 0; m < program.memories.size(); ++m) {
    sort_by_offset(run_of(sorted, bucket_begin[m], bucket_begin[m + 1]), scratch);
  }
  scratch = {};
  // Not before: sorting is when most memory is in use.
  spans.resize(accesses.size());
  rank_endpoints(sorted.places, bucket_begin, sorted.offsets_bytes);
  endpoints = std::move(sorted.offsets_bytes);
  auto source = sources.begin();
  for (uint32_t i = 0; i < accesses.size(); ++i) {
    if (is_repeat[i]) spans[i] = spans[*source++];
  }
}

// Hands out ranks and keeps one of equal offsets. Each memory is sorted.
void ByteSegments::Ranks::rank_endpoints(const std::vector<uint32_t>& places,
                                         const std::vector<size_t>& bucket_begin,
                                         std::vector<uint64_t>& offsets_bytes) {
  first_segment.assign(bucket_begin.size(), 0);
  uint32_t count = 0;
  for (size_t m = 0; m + 1 < bucket_begin.size(); ++m) {
    for (size_t k = bucket_begin[m]; k < bucket_begin[m + 1]; ++k) {
      if (count == first_segment[m] || offsets_bytes[count - 1] != offsets_bytes[k]) {
        offsets_bytes[count++] = offsets_bytes[k];
      }
      SegmentSpan& span = spans[places[k] / 2];
      (places[k] % 2 == 0 ? span.begin : span.end) = count - 1;
    }
    first_segment[m + 1] = count;
  }
  offsets_bytes.resize(count);
}

}  // namespace interlock
