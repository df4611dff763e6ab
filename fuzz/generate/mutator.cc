#include "fuzz/generate/mutator.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fuzz/generate/draft_positions.h"
#include "fuzz/generate/program_scopes.h"
#include "fuzz/generate/queue_generator.h"
#include "fuzz/generate/queue_mutation.h"

namespace interlock {
namespace {

constexpr size_t kItemCountMax = 400;  // Beyond it mutants only shrink.

bool is_statement(const ItemDraft& item) {
  return holds_any<DispatchDraft, BarrierDraft, LifetimeDraft, CaptureDraft, EndDraft, ReplayDraft,
                   BackwardDraft, SyncDraft, HostAccessDraft>(item);
}

// One draft under mutation. Each change does nothing where it does not apply.
class Mutation {
 public:
  Mutation(ProgramDraft& draft, Choice& choice, const GeneratorOptions& options)
      : draft_(draft), choice_(choice), options_(options) {}

  void apply_one() {
    using Change = void (Mutation::*)();
    constexpr Change kChanges[] = {
        &Mutation::drop_dispatch,  &Mutation::duplicate_dispatch, &Mutation::swap_dispatches,
        &Mutation::move_dispatch,  &Mutation::insert_barrier,     &Mutation::change_barrier,
        &Mutation::change_barrier, &Mutation::nudge_range,        &Mutation::nudge_range,
        &Mutation::change_operand, &Mutation::change_operand,     &Mutation::change_mode,
        &Mutation::change_tensor,  &Mutation::change_outputs,     &Mutation::splice,
    };
    if (draft_.items.size() > kItemCountMax) return drop_dispatch();
    // Several queues come only where there are some, as scoped barriers do.
    if (options_.has_queues && has_queue_items(draft_) && choice_.chance(2, 3)) {
      return mutate_queues(draft_, choice_);
    }
    Change change = kChanges[choice_.below(std::size(kChanges))];
    while (other_ != nullptr &&
           (change == &Mutation::insert_barrier || change == &Mutation::change_barrier)) {
      change = kChanges[choice_.below(std::size(kChanges))];
    }
    (this->*change)();
  }

  // From then on there is another program to splice, and barriers are left as they are.
  void apply_one_beside(const ProgramDraft& other) {
    other_ = &other;
    if (!choice_.chance(1, 8)) return apply_one();
    draft_ = choice_.chance(1, 2) ? cross_over(draft_, other, choice_)
                                  : cross_over(other, draft_, choice_);
  }

 private:
  template <typename Item>
  std::optional<size_t> pick() {
    const std::vector<size_t> positions = positions_of<Item>(draft_);
    if (positions.empty()) return std::nullopt;
    return positions[choice_.below(positions.size())];
  }

  OperandDraft* pick_operand() {
    const auto at = pick<DispatchDraft>();
    if (!at) return nullptr;
    auto& operands = std::get<DispatchDraft>(draft_.items[*at]).operands;
    return operands.empty() ? nullptr : &operands[choice_.below(operands.size())];
  }

  std::string pick_name() {
    std::vector<const std::string*> names;
    for (const ItemDraft& item : draft_.items) {
      if (const auto* memory = std::get_if<MemoryDraft>(&item)) names.push_back(&memory->name);
      if (const auto* tensor = std::get_if<TensorDraft>(&item)) names.push_back(&tensor->name);
    }
    return names.empty() ? "" : *names[choice_.below(names.size())];
  }

  // A place after all declarations.
  size_t pick_statement_slot() {
    size_t first = 0;
    while (first < draft_.items.size() && !is_statement(draft_.items[first])) ++first;
    return first + choice_.below(draft_.items.size() - first + 1);
  }

  void drop_dispatch() {
    const auto at = pick<DispatchDraft>();
    if (at) erase_at(draft_.items, *at);
  }

  // Replays come only where there are some, as scoped barriers do.
  void duplicate_dispatch() {
    const auto replay = pick<ReplayDraft>();
    if (replay && choice_.chance(1, 2)) {
      const size_t slot = std::max(*replay + 1, pick_statement_slot());
      return insert_at(draft_.items, slot, draft_.items[*replay]);
    }
    const auto at = pick<DispatchDraft>();
    if (!at) return;
    DispatchDraft copy = std::get<DispatchDraft>(draft_.items[*at]);
    copy.label.clear();
    const size_t slot = std::max(*at + 1, pick_statement_slot());
    insert_at(draft_.items, slot, ItemDraft(std::move(copy)));
  }

  void swap_dispatches() {
    const auto a = pick<DispatchDraft>();
    const auto b = pick<DispatchDraft>();
    if (a && b) std::swap(draft_.items[*a], draft_.items[*b]);
  }

  void move_dispatch() {
    const auto at = pick<DispatchDraft>();
    if (!at) return;
    ItemDraft item = std::move(draft_.items[*at]);
    erase_at(draft_.items, *at);
    insert_at(draft_.items, pick_statement_slot(), std::move(item));
  }

  // Scoped barriers come only where there are some: other programs stay in the class that three
  // runs decide.
  bool has_scoped_barrier() const {
    const auto barriers = items_of<BarrierDraft>(draft_);
    return std::ranges::find(barriers, BarrierKind::kScoped, &BarrierDraft::kind) != barriers.end();
  }

  void insert_barrier() {
    const size_t slot = pick_statement_slot();
    if (has_scoped_barrier()) {
      return insert_at(draft_.items, slot, ItemDraft(draw_scoped_barrier(draft_, choice_)));
    }
    const BarrierKind kind = choice_.chance(1, 2) ? BarrierKind::kFull : BarrierKind::kExecution;
    insert_at(draft_.items, slot, ItemDraft(BarrierDraft{"", kind}));
  }

  void change_barrier() {
    const auto at = pick<BarrierDraft>();
    if (!at) return insert_barrier();
    if (choice_.chance(1, 2)) return erase_at(draft_.items, *at);
    auto& barrier = std::get<BarrierDraft>(draft_.items[*at]);
    if (barrier.kind == BarrierKind::kScoped) {
      barrier.dependencies = draw_scoped_barrier(draft_, choice_).dependencies;
      return;
    }
    barrier.kind =
        barrier.kind == BarrierKind::kFull ? BarrierKind::kExecution : BarrierKind::kFull;
  }

  void nudge_range() {
    OperandDraft* operand = pick_operand();
    if (operand == nullptr) return;
    if (!operand->slice) operand->slice = ByteRange{0, 1 + choice_.below(64)};
    uint64_t& end_or_begin = choice_.chance(1, 2) ? operand->slice->begin : operand->slice->end;
    const uint64_t step = choice_.chance(2, 3) ? 1 : 4;
    if (choice_.chance(1, 2)) {
      end_or_begin += step;
    } else {
      end_or_begin -= std::min(end_or_begin, step);
    }
  }

  void change_operand() {
    OperandDraft* operand = pick_operand();
    if (operand == nullptr) return;
    if (choice_.chance(1, 2)) {
      operand->name = pick_name();
      return;
    }
    const OperandDraft* other = pick_operand();
    if (other == nullptr) return;
    operand->name = other->name;
    operand->slice = other->slice;
  }

  void change_mode() {
    const auto at = pick<DispatchDraft>();
    if (!at) return;
    auto& dispatch = std::get<DispatchDraft>(draft_.items[*at]);
    if (dispatch.operands.empty() || choice_.chance(1, 6)) {
      dispatch.is_partial = !dispatch.is_partial;
      return;
    }
    // The table fixes the modes of its kernels; an opaque dispatch may have any.
    if (dispatch.kernel.empty() || dispatch.kernel.front() < 'A' || dispatch.kernel.front() > 'Z') {
      dispatch.kernel = "Opaque";
      dispatch.attributes.clear();
    }
    OperandDraft& operand = dispatch.operands[choice_.below(dispatch.operands.size())];
    operand.mode =
        static_cast<AccessMode>(static_cast<uint64_t>(AccessMode::kRead) + choice_.below(4));
    dispatch.attributes.clear();
    if (has_atomics(dispatch)) dispatch.attributes.emplace_back("atomic", "add");
    std::ranges::stable_sort(dispatch.operands, stands_before);
  }

  // Moves a tensor by a few bytes, or makes it donate or view an earlier one.
  void change_tensor() {
    const std::vector<size_t> tensors = positions_of<TensorDraft>(draft_);
    if (tensors.empty()) return;
    const size_t which = choice_.below(tensors.size());
    auto& tensor = std::get<TensorDraft>(draft_.items[tensors[which]]);
    if (which > 0 && choice_.chance(1, 2)) {
      const size_t source = tensors[choice_.below(which)];
      tensor.placement = choice_.chance(2, 3) ? Placement::kDonation : Placement::kView;
      tensor.base = std::get<TensorDraft>(draft_.items[source]).name;
      tensor.offset_bytes = 0;
      tensor.initial = {};
    } else if (tensor.placement == Placement::kPlaced) {
      const uint64_t step = size_bytes_of(tensor.dtype) * (1 + choice_.below(4));
      tensor.offset_bytes = choice_.chance(1, 2)
                                ? tensor.offset_bytes + step
                                : tensor.offset_bytes - std::min(tensor.offset_bytes, step);
    }
  }

  void change_outputs() {
    if (const auto at = pick<OutputDraft>()) return erase_at(draft_.items, *at);
    const auto at = pick<TensorDraft>();
    if (!at) return;
    OutputDraft output{{std::get<TensorDraft>(draft_.items[*at]).name}};
    insert_at(draft_.items, pick_statement_slot(), ItemDraft(std::move(output)));
  }

  void splice() {
    GeneratorOptions small = options_;
    small.max_dispatches = 4;
    const bool is_of_queues = options_.has_queues && has_queue_items(draft_);
    const ProgramDraft fresh = is_of_queues ? generate_queues(choice_, {.operation_count_max = 4})
                                            : generate(choice_, small);
    draft_ = choice_.chance(1, 2) ? cross_over(draft_, fresh, choice_)
                                  : cross_over(fresh, draft_, choice_);
  }

  ProgramDraft& draft_;
  Choice& choice_;
  const GeneratorOptions& options_;
  const ProgramDraft* other_ = nullptr;  // Of apply_one_beside().
};

// Renames everything that `draft` declares, so that it can stand beside another program.
void add_prefix(ProgramDraft& draft, const std::string& prefix) {
  for (ItemDraft& item : draft.items) {
    for_each_name(item, [&](std::string& name, NameKind /*kind*/) {
      if (!name.empty() && name.size() < 64) name = prefix + name;
    });
    if (auto* barrier = std::get_if<BarrierDraft>(&item)) barrier->label.clear();
    if (auto* lifetime = std::get_if<LifetimeDraft>(&item)) lifetime->label.clear();
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->label.clear();
    if (auto* sync = std::get_if<SyncDraft>(&item)) sync->label.clear();
    if (auto* access = std::get_if<HostAccessDraft>(&item)) access->label.clear();
  }
}

bool is_declaration(const ItemDraft& item) {
  return holds_any<MemoryDraft, TensorDraft, QueueDraft, SemaphoreDraft, OutputDraft>(item);
}

// What names no statement: witness and expectations do not survive a change.
std::vector<ItemDraft> statements_of(const ProgramDraft& draft) {
  std::vector<ItemDraft> statements;
  std::ranges::copy_if(draft.items, std::back_inserter(statements), is_statement);
  return statements;
}

}  // namespace

ProgramDraft mutate(const ProgramDraft& draft, Choice& choice, const GeneratorOptions& options) {
  if (choice.chance(1, 4)) {
    const bool is_of_queues = options.has_queues && choice.chance(1, 2);
    return is_of_queues ? generate_queues(choice) : generate(choice, options);
  }
  ProgramDraft mutant = draft;
  Mutation mutation(mutant, choice, options);
  const uint64_t count = 1 + choice.below(4);
  for (uint64_t i = 0; i < count; ++i) mutation.apply_one();
  return mutant;
}

ProgramDraft mutate_for_encoder(const ProgramDraft& draft, const ProgramDraft& other,
                                Choice& choice, const GeneratorOptions& options) {
  ProgramDraft mutant = draft;
  Mutation mutation(mutant, choice, options);
  const uint64_t count = 1 + choice.below(4);
  for (uint64_t i = 0; i < count; ++i) mutation.apply_one_beside(other);
  return mutant;
}

ProgramDraft cross_over(const ProgramDraft& first, const ProgramDraft& second, Choice& choice) {
  const bool shares_memories = choice.chance(1, 2);
  ProgramDraft other = second;
  // Without a prefix, equal names mean equal things, and declarations that clash are left out.
  if (!shares_memories) add_prefix(other, "x");
  ProgramDraft child;
  for (const ProgramDraft& draft : {std::cref(first), std::cref(other)}) {
    std::ranges::copy_if(draft.items, std::back_inserter(child.items), is_declaration);
  }
  const std::vector<ItemDraft> head = statements_of(first);
  const std::vector<ItemDraft> tail = statements_of(other);
  const size_t head_count = choice.below(head.size() + 1);
  const size_t tail_first = choice.below(tail.size() + 1);
  bool is_recording = false;
  for (size_t i = 0; i < head_count; ++i) {
    child.items.push_back(head[i]);
    is_recording |= std::holds_alternative<CaptureDraft>(head[i]);
    is_recording &= !std::holds_alternative<EndDraft>(head[i]);
  }
  if (is_recording) child.items.emplace_back(EndDraft{});
  for (size_t i = tail_first; i < tail.size(); ++i) {
    child.items.push_back(tail[i]);
    ItemDraft& item = child.items.back();
    if (auto* dispatch = std::get_if<DispatchDraft>(&item)) dispatch->label.clear();
    if (auto* lifetime = std::get_if<LifetimeDraft>(&item)) lifetime->label.clear();
    if (auto* sync = std::get_if<SyncDraft>(&item)) sync->label.clear();
    if (auto* access = std::get_if<HostAccessDraft>(&item)) access->label.clear();
  }
  return child;
}

}  // namespace interlock
