// The basic idea is to give each list of holders a number, so that values stay small and equal runs
// of bytes stay one; a value that one tensor holds, as nearly all are, has no list. In the example
// of held_value.h list 0 is {x, grad}, and list 1 is the same with the mark of the free on x. All
// bytes of x have the number 1 then, so that they are one run as before the free.
#include "simulator/lifetimes/held_value.h"

#include <algorithm>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {
namespace {

HeldChange end(LifetimeId by, LifetimeId at, HeldValue& value) {
  value.holders = HoldersId();
  value.reset_by = LifetimeId();
  value.ended_by = by;
  value.ended_at = at;
  return HeldChange::kEnded;
}

}  // namespace

HeldValue written_value(TensorId root) {
  return {.kind = root.is_some() ? HeldKind::kValue : HeldKind::kUnknown, .owner = root};
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

Holdings::Holdings(const Program& program) : program_(program), pins_(program.tensors.size(), 0) {}

void Holdings::count_pin(const Lifetime& lifetime) {
  if (lifetime.kind == LifetimeKind::kPin) ++pins_[lifetime.tensor.index];
  if (lifetime.kind == LifetimeKind::kUnpin) --pins_[lifetime.tensor.index];
}

HeldChange Holdings::apply(LifetimeId id, HeldValue& value) {
  const Lifetime& lifetime = program_.lifetimes[id.index];
  switch (lifetime.kind) {
    case LifetimeKind::kFree:
    case LifetimeKind::kDestroy:
      return release(id, lifetime.tensor, value);
    case LifetimeKind::kReset:
      return reset(id, value);
    case LifetimeKind::kAdopt:
      return adopt(lifetime, value);
    case LifetimeKind::kUnpin:
      return unpin(id, lifetime.tensor, value);
    case LifetimeKind::kPin:
      return HeldChange::kNone;
  }
  INTERLOCK_CHECK(false);
}

LifetimeId Holdings::destroy_done_by(LifetimeId id, const HeldValue& value) const {
  const Lifetime& lifetime = program_.lifetimes[id.index];
  const bool is_destroy = lifetime.kind == LifetimeKind::kDestroy;
  if (!is_destroy && lifetime.kind != LifetimeKind::kUnpin) return {};
  const bool is_kept = is_pinned(lifetime.tensor) && holds(value, lifetime.tensor);
  if (is_kept) return {};
  return is_destroy ? id : waiting(value, lifetime.tensor).destroyed_by;
}

std::optional<FindingKind> Holdings::defect_of(const HeldValue& value, TensorId root,
                                               bool is_written) const {
  if (value.is_ended()) return FindingKind::kUseAfterFree;
  if (!root.is_some() || value.kind == HeldKind::kUnknown) return std::nullopt;
  if (value.kind == HeldKind::kNothing) return FindingKind::kUninitialized;
  if (holds(value, root)) return std::nullopt;
  return is_written ? FindingKind::kClobber : FindingKind::kUninitialized;
}

Holdings::Holders Holdings::holders_of(const HeldValue& value) const {
  if (value.holders.is_some()) return *lists_[value.holders.index];
  if (value.kind != HeldKind::kValue || value.is_ended()) return {};
  return {{value.owner, LifetimeId(), LifetimeId()}};
}

// Requires: there are some.
void Holdings::set_holders(Holders holders, HeldValue& value) {
  value.owner = holders.back().tensor;
  value.holders = HoldersId();
  if (holders.size() == 1 && !holders[0].released_by.is_some()) return;
  const auto [entry, is_new] = ids_.emplace(std::move(holders), HoldersId(lists_.size()));
  if (is_new) {
    lists_.push_back(&entry->first);
    entry_count_ += entry->first.size() - std::min(entry->first.size(), kHoldersFree);
  }
  value.holders = entry->second;
}

bool Holdings::holds(const HeldValue& value, TensorId tensor) const {
  if (value.kind != HeldKind::kValue || value.is_ended()) return false;
  if (!value.holders.is_some()) return value.owner == tensor;
  return std::ranges::count(*lists_[value.holders.index], tensor, &Holder::tensor) > 0;
}

Holdings::Holder Holdings::waiting(const HeldValue& value, TensorId tensor) const {
  if (!value.holders.is_some()) return {};
  for (const Holder& holder : *lists_[value.holders.index]) {
    if (holder.tensor == tensor) return holder;
  }
  return {};
}

bool Holdings::has_pinned_holder(const HeldValue& value) const {
  if (value.kind != HeldKind::kValue) return false;
  if (!value.holders.is_some()) return is_pinned(value.owner);
  return std::ranges::any_of(*lists_[value.holders.index],
                             [this](const Holder& holder) { return is_pinned(holder.tensor); });
}

// Who adopts what it has let go of, but for a pin, takes hold of it again.
HeldChange Holdings::adopt(const Lifetime& lifetime, HeldValue& value) {
  if (!holds(value, lifetime.source)) return HeldChange::kNone;
  Holders holders = holders_of(value);
  const auto known = std::ranges::find(holders, lifetime.tensor, &Holder::tensor);
  if (known != holders.end()) {
    if (!known->released_by.is_some()) return HeldChange::kNone;
    *known = {lifetime.tensor, LifetimeId(), LifetimeId()};
  } else {
    holders.push_back({lifetime.tensor, LifetimeId(), LifetimeId()});
  }
  set_holders(std::move(holders), value);
  return HeldChange::kAdopted;
}

HeldChange Holdings::release(LifetimeId id, TensorId tensor, HeldValue& value) {
  if (!holds(value, tensor)) return HeldChange::kNone;
  if (!is_pinned(tensor)) return let_go(id, id, tensor, value);
  const bool is_destroy = program_.lifetimes[id.index].kind == LifetimeKind::kDestroy;
  const Holder said = waiting(value, tensor);
  const bool is_first = !said.released_by.is_some();
  const bool is_first_destroy = is_destroy && !said.destroyed_by.is_some();
  if (!is_first && !is_first_destroy) return HeldChange::kNone;
  Holders holders = holders_of(value);
  for (Holder& holder : holders) {
    if (holder.tensor != tensor) continue;
    if (is_first) holder.released_by = id;
    if (is_first_destroy) holder.destroyed_by = id;
  }
  set_holders(std::move(holders), value);
  return HeldChange::kDeferred;
}

// A pin of any holder keeps the bytes for all of them.
HeldChange Holdings::reset(LifetimeId id, HeldValue& value) {
  const bool is_said = value.is_ended() || value.reset_by.is_some();
  if (value.kind == HeldKind::kNothing || is_said) return HeldChange::kNone;
  if (!has_pinned_holder(value)) return end(id, id, value);
  value.reset_by = id;
  return HeldChange::kDeferred;
}

// Does what waited for it, first what was issued first. A destroy that waited ends nothing after a
// free that did: it only asks for the bytes (destroy_done_by).
HeldChange Holdings::unpin(LifetimeId id, TensorId tensor, HeldValue& value) {
  if (is_pinned(tensor) || !holds(value, tensor)) return HeldChange::kNone;
  const LifetimeId release = waiting(value, tensor).released_by;
  const bool is_reset = value.reset_by.is_some() && !has_pinned_holder(value);
  const bool is_reset_first = is_reset && value.reset_by < release;
  HeldChange change = HeldChange::kNone;
  if (release.is_some() && !is_reset_first) change = let_go(release, id, tensor, value);
  if (is_reset && !value.is_ended()) change = end(value.reset_by, id, value);
  return change;
}

HeldChange Holdings::let_go(LifetimeId by, LifetimeId at, TensorId tensor, HeldValue& value) {
  Holders holders = holders_of(value);
  std::erase_if(holders, [tensor](const Holder& holder) { return holder.tensor == tensor; });
  if (holders.empty()) return end(by, at, value);
  set_holders(std::move(holders), value);
  return HeldChange::kLetGo;
}

}  // namespace interlock
