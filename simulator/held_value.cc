#include "simulator/held_value.h"

#include "encoder/check.h"

namespace interlock {
namespace {

bool is_pinned(const PinCounts& pins, TensorId tensor) {
  return tensor.is_some() && pins[tensor.index] > 0;
}

bool end(LifetimeId id, const PinCounts& pins, HeldValue& value) {
  if (value.ended_by.is_some() || value.kind == HeldKind::kNothing) return false;
  value.ended_by = id;
  value.is_deferred = is_pinned(pins, value.owner) || is_pinned(pins, value.lender);
  if (!value.is_deferred) value.ended_at = id;
  return true;
}

// One of two that hold the value lets go of it; or the only one, and it ends.
bool release(LifetimeId id, TensorId tensor, const PinCounts& pins, HeldValue& value) {
  const bool is_held =
      value.kind == HeldKind::kValue && (value.owner == tensor || value.lender == tensor);
  if (!is_held || value.is_ended()) return false;
  if (!value.lender.is_some()) return end(id, pins, value);
  if (value.owner == tensor) value.owner = value.lender;
  value.lender = TensorId();
  return true;
}

bool adopt(const Lifetime& lifetime, HeldValue& value) {
  if (value.kind != HeldKind::kValue || value.owner != lifetime.source || value.is_ended()) {
    return false;
  }
  value.owner = lifetime.tensor;
  value.lender = lifetime.source;
  return true;
}

bool end_deferred(LifetimeId id, TensorId unpinned, const PinCounts& pins, HeldValue& value) {
  const bool is_held = value.owner == unpinned || value.lender == unpinned;
  if (!value.is_deferred || !is_held) return false;
  if (is_pinned(pins, value.owner) || is_pinned(pins, value.lender)) return false;
  value.is_deferred = false;
  value.ended_at = id;
  return true;
}

}  // namespace

HeldValue written_value(TensorId root) {
  HeldValue value;
  value.kind = root.is_some() ? HeldKind::kValue : HeldKind::kUnknown;
  value.owner = root;
  return value;
}

bool apply(const Program& program, LifetimeId id, const PinCounts& pins, HeldValue& value) {
  const Lifetime& lifetime = program.lifetimes[id.index];
  switch (lifetime.kind) {
    case LifetimeKind::kFree:
    case LifetimeKind::kDestroy:
      return release(id, lifetime.tensor, pins, value);
    case LifetimeKind::kReset:
      return end(id, pins, value);
    case LifetimeKind::kAdopt:
      return adopt(lifetime, value);
    case LifetimeKind::kUnpin:
      return end_deferred(id, lifetime.tensor, pins, value);
    case LifetimeKind::kPin:
      return false;
  }
  INTERLOCK_CHECK(false);
}

ByteRange affected_by(const Program& program, const Lifetime& lifetime) {
  switch (lifetime.kind) {
    case LifetimeKind::kPin:
      return {};
    case LifetimeKind::kReset:
      return {0, program.memory(lifetime.memory).size_bytes};
    case LifetimeKind::kFree:
    case LifetimeKind::kDestroy:
    case LifetimeKind::kUnpin:
    case LifetimeKind::kAdopt:
      return program.tensor(lifetime.tensor).range;
  }
  INTERLOCK_CHECK(false);
}

void count_pin(const Lifetime& lifetime, PinCounts& pins) {
  if (lifetime.kind == LifetimeKind::kPin) ++pins[lifetime.tensor.index];
  if (lifetime.kind == LifetimeKind::kUnpin) --pins[lifetime.tensor.index];
}

std::optional<FindingKind> defect_of(const HeldValue& value, TensorId root, bool is_written) {
  if (value.is_ended()) return FindingKind::kUseAfterFree;
  if (!root.is_some() || value.kind == HeldKind::kUnknown) return std::nullopt;
  if (value.kind == HeldKind::kNothing) return FindingKind::kUninitialized;
  if (value.owner == root || value.lender == root) return std::nullopt;
  return is_written ? FindingKind::kClobber : FindingKind::kUninitialized;
}

}  // namespace interlock
