#include "encoder/program/draft.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "encoder/program/check.h"

namespace interlock {
namespace {

// One `output` line names all outputs unless it would be too long to be read again.
constexpr size_t kOutputLineBytesMax = 32'000;

TensorDraft tensor_draft_of(const Program& program, const Tensor& tensor) {
  TensorDraft draft{.name = std::string(program.name(tensor.name)),
                    .dtype = tensor.dtype,
                    .shape = tensor.shape,
                    .placement = tensor.placement,
                    .initial = tensor.initial};
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

MemoryDraft memory_draft_of(const Program& program, const Memory& memory) {
  return {std::string(program.name(memory.name)), memory.size_bytes, memory.is_scratch,
          memory.is_unified, memory.atom_bytes};
}

void append_outputs(const Program& program, const std::vector<TensorId>& outputs,
                    ProgramDraft& draft) {
  OutputDraft output;
  size_t line_bytes = 0;
  for (const TensorId id : outputs) {
    const std::string_view name = program.name(program.tensor(id).name);
    if (line_bytes > 0 && line_bytes + name.size() > kOutputLineBytesMax) {
      draft.items.emplace_back(std::move(output));
      output = {};
      line_bytes = 0;
    }
    output.tensors.emplace_back(name);
    line_bytes += name.size() + 1;
  }
  if (!output.tensors.empty()) draft.items.emplace_back(std::move(output));
}

// The queues and semaphores that are declared; those of replays, where these are spelled out.
void append_queues(const Program& program, bool has_replays, ProgramDraft& draft) {
  for (const Queue& queue : program.queues) {
    const bool is_default = &queue == &program.queues[kDefaultQueue];
    if (is_default && queue.kind == QueueKind::kConcurrent) continue;
    if (has_replays && queue.launched_on != kNoQueue) continue;
    draft.items.emplace_back(QueueDraft{std::string(program.name(queue.name)), queue.kind});
  }
  for (const Semaphore& semaphore : program.semaphores) {
    if (!semaphore.is_declared) continue;
    draft.items.emplace_back(SemaphoreDraft{std::string(program.name(semaphore.name)),
                                            semaphore.is_binary, semaphore.initial});
  }
}

// What a barrier does to its operands is said by the barrier.
bool is_part_of_barrier(const Program& program, const Statement& statement) {
  return statement.kind == StatementKind::kDispatch &&
         program.dispatches[statement.index].is_transition();
}

// Writes the canonical draft, in short or in full.
class DraftWriter {
 public:
  DraftWriter(const Program& program, bool is_short) : program_(program), is_short_(is_short) {
    if (is_short) collect_groups();
  }

  ProgramDraft write() {
    draft_.items.reserve(program_.memories.size() + program_.tensors.size() + 1 +
                         program_.statements.size() + program_.witness.size() +
                         program_.expectations.size());
    append_declarations();
    const bool may_name_gradients = is_short_ && !program_.backwards.empty();
    if (!may_name_gradients) append_outputs(program_, program_.outputs, draft_);
    append_statements();
    if (may_name_gradients) append_outputs(program_, program_.outputs, draft_);
    for (const Displacement& displacement : program_.witness) {
      draft_.items.emplace_back(draft_of(program_, displacement));
    }
    for (const Expectation& expectation : program_.expectations) {
      draft_.items.emplace_back(draft_of(program_, expectation));
    }
    return std::move(draft_);
  }

 private:
  // What the text says in short: these items stand for the statements [first, end).
  struct Group {
    uint32_t text_index = 0;
    uint32_t first = 0;
    uint32_t end = 0;
    std::vector<ItemDraft> items;
  };

  void collect_groups();
  void append_declarations();
  void append_statements();
  void append_statements_before(uint32_t end);

  const Program& program_;
  const bool is_short_;
  std::vector<Group> groups_;
  uint32_t next_statement_ = 0;
  ProgramDraft draft_;
};

void DraftWriter::collect_groups() {
  for (const Capture& capture : program_.captures) {
    const uint32_t next = capture.next.index;
    std::vector<ItemDraft> items = {CaptureDraft{std::string(program_.name(capture.name))}};
    for (const StatementDraft& statement : capture.body->statements) {
      std::visit([&](const auto& item) { items.emplace_back(item); }, statement);
    }
    items.emplace_back(EndDraft{});
    groups_.push_back({capture.text_index, next, next, std::move(items)});
  }
  for (const Replay& replay : program_.replays) {
    const NameId capture = program_.captures[replay.capture.index].name;
    groups_.push_back({replay.text_index,
                       replay.first.index,
                       replay.first.index + replay.statement_count,
                       {ReplayDraft{std::string(program_.name(capture)),
                                    queue_text_of(program_, replay.queue)}}});
  }
  for (const Backward& backward : program_.backwards) {
    BackwardDraft draft;
    draft.loss = program_.name(program_.tensor(backward.loss).name);
    for (const TensorId id : backward.wrt) {
      draft.wrt.emplace_back(program_.name(program_.tensor(id).name));
    }
    draft.mode = program_.name(backward.mode);
    groups_.push_back({backward.text_index,
                       backward.first.index,
                       backward.first.index + backward.statement_count,
                       {std::move(draft)}});
  }
  std::ranges::sort(groups_, {}, &Group::text_index);
}

void DraftWriter::append_declarations() {
  for (const Memory& memory : program_.memories) {
    if (memory.is_implicit) continue;
    draft_.items.emplace_back(memory_draft_of(program_, memory));
  }
  // Nothing is declared after the first backward pass.
  const bool has_generated = is_short_ && !program_.backwards.empty();
  const size_t tensor_count =
      has_generated ? program_.backwards.front().first_tensor.index : program_.tensors.size();
  for (size_t i = 0; i < tensor_count; ++i) {
    draft_.items.emplace_back(tensor_draft_of(program_, program_.tensors[i]));
  }
  append_queues(program_, is_short_ && !program_.replays.empty(), draft_);
}

void DraftWriter::append_statements() {
  for (Group& group : groups_) {
    append_statements_before(group.first);
    std::ranges::move(group.items, std::back_inserter(draft_.items));
    next_statement_ = group.end;
  }
  append_statements_before(static_cast<uint32_t>(program_.statements.size()));
}

void DraftWriter::append_statements_before(uint32_t end) {
  INTERLOCK_CHECK(next_statement_ <= end && end <= program_.statements.size());
  for (; next_statement_ < end; ++next_statement_) {
    if (is_part_of_barrier(program_, program_.statements[next_statement_])) continue;
    draft_.items.push_back(draft_of(program_, program_.statements[next_statement_]));
  }
}

// Which declarations a part of a program needs.
class UsedDeclarations {
 public:
  explicit UsedDeclarations(const Program& program)
      : program_(program),
        has_memory_(program.memories.size()),
        has_tensor_(program.tensors.size()) {}

  void add(TensorId id) {
    for (; id.is_some() && !has_tensor_[id.index]; id = program_.tensor(id).source) {
      has_tensor_[id.index] = true;
      has_memory_[program_.tensor(id).memory.index] = true;
    }
  }

  void add(const Access& access) {
    has_memory_[access.memory.index] = true;
    add(access.tensor);
  }

  void add(std::span<const Dependency> dependencies) {
    for (const Dependency& dependency : dependencies) {
      for (const Access& operand : program_.operands_of(dependency)) add(operand);
    }
  }

  void add(const Statement& statement) {
    if (statement.kind == StatementKind::kDispatch) {
      for (const Access& access : program_.accesses_of(DispatchId(statement.index))) add(access);
    } else if (statement.kind == StatementKind::kBarrier) {
      add(program_.dependencies_of(program_.barriers[statement.index]));
    } else if (statement.kind == StatementKind::kSync) {
      const SyncStep& step = program_.syncs[statement.index];
      add(program_.dependencies_of(step));
      for (const Access& operand : program_.operands_of(step)) add(operand);
    } else {
      const Lifetime& lifetime = program_.lifetimes[statement.index];
      add(lifetime.tensor);
      add(lifetime.source);
      has_memory_[lifetime.memory.index] = true;
    }
  }

  void append_to(ProgramDraft& draft) const {
    for (size_t i = 0; i < program_.memories.size(); ++i) {
      const Memory& memory = program_.memories[i];
      if (!has_memory_[i] || memory.is_implicit) continue;
      draft.items.emplace_back(memory_draft_of(program_, memory));
    }
    for (size_t i = 0; i < program_.tensors.size(); ++i) {
      if (has_tensor_[i]) draft.items.emplace_back(tensor_draft_of(program_, program_.tensors[i]));
    }
  }

 private:
  const Program& program_;
  std::vector<bool> has_memory_;
  std::vector<bool> has_tensor_;
};

}  // namespace

ItemCounts counts_of(const ProgramDraft& draft) {
  ItemCounts counts;
  for (const ItemDraft& item : draft.items) {
    counts.memory_count += std::holds_alternative<MemoryDraft>(item);
    counts.tensor_count += std::holds_alternative<TensorDraft>(item);
    if (const auto* const dispatch = std::get_if<DispatchDraft>(&item)) {
      ++counts.dispatch_count;
      counts.operand_count += dispatch->operands.size();
    }
  }
  constexpr size_t kKernelsTypical = 8;
  const size_t declared_count = counts.memory_count + counts.tensor_count;
  counts.name_count = declared_count + counts.dispatch_count + kKernelsTypical;
  counts.statement_count = draft.items.size() - declared_count;
  return counts;
}

bool is_evidence(const ItemDraft& item) {
  return std::holds_alternative<WitnessDraft>(item) || std::holds_alternative<ExpectDraft>(item);
}

ProgramDraft without_evidence(ProgramDraft draft) {
  std::erase_if(draft.items, is_evidence);
  return draft;
}

ItemDraft draft_of(const Program& program, const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kDispatch:
      if (program.dispatches[statement.index].host != HostAccess::kNone) {
        return host_draft_of(program, program.dispatches[statement.index], statement.label);
      }
      return draft_of(program, program.dispatches[statement.index], statement.label);
    case StatementKind::kBarrier:
      return draft_of(program, program.barriers[statement.index], statement.label);
    case StatementKind::kLifetime:
      return draft_of(program, program.lifetimes[statement.index], statement.label);
    case StatementKind::kSync:
      return draft_of(program, program.syncs[statement.index], statement.label);
  }
  INTERLOCK_CHECK(false);
}

ProgramDraft draft_of(const Program& program) { return DraftWriter(program, true).write(); }

ProgramDraft expanded_draft_of(const Program& program) {
  return DraftWriter(program, false).write();
}

ProgramDraft draft_of(const Program& program, const ProgramPart& part) {
  UsedDeclarations used(program);
  for (const StatementId id : part.statements) used.add(program.statements[id.index]);
  for (const TensorId id : part.outputs) used.add(id);
  ProgramDraft draft;
  used.append_to(draft);
  append_queues(program, false, draft);
  append_outputs(program, part.outputs, draft);
  draft.items.reserve(draft.items.size() + part.statements.size());
  for (const StatementId id : part.statements) {
    if (is_part_of_barrier(program, program.statements[id.index])) continue;
    draft.items.push_back(draft_of(program, program.statements[id.index]));
  }
  return draft;
}

}  // namespace interlock
