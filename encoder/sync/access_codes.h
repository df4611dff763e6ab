// AccessCodes: what the access modes of one dispatch do, as numbers. Whether bytes were used in
// this epoch, and how, is as good as random to a branch predictor: what depends on it is computed
// here without a branch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "encoder/program/program.h"

namespace interlock {

// The code of an access says what it does to its bytes: kReadCode, kWriteCode, or between them an
// AtomicOp, whose accesses commute. A stamp is the epoch of the last use plus the code of what that
// epoch has done. Epochs are multiples of kCodeCount, so that a stamp below the current epoch
// means: not used since the last barrier.
//
// Any mixture is a write: an epoch that does not conflict with itself mixes accesses only within
// one dispatch, and whatever comes later conflicts with one part of the mixture or the other.
class AccessCodes {
 public:
  static constexpr uint32_t kReadCode = 0;
  static constexpr uint32_t kWriteCode = 15;
  static constexpr uint32_t kCodeCount = 16;

  explicit AccessCodes(AtomicOp atomic_op) {
    const bool commutes = atomic_op != AtomicOp::kNone;
    const uint64_t atomic_code = commutes ? static_cast<uint64_t>(atomic_op) : kWriteCode;
    codes_ |= atomic_code << shift_of(AccessMode::kAtomic);
    allowed_ |= (commutes ? atomic_code : kNothing) << shift_of(AccessMode::kAtomic);
  }

  uint32_t code_of(AccessMode mode) const { return (codes_ >> shift_of(mode)) & kWriteCode; }

  // The code of earlier accesses that one of this mode does not conflict with; no code if there is
  // none.
  uint32_t allowed_before(AccessMode mode) const { return (allowed_ >> shift_of(mode)) & kNothing; }

  // What an access does, as lists keep it: its mode, which takes no time to tell, or for
  // atomics that commute kCommuting and their operation.
  uint16_t use_of(AccessMode mode) const {
    const uint32_t code = code_of(mode);
    const bool commutes = code != kReadCode && code != kWriteCode;
    return static_cast<uint16_t>(commutes ? kCommuting + code : static_cast<uint32_t>(mode));
  }
  static uint32_t code_of_use(uint16_t use) {
    if (use >= kCommuting) return use - kCommuting;
    return use <= static_cast<uint16_t>(AccessMode::kRead) ? kReadCode : kWriteCode;
  }

  // Whether an access of this mode does not conflict with an earlier one.
  bool allows_after(uint16_t earlier_use, AccessMode mode) const {
    return code_of_use(earlier_use) == allowed_before(mode);
  }

  bool conflicts(uint32_t stamp, AccessMode mode, uint32_t epoch) const {
    const uint32_t earlier = stamp - epoch;  // Wraps to no code if the stamp is older.
    return (earlier < kCodeCount) & (earlier != allowed_before(mode));
  }

  uint32_t stamp_after(uint32_t stamp, AccessMode mode, uint32_t epoch) const {
    return stamp_after(stamp, code_of(mode), epoch);
  }

  static uint32_t stamp_after(uint32_t stamp, uint32_t code, uint32_t epoch) {
    const uint32_t earlier = stamp - epoch;
    const uint32_t is_mixture = (earlier < kCodeCount) & (earlier != code);
    return epoch + (code | is_mixture * kWriteCode);
  }

 private:
  static constexpr uint64_t kNothing = 0xff;  // No code.
  static constexpr uint16_t kCommuting = 16;  // Above all modes.

  static constexpr int shift_of(AccessMode mode) { return 8 * static_cast<int>(mode); }

  // By mode, a byte each. Reads of both kinds have the code 0 in both.
  uint64_t codes_ = uint64_t{kWriteCode} << shift_of(AccessMode::kWrite) |
                    uint64_t{kWriteCode} << shift_of(AccessMode::kUpdate);
  uint64_t allowed_ =
      kNothing << shift_of(AccessMode::kWrite) | kNothing << shift_of(AccessMode::kUpdate);
};

// The same of a dispatch without an atomic operation: whatever is not a read is a write then, and
// numbers that need no distinction cost less. An earlier stamp is at most the epoch for a read, and
// below it for a write, or there is a conflict; and of two codes the greater is the mixture.
class PlainCodes {
 public:
  static uint16_t use_of(AccessMode mode) { return static_cast<uint16_t>(mode); }
  bool allows_after(uint16_t earlier_use, AccessMode mode) const {
    return (earlier_use <= static_cast<uint16_t>(AccessMode::kRead)) & (is_write(mode) == 0);
  }
  uint32_t code_of(AccessMode mode) const { return is_write(mode) * AccessCodes::kWriteCode; }
  bool conflicts(uint32_t stamp, AccessMode mode, uint32_t epoch) const {
    return stamp + is_write(mode) > epoch;
  }
  uint32_t stamp_after(uint32_t stamp, AccessMode mode, uint32_t epoch) const {
    return std::max(stamp, epoch + code_of(mode));
  }

 private:
  static uint32_t is_write(AccessMode mode) { return mode > AccessMode::kRead; }
};

// Calls use(codes) with what is cheapest for such a dispatch; returns what that does.
template <typename Use>
auto with_codes_of(AtomicOp atomic_op, const Use& use) {
  return atomic_op == AtomicOp::kNone ? use(PlainCodes()) : use(AccessCodes(atomic_op));
}

}  // namespace interlock
