// QueueSegment: a piece of a memory and what dispatches of several queues have done to it last.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "encoder/program/range.h"

namespace interlock {

// Dispatches of serial queues, of each queue the latest alone: what comes after it comes after all
// before it on its queue. Mostly none or one, and then a number; PointSets has what is more.
struct PointSet {
  static constexpr int kQueueBits = 12;
  static constexpr uint64_t kIsRow = uint64_t{1} << 63;

  // 0: none. Else of one the number on its queue, from 1 on, and the queue; or kIsRow and a place.
  uint64_t bits = 0;

  static PointSet of(uint32_t queue, uint64_t number) { return {number << kQueueBits | queue}; }
  static PointSet of_row(uint64_t place) { return {kIsRow | place}; }

  bool is_empty() const { return bits == 0; }
  bool is_row() const { return (bits & kIsRow) != 0; }
  uint64_t row() const { return bits & ~kIsRow; }

  // Of one. Of none they are 0, which comes before everything.
  uint64_t number() const { return bits >> kQueueBits; }
  uint32_t queue() const { return bits & ((uint32_t{1} << kQueueBits) - 1); }

  bool operator==(const PointSet&) const = default;
};

// A maximal piece of one memory whose bytes have been treated alike. Zero bytes are no segment. It
// fills a cache line.
struct QueueSegment {
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kFewQueues = 8;

  uint64_t begin = 0;
  uint64_t end = 0;
  PointSet writes;  // The last write; of atomics of one operation since other accesses, all.
  uint32_t inverse_memory = 0;  // All bits of the memory's index inverted. 0: no segment.
  uint32_t group = kNone;       // Where the last writes are atomics that commute: in QueueUses.

  // The reads since then. Where queues are few, and numbers small, by queue that of the last use, a
  // write that is one included: then nothing depends on who has read, which is as good as random to
  // a branch predictor. Else they are a PointSet, which begins here.
  std::array<uint32_t, kFewQueues> uses = {};

  PointSet read_set() const {
    PointSet set;
    std::memcpy(&set.bits, uses.data(), sizeof(set.bits));
    return set;
  }
  void set_reads(PointSet set) { std::memcpy(uses.data(), &set.bits, sizeof(set.bits)); }

  // One of bytes that nobody used.
  static QueueSegment of(uint32_t memory, ByteRange range) {
    QueueSegment segment;
    segment.begin = range.begin;
    segment.end = range.end;
    segment.inverse_memory = ~memory;
    return segment;
  }

  bool is_free() const { return inverse_memory == 0; }
  uint32_t memory() const { return ~inverse_memory; }
};

}  // namespace interlock
