#include "encoder/draft.h"

#include "encoder/check.h"

namespace interlock {
namespace {

// One `output` line names all outputs unless it would be too long to be read again.
constexpr size_t kOutputLineBytesMax = 32'000;

TensorDraft draft_of(const Program& program, const Tensor& tensor) {
  TensorDraft draft;
  draft.name = program.name(tensor.name);
  draft.dtype = tensor.dtype;
  draft.shape = tensor.shape;
  draft.placement = tensor.placement;
  draft.initial = tensor.initial;
  if (tensor.placement == Placement::kPlaced) {
    draft.base = program.name(program.memory(tensor.memory).name);
    draft.offset_bytes = tensor.range.begin;
  } else if (tensor.source.is_some()) {
    const Tensor& source = program.tensor(tensor.source);
    draft.base = program.name(source.name);
    draft.offset_bytes = tensor.range.begin - source.range.begin;
  }
  return draft;
}

OperandDraft draft_of(const Program& program, const Access& access) {
  const bool is_tensor = access.tensor.is_some();
  OperandDraft draft;
  draft.mode = access.mode;
  draft.name = program.name(is_tensor ? program.tensor(access.tensor).name
                                      : program.memory(access.memory).name);
  if (access.is_sliced) {
    const uint64_t start = is_tensor ? program.tensor(access.tensor).range.begin : 0;
    draft.slice = ByteRange{access.range.begin - start, access.range.end - start};
  }
  return draft;
}

std::string text_of(const Program& program, NameId id) {
  return id.is_some() ? std::string(program.name(id)) : std::string();
}

std::string reference_or_nothing(const Program& program, DispatchId id) {
  return id.is_some() ? program.reference_of(id) : std::string();
}

DispatchDraft draft_of(const Program& program, const Dispatch& dispatch, NameId label) {
  DispatchDraft draft;
  draft.label = text_of(program, label);
  draft.kernel = program.name(dispatch.kernel_name);
  if (program.has_program_order) {
    draft.order = dispatch.order;
  }
  draft.operands.reserve(dispatch.access_count);
  for (const Access& access : program.accesses_of(dispatch)) {
    draft.operands.push_back(draft_of(program, access));
  }
  draft.is_partial = dispatch.is_partial;
  if (dispatch.atomic_op != AtomicOp::kNone) {
    draft.attributes.emplace_back("atomic", word_of(dispatch.atomic_op));
  }
  for (const Attribute& attribute : program.attributes_of(dispatch)) {
    draft.attributes.emplace_back(program.name(attribute.key), program.name(attribute.text));
  }
  return draft;
}

BarrierDraft draft_of(const Program& program, const Barrier& barrier, NameId label) {
  BarrierDraft draft;
  draft.label = text_of(program, label);
  draft.kind = barrier.kind;
  for (const Dependency& dependency : program.dependencies_of(barrier)) {
    DependencyDraft& part =
        draft.dependencies.emplace_back(DependencyDraft{dependency.source, dependency.destination});
    for (const Access& operand : program.operands_of(dependency)) {
      part.operands.push_back(draft_of(program, operand));
    }
  }
  return draft;
}

LifetimeDraft draft_of(const Program& program, const Lifetime& lifetime, NameId label) {
  const bool is_reset = lifetime.kind == LifetimeKind::kReset;
  LifetimeDraft draft;
  draft.label = text_of(program, label);
  draft.kind = lifetime.kind;
  draft.name = program.name(is_reset ? program.memory(lifetime.memory).name
                                     : program.tensor(lifetime.tensor).name);
  if (lifetime.source.is_some()) draft.source = program.name(program.tensor(lifetime.source).name);
  return draft;
}

ItemDraft draft_of(const Program& program, const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kDispatch:
      return draft_of(program, program.dispatches[statement.index], statement.label);
    case StatementKind::kBarrier:
      return draft_of(program, program.barriers[statement.index], statement.label);
    case StatementKind::kLifetime:
      return draft_of(program, program.lifetimes[statement.index], statement.label);
  }
  INTERLOCK_CHECK(false);
}

WitnessDraft draft_of(const Program& program, const Displacement& displacement) {
  WitnessDraft draft;
  draft.moved = program.reference_of(displacement.moved);
  draft.kind = displacement.kind;
  draft.anchor = program.reference_of(displacement.anchor);
  if (displacement.has_slices) {
    const uint64_t first = displacement.first_slice;
    draft.slices = std::pair(first, first + displacement.slice_count);
  }
  return draft;
}

ExpectDraft draft_of(const Program& program, const Expectation& expectation) {
  ExpectDraft draft;
  draft.encoder = text_of(program, expectation.encoder);
  draft.is_clean = expectation.is_clean;
  draft.kind = expectation.kind;
  draft.first = reference_or_nothing(program, expectation.first);
  draft.second = reference_or_nothing(program, expectation.second);
  if (expectation.lifetime.is_some()) {
    draft.second = draft.first;
    draft.first = program.reference_of(expectation.lifetime);
  }
  if (expectation.barrier.is_some()) {
    // An encoder's barriers are not those of the program: only numbers name them.
    draft.first = expectation.encoder.is_some() ? std::to_string(expectation.barrier.index)
                                                : program.reference_of(expectation.barrier);
  }
  return draft;
}

void append_outputs(const Program& program, ProgramDraft& draft) {
  OutputDraft output;
  size_t line_bytes = 0;
  for (const TensorId id : program.outputs) {
    const std::string_view name = program.name(program.tensor(id).name);
    if (line_bytes > 0 && line_bytes + name.size() > kOutputLineBytesMax) {
      draft.items.emplace_back(std::move(output));
      output = {};
      line_bytes = 0;
    }
    output.tensors.emplace_back(name);
    line_bytes += name.size() + 1;
  }
  if (!output.tensors.empty()) {
    draft.items.emplace_back(std::move(output));
  }
}

}  // namespace

ProgramDraft draft_of(const Program& program) {
  ProgramDraft draft;
  draft.items.reserve(program.memories.size() + program.tensors.size() + 1 +
                      program.statements.size() + program.witness.size() +
                      program.expectations.size());
  for (const Memory& memory : program.memories) {
    if (memory.is_implicit) continue;
    draft.items.emplace_back(
        MemoryDraft{std::string(program.name(memory.name)), memory.size_bytes, memory.is_scratch});
  }
  for (const Tensor& tensor : program.tensors) {
    draft.items.emplace_back(draft_of(program, tensor));
  }
  append_outputs(program, draft);
  for (const Statement& statement : program.statements) {
    draft.items.push_back(draft_of(program, statement));
  }
  for (const Displacement& displacement : program.witness) {
    draft.items.emplace_back(draft_of(program, displacement));
  }
  for (const Expectation& expectation : program.expectations) {
    draft.items.emplace_back(draft_of(program, expectation));
  }
  return draft;
}

}  // namespace interlock
