// The draft of one item of a program.
#include "encoder/program/check.h"
#include "encoder/program/draft.h"
#include "encoder/program/words.h"

namespace interlock {
namespace {

std::string word_or_nothing(const Program& program, NameId id) {
  return id.is_some() ? std::string(program.name(id)) : std::string();
}

std::string reference_or_nothing(const Program& program, DispatchId id) {
  return id.is_some() ? program.reference_of(id) : std::string();
}

std::string queue_of_statement(const Program& program, StatementId statement) {
  return queue_text_of(program, program.statements[statement.index].queue);
}

// The rows of a strided operand are one operand.
void append_operands(const Program& program, std::span<const Access> accesses,
                     std::vector<OperandDraft>& operands) {
  for (size_t i = 0; i < accesses.size(); ++i) {
    operands.push_back(draft_of(program, accesses[i]));
    if (accesses[i].stride == Access::kNotStrided) continue;
    i += program.strides[accesses[i].stride].row_count - 1;
  }
}

std::vector<DependencyDraft> drafts_of(const Program& program,
                                       std::span<const Dependency> dependencies) {
  std::vector<DependencyDraft> drafts;
  for (const Dependency& dependency : dependencies) {
    drafts.push_back({dependency.source, dependency.destination, {}, dependency.transition});
    append_operands(program, program.operands_of(dependency), drafts.back().operands);
  }
  return drafts;
}

SemaphoreUseDraft use_draft_of(const Program& program, SemaphoreId id, uint64_t value,
                               StageMask stages) {
  const Semaphore& semaphore = program.semaphores[id.index];
  SemaphoreUseDraft draft{std::string(program.name(semaphore.name)), {}, stages};
  if (!semaphore.is_binary) draft.value = value;
  return draft;
}

}  // namespace

std::string queue_text_of(const Program& program, QueueIndex queue) {
  if (queue == kDefaultQueue || queue == kNoQueue) return {};
  return std::string(program.name_of(queue));
}

OperandDraft draft_of(const Program& program, const Access& access) {
  const bool is_tensor = access.tensor.is_some();
  OperandDraft draft;
  draft.mode = access.mode;
  draft.is_undeclared = access.is_undeclared;
  draft.name = program.name(is_tensor ? program.tensor(access.tensor).name
                                      : program.memory(access.memory).name);
  if (access.stride != Access::kNotStrided) {
    const Stride& stride = program.strides[access.stride];
    draft.slice = stride.bounds;
    draft.stride = StrideDraft{stride.row_count, stride.pitch_bytes, stride.width_bytes};
  } else if (access.is_sliced) {
    const uint64_t start = is_tensor ? program.tensor(access.tensor).range.begin : 0;
    draft.slice = ByteRange{access.range.begin - start, access.range.end - start};
  }
  return draft;
}

DispatchDraft unqueued_draft_of(const Program& program, const Dispatch& dispatch) {
  DispatchDraft draft;
  draft.kernel = program.name(dispatch.kernel_name);
  draft.stage = dispatch.stage;
  if (program.has_program_order) draft.order = dispatch.order;
  draft.operands.reserve(dispatch.access_count);
  append_operands(program, program.accesses_of(dispatch), draft.operands);
  draft.is_partial = dispatch.is_partial;
  draft.is_approximate = dispatch.is_approximate;
  if (dispatch.atomic_op != AtomicOp::kNone) {
    draft.attributes.emplace_back("atomic", word_of(dispatch.atomic_op));
  }
  for (const Attribute& attribute : program.attributes_of(dispatch)) {
    draft.attributes.emplace_back(program.name(attribute.key), program.name(attribute.text));
  }
  return draft;
}

DispatchDraft draft_of(const Program& program, const Dispatch& dispatch, NameId label) {
  DispatchDraft draft = unqueued_draft_of(program, dispatch);
  draft.label = word_or_nothing(program, label);
  draft.queue = queue_of_statement(program, dispatch.statement);
  if (program.edges.empty()) return draft;
  const Statement& statement = program.statements[dispatch.statement.index];
  for (const Edge& edge : program.edges_to(DispatchId(statement.index))) {
    std::string reference = program.reference_of(edge.from);
    if (reference == kProgrammaticWord) reference = std::to_string(program.number_of(edge.from));
    draft.after.push_back(std::move(reference));
    draft.is_programmatic = edge.is_programmatic;
    if (draft.queue.empty()) draft.queue = kDefaultQueueName;  // So that 'after' is no operand.
  }
  return draft;
}

HostAccessDraft host_draft_of(const Program& program, const Dispatch& dispatch, NameId label) {
  INTERLOCK_CHECK(dispatch.host != HostAccess::kNone);
  HostAccessDraft draft;
  draft.label = word_or_nothing(program, label);
  draft.access = dispatch.host;
  draft.is_approximate = dispatch.is_approximate;
  append_operands(program, program.accesses_of(dispatch), draft.operands);
  const Statement& statement = program.statements[dispatch.statement.index];
  const InitialValue* const value = program.host_value_of(DispatchId(statement.index));
  if (value != nullptr) draft.value = *value;
  const std::span<const Access> accesses = program.accesses_of(dispatch);
  if (!accesses.empty() && accesses[0].tensor.is_some()) {
    draft.dtype = program.tensor(accesses[0].tensor).dtype;
  }
  return draft;
}

BarrierDraft draft_of(const Program& program, const Barrier& barrier, NameId label) {
  BarrierDraft draft;
  draft.label = word_or_nothing(program, label);
  draft.kind = barrier.kind;
  draft.dependencies = drafts_of(program, program.dependencies_of(barrier));
  draft.queue = queue_of_statement(program, barrier.statement);
  return draft;
}

SyncDraft draft_of(const Program& program, const SyncStep& step, NameId label) {
  SyncDraft draft;
  draft.label = word_or_nothing(program, label);
  draft.kind = step.kind;
  draft.event = word_or_nothing(program, step.event);
  draft.barrier_kind = step.barrier_kind;
  draft.dependencies = drafts_of(program, program.dependencies_of(step));
  append_operands(program, program.operands_of(step), draft.operands);
  for (const SignalPart& part : program.parts_of(step)) {
    draft.semaphores.push_back(use_draft_of(program, part.semaphore, part.value, part.stages));
  }
  if (step.semaphore.is_some()) {
    draft.semaphores.push_back(use_draft_of(program, step.semaphore, step.value, step.stages));
    draft.semaphores.back().is_from_outside = step.is_from_outside;
  }
  if (step.kind != SyncKind::kHostIdle) {
    draft.queue = queue_of_statement(program, step.statement);
  } else if (step.idle_queue != kNoQueue) {
    draft.queue = program.name_of(step.idle_queue);
  }
  return draft;
}

LifetimeDraft draft_of(const Program& program, const Lifetime& lifetime, NameId label) {
  const auto name_of = [&](TensorId id) {
    return id.is_some() ? program.tensor(id).name : NameId();
  };
  const bool is_reset = lifetime.kind == LifetimeKind::kReset;
  const NameId name = is_reset ? program.memory(lifetime.memory).name : name_of(lifetime.tensor);
  const QueueIndex queue = program.statements[lifetime.statement.index].queue;
  return {word_or_nothing(program, label), lifetime.kind, word_or_nothing(program, name),
          word_or_nothing(program, name_of(lifetime.source)),
          queue == kNoQueue ? std::string() : std::string(program.name_of(queue))};
}

WitnessDraft draft_of(const Program& program, const Displacement& displacement) {
  WitnessDraft draft{.moved = program.reference_of(displacement.moved),
                     .kind = displacement.kind,
                     .anchor = program.reference_of(displacement.anchor)};
  if (displacement.has_slices) {
    const uint64_t first = displacement.first_slice;
    draft.slices = std::pair(first, first + displacement.slice_count);
  }
  return draft;
}

ExpectDraft draft_of(const Program& program, const Expectation& expectation) {
  ExpectDraft draft{.encoder = word_or_nothing(program, expectation.encoder),
                    .is_clean = expectation.is_clean,
                    .kind = expectation.kind,
                    .first = reference_or_nothing(program, expectation.first),
                    .second = reference_or_nothing(program, expectation.second)};
  if (expectation.lifetime.is_some()) {
    draft.second = draft.first;
    draft.first = program.reference_of(expectation.lifetime);
  }
  if (expectation.tensor.is_some()) {
    draft.first = program.name(program.tensor(expectation.tensor).name);
  }
  if (expectation.barrier.is_some()) {
    // An encoder's barriers are not those of the program: only numbers name them.
    draft.first = expectation.encoder.is_some() ? std::to_string(expectation.barrier.index)
                                                : program.reference_of(expectation.barrier);
  }
  if (expectation.sync.is_some()) draft.first = program.reference_of(expectation.sync);
  for (const StatementId id : expectation.waiting) {
    draft.waiting.push_back(program.reference_of(id));
  }
  return draft;
}

}  // namespace interlock
