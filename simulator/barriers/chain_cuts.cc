// The basic idea: what a chain has reached is a few marks, and a command adds marks wherever it
// finds others. So the commands between two dispatches are a layered graph, with an edge from a
// mark to itself past each command. Forward, each layer has the marks that are reached; backward,
// those from which the goal is. A command that no chain can do without is one where no mark is both
// reached before it and leading on after it; and so is a word, if the rest of the command does not
// lead from the one to the other.
//
// For example, between a dispatch A that writes and a later one B that reads, both in compute:
//
//   command                               reached before it       leading on after it
//   0  barrier compute.write -> copy      start                   copy, seen
//   1  barrier copy -> compute.read       start, copy             seen
//   2  barrier compute -> compute.write   start, copy, compute…   seen
//
// The write is seen after command 1, so that command 2 is not asked. Nothing is on both sides of
// command 0, nor of command 1: each is needed. A full barrier at the end would make `start` lead on
// everywhere, and neither would be.
#include "simulator/barriers/chain_cuts.h"

#include <algorithm>

#include "encoder/program/check.h"
#include "encoder/program/stop.h"
#include "simulator/order/dependency_ends.h"

namespace interlock {
namespace {

void append_once(uint32_t command, std::vector<uint32_t>& commands) {
  if (commands.empty() || commands.back() != command) commands.push_back(command);
}

// The first of them from `at` on; `end` if it comes later.
uint32_t next_of(const std::vector<uint32_t>& commands, uint32_t at, uint32_t end) {
  const auto next = std::ranges::lower_bound(commands, at);
  return next == commands.end() ? end : std::min(*next, end);
}

// One more than the last of them before `end`; zero if there is none.
uint32_t last_end_of(const std::vector<uint32_t>& commands, uint32_t end) {
  const auto next = std::ranges::lower_bound(commands, end);
  return next == commands.begin() ? 0 : *(next - 1) + 1;
}

constexpr auto kCommand = [](const auto& operand) { return operand.command; };

}  // namespace

ChainCuts::ChainCuts(const Program& program, const ScopedOrder& order)
    : program_(program), order_(order), operands_(program.memories.size()) {
  for (uint32_t command = 0; command < order.command_count(); ++command) {
    for (const ScopedDependency& dependency : order.dependencies_of(command)) {
      const bool is_narrow = dependency.operand_count > 0;
      for (size_t s = 0; s < kDispatchStageCount; ++s) {
        const Stage stage = static_cast<Stage>(s);
        if (has_stage(dependency.from, stage)) append_once(command, starts_[0][s]);
        if (has_stage(dependency.to, stage)) append_once(command, ends_of_order_[s]);
        const bool makes_available =
            (dependency.makes_available & bit_of(write_sort_of(stage))) != 0;
        if (makes_available && !is_narrow) append_once(command, starts_[1][s]);
      }
      for (size_t sort = 0; sort < kDispatchSortCount && !is_narrow; ++sort) {
        const bool makes_visible = (dependency.makes_visible >> sort & 1) != 0;
        if (makes_visible) append_once(command, ends_of_memory_[sort]);
      }
      for (const MemoryRange& operand : order.operands_of(dependency)) {
        operands_[operand.memory.index].push_back({command, operand.range});
      }
    }
  }
}

ChainMarks ChainCuts::goal_of(const OrderedConflict& conflict) {
  return conflict.is_of_memory ? kSeenMark : bit_of(conflict.second);
}

ChainCuts::Link ChainCuts::link_of(const ScopedDependency& dependency, bool covers,
                                   const OrderedConflict& conflict) {
  Link link{dependency.from, dependency.to};
  bool starts = has_stage(dependency.from, conflict.first);
  if (conflict.is_of_memory) {
    starts = covers && (dependency.makes_available & bit_of(write_sort_of(conflict.first))) != 0;
    const bool shows = covers && (dependency.makes_visible & bit_of(conflict.sort)) != 0;
    if (shows) link.adds |= kSeenMark;
  }
  if (starts) link.from |= kStartMark;
  return link;
}

bool ChainCuts::covers(const ScopedDependency& dependency, const OrderedConflict& conflict) const {
  return !conflict.is_of_memory || order_.touches(dependency, conflict.bytes);
}

ChainMarks ChainCuts::after(uint32_t command, ChainMarks reached, const OrderedConflict& conflict) {
  ChainMarks result = reached;
  for (const ScopedDependency& dependency : order_.dependencies_of(command)) {
    steps_ += 1 + dependency.operand_count;
    const Link link = link_of(dependency, covers(dependency, conflict), conflict);
    if ((link.from & reached) != 0) result |= link.adds;
  }
  return result;
}

ChainMarks ChainCuts::before(uint32_t command, ChainMarks leading,
                             const OrderedConflict& conflict) {
  ChainMarks result = leading;
  for (const ScopedDependency& dependency : order_.dependencies_of(command)) {
    steps_ += 1 + dependency.operand_count;
    const Link link = link_of(dependency, covers(dependency, conflict), conflict);
    if ((link.adds & leading) != 0) result |= link.from;
  }
  return result;
}

// Moves `command` on to the next one with which a chain may begin.
bool ChainCuts::begins_within(const OrderedConflict& conflict, uint32_t& command) const {
  const auto& starts = starts_[conflict.is_of_memory][static_cast<size_t>(conflict.first)];
  uint32_t next = next_of(starts, command, conflict.end);
  if (conflict.is_of_memory) {
    const auto& operands = operands_[conflict.bytes.memory.index];
    const auto operand = std::ranges::lower_bound(operands, command, {}, kCommand);
    if (operand != operands.end()) next = std::min(next, operand->command);
  }
  command = next;
  return next < conflict.end;
}

// One more than the last command between the two with which a chain may be complete.
uint32_t ChainCuts::completed_before_end(const OrderedConflict& conflict) const {
  if (!conflict.is_of_memory) {
    return last_end_of(ends_of_order_[static_cast<size_t>(conflict.second)], conflict.end);
  }
  const uint32_t last =
      last_end_of(ends_of_memory_[static_cast<size_t>(conflict.sort)], conflict.end);
  return std::max(last, std::min(conflict.covered_end, conflict.end));
}

bool ChainCuts::find(const OrderedConflict& conflict, uint64_t& work_left,
                     std::vector<ChainCut>& cuts) {
  cuts.clear();
  reached_.clear();
  steps_ = 8;
  uint64_t poll = 0;
  const auto is_too_much = [&] { return steps_ > work_left || is_stopped_at(++poll); };
  const ChainMarks goal = goal_of(conflict);
  uint32_t first = conflict.begin;
  INTERLOCK_CHECK(begins_within(conflict, first));
  uint32_t last = first;  // With it the goal is reached.
  ChainMarks reached = kStartMark;
  for (;; ++last) {
    INTERLOCK_CHECK(last < conflict.end);
    reached_.push_back(reached);
    reached = after(last, reached, conflict);
    if (is_too_much()) return false;
    if ((reached & goal) != 0) break;
  }
  ChainMarks leading = goal;
  for (uint32_t command = completed_before_end(conflict); command-- > first;) {
    if (is_too_much()) return false;
    if (command <= last) {
      const ChainMarks reached_there = reached_[command - first];
      const bool is_cut = (reached_there & leading) == 0;
      if (is_cut) cuts.push_back({command, reached_there, leading});
    }
    leading = before(command, leading, conflict);
    // Of what comes before it nothing is needed, and of what comes after `last` never.
    if ((leading & kStartMark) != 0) break;
  }
  work_left -= steps_;
  return true;
}

bool ChainCuts::covers_without(uint32_t first, uint32_t count, const SyncPiece& word,
                               const OrderedConflict& conflict) const {
  const uint32_t stride = program_.barrier_operands[word.operand].stride;
  for (uint32_t i = first; i < first + count; ++i) {
    const Access& operand = program_.barrier_operands[i];
    const bool is_row_of_it = stride != Access::kNotStrided && operand.stride == stride;
    if (i == word.operand || is_row_of_it) continue;
    if (operand.memory == conflict.bytes.memory &&
        share_a_byte(operand.range, conflict.bytes.range)) {
      return true;
    }
  }
  return false;
}

bool ChainCuts::needs(const OrderedConflict& conflict, const ChainCut& cut,
                      const SyncPiece& word) const {
  const Barrier& barrier = program_.barriers[cut.command];
  ChainMarks reached = cut.reached;
  uint32_t index = barrier.first_dependency;  // Of a scoped one.
  for (ScopedDependency dependency : order_.dependencies_of(cut.command)) {
    const bool is_its = index++ == word.dependency;
    bool is_covered = covers(dependency, conflict);
    if (word.kind == SyncPieceKind::kMemory) {
      dependency.makes_available = 0;
      dependency.makes_visible = 0;
    } else if (is_its && word.kind == SyncPieceKind::kDependency) {
      continue;
    } else if (is_its && word.kind == SyncPieceKind::kOperand) {
      is_covered =
          !conflict.is_of_memory ||
          covers_without(dependency.first_operand, dependency.operand_count, word, conflict);
    } else if (is_its) {
      const Dependency& written = program_.dependencies[word.dependency];
      const StageMask source = word.is_source ? word.cut.stages : StageMask{0};
      const StageMask destination = word.is_source ? StageMask{0} : word.cut.stages;
      AccessMask& accesses = word.is_source ? dependency.makes_available : dependency.makes_visible;
      dependency.from = with_earlier(static_cast<StageMask>(written.source.stages & ~source));
      dependency.to = with_later(static_cast<StageMask>(written.destination.stages & ~destination));
      accesses = static_cast<AccessMask>(accesses & ~word.cut.accesses);
    }
    const Link link = link_of(dependency, is_covered, conflict);
    if ((link.from & cut.reached) != 0) reached |= link.adds;
  }
  return (reached & cut.leading) == 0;
}

uint64_t ChainCuts::append_ends(const OrderedConflict& conflict,
                                std::vector<uint64_t>& ends) const {
  const auto& operands = operands_[conflict.bytes.memory.index];
  auto operand = std::ranges::lower_bound(operands, conflict.begin, {}, kCommand);
  uint64_t count = 0;
  const ByteRange bytes = conflict.bytes.range;
  for (; operand != operands.end() && operand->command < conflict.end; ++operand, ++count) {
    for (const uint64_t end : {operand->bytes.begin, operand->bytes.end}) {
      if (bytes.begin < end && end < bytes.end) ends.push_back(end);
    }
  }
  return count;
}

}  // namespace interlock
