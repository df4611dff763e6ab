#include "simulator/lifetimes/held_back.h"

#include <algorithm>
#include <numeric>

namespace interlock {

std::vector<uint32_t> order_of_text(const Program& program) {
  std::vector<uint32_t> order(program.statements.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<uint32_t>& positions = program.text_order->statements;
  std::ranges::sort(order, {}, [&](uint32_t statement) { return positions[statement]; });
  return order;
}

HeldBack::HeldBack(const Program& program) {
  if (program.text_order == nullptr || program.lifetimes.empty()) return;
  program_ = &program;
  for (size_t i = 0; i < program.lifetimes.size(); ++i) {
    if (is_of_host(program.lifetimes[i])) of_host_.push_back(LifetimeId(i));
  }
  has_pins_ = program.has_any(LifetimeKind::kPin);
  for (size_t i = 0; i < program.dispatches.size() && !is_any_; ++i) is_any_ = has(DispatchId(i));
}

uint32_t HeldBack::issued_at(StatementId statement) const {
  return program_->text_order->statements[statement.index];
}

bool HeldBack::is_of_host(const Lifetime& lifetime) const {
  return program_->statements[lifetime.statement.index].queue == kNoQueue;
}

bool HeldBack::has(DispatchId id) const {
  if (!id.is_some() || of_host_.empty()) return false;
  const StatementId at = program_->dispatch(id).statement;
  // The last one that executes before it, of which none is issued later.
  const auto after = std::ranges::lower_bound(of_host_, at, {}, [&](LifetimeId lifetime) {
    return program_->lifetimes[lifetime.index].statement;
  });
  if (after == of_host_.begin()) return false;
  return issued_at(program_->lifetimes[(after - 1)->index].statement) > issued_at(at);
}

IntervalMap<HeldValue> HeldBack::value_between(DispatchId writer, DispatchId reader,
                                               MemoryId memory, ByteRange bytes,
                                               const HeldValue& written, Holdings& holdings,
                                               uint64_t& work) const {
  IntervalMap<HeldValue> value;
  value.assign(memory, bytes, written);
  std::vector<uint32_t> pins(program_->tensors.size(), 0);
  holdings.swap_pins(pins);
  for (size_t i = 0; i < program_->lifetimes.size(); ++i) {
    const Lifetime& lifetime = program_->lifetimes[i];
    const StatementId at = lifetime.statement;
    if (reader.is_some() && at > program_->dispatch(reader).statement) break;
    ++work;
    if (has_pins_) holdings.count_pin(lifetime);
    const auto is_after = [&](DispatchId dispatch) {
      const StatementId other = program_->dispatch(dispatch).statement;
      return is_of_host(lifetime) ? issued_at(at) > issued_at(other) : at > other;
    };
    const bool is_between =
        (!writer.is_some() || is_after(writer)) && (!reader.is_some() || !is_after(reader));
    if (!is_between || lifetime.memory != memory) continue;
    const ByteRange changed = intersection(affected_by(*program_, lifetime), bytes);
    value.change(memory, changed, [&](HeldValue& held) {
      return holdings.apply(LifetimeId(i), held) != HeldChange::kNone;
    });
  }
  holdings.swap_pins(pins);
  return value;
}

}  // namespace interlock
