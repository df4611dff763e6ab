// The basic idea is to rewrite the draft: tensors lose their places and so get memories of their
// own. Dispatches keep their labels, from which opaque ones compute.
#include "backends/reference/values_apart.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "encoder/assemble/build.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "simulator/hazards/alias_contracts.h"
#include "simulator/lifetimes/lifetimes.h"

namespace interlock {
namespace {

bool has_raw_operands_in_tensors(const Program& program) {
  std::vector<bool> has_tensor(program.memories.size(), false);
  for (const Tensor& tensor : program.tensors) has_tensor[tensor.memory.index] = true;
  return std::any_of(program.accesses.begin(), program.accesses.end(), [&](const Access& access) {
    return !access.tensor.is_some() && has_tensor[access.memory.index];
  });
}

// What an adoption adds is one more dispatch: those after it must not be known by their number.
bool has_numbered_dispatches(const Program& program) {
  return std::any_of(program.dispatches.begin(), program.dispatches.end(), [&](const Dispatch& d) {
    return is_opaque(program, d) && !program.statements[d.statement.index].label.is_some();
  });
}

class Rewriter {
 public:
  void operator()(MemoryDraft item) { add(std::move(item)); }
  void operator()(TensorDraft item) {
    if (item.placement != Placement::kView) {
      item.placement = Placement::kUnplaced;
      item.base.clear();
      item.offset_bytes = 0;
    }
    add(std::move(item));
  }
  void operator()(OutputDraft item) { add(std::move(item)); }
  void operator()(DispatchDraft item) { add(std::move(item)); }
  void operator()(const LifetimeDraft& item) {
    if (item.kind != LifetimeKind::kAdopt) return;
    DispatchDraft copy;
    copy.kernel = "copy";
    copy.operands = {{AccessMode::kRead, item.source, {}}, {AccessMode::kWrite, item.name, {}}};
    add(std::move(copy));
  }
  template <typename Other>
  void operator()(const Other&) {}  // Sync, groups, evidence.

  ProgramDraft draft;

 private:
  template <typename Item>
  void add(Item item) {
    draft.items.emplace_back(std::move(item));
  }
};

bool has_outputs_that_share_bytes(const Program& program) {
  std::vector<const Tensor*> outputs;
  for (const TensorId id : program.outputs) outputs.push_back(&program.tensor(id));
  std::ranges::sort(outputs, {},
                    [](const Tensor* t) { return std::pair(t->memory, t->range.begin); });
  for (size_t i = 1; i < outputs.size(); ++i) {
    const bool is_same_memory = outputs[i]->memory == outputs[i - 1]->memory;
    if (is_same_memory && share_a_byte(outputs[i]->range, outputs[i - 1]->range)) return true;
  }
  return false;
}

}  // namespace

std::optional<Program> with_values_apart(const Program& program) {
  if (program.outputs.empty() || has_outputs_that_share_bytes(program) ||
      program.has_program_order || has_raw_operands_in_tensors(program) ||
      (program.has_any(LifetimeKind::kAdopt) && has_numbered_dispatches(program))) {
    return std::nullopt;
  }
  Rewriter rewriter;
  for (ItemDraft& item : expanded_draft_of(program).items) std::visit(rewriter, std::move(item));
  Result<Program> apart = build(rewriter.draft);
  if (!apart) return std::nullopt;  // Over a limit.
  return std::move(*apart);
}

bool harms_values(const Program& program) {
  const LifetimeReport lifetimes = check_lifetimes(program);
  const bool has_clobber = std::ranges::find(lifetimes.findings, FindingKind::kClobber,
                                             &LifetimeFinding::kind) != lifetimes.findings.end();
  return has_clobber || lifetimes.is_truncated() || !find_alias_violations(program).empty();
}

void place_outputs(const Program& program, const Program& program_apart, const MemoryImage& apart,
                   MemoryImage& image) {
  for (const TensorId id : program.outputs) {
    const Tensor& tensor = program.tensor(id);
    // Tensors have the same names in both programs, but not the same ids.
    const TensorId found = program_apart.find_tensor(program.name(tensor.name));
    INTERLOCK_CHECK(found.is_some());
    const Tensor& source = program_apart.tensor(found);
    const uint8_t* const bytes = apart.memories[source.memory.index].data() + source.range.begin;
    std::copy_n(bytes, tensor.range.size_bytes(),
                image.memories[tensor.memory.index].data() + tensor.range.begin);
  }
}

}  // namespace interlock
