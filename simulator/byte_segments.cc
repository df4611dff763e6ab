// The basic idea is coordinate compression: sort the distinct endpoints of each memory; a segment
// lies between two of them. Streams repeat their ranges, so a small direct-mapped cache in front of
// the sort and of the binary searches takes most of the cost away.
#include "simulator/byte_segments.h"

#include <algorithm>
#include <bit>

#include "encoder/check.h"

namespace interlock {

namespace {

constexpr size_t kCacheBitsMax = 13;

// A direct-mapped cache from ranges to spans. It only saves work: what it forgets is looked up.
class RangeCache {
 public:
  struct Entry {
    MemoryId memory;
    ByteRange range;
    SegmentSpan span;
  };

  // No larger than the program asks for: a campaign builds one per program, of some fifty accesses.
  explicit RangeCache(size_t access_count)
      : shift_(64 - std::clamp<size_t>(std::bit_width(access_count), 1, kCacheBitsMax)),
        entries_(size_t{1} << (64 - shift_)) {}

  // The entry where this range belongs, and whether it is already there.
  Entry& slot(const Access& access) {
    const uint64_t mixed = (access.range.begin * 0x9e3779b97f4a7c15) ^
                           (access.range.end * 0xc2b2ae3d27d4eb4f) ^
                           (uint64_t{access.memory.index} * 0xd6e8feb86659fd93);
    return entries_[(mixed * 0x9e3779b97f4a7c15) >> shift_];
  }
  static bool holds(const Entry& entry, const Access& access) {
    return entry.memory == access.memory && entry.range == access.range;
  }

 private:
  size_t shift_;
  std::vector<Entry> entries_;
};

}  // namespace

ByteSegments::ByteSegments(const Program& program) {
  collect_endpoints(program);
  compute_spans(program);
}

void ByteSegments::collect_endpoints(const Program& program) {
  // Which accesses bring endpoints that the cache does not remember, and how many per memory.
  RangeCache cache(program.accesses.size());
  std::vector<uint32_t> new_accesses;
  std::vector<size_t> bucket_begin(program.memories.size() + 1, 0);
  for (size_t i = 0; i < program.accesses.size(); ++i) {
    const Access& access = program.accesses[i];
    RangeCache::Entry& entry = cache.slot(access);
    if (access.range.is_empty() || RangeCache::holds(entry, access)) {
      continue;
    }
    entry.memory = access.memory;
    entry.range = access.range;
    new_accesses.push_back(static_cast<uint32_t>(i));
    bucket_begin[access.memory.index + 1] += 2;
  }
  for (size_t m = 0; m < program.memories.size(); ++m) {
    bucket_begin[m + 1] += bucket_begin[m];
  }
  INTERLOCK_CHECK(bucket_begin.back() < UINT32_MAX);

  endpoints_.resize(bucket_begin.back());
  std::vector<size_t> bucket_end(bucket_begin.begin(), bucket_begin.end());
  for (const uint32_t index : new_accesses) {
    const Access& access = program.accesses[index];
    endpoints_[bucket_end[access.memory.index]++] = access.range.begin;
    endpoints_[bucket_end[access.memory.index]++] = access.range.end;
  }

  // Sort each bucket and close the gaps that duplicates leave.
  first_segment_.assign(program.memories.size() + 1, 0);
  auto out = endpoints_.begin();
  for (size_t m = 0; m < program.memories.size(); ++m) {
    const auto begin = endpoints_.begin() + static_cast<std::ptrdiff_t>(bucket_begin[m]);
    const auto end = endpoints_.begin() + static_cast<std::ptrdiff_t>(bucket_begin[m + 1]);
    std::sort(begin, end);
    out = std::move(begin, std::unique(begin, end), out);
    first_segment_[m + 1] = static_cast<uint32_t>(out - endpoints_.begin());
  }
  endpoints_.erase(out, endpoints_.end());
  endpoints_.shrink_to_fit();
}

void ByteSegments::compute_spans(const Program& program) {
  RangeCache cache(program.accesses.size());
  spans_.reserve(program.accesses.size());
  for (const Access& access : program.accesses) {
    RangeCache::Entry& entry = cache.slot(access);
    if (!RangeCache::holds(entry, access)) {
      entry = {access.memory, access.range, find_span(access.memory, access.range)};
    }
    spans_.push_back(entry.span);
  }
}

SegmentSpan ByteSegments::find_span(MemoryId memory, ByteRange range) const {
  if (range.is_empty()) {
    return {};
  }
  const SegmentSpan segments = segments_of(memory);
  const auto first = endpoints_.begin() + segments.begin;
  const auto last = endpoints_.begin() + segments.end;
  const auto begin = std::lower_bound(first, last, range.begin);
  const auto end = std::lower_bound(begin, last, range.end);
  return {static_cast<uint32_t>(begin - endpoints_.begin()),
          static_cast<uint32_t>(end - endpoints_.begin())};
}

}  // namespace interlock
