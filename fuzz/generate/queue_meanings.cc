// The basic idea: statements of lifetimes order nothing, so they may stand anywhere; a run of
// dispatches and barriers may be recorded, as it is replayed where it stood.
#include "fuzz/generate/queue_meanings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuzz/generate/draft_positions.h"

namespace interlock {
namespace {

constexpr uint64_t kAdoptionAlignmentBytes = 4;
constexpr uint64_t kRecordedMax = 4;
constexpr uint64_t kReplaysMax = 4;

class QueueMeanings {
 public:
  QueueMeanings(ProgramDraft& draft, Choice& choice, QueueFeatureCounts* counts)
      : draft_(draft), choice_(choice), counts_(counts) {}

  void add() {
    if (choice_.chance(2, 3)) add_lifetimes();
    switch (choice_.below(3)) {
      case 0:
        return add_order();
      case 1:
        return record();
      default:
        return;
    }
  }

 private:
  void note(QueueFeature feature) {
    if (counts_ != nullptr) ++counts_->counts[static_cast<size_t>(feature)];
  }

  // Of the first statement. Declarations stand before all.
  size_t first_statement() const {
    const auto all =
        positions_of<DispatchDraft, BarrierDraft, LifetimeDraft, SyncDraft, HostAccessDraft>(
            draft_);
    return all.empty() ? draft_.items.size() : all.front();
  }

  // Where something may stand that comes after `begin` items.
  size_t draw_place(size_t begin) { return begin + choice_.below(draft_.items.size() - begin + 1); }

  void insert(size_t at, ItemDraft item) { insert_at(draft_.items, at, std::move(item)); }

  void insert(size_t at, LifetimeKind kind, const std::string& name,
              const std::string& source = {}) {
    LifetimeDraft lifetime;
    lifetime.kind = kind;
    lifetime.name = name;
    lifetime.source = source;
    insert(at, std::move(lifetime));
  }

  void add_lifetimes() {
    std::vector<TensorDraft> tensors;
    for (const TensorDraft* const tensor : items_of<TensorDraft>(draft_)) {
      tensors.push_back(*tensor);
    }
    if (choice_.chance(1, 2)) {
      note(QueueFeature::kReset);
      const auto memories = items_of<MemoryDraft>(draft_);
      const std::string memory = memories[choice_.below(memories.size())]->name;
      insert(draw_place(first_statement()), LifetimeKind::kReset, memory);
    }
    for (const TensorDraft& tensor : tensors) {
      if (choice_.chance(1, 2)) add_pin(tensor.name);
      const bool can_be_adopted = tensor.offset_bytes % kAdoptionAlignmentBytes == 0;
      if (can_be_adopted && choice_.chance(1, 2)) add_adoption(tensor);
    }
  }

  // A pin, and mostly an unpin after it.
  void add_pin(const std::string& name) {
    note(QueueFeature::kPin);
    const size_t pinned = draw_place(first_statement());
    insert(pinned, LifetimeKind::kPin, name);
    if (choice_.chance(1, 4)) return;
    note(QueueFeature::kUnpin);
    insert(draw_place(pinned + 1), LifetimeKind::kUnpin, name);
  }

  // A name that the bytes get besides, and by which some read them afterwards.
  void add_adoption(const TensorDraft& of) {
    note(QueueFeature::kAdopt);
    TensorDraft holder;
    holder.name = "h" + of.name;
    holder.dtype = of.dtype;
    holder.shape = of.shape;
    holder.placement = Placement::kUnplaced;
    const size_t adopted = draw_place(first_statement());
    insert(adopted, LifetimeKind::kAdopt, holder.name, of.name);
    const size_t again = draw_place(adopted + 1);
    if (choice_.chance(1, 3)) insert(again, LifetimeKind::kAdopt, holder.name, of.name);
    for (size_t at = adopted + 1; at < draft_.items.size(); ++at) {
      if (auto* const dispatch = std::get_if<DispatchDraft>(&draft_.items[at])) {
        rename_some(dispatch->operands, of.name, holder.name);
      } else if (auto* const access = std::get_if<HostAccessDraft>(&draft_.items[at])) {
        rename_some(access->operands, of.name, holder.name);
      }
    }
    if (choice_.chance(1, 2)) {
      insert(draw_place(adopted + 1), LifetimeKind::kFree, holder.name);
    }
    insert(first_statement(), std::move(holder));
  }

  void rename_some(std::vector<OperandDraft>& operands, const std::string& from,
                   const std::string& to) {
    for (OperandDraft& operand : operands) {
      if (operand.name == from && choice_.chance(1, 2)) operand.name = to;
    }
  }

  // The order of the text, but for some neighbours, and with gaps.
  void add_order() {
    const std::vector<DispatchDraft*> dispatches = items_of<DispatchDraft>(draft_);
    std::vector<uint64_t> numbers;
    for (uint64_t number = 0; numbers.size() < dispatches.size(); ++number) {
      number += choice_.chance(1, 4) ? 1 : 0;
      numbers.push_back(number);
    }
    for (size_t i = 1; i < numbers.size(); ++i) {
      if (choice_.chance(1, 3)) std::swap(numbers[i - 1], numbers[i]);
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      note(QueueFeature::kOrder);
      dispatches[i]->order = numbers[i];
    }
  }

  static bool can_be_recorded(const ItemDraft& item) {
    if (std::holds_alternative<DispatchDraft>(item)) return true;
    const auto* const barrier = std::get_if<BarrierDraft>(&item);
    return barrier != nullptr &&
           std::ranges::all_of(barrier->dependencies, [](const DependencyDraft& dependency) {
             return dependency.transition == TransitionKind::kNone;
           });
  }

  void record() {
    const std::vector<size_t> candidates = positions_of<DispatchDraft>(draft_);
    if (candidates.empty()) return;
    const size_t begin = candidates[choice_.below(candidates.size())];
    size_t end = begin + 1;
    while (end < draft_.items.size() && end - begin < kRecordedMax &&
           can_be_recorded(draft_.items[end]) && choice_.chance(2, 3)) {
      ++end;
    }
    note(QueueFeature::kCaptures);
    const std::string queue = give_recorded_queues(begin, end);
    std::vector<std::string> labels;
    for (size_t i = begin; i < end; ++i) {
      auto* const dispatch = std::get_if<DispatchDraft>(&draft_.items[i]);
      if (dispatch == nullptr) continue;
      std::erase_if(dispatch->after, [&](const std::string& label) {
        return std::ranges::find(labels, label) == labels.end();
      });
      if (dispatch->after.empty()) dispatch->is_programmatic = false;
      labels.push_back(dispatch->label);
    }
    name_first_replay(end, labels);
    insert(end, EndDraft{});
    insert(begin, CaptureDraft{"c0"});
    size_t at = end + 2;
    for (uint64_t left = kReplaysMax; left > 0; --left) {
      note(QueueFeature::kReplays);
      insert(at, ReplayDraft{"c0", queue});
      at = draw_place(at + 1);
      if (!choice_.chance(1, 2)) break;
    }
  }

  // Some are of the queue that the replay names: that of the first which is no graph, if any.
  std::string give_recorded_queues(size_t begin, size_t end) {
    std::string common;
    for (size_t i = begin; i < end; ++i) {
      auto* const dispatch = std::get_if<DispatchDraft>(&draft_.items[i]);
      auto* const barrier = std::get_if<BarrierDraft>(&draft_.items[i]);
      std::string& queue = dispatch != nullptr ? dispatch->queue : barrier->queue;
      if (is_graph(queue)) continue;
      if (common.empty()) common = queue;
      if (queue == common && choice_.chance(1, 2)) queue.clear();
    }
    return common;
  }

  bool is_graph(const std::string& name) const {
    return std::ranges::any_of(items_of<QueueDraft>(draft_), [&](const QueueDraft* queue) {
      return queue->name == name && queue->kind == QueueKind::kGraph;
    });
  }

  // What is recorded is executed by its replays alone.
  void name_first_replay(size_t begin, const std::vector<std::string>& labels) {
    for (size_t i = begin; i < draft_.items.size(); ++i) {
      auto* const dispatch = std::get_if<DispatchDraft>(&draft_.items[i]);
      if (dispatch == nullptr) continue;
      for (std::string& label : dispatch->after) {
        if (std::ranges::find(labels, label) != labels.end()) label += "@1";
      }
    }
  }

  ProgramDraft& draft_;
  Choice& choice_;
  QueueFeatureCounts* const counts_;
};

}  // namespace

void add_queue_meanings(ProgramDraft& draft, Choice& choice, QueueFeatureCounts* counts) {
  QueueMeanings(draft, choice, counts).add();
}

}  // namespace interlock
