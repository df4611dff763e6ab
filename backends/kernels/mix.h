// mix: the meaning of dispatches whose shaders are unknown. Any operands at any alignment, one
// slice; all arithmetic is modulo 2^32 on words of four bytes, so that every device gives the same
// bits. Word k of an operand is its bytes 4k to 4k + 3, the first lowest; the last word may be
// short, and is then filled up with zeros. Positions p count over all operands of the dispatch.
//
//   scramble(v)   bijective on 32 bits, "lowbias32" by C. Wellons: v ^= v >> 16; v *= 0x7feb352d;
//                 v ^= v >> 15; v *= 0x846ca68b; v ^= v >> 16
//   digest        sum of scramble(p * kPosition + k * kIndex + word * kWord) over every word that
//                 the dispatch reads or updates
//   value(p, k)   scramble(scramble((digest ^ identity) + p * kPosition) + k * kIndex)
//
// Then, byte by byte,
//   written and updated bytes become those of value(p, k); but if the dispatch is partial,
//   old * kOld + the byte of value(p, k), which is bijective in old: what was there matters;
//   atomic bytes become old OP the byte of value(p, k), and are not part of the digest.
// `identity` tells dispatches apart (backends/interface/dispatch_params.h).
//
// One changed input byte changes the digest for sure, because scramble is bijective and kWord is
// odd; several cancel with odds of 2^-32. Then each output byte changes with odds of 255/256.
#pragma once

#include "backends/kernels/dialect.h"
#include "encoder/kernel/kernel_table.h"

namespace interlock {

// What an atomic leaves on a byte. An atomic without operation adds.
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

struct MixKernel {
  static constexpr uint32_t kPosition = 0x85ebca77u;
  static constexpr uint32_t kIndex = 0x9e3779b1u;
  static constexpr uint32_t kWord = 0xc2b2ae3du;
  static constexpr uint32_t kOld = 0xa7u;

  // Here, and not in encoder/program/hash.h, because nvcc compiles it for devices.
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
    apply(lane, memory, params, sum_over_lanes(lane, own_digest(lane, memory, params)));
  }

  // The share of the lane in the digest. Integer sums have no order: any lane may take any word.
  template <class Lane, class Memory>
  KERNEL_FUNCTION static uint32_t own_digest(const Lane& lane, Memory& memory,
                                             const KernelParams& params) {
    uint32_t sum = 0;
    for (uint32_t p = 0; p < params.operand_count; ++p) {
      const int operand = static_cast<int>(p);
      const AccessMode mode = memory.mode(operand);
      if (mode == AccessMode::kWrite || mode == AccessMode::kAtomic) continue;
      for_each_word(lane, memory.size_bytes(operand), [&](uint64_t k, int byte_count) {
        const uint32_t word = load(memory, operand, k, byte_count);
        sum += scramble(p * kPosition + static_cast<uint32_t>(k) * kIndex + word * kWord);
      });
    }
    return sum;
  }

  // What the lane does after the digest. Requires: all lanes have made their loads.
  template <class Lane, class Memory>
  KERNEL_FUNCTION static void apply(const Lane& lane, Memory& memory, const KernelParams& params,
                                    uint32_t digest) {
    for (uint32_t p = 0; p < params.operand_count; ++p) {
      const int operand = static_cast<int>(p);
      const AccessMode mode = memory.mode(operand);
      if (mode <= AccessMode::kRead) continue;
      const uint32_t seed = scramble((digest ^ params.identity) + p * kPosition);
      if (mode == AccessMode::kAtomic) {
        apply_atomics(lane, memory, operand, seed, params.atomic_op);
      } else if (params.is_partial) {
        overwrite_partially(lane, memory, operand, seed);
      } else {
        overwrite(lane, memory, operand, seed);
      }
    }
  }

  // The byte that a partial write leaves over `old`, given what it leaves over `other`.
  static constexpr uint8_t moved_to(uint8_t old, uint8_t other, uint8_t left_over_other) {
    return static_cast<uint8_t>(left_over_other + (uint32_t{old} - uint32_t{other}) * kOld);
  }

 private:
  // Calls visit(word index, bytes of the word); the literal 4 lets the compiler drop the tails.
  template <class Lane, class Visit>
  KERNEL_FUNCTION static void for_each_word(const Lane& lane, uint64_t size_bytes,
                                            const Visit& visit) {
    const uint64_t word_count = size_bytes / 4;
    for (uint64_t k = lane.index(); k < word_count; k += lane.count()) visit(k, 4);
    const int tail_bytes = static_cast<int>(size_bytes % 4);
    if (tail_bytes != 0 && lane.index() == 0) visit(word_count, tail_bytes);
  }

  template <class Memory>
  KERNEL_FUNCTION static uint32_t load(Memory& memory, int operand, uint64_t k, int byte_count) {
    if (byte_count == 4) return memory.load_word(operand, 4 * k);
    uint32_t word = 0;
    for (int i = 0; i < byte_count; ++i) {
      word |= uint32_t{memory.load_byte(operand, 4 * k + static_cast<uint32_t>(i))} << (8 * i);
    }
    return word;
  }

  template <class Memory>
  KERNEL_FUNCTION static void store(Memory& memory, int operand, uint64_t k, int byte_count,
                                    uint32_t word) {
    if (byte_count == 4) return memory.store_word(operand, 4 * k, word);
    for (int i = 0; i < byte_count; ++i) {
      memory.store_byte(operand, 4 * k + static_cast<uint32_t>(i), byte_of(word, i));
    }
  }

  KERNEL_FUNCTION static uint8_t byte_of(uint32_t word, int i) {
    return static_cast<uint8_t>(word >> (8 * i));
  }

  KERNEL_FUNCTION static uint32_t value(uint32_t seed, uint64_t k) {
    return scramble(seed + static_cast<uint32_t>(k) * kIndex);
  }

  // Returns the sum to every lane. In rounds, because lanes may outnumber the shared words.
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
    for_each_word(lane, memory.size_bytes(operand), [&](uint64_t k, int byte_count) {
      store(memory, operand, k, byte_count, value(seed, k));
    });
  }

  template <class Lane, class Memory>
  KERNEL_FUNCTION static void overwrite_partially(const Lane& lane, Memory& memory, int operand,
                                                  uint32_t seed) {
    for_each_word(lane, memory.size_bytes(operand), [&](uint64_t k, int byte_count) {
      const uint32_t old = load(memory, operand, k, byte_count);
      const uint32_t added = value(seed, k);
      uint32_t word = 0;
      for (int i = 0; i < 4; ++i) {
        const uint32_t byte = uint32_t{byte_of(old, i)} * kOld + byte_of(added, i);
        word |= (byte & 0xffu) << (8 * i);
      }
      store(memory, operand, k, byte_count, word);
    });
  }

  template <class Lane, class Memory>
  KERNEL_FUNCTION static void apply_atomics(const Lane& lane, Memory& memory, int operand,
                                            uint32_t seed, AtomicOp op) {
    for_each_word(lane, memory.size_bytes(operand), [&](uint64_t k, int byte_count) {
      const uint32_t word = value(seed, k);
      for (int i = 0; i < byte_count; ++i) {
        memory.atomic_byte(operand, 4 * k + static_cast<uint32_t>(i), op, byte_of(word, i));
      }
    });
  }
};

}  // namespace interlock
