// Where the items of one kind stand in a draft, and where names do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/program/draft.h"

namespace interlock {

template <typename... Items>
bool holds_any(const ItemDraft& item) {
  return (std::holds_alternative<Items>(item) || ...);
}

// Returns the positions of all items of any of these types, rising.
template <typename... Items>
std::vector<size_t> positions_of(const ProgramDraft& draft) {
  std::vector<size_t> positions;
  for (size_t i = 0; i < draft.items.size(); ++i) {
    if (holds_any<Items...>(draft.items[i])) positions.push_back(i);
  }
  return positions;
}

// Returns pointers to all items of type `Item`, in order, until the list of items changes.
template <typename Item, typename Draft>
auto items_of(Draft& draft) {
  std::vector<decltype(std::get_if<Item>(&draft.items.front()))> found;
  for (auto& item : draft.items) {
    if (auto* const one = std::get_if<Item>(&item)) found.push_back(one);
  }
  return found;
}

// Requires: position < list.size().
template <typename Element>
void erase_at(std::vector<Element>& list, size_t position) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(position));
}

// Requires: position <= list.size().
template <typename Element>
void insert_at(std::vector<Element>& list, size_t position, Element element) {
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(position), std::move(element));
}

// Of a tensor of this shape.
inline uint64_t element_count_of(const std::vector<uint64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), uint64_t{1}, std::multiplies<>());
}

// Calls `visit` with every operand of the item: of a dispatch or of a scoped barrier.
template <typename Visit>
void for_each_operand(ItemDraft& item, Visit visit) {
  if (auto* dispatch = std::get_if<DispatchDraft>(&item)) {
    for (OperandDraft& operand : dispatch->operands) visit(operand);
  } else if (auto* barrier = std::get_if<BarrierDraft>(&item)) {
    for (DependencyDraft& dependency : barrier->dependencies) {
      for (OperandDraft& operand : dependency.operands) visit(operand);
    }
  }
}

template <typename Visit>
void for_each_operand(ProgramDraft& draft, Visit visit) {
  for (ItemDraft& item : draft.items) for_each_operand(item, visit);
}

enum class NameKind : uint8_t { kMemory, kTensor, kMemoryOrTensor, kCapture };

// Calls `visit` with every name that the item declares or refers to, and with what it is a name of,
// but for those of statements, queues, semaphores and events. A name of the first two kinds may be
// empty. Witnesses and expectations have none.
template <typename Visit>
void for_each_name(ItemDraft& item, Visit visit) {
  if (auto* memory = std::get_if<MemoryDraft>(&item)) {
    visit(memory->name, NameKind::kMemory);
  } else if (auto* tensor = std::get_if<TensorDraft>(&item)) {
    const bool is_placed = tensor->placement == Placement::kPlaced;
    visit(tensor->name, NameKind::kTensor);
    visit(tensor->base, is_placed ? NameKind::kMemory : NameKind::kTensor);
  } else if (auto* output = std::get_if<OutputDraft>(&item)) {
    for (std::string& name : output->tensors) visit(name, NameKind::kTensor);
  } else if (auto* lifetime = std::get_if<LifetimeDraft>(&item)) {
    const bool is_reset = lifetime->kind == LifetimeKind::kReset;
    visit(lifetime->name, is_reset ? NameKind::kMemory : NameKind::kTensor);
    visit(lifetime->source, NameKind::kTensor);
  } else if (auto* backward = std::get_if<BackwardDraft>(&item)) {
    visit(backward->loss, NameKind::kTensor);
    for (std::string& name : backward->wrt) visit(name, NameKind::kTensor);
  } else if (auto* capture = std::get_if<CaptureDraft>(&item)) {
    visit(capture->name, NameKind::kCapture);
  } else if (auto* replay = std::get_if<ReplayDraft>(&item)) {
    visit(replay->capture, NameKind::kCapture);
  } else if (auto* access = std::get_if<HostAccessDraft>(&item)) {
    for (OperandDraft& operand : access->operands) visit(operand.name, NameKind::kMemoryOrTensor);
  } else if (auto* sync = std::get_if<SyncDraft>(&item)) {
    for (OperandDraft& operand : sync->operands) visit(operand.name, NameKind::kMemoryOrTensor);
    for (DependencyDraft& dependency : sync->dependencies) {
      for (OperandDraft& operand : dependency.operands) {
        visit(operand.name, NameKind::kMemoryOrTensor);
      }
    }
  }
  for_each_operand(item,
                   [&](OperandDraft& operand) { visit(operand.name, NameKind::kMemoryOrTensor); });
}

}  // namespace interlock
