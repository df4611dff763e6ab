#include "simulator/order/split_order.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {

namespace {

bool touches(const ScopedOrder& order, const ScopedDependency& dependency, MemoryRange bytes) {
  if (dependency.operand_count == 0) return true;
  const auto operands = order.operands_of(dependency);
  return std::any_of(operands.begin(), operands.end(), [&](const ScopedOperand& operand) {
    return operand.memory == bytes.memory && share_a_byte(operand.range, bytes.range);
  });
}

}  // namespace

std::vector<MemoryRange> SplitOrder::split_alike(DispatchId first, DispatchId second,
                                                 MemoryRange bytes) const {
  if (bytes.range.is_empty()) return {};
  std::vector<uint64_t> cuts = {bytes.range.begin, bytes.range.end};
  const uint32_t end = order_.has_operands() ? order_.commands_before(second) : 0;
  for (uint32_t command = order_.commands_before(first); command < end; ++command) {
    for (const ScopedDependency& dependency : order_.dependencies_of(command)) {
      for (const ScopedOperand& operand : order_.operands_of(dependency)) {
        if (operand.memory != bytes.memory) continue;
        for (const uint64_t cut : {operand.range.begin, operand.range.end}) {
          if (bytes.range.begin < cut && cut < bytes.range.end) cuts.push_back(cut);
        }
      }
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<MemoryRange> runs;
  for (size_t i = 1; i < cuts.size(); ++i) {
    runs.push_back({bytes.memory, {cuts[i - 1], cuts[i]}});
  }
  return runs;
}

uint64_t SplitOrder::steps_between(DispatchId first, DispatchId second) const {
  uint64_t steps = second.index - first.index;
  const uint32_t end = order_.commands_before(second);
  for (uint32_t command = order_.commands_before(first); command < end; ++command) {
    for (const ScopedDependency& dependency : order_.dependencies_of(command)) {
      steps += 1 + dependency.operand_count;
    }
  }
  return steps;
}

// The dependencies of one command do not chain, so all see what was reached before it.
void SplitOrder::apply(uint32_t command, StageAccess written_as, MemoryRange bytes,
                       Reach& reach) const {
  const Reach before = reach;
  for (const ScopedDependency& dependency : order_.dependencies_of(command)) {
    const Reach more = dependency.added_to(before, written_as, touches(order_, dependency, bytes));
    reach.available |= more.available;
    reach.visible |= more.visible;
  }
}

Reach SplitOrder::reach_of(DispatchId first, MemoryRange bytes, DispatchId second) const {
  const StageAccess written_as = write_sort_of(order_.stage_of(first));
  Reach reach;
  const uint32_t end = order_.commands_before(second);
  for (uint32_t command = order_.commands_before(first); command < end; ++command) {
    apply(command, written_as, bytes, reach);
  }
  return reach;
}

Followers SplitOrder::after_commit(DispatchId first, MemoryRange bytes, DispatchId second) const {
  INTERLOCK_CHECK(first < second);
  const StageAccess written_as = write_sort_of(order_.stage_of(first));
  Followers followers;
  Reach reach;
  uint32_t command = order_.commands_before(first);
  for (DispatchId next(size_t{first.index} + 1); next <= second; ++next.index) {
    for (; command < order_.commands_before(next); ++command) {
      apply(command, written_as, bytes, reach);
    }
    const bool follows = (reach.available & bit_of(order_.stage_of(next))) != 0;
    if (next == second) {
      followers.second_runs = follows;
    } else if (follows) {
      followers.runs.push_back(next);
    }
  }
  followers.fetches = reach.visible;
  return followers;
}

bool SplitOrder::forces_commit(DispatchId first, MemoryRange bytes, DispatchId second,
                               std::vector<MemoryRange>* forced) const {
  if (second <= first || bytes.range.is_empty()) return false;
  if (first.index < order_.unavailable_begin(order_.stage_of(first), second)) {
    if (forced != nullptr) forced->push_back(bytes);
    return true;
  }
  // What is available to a stage has been ordered before it, too.
  if (!order_.has_operands() || !order_.executes_before(first, second)) return false;
  bool is_forced = false;
  for (const MemoryRange& run : split_alike(first, second, bytes)) {
    const Reach reach = reach_of(first, run, second);
    if ((reach.available & bit_of(order_.stage_of(second))) == 0) continue;
    is_forced = true;
    if (forced == nullptr) break;
    forced->push_back(run);
  }
  return is_forced;
}

FetchNeeds::FetchNeeds(const ScopedOrder& order, DispatchId begin, DispatchId second,
                       MemoryRange bytes, StageAccess sort)
    : order_(&order), first_command_(order.commands_before(begin)) {
  INTERLOCK_CHECK(begin <= second);
  const uint32_t end = order.commands_before(second);
  sources_.assign(end - first_command_ + 1, 0);
  for (uint32_t command = end; command > first_command_; --command) {
    const StageMask later = sources_[command - first_command_];
    StageMask& sources = sources_[command - 1 - first_command_];
    sources = later;
    for (const ScopedDependency& dependency : order.dependencies_of(command - 1)) {
      const bool leads_on = (dependency.to & later) != 0;
      const bool refreshes =
          (dependency.makes_visible & bit_of(sort)) != 0 && touches(order, dependency, bytes);
      if (!leads_on && !refreshes) continue;
      sources |= dependency.from;
      events_.push_back({command - 1, &dependency});
    }
  }
}

bool FetchNeeds::needs_run(DispatchId dispatch) const {
  const uint32_t command = order_->commands_before(dispatch);
  return (sources_[command - first_command_] & bit_of(order_->stage_of(dispatch))) != 0;
}

bool FetchNeeds::needs_commit(DispatchId dispatch, MemoryRange bytes) const {
  const AccessMask sort = bit_of(write_sort_of(order_->stage_of(dispatch)));
  const uint32_t begin = order_->commands_before(dispatch);
  for (const NeededEvent& event : events_) {
    if (event.command < begin) break;
    const bool names = (event.dependency->makes_available & sort) != 0;
    if (names && touches(*order_, *event.dependency, bytes)) return true;
  }
  return false;
}

}  // namespace interlock
