// HeldValue: what a byte holds as a logical value, how a statement changes that, and what a read
// finds. The same rules serve runs of bytes (lifetimes.h) and the history of one (explanations).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/program.h"

namespace interlock {

// How often each tensor is pinned, by TensorId.
using PinCounts = std::vector<uint32_t>;

enum class HeldKind : uint8_t {
  kNothing,  // Nobody wrote it: host data to raw ranges, nothing to tensors.
  kUnknown,  // Written through a raw range, which owns nothing.
  kValue,    // Written through a tensor, or an initial value.
};

struct HeldValue {
  HeldKind kind = HeldKind::kNothing;
  bool is_deferred = false;  // `ended_by` waits for an unpin: the value is still there.
  TensorId owner;            // Of kValue: the root of the tensor.
  TensorId lender;           // The root that `owner` adopted the value from; it holds it, too.
  LifetimeId ended_by;       // The free, destroy or reset that ends it; none: it lives.
  LifetimeId ended_at;       // What carries that out: itself, or an unpin. None while deferred.

  bool is_ended() const { return ended_at.is_some(); }
  bool operator==(const HeldValue&) const = default;
};

// What a write leaves in its bytes. `root`: of the tensor written through; none for a raw range.
HeldValue written_value(TensorId root);

// Changes `value` as the lifetime statement does; returns whether it changes it. Pins and unpins
// are counted by the caller, before. Requires: the byte lies in the range of affected_by().
bool apply(const Program& program, LifetimeId id, const PinCounts& pins, HeldValue& value);

// The bytes that the statement can change; empty for a pin.
ByteRange affected_by(const Program& program, const Lifetime& lifetime);

// Counts a pin or an unpin; does nothing for other statements.
void count_pin(const Lifetime& lifetime, PinCounts& pins);

// What is wrong with a read through a tensor of this root, none for a raw range. `is_written`: a
// dispatch wrote the value, so that it is not an initial one.
std::optional<FindingKind> defect_of(const HeldValue& value, TensorId root, bool is_written);

}  // namespace interlock
