#include "fuzz/generate/queue_launches.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "encoder/program/sync_step.h"
#include "fuzz/generate/draft_positions.h"

namespace interlock {
namespace {

constexpr const char* kCaptureName = "g0";
constexpr uint64_t kOperationsMax = 4;
constexpr uint64_t kLaunchesMax = 4;

OperandDraft draw_operand(Choice& choice, const MemoryDraft& memory, AccessMode mode) {
  OperandDraft operand;
  operand.mode = mode;
  operand.name = memory.name;
  const uint64_t begin = choice.below(memory.size_bytes);
  operand.slice = ByteRange{begin, begin + 1 + choice.below(memory.size_bytes - begin)};
  return operand;
}

DispatchDraft draw_operation(Choice& choice, const std::vector<MemoryDraft*>& memories) {
  DispatchDraft operation;
  operation.kernel = "Node";
  for (const AccessMode mode : {AccessMode::kRead, AccessMode::kWrite}) {
    if (!choice.chance(2, 3)) continue;
    operation.operands.push_back(
        draw_operand(choice, *memories[choice.below(memories.size())], mode));
  }
  return operation;
}

}  // namespace

void add_queue_launches(ProgramDraft& draft, Choice& choice, QueueFeatureCounts* counts) {
  std::vector<std::string> streams;
  for (const QueueDraft* const queue : items_of<QueueDraft>(draft)) {
    if (is_serial(queue->kind)) streams.push_back(queue->name);
  }
  const std::vector<MemoryDraft*> memories = items_of<MemoryDraft>(draft);
  const auto dispatches = items_of<DispatchDraft>(draft);
  const bool has_order = std::ranges::any_of(
      dispatches, [](const DispatchDraft* dispatch) { return dispatch->order.has_value(); });
  if (streams.empty() || memories.empty() || has_order) return;
  std::vector<ItemDraft> capture = {CaptureDraft{kCaptureName}};
  const uint64_t operation_count = 2 + choice.below(kOperationsMax - 1);
  for (uint64_t i = 0; i < operation_count; ++i) {
    DispatchDraft operation = draw_operation(choice, memories);
    operation.label = fmt::format("n{}", i);
    for (uint64_t from = 0; from < i; ++from) {
      // The last one has an edge in any case, which makes it a graph.
      const bool has_edge = choice.chance(1, 2) || (i + 1 == operation_count && from + 1 == i);
      if (has_edge) operation.after.push_back(fmt::format("n{}", from));
    }
    operation.is_programmatic = !operation.after.empty() && choice.chance(1, 8);
    capture.emplace_back(std::move(operation));
  }
  capture.emplace_back(EndDraft{});
  const auto statements = positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft,
                                       HostAccessDraft, CaptureDraft>(draft);
  size_t begin = statements.empty() ? draft.items.size() : statements.front();
  const size_t capture_size = capture.size();
  draft.items.insert(draft.items.begin() + static_cast<std::ptrdiff_t>(begin),
                     std::make_move_iterator(capture.begin()),
                     std::make_move_iterator(capture.end()));
  begin += capture_size;
  // No replay stands in a capture, which is another one.
  const auto is_in_capture = [&](size_t at) {
    for (size_t i = begin; i < draft.items.size(); ++i) {
      if (std::holds_alternative<CaptureDraft>(draft.items[i]) && i < at) {
        const auto end = std::ranges::find_if(
            draft.items.begin() + static_cast<std::ptrdiff_t>(i), draft.items.end(),
            [](const ItemDraft& item) { return std::holds_alternative<EndDraft>(item); });
        return at <= static_cast<size_t>(end - draft.items.begin());
      }
    }
    return false;
  };
  const uint64_t launch_count = 1 + choice.below(kLaunchesMax);
  for (uint64_t i = 0; i < launch_count; ++i) {
    const size_t at = begin + choice.below(draft.items.size() - begin + 1);
    ReplayDraft replay{kCaptureName, streams[choice.below(streams.size())]};
    if (is_in_capture(at)) continue;
    if (counts != nullptr) ++counts->counts[static_cast<size_t>(QueueFeature::kLaunches)];
    insert_at(draft.items, at, ItemDraft(std::move(replay)));
  }
}

}  // namespace interlock
