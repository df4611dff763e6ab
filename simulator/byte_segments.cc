// The basic idea is coordinate compression: sort the distinct endpoints of each memory; a segment
// lies between two of them. Each endpoint carries along where it came from, so that its rank goes
// back there without a search. Streams repeat their ranges: a small direct-mapped cache in front
// lets most accesses copy what an earlier one gets.
#include "simulator/byte_segments.h"

#include <algorithm>
#include <bit>
#include <span>

#include "encoder/check.h"

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

// Sorts by offset: by comparison if there are few, else by digits, the lowest first.
template <typename Endpoint>
void sort_by_offset(std::span<Endpoint> endpoints, std::vector<Endpoint>& scratch) {
  if (endpoints.size() < (size_t{1} << kDigitBits)) {
    std::sort(endpoints.begin(), endpoints.end(),
              [](const Endpoint& a, const Endpoint& b) { return a.offset_bytes < b.offset_bytes; });
    return;
  }
  uint64_t offset_max = 0;
  for (const Endpoint& endpoint : endpoints) {
    offset_max = std::max(offset_max, endpoint.offset_bytes);
  }
  scratch.resize(std::max(scratch.size(), endpoints.size()));
  const auto digit_of = [](const Endpoint& endpoint, int shift) {
    return (endpoint.offset_bytes >> shift) & ((uint64_t{1} << kDigitBits) - 1);
  };
  for (int shift = 0; shift < 64 && (offset_max >> shift) != 0; shift += kDigitBits) {
    std::vector<size_t> next((size_t{1} << kDigitBits) + 1, 0);
    for (const Endpoint& endpoint : endpoints) {
      ++next[digit_of(endpoint, shift) + 1];
    }
    for (size_t digit = 1; digit < next.size(); ++digit) {
      next[digit] += next[digit - 1];
    }
    for (const Endpoint& endpoint : endpoints) {
      scratch[next[digit_of(endpoint, shift)]++] = endpoint;
    }
    std::copy_n(scratch.begin(), endpoints.size(), endpoints.begin());
  }
}

}  // namespace

ByteSegments::ByteSegments(const Program& program) : access_count_(program.accesses.size()) {
  std::vector<Access> with_operands;
  if (!program.barrier_operands.empty()) {
    with_operands = program.accesses;
    with_operands.insert(with_operands.end(), program.barrier_operands.begin(),
                         program.barrier_operands.end());
  }
  const std::vector<Access>& accesses = with_operands.empty() ? program.accesses : with_operands;
  INTERLOCK_CHECK(accesses.size() < UINT32_MAX / 2);
  spans_.resize(accesses.size());
  RangeCache cache(accesses.size());
  std::vector<uint32_t> source(accesses.size());  // The access that brings the range.
  std::vector<size_t> bucket_begin(program.memories.size() + 1, 0);
  for (uint32_t i = 0; i < source.size(); ++i) {
    const Access& access = accesses[i];
    source[i] = access.range.is_empty() ? i : cache.find_or_add(accesses, i);
    bucket_begin[access.memory.index + 1] += source[i] == i && !access.range.is_empty() ? 2 : 0;
  }
  for (size_t m = 0; m < program.memories.size(); ++m) {
    bucket_begin[m + 1] += bucket_begin[m];
  }

  std::vector<Endpoint> endpoints(bucket_begin.back());
  std::vector<size_t> bucket_end(bucket_begin.begin(), bucket_begin.end());
  for (uint32_t i = 0; i < source.size(); ++i) {
    const Access& access = accesses[i];
    if (source[i] == i && !access.range.is_empty()) {
      size_t& end = bucket_end[access.memory.index];
      endpoints[end++] = {access.range.begin, 2 * i};
      endpoints[end++] = {access.range.end, 2 * i + 1};
    }
  }
  rank_endpoints(endpoints, bucket_begin);
  for (uint32_t i = 0; i < source.size(); ++i) {
    spans_[i] = spans_[source[i]];
  }
}

// Sorts each bucket and hands out ranks; equal endpoints share one.
void ByteSegments::rank_endpoints(std::vector<Endpoint>& endpoints,
                                  const std::vector<size_t>& bucket_begin) {
  std::vector<Endpoint> scratch;
  first_segment_.assign(bucket_begin.size(), 0);
  for (size_t m = 0; m + 1 < bucket_begin.size(); ++m) {
    const std::span<Endpoint> bucket =
        std::span(endpoints).subspan(bucket_begin[m], bucket_begin[m + 1] - bucket_begin[m]);
    sort_by_offset(bucket, scratch);
    for (const Endpoint& endpoint : bucket) {
      if (endpoints_.size() == first_segment_[m] || endpoints_.back() != endpoint.offset_bytes) {
        endpoints_.push_back(endpoint.offset_bytes);
      }
      SegmentSpan& span = spans_[endpoint.place / 2];
      (endpoint.place % 2 == 0 ? span.begin : span.end) =
          static_cast<uint32_t>(endpoints_.size() - 1);
    }
    first_segment_[m + 1] = static_cast<uint32_t>(endpoints_.size());
  }
}

}  // namespace interlock
