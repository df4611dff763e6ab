#include "simulator/order/split_order.h"

#include <algorithm>

#include "encoder/program/check.h"

namespace interlock {

std::vector<MemoryRange> split_alike(const ScopedOrder& order, DispatchId first, DispatchId second,
                                     MemoryRange bytes) {
  if (bytes.range.is_empty()) return {};
  std::vector<uint64_t> cuts = {bytes.range.begin, bytes.range.end};
  const uint32_t end = order.has_operands() ? order.commands_before(second) : 0;
  for (uint32_t command = order.commands_before(first); command < end; ++command) {
    for (const ScopedDependency& dependency : order.dependencies_of(command)) {
      for (const MemoryRange& operand : order.operands_of(dependency)) {
        if (operand.memory != bytes.memory) continue;
        for (const uint64_t cut : {operand.range.begin, operand.range.end}) {
          if (bytes.range.begin < cut && cut < bytes.range.end) cuts.push_back(cut);
        }
      }
    }
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<MemoryRange> runs;
  for (size_t i = 1; i < cuts.size(); ++i) {
    runs.push_back({bytes.memory, {cuts[i - 1], cuts[i]}});
  }
  return runs;
}

uint64_t steps_between(const ScopedOrder& order, DispatchId first, DispatchId second) {
  uint64_t steps = second.index - first.index;
  const uint32_t end = order.commands_before(second);
  for (uint32_t command = order.commands_before(first); command < end; ++command) {
    for (const ScopedDependency& dependency : order.dependencies_of(command)) {
      steps += 1 + dependency.operand_count;
    }
  }
  return steps;
}

Followers after_commit(const ScopedOrder& order, DispatchId first, MemoryRange bytes,
                       DispatchId second) {
  INTERLOCK_CHECK(first < second);
  const StageAccess written_as = write_sort_of(order.stage_of(first));
  Followers followers;
  Reach reach;
  uint32_t command = order.commands_before(first);
  for (DispatchId next(size_t{first.index} + 1); next <= second; ++next.index) {
    for (; command < order.commands_before(next); ++command) {
      reach = order.reach_after(command, written_as, bytes, reach);
    }
    const bool follows = (reach.available & bit_of(order.stage_of(next))) != 0;
    if (next == second) {
      followers.second_runs = follows;
    } else if (follows) {
      followers.runs.push_back(next);
    }
  }
  followers.fetches = reach.visible;
  return followers;
}

std::vector<MemoryRange> forced_commits(const ScopedOrder& order, DispatchId first,
                                        std::span<const MemoryRange> waiting, DispatchId second) {
  if (second <= first) return {};
  const Stage stage = order.stage_of(first);
  if (first.index < order.unavailable_begin(stage, second)) {
    return {waiting.begin(), waiting.end()};
  }
  // What is available to a stage has been ordered before it, too.
  if (!order.has_operands() || !order.executes_before(first, second)) return {};
  std::vector<MemoryRange> forced;
  for (const MemoryRange& bytes : waiting) {
    for (const MemoryRange& run : split_alike(order, first, second, bytes)) {
      Reach reach;
      const uint32_t end = order.commands_before(second);
      for (uint32_t command = order.commands_before(first); command < end; ++command) {
        reach = order.reach_after(command, write_sort_of(stage), run, reach);
      }
      if ((reach.available & bit_of(order.stage_of(second))) != 0) forced.push_back(run);
    }
  }
  return forced;
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
          (dependency.makes_visible & bit_of(sort)) != 0 && order.touches(dependency, bytes);
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
    if (names && order_->touches(*event.dependency, bytes)) return true;
  }
  return false;
}

}  // namespace interlock
