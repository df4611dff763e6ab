#include "simulator/lifetimes/held_back.h"

#include <algorithm>
#include <numeric>

#include "encoder/program/stop.h"

namespace interlock {
namespace {

constexpr size_t kKnownMax = 1'000;

}  // namespace

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
  for (size_t i = 0; i < program.dispatches.size() && !is_any_; ++i) is_any_ = has(DispatchId(i));
  if (!is_any_) return;
  std::vector<LifetimeId> of_queues;
  for (size_t i = 0; i < program.lifetimes.size(); ++i) {
    if (!is_of_host(program.lifetimes[i])) of_queues.push_back(LifetimeId(i));
  }
  host_changes_ = LifetimesByBytes(program, of_host_);
  queue_changes_ = LifetimesByBytes(program, of_queues);
  pins_ = PinHistory(program);
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

LifetimeId HeldBack::next_of_host(DispatchId id) const {
  const uint32_t at = issued_at(program_->dispatch(id).statement);
  const auto next = std::ranges::upper_bound(of_host_, at, {}, [&](LifetimeId lifetime) {
    return issued_at(program_->lifetimes[lifetime.index].statement);
  });
  return next == of_host_.end() ? LifetimeId(program_->lifetimes.size()) : *next;
}

LifetimeId HeldBack::next_of_queues(DispatchId id) const {
  const auto next = std::ranges::upper_bound(program_->lifetimes, program_->dispatch(id).statement,
                                             {}, &Lifetime::statement);
  return LifetimeId(static_cast<size_t>(next - program_->lifetimes.begin()));
}

HeldBack::Write HeldBack::write_of(DispatchId writer, MemoryId memory, ByteRange bytes,
                                   const HeldValue& value) const {
  return {value, host_changes_.last_before(next_of_host(writer), memory, bytes),
          queue_changes_.last_before(next_of_queues(writer), memory, bytes)};
}

IntervalMap<HeldValue> HeldBack::value_at(DispatchId reader, const Write& written, MemoryId memory,
                                          ByteRange bytes, Holdings& holdings, uint64_t& work,
                                          uint64_t work_limit) {
  const LifetimeId all(program_->lifetimes.size());
  const LifetimeId host_end = reader.is_some() ? next_of_host(reader) : all;
  const LifetimeId queue_end = reader.is_some() ? next_of_queues(reader) : all;
  std::vector<std::span<const LifetimeId>> lists;
  const auto after = [](LifetimeId id) { return LifetimeId(id.is_some() ? id.index + 1 : 0); };
  host_changes_.find(memory, bytes, after(written.after_host), host_end, lists);
  queue_changes_.find(memory, bytes, after(written.after_queue), queue_end, lists);
  IntervalMap<HeldValue> found;
  found.assign(memory, bytes, written.value);
  const auto may_change = [](const HeldValue& value) {
    return value.kind != HeldKind::kNothing && !value.is_ended();
  };
  if (lists.empty() || !may_change(written.value)) return found;
  const Key key(memory, bytes.begin, bytes.end, written.value.kind, written.value.owner,
                written.after_host, written.after_queue,
                host_changes_.last_before(host_end, memory, bytes),
                queue_changes_.last_before(queue_end, memory, bytes));
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  // The lists together, in the order in which the statements execute.
  for (bool is_over = false; !lists.empty() && !is_over;) {
    const LifetimeId next =
        std::ranges::min(lists, {}, [](const auto& list) { return list.front(); }).front();
    for (auto& list : lists) {
      if (list.front() == next) list = list.subspan(1);
    }
    std::erase_if(lists, [](const auto& list) { return list.empty(); });
    const Lifetime& lifetime = program_->lifetimes[next.index];
    const ByteRange changed = intersection(affected_by(*program_, lifetime), bytes);
    holdings.look_back(&pins_, next);
    bool has_ended_some = false;
    work += lists.size() + found.change(memory, changed, [&](HeldValue& value) {
      work += holdings.list_length(value);
      const HeldChange change = holdings.apply(next, value);
      has_ended_some |= change == HeldChange::kEnded;
      return change != HeldChange::kNone;
    });
    is_over = work > work_limit || holdings.is_over_limit() || is_stopped();
    if (!has_ended_some) continue;
    bool may_change_some = false;
    work += found.for_each(memory, bytes, [&](const IntervalMap<HeldValue>::Run& run) {
      may_change_some |= may_change(run.value);
    });
    is_over |= !may_change_some;
  }
  holdings.look_back(nullptr, LifetimeId());
  if (known_.size() >= kKnownMax) known_.clear();
  known_.emplace(key, found);
  return found;
}

}  // namespace interlock
