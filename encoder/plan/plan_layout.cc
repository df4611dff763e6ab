// The basic idea is to edit the program's draft: names stay valid while memories and tensors move.
#include "encoder/plan/plan_layout.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "encoder/assemble/build.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/program/fresh_names.h"
#include "encoder/program/stop.h"

namespace interlock {
namespace {

class PlanWriter {
 public:
  PlanWriter(const Program& program, const PlanValues& values, const PlanLayout& layout)
      : program_(program), values_(values), layout_(layout) {}

  Result<Program> run();

 private:
  void append_memories();
  void append_tensors(std::vector<TensorDraft> tensors);
  void append_statements(std::vector<ItemDraft> statements);
  void place(TensorDraft& draft, uint32_t value);

  const Program& program_;
  const PlanValues& values_;
  const PlanLayout& layout_;
  ProgramDraft draft_;
  std::vector<std::string> memory_names_;
};

void PlanWriter::append_memories() {
  // A memory could not be named beside a tensor of its name.
  FreshNames names(tensor_names(program_));
  // Of a program whose dispatches are issued in another order than its own.
  const bool is_scratch = !std::ranges::is_sorted(program_.dispatches, {}, &Dispatch::order);
  for (const PlanMemory& memory : layout_.memories) {
    memory_names_.push_back(names.claim(memory.name));
    if (memory.size_bytes == 0) continue;
    draft_.items.emplace_back(MemoryDraft{memory_names_.back(), memory.size_bytes, is_scratch});
  }
}

void PlanWriter::place(TensorDraft& draft, uint32_t value) {
  const ValuePlace& place = layout_.places[value];
  if (place.donor != PlanValues::kNoValue) {
    draft.placement = Placement::kDonation;
    draft.base = program_.name(program_.tensor(values_.tensors[place.donor]).name);
    return;
  }
  draft.placement = Placement::kPlaced;
  draft.base = memory_names_[place.memory];
  draft.offset_bytes = place.offset_bytes;
}

// A donor is declared before its donation, and values come in no such order: those that wait for
// their donor follow it, and what views or donates them follows them.
void PlanWriter::append_tensors(std::vector<TensorDraft> tensors) {
  std::vector<bool> is_written(tensors.size(), false);
  std::vector<size_t> waiting;
  for (size_t i = 0; i < tensors.size(); ++i) {
    // Follow the bases that are still to be written, then write them backwards.
    for (uint32_t at = static_cast<uint32_t>(i); !is_written[at];) {
      waiting.push_back(at);
      is_written[at] = true;
      const Tensor& tensor = program_.tensors[at];
      const uint32_t value = values_.value_of_memory[tensor.memory.index];
      if (tensor.source.is_some()) {
        at = tensor.source.index;
      } else if (value != PlanValues::kNoValue &&
                 layout_.places[value].donor != PlanValues::kNoValue) {
        at = values_.tensors[layout_.places[value].donor].index;
      }
    }
    for (; !waiting.empty(); waiting.pop_back()) {
      draft_.items.emplace_back(std::move(tensors[waiting.back()]));
    }
  }
}

void PlanWriter::append_statements(std::vector<ItemDraft> statements) {
  uint32_t dispatch_count = 0;
  size_t next = 0;
  const auto append_due = [&] {
    for (; next < layout_.lifetimes.size() &&
           layout_.lifetimes[next].dispatch_count == dispatch_count;
         ++next) {
      const PlanLifetime& lifetime = layout_.lifetimes[next];
      draft_.items.emplace_back(LifetimeDraft{
          .kind = lifetime.kind,
          .name = lifetime.tensor.is_some()
                      ? std::string(program_.name(program_.tensor(lifetime.tensor).name))
                      : memory_names_[lifetime.memory]});
    }
  };
  append_due();
  for (ItemDraft& item : statements) {
    const bool is_dispatch = std::holds_alternative<DispatchDraft>(item);
    draft_.items.push_back(std::move(item));
    if (!is_dispatch) continue;
    ++dispatch_count;
    append_due();
  }
  INTERLOCK_CHECK(next == layout_.lifetimes.size());
}

Result<Program> PlanWriter::run() {
  ProgramDraft source = expanded_draft_of(program_);
  if (is_stopped()) return Error{"The plan was stopped."};
  std::vector<TensorDraft> tensors;
  std::vector<ItemDraft> statements;  // And outputs.
  draft_.items.reserve(source.items.size() + layout_.memories.size());
  for (ItemDraft& item : source.items) {
    if (std::holds_alternative<MemoryDraft>(item)) {
      draft_.items.push_back(std::move(item));
    } else if (auto* const tensor = std::get_if<TensorDraft>(&item)) {
      tensors.push_back(std::move(*tensor));
    } else if (!is_evidence(item)) {
      statements.push_back(std::move(item));
    }
  }
  append_memories();
  for (uint32_t value = 0; value < values_.tensors.size(); ++value) {
    place(tensors[values_.tensors[value].index], value);
  }
  append_tensors(std::move(tensors));
  append_statements(std::move(statements));
  if (is_stopped()) return Error{"The plan was stopped."};
  return build(draft_);
}

}  // namespace

PlanLayout layout_of(const PlacementProblem& problem, const ValuePlacement& placement) {
  PlanLayout layout;
  if (problem.values.empty()) return layout;
  layout.memories.push_back({"pool", placement.size_bytes});
  for (const uint64_t offset : placement.offsets_bytes) layout.places.push_back({0, offset});
  return layout;
}

Result<Program> place_values(const Program& program, const PlanValues& values,
                             const PlanLayout& layout) {
  INTERLOCK_CHECK(layout.places.size() == values.tensors.size());
  return PlanWriter(program, values, layout).run();
}

}  // namespace interlock
