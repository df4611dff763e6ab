// mix: the meaning of dispatches whose shaders are unknown. Any operands, any alignment, one slice;
// all arithmetic is modulo 2^32 and on bytes, so that every device gives the same bits.
//
//   scramble(v)   bijective on 32 bits, "lowbias32" by C. Wellons: v ^= v >> 16; v *= 0x7feb352d;
//                 v ^= v >> 15; v *= 0x846ca68b; v ^= v >> 16
//   digest        sum of scramble(p * kPosition + o * kOffset + b * kByte) over every byte that the
//                 dispatch reads or updates: value b, at offset o of operand p
//   value(p, o)   low byte of scramble(scramble((digest ^ identity) + p * kPosition) + o * kOffset)
//
// Offsets count from the start of the access, positions over all operands of the dispatch. Then
//   written and updated bytes become value(p, o); if the dispatch is partial, what a byte becomes
//   depends on what it was: old * kOld + value(p, o), which is bijective in old;
//   atomic bytes become old OP value(p, o), and are not part of the digest.
// `identity` is the FNV-1a hash of the label of the dispatch, or of its decimal dispatch index.
//
// One changed input byte changes the digest for sure, because scramble is bijective and kByte is
// odd; several cancel with odds of 2^-32. Then each output byte changes with odds of 255/256.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel_table.h"

namespace interlock {

struct MixKernel {
  static constexpr uint32_t kPosition = 0x85ebca77u;
  static constexpr uint32_t kOffset = 0x9e3779b1u;
  static constexpr uint32_t kByte = 0xc2b2ae3du;
  static constexpr uint32_t kOld = 0xa7u;

  KERNEL_FUNCTION static uint32_t scramble(uint32_t v) {
    v ^= v >> 16;
    v *= 0x7feb352du;
    v ^= v >> 15;
    v *= 0x846ca68bu;
    return v ^ (v >> 16);
  }

  template <class Lane, class Memory>
  KERNEL_FUNCTION static void run(const Lane& lane, Memory& memory, const KernelParams& params,
                                  uint64_t /*slice*/) {
    const uint32_t digest = digest_of(lane, memory, params);
    for (uint32_t p = 0; p < params.operand_count; ++p) {
      const AccessMode mode = memory.mode(static_cast<int>(p));
      if (mode == AccessMode::kRead) continue;
      const uint32_t seed = scramble((digest ^ params.identity) + p * kPosition);
      if (mode == AccessMode::kAtomic) {
        apply_atomics(lane, memory, params.atomic_op, static_cast<int>(p), seed);
      } else if (params.is_partial) {
        overwrite_partially(lane, memory, static_cast<int>(p), seed);
      } else {
        overwrite(lane, memory, static_cast<int>(p), seed);
      }
    }
  }

 private:
  KERNEL_FUNCTION static uint8_t value(uint32_t seed, uint64_t offset) {
    return static_cast<uint8_t>(scramble(seed + static_cast<uint32_t>(offset) * kOffset));
  }

  // Returns the digest to every lane. Integer sums have no order: any lane may take any byte.
  template <class Lane, class Memory>
  KERNEL_FUNCTION static uint32_t digest_of(const Lane& lane, Memory& memory,
                                            const KernelParams& params) {
    uint32_t sum = 0;
    for (uint32_t p = 0; p < params.operand_count; ++p) {
      const int operand = static_cast<int>(p);
      const AccessMode mode = memory.mode(operand);
      if (mode != AccessMode::kRead && mode != AccessMode::kUpdate) continue;
      const uint64_t size_bytes = memory.size_bytes(operand);
      for (uint64_t o = lane.index(); o < size_bytes; o += lane.count()) {
        const uint32_t byte = memory.load_byte(operand, o);
        sum += scramble(p * kPosition + static_cast<uint32_t>(o) * kOffset + byte * kByte);
      }
    }
    return sum_over_lanes(lane, sum);
  }

  // In rounds, because lanes may outnumber the shared words.
  template <class Lane>
  KERNEL_FUNCTION static uint32_t sum_over_lanes(const Lane& lane, uint32_t own) {
    uint32_t sum = 0;
    for (uint32_t first = 0; first < lane.count(); first += kSharedCount) {
      const uint32_t left = lane.count() - first;
      const uint32_t word_count = left < kSharedCount ? left : kSharedCount;
      const uint32_t word = lane.index() - first;  // Wraps for lanes of earlier rounds.
      if (word < word_count) lane.shared_word(word) = own;
      lane.sync();
      for (uint32_t i = 0; i < word_count; ++i) sum += lane.shared_word(i);
      lane.sync();
    }
    return sum;
  }

  template <class Lane, class Memory>
  KERNEL_FUNCTION static void overwrite(const Lane& lane, Memory& memory, int operand,
                                        uint32_t seed) {
    const uint64_t size_bytes = memory.size_bytes(operand);
    for (uint64_t o = lane.index(); o < size_bytes; o += lane.count()) {
      memory.store_byte(operand, o, value(seed, o));
    }
  }

  template <class Lane, class Memory>
  KERNEL_FUNCTION static void overwrite_partially(const Lane& lane, Memory& memory, int operand,
                                                  uint32_t seed) {
    const uint64_t size_bytes = memory.size_bytes(operand);
    for (uint64_t o = lane.index(); o < size_bytes; o += lane.count()) {
      const uint32_t old = memory.load_byte(operand, o);
      memory.store_byte(operand, o, static_cast<uint8_t>(old * kOld + value(seed, o)));
    }
  }

  template <class Lane, class Memory>
  KERNEL_FUNCTION static void apply_atomics(const Lane& lane, Memory& memory, AtomicOp op,
                                            int operand, uint32_t seed) {
    const uint64_t size_bytes = memory.size_bytes(operand);
    for (uint64_t o = lane.index(); o < size_bytes; o += lane.count()) {
      memory.atomic_byte(operand, o, op, value(seed, o));
    }
  }
};

// What an atomic leaves on a byte.
KERNEL_FUNCTION uint8_t atomic_result(AtomicOp op, uint8_t old, uint8_t value) {
  switch (op) {
    case AtomicOp::kNone:
    case AtomicOp::kAdd:
      return static_cast<uint8_t>(old + value);
    case AtomicOp::kMin:
      return old < value ? old : value;
    case AtomicOp::kMax:
      return old < value ? value : old;
    case AtomicOp::kAnd:
      return static_cast<uint8_t>(old & value);
    case AtomicOp::kOr:
      return static_cast<uint8_t>(old | value);
    case AtomicOp::kXor:
      return static_cast<uint8_t>(old ^ value);
  }
  return old;
}

}  // namespace interlock
