#include "tests/bench/tracker_streams.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "encoder/program/check.h"
#include "encoder/program/hash.h"

namespace interlock {
namespace {

constexpr size_t kAccessCount = 4;
constexpr uint64_t kBufferBytes = 256;
constexpr uint64_t kGapBytes = 64;

// The same streams everywhere.
class StreamRandom {
 public:
  uint64_t below(uint64_t n) { return scrambled(state_ += kGolden64) % n; }

 private:
  uint64_t state_ = 0;
};

Access access_of(uint64_t begin, uint64_t end) {
  Access access;
  access.memory = MemoryId(0);
  access.range = {begin, end};
  return access;
}

void append(TrackerStream& stream, uint64_t buffer, AccessMode mode) {
  stream.buffers.push_back(static_cast<uint32_t>(buffer));
  stream.accesses.push_back(stream.ranges[buffer]);
  stream.accesses.back().mode = mode;
}

void end_dispatch(TrackerStream& stream) {
  stream.ends.push_back(static_cast<uint32_t>(stream.accesses.size()));
}

}  // namespace

TrackerStream pool_stream(const PoolOptions& options) {
  TrackerStream stream;
  for (uint64_t i = 0; i < options.buffers; ++i) {
    const uint64_t gap = options.has_gaps ? kGapBytes : 0;
    stream.ranges.push_back(access_of(i * kBufferBytes, (i + 1) * kBufferBytes - gap));
  }
  StreamRandom random;
  const uint64_t half = options.buffers / 2;
  uint64_t last_output = half;
  uint64_t writes = 0;
  uint64_t writes_of_epoch = 0;
  for (int64_t i = 0; i < options.dispatches; ++i) {
    const bool depends = options.period != kNoDependency && i > 0 && i % options.period == 0;
    if (depends) writes_of_epoch = 0;
    for (size_t read = 0; read + 1 < kAccessCount; ++read) {
      append(stream, depends && read == 0 ? last_output : random.below(half), AccessMode::kRead);
    }
    if (writes_of_epoch == half) {
      append(stream, random.below(half), AccessMode::kRead);
    } else {
      last_output = half + writes++ % half;
      ++writes_of_epoch;
      append(stream, last_output, AccessMode::kWrite);
    }
    end_dispatch(stream);
  }
  return stream;
}

TrackerStream overlapping_stream(int64_t dispatches, int64_t period, uint64_t buffers) {
  TrackerStream stream;
  StreamRandom random;
  const uint64_t half = buffers / 2;
  const uint64_t half_bytes = half * kBufferBytes;
  for (uint64_t i = 0; i < buffers; ++i) {
    const uint64_t size_bytes = 4 * (1 + random.below(kBufferBytes));
    const uint64_t begin = 4 * random.below((half_bytes - size_bytes) / 4);
    const uint64_t first = i < half ? 0 : half_bytes;
    stream.ranges.push_back(access_of(first + begin, first + begin + size_bytes));
  }
  std::vector<int64_t> writer_epoch(2 * half_bytes / 4, -1);  // By word.
  const auto words_of = [&](uint64_t buffer) {
    const ByteRange& range = stream.ranges[buffer].range;
    return std::span(&writer_epoch[range.begin / 4], range.size_bytes() / 4);
  };
  uint64_t last_output = half;
  int64_t epoch = 0;
  for (int64_t i = 0; i < dispatches; ++i) {
    const bool depends = period != kNoDependency && i > 0 && i % period == 0;
    epoch += depends;
    for (size_t read = 0; read + 1 < kAccessCount; ++read) {
      append(stream, depends && read == 0 ? last_output : random.below(half), AccessMode::kRead);
    }
    const uint64_t output = half + random.below(half);
    const auto words = words_of(output);
    const bool is_free = std::ranges::none_of(words, [&](int64_t e) { return e == epoch; });
    if (is_free) {
      std::ranges::fill(words, epoch);
      last_output = output;
      append(stream, output, AccessMode::kWrite);
    } else {
      append(stream, random.below(half), AccessMode::kRead);
    }
    end_dispatch(stream);
  }
  return stream;
}

TrackerStream new_ranges_stream(int64_t dispatches, int64_t period, bool is_sequential) {
  TrackerStream stream;
  const uint64_t count = static_cast<uint64_t>(dispatches) * kAccessCount;
  std::vector<uint64_t> places(count);
  for (uint64_t i = 0; i < count; ++i) places[i] = i;
  StreamRandom random;
  for (uint64_t i = count; !is_sequential && i > 1; --i) {
    std::swap(places[i - 1], places[random.below(i)]);
  }
  for (const uint64_t place : places) {
    // Gaps, or neighbours would be alike.
    stream.ranges.push_back(
        access_of(place * kBufferBytes, (place + 1) * kBufferBytes - kGapBytes));
  }
  for (uint64_t i = 0; i < count; ++i) {
    const bool is_last = i % kAccessCount == kAccessCount - 1;
    const bool depends =
        period != kNoDependency && i > 0 && i % (static_cast<uint64_t>(period) * kAccessCount) == 0;
    append(stream, depends ? i - 1 : i, is_last ? AccessMode::kWrite : AccessMode::kRead);
    if (is_last) end_dispatch(stream);
  }
  return stream;
}

TrackerStream stream_of(const Program& program) {
  TrackerStream stream;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, uint32_t> numbers;
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    INTERLOCK_CHECK(program.dispatches[i].atomic_op == AtomicOp::kNone);
    for (const Access& access : program.declared_accesses_of(DispatchId(i))) {
      if (access.range.is_empty()) continue;
      const auto [place, is_new] =
          numbers.emplace(std::tuple(access.memory.index, access.range.begin, access.range.end),
                          static_cast<uint32_t>(stream.ranges.size()));
      if (is_new) stream.ranges.push_back(access);
      stream.accesses.push_back(access);
      stream.buffers.push_back(place->second);
    }
    end_dispatch(stream);
  }
  return stream;
}

}  // namespace interlock
