// The encode pass. The basic idea is that an encoder only decides on a list of commands; the pass
// then lays the program's dispatches out in that list's order and changes nothing else about them.

#include "encoder/sync/encoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "encoder/kernel/kernel_table.h"
#include "encoder/program/check.h"
#include "encoder/program/error_of.h"
#include "encoder/program/stop.h"
#include "encoder/sync/encoder_dispatch.h"
#include "encoder/sync/one_queue_sink.h"
#include "encoder/sync/pending_accesses.h"
#include "encoder/sync/recording_sink.h"
#include "encoder/sync/sync_command.h"

namespace interlock {
namespace {

// new_index[old] for every dispatch: its position among the issued ones.
std::vector<uint32_t> issue_positions(const std::vector<Command>& commands, size_t dispatch_count) {
  std::vector<uint32_t> new_index(dispatch_count, DispatchId::kNone);
  uint32_t issued_count = 0;
  for (const Command& command : commands) {
    if (command.kind != StatementKind::kDispatch) continue;
    INTERLOCK_CHECK(command.dispatch.index < dispatch_count);
    INTERLOCK_CHECK(new_index[command.dispatch.index] == DispatchId::kNone);
    new_index[command.dispatch.index] = issued_count++;
  }
  INTERLOCK_CHECK(issued_count == dispatch_count);
  return new_index;
}

// Appends dispatch `id` of `source`, with its accesses and attributes, to `result`.
void append_dispatch(const Program& source, DispatchId id, Program& result) {
  const Dispatch& original = source.dispatch(id);
  const auto accesses = source.accesses_of(original);
  const auto attributes = source.attributes_of(original);
  Dispatch copy = original;
  copy.statement = StatementId(result.statements.size());
  copy.first_access = static_cast<uint32_t>(result.accesses.size());
  copy.first_attribute = static_cast<uint32_t>(result.attributes.size());
  // Without explicit program order a dispatch keeps the place that it had before any reordering.
  if (!source.has_program_order) copy.order = id.index;
  result.accesses.insert(result.accesses.end(), accesses.begin(), accesses.end());
  result.attributes.insert(result.attributes.end(), attributes.begin(), attributes.end());
  result.statements.push_back({.kind = StatementKind::kDispatch,
                               .index = static_cast<uint32_t>(result.dispatches.size()),
                               .label = source.statements[original.statement.index].label});
  result.dispatches.push_back(copy);
}

void append_barrier(const Command& command, const RecordingSink& sink, Program& result) {
  const StatementId statement(result.statements.size());
  result.statements.push_back(
      {.kind = StatementKind::kBarrier, .index = static_cast<uint32_t>(result.barriers.size())});
  const auto first = static_cast<uint32_t>(result.dependencies.size());
  const bool is_scoped = command.barrier == BarrierKind::kScoped;
  if (is_scoped) {
    INTERLOCK_CHECK(command.detail != Command::kNone);
    const CommandDetail& detail = sink.details()[command.detail];
    result.dependencies.push_back({detail.source, detail.destination});
  }
  result.barriers.push_back({statement, command.barrier, first, is_scoped ? 1u : 0u});
}

void append_split(Program& result) {
  const StatementId statement(result.statements.size());
  result.statements.push_back(
      {.kind = StatementKind::kSync, .index = static_cast<uint32_t>(result.syncs.size())});
  result.syncs.push_back({.statement = statement, .kind = SyncKind::kSplit});
}

// Expectations about an encoder speak of any encoding of the program; the others are gone with the
// sync that they were about, and those of gradients with the statement `backward`, which is spelled
// out.
void append_expectations(const Program& source, const std::vector<uint32_t>& new_index,
                         Program& result) {
  const auto moved = [&](DispatchId id) {
    return id.is_some() ? DispatchId(new_index[id.index]) : id;
  };
  for (Expectation expectation : source.expectations) {
    const bool is_of_gradient = !expectation.is_clean && expectation.kind == FindingKind::kGradient;
    if (!expectation.encoder.is_some() || is_of_gradient) continue;
    expectation.first = moved(expectation.first);
    expectation.second = moved(expectation.second);
    result.expectations.push_back(expectation);
  }
}

// The lifetime statements of a program, each kept after all dispatches that it followed before,
// and in their own order. They stand as late as that allows, so that sync which an encoder issues
// before the next dispatch is before them, too.
class LifetimeKeeper {
 public:
  explicit LifetimeKeeper(const Program& source)
      : source_(source), is_issued_(source.dispatches.size(), false) {}

  void append_before(DispatchId next, Program& result) {
    append_all_that_may(result);
    is_issued_[next.index] = true;
    while (issued_prefix_ < is_issued_.size() && is_issued_[issued_prefix_]) ++issued_prefix_;
  }

  void append_all_that_may(Program& result) {
    for (; next_ < source_.lifetimes.size(); ++next_) {
      Lifetime lifetime = source_.lifetimes[next_];
      while (followed_ < source_.dispatches.size() &&
             source_.dispatches[followed_].statement < lifetime.statement) {
        ++followed_;
      }
      if (issued_prefix_ < followed_) return;
      const NameId label = source_.statements[lifetime.statement.index].label;
      lifetime.statement = StatementId(result.statements.size());
      result.statements.push_back({.kind = StatementKind::kLifetime,
                                   .queue = kNoQueue,
                                   .index = static_cast<uint32_t>(result.lifetimes.size()),
                                   .label = label});
      result.lifetimes.push_back(lifetime);
    }
  }

 private:
  const Program& source_;
  std::vector<bool> is_issued_;  // By dispatch of the source.
  size_t issued_prefix_ = 0;     // All dispatches before it are issued.
  size_t followed_ = 0;          // Dispatches before lifetime statement `next_`.
  size_t next_ = 0;
};

// Passes commands on, and tells what they leave pending.
class PendingSink final : public CommandSink {
 public:
  PendingSink(PendingAccesses& pending, CommandSink& sink) : pending_(pending), sink_(sink) {}

  void issue_dispatch(DispatchId id) override {
    pending_.see_dispatch(id);
    sink_.issue_dispatch(id);
  }
  void issue_barrier(BarrierKind kind) override {
    pending_.see_barrier(kAllStages);
    sink_.issue_barrier(kind);
  }
  void issue_scoped_barrier(const Scope& source, const Scope& destination) override {
    pending_.see_barrier(source.stages);
    sink_.issue_scoped_barrier(source, destination);
  }
  void issue_split() override { sink_.issue_split(); }
  // A destroy is one of one queue, so nothing is pending on several.
  void use_queue(QueueIndex queue) override { sink_.use_queue(queue); }
  void issue_signal(const SemaphorePoint& point) override { sink_.issue_signal(point); }
  void issue_wait(const SemaphorePoint& point) override { sink_.issue_wait(point); }
  void issue_set(uint32_t event, const Scope& source, const Scope& destination) override {
    sink_.issue_set(event, source, destination);
  }
  void issue_await(uint32_t event) override { sink_.issue_await(event); }
  void issue_edge(DispatchId from, DispatchId to) override { sink_.issue_edge(from, to); }
  void issue_programmatic_edge(DispatchId from, DispatchId to) override {
    sink_.issue_programmatic_edge(from, to);
  }
  void issue_sync(const SyncCommand& command) override {
    if (command.is_barrier) pending_.see_barrier(source_stages_of(command));
    sink_.issue_sync(command);
  }
  void issue_lifetime(LifetimeId id) override { sink_.issue_lifetime(id); }

 private:
  static StageMask source_stages_of(const SyncCommand& command) {
    if (command.barrier != BarrierKind::kScoped) return kAllStages;
    StageMask stages = 0;
    for (const DependencyCommand& dependency : command.dependencies) {
      stages |= dependency.source.stages;
    }
    return stages;
  }

  PendingAccesses& pending_;
  CommandSink& sink_;
};

// What the program declares. Of the second form `source` keeps its statements alone.
Program declarations_of(const Program& source) {
  return {.names = source.names,
          .memories = source.memories,
          .tensors = source.tensors,
          .outputs = source.outputs,
          .strides = source.strides,
          .has_program_order = source.has_program_order};
}

Program declarations_of(Program&& source) {
  return {.names = std::move(source.names),
          .memories = std::move(source.memories),
          .tensors = std::move(source.tensors),
          .outputs = std::move(source.outputs),
          .strides = std::move(source.strides),
          .has_program_order = source.has_program_order};
}

struct Issued {
  RecordingSink commands;
  const char* first_foreign = nullptr;  // Of OneQueueSink.
};

Issued issued_by(Encoder& encoder, const Program& program) {
  Issued issued;
  issued.commands.reserve(2 * program.dispatches.size());
  OneQueueSink sink(issued.commands);
  issue_all(program, encoder, sink);
  issued.first_foreign = sink.first_foreign();
  return issued;
}

// Lays out what was issued; only the statements of `source` are looked at once it is moved from.
template <typename Source>
Program program_as_issued(Source&& source, const RecordingSink& sink) {
  if (is_stopped()) return declarations_of(std::forward<Source>(source));
  const std::vector<uint32_t> new_index =
      issue_positions(sink.commands(), source.dispatches.size());

  Program result = declarations_of(std::forward<Source>(source));
  result.dispatches.reserve(source.dispatches.size());
  result.accesses.reserve(source.accesses.size());
  result.attributes.reserve(source.attributes.size());
  result.statements.reserve(sink.commands().size() + source.lifetimes.size());
  result.barriers.reserve(sink.commands().size() - source.dispatches.size());
  LifetimeKeeper lifetimes(source);
  for (const Command& command : sink.commands()) {
    if (command.kind == StatementKind::kDispatch) {
      lifetimes.append_before(command.dispatch, result);
      append_dispatch(source, command.dispatch, result);
    } else if (command.kind == StatementKind::kBarrier) {
      append_barrier(command, sink, result);
    } else {
      INTERLOCK_CHECK(command.sync == SyncKind::kSplit);
      append_split(result);
    }
  }
  lifetimes.append_all_that_may(result);
  append_expectations(source, new_index, result);
  if (!std::ranges::is_sorted(new_index)) result.has_program_order = true;
  return result;
}

}  // namespace

EncoderDispatch encoder_dispatch_of(const Program& program, DispatchId id) {
  const Dispatch& dispatch = program.dispatch(id);
  return {id, program.declared_accesses_of(id), dispatch.atomic_op, stage_of(dispatch),
          program.queue_of(dispatch)};
}

void issue_all(const Program& program, Encoder& encoder, CommandSink& sink) {
  PendingAccesses pending(program);
  PendingSink watched(pending, sink);
  size_t next = 0;               // Lifetime statement.
  std::vector<TensorId> waited;  // For, since the last dispatch.
  const auto wait_before = [&](StatementId statement) {
    waited.clear();
    for (; next < program.lifetimes.size(); ++next) {
      const Lifetime& lifetime = program.lifetimes[next];
      if (statement.is_some() && !(lifetime.statement < statement)) return;
      if (!pending.destroys_at(lifetime)) continue;
      const Tensor& tensor = program.tensor(lifetime.tensor);
      const Access bytes = {.memory = tensor.memory, .tensor = {}, .range = tensor.range};
      encoder.wait_for({&bytes, 1}, pending.is_pending(lifetime.tensor), watched);
      waited.push_back(lifetime.tensor);
    }
  };
  size_t next_sync = 0;
  const auto end_command_buffers_before = [&](StatementId statement) {
    for (; next_sync < program.syncs.size(); ++next_sync) {
      const SyncStep& step = program.syncs[next_sync];
      if (statement.is_some() && !(step.statement < statement)) return;
      if (step.kind == SyncKind::kSplit) encoder.end_command_buffer(watched);
    }
  };
  encoder.begin(program.tensors);
  for (size_t i = 0; i < program.dispatches.size(); ++i) {
    if (is_stopped()) return;
    const DispatchId id(i);
    const StatementId statement = program.dispatch(id).statement;
    end_command_buffers_before(statement);
    wait_before(statement);
    encoder.encode(encoder_dispatch_of(program, id), watched);
  }
  end_command_buffers_before(StatementId());
  wait_before(StatementId());
  encoder.finish(watched);
  // Whoever held dispatches, and did not think of this, waits now.
  const bool is_pending =
      std::ranges::any_of(waited, [&](TensorId id) { return pending.is_pending(id); });
  if (is_pending) encoder.wait_for_all(watched);
}

Program encode(const Program& program, Encoder& encoder) {
  return program_as_issued(program, issued_by(encoder, program).commands);
}

Program encode(Program&& program, Encoder& encoder) {
  const Issued issued = issued_by(encoder, program);
  return program_as_issued(std::move(program), issued.commands);
}

Result<Program> try_encode(const Program& program, Encoder& encoder) {
  const Issued issued = issued_by(encoder, program);
  if (is_stopped()) return program_as_issued(program, issued.commands);
  if (issued.first_foreign != nullptr) {
    return error_of(
        "The encoder issues {}; one queue takes barriers alone here. encode_with() and "
        "encode_on_queues() take the kind of its queues, too.",
        issued.first_foreign);
  }
  if (const auto checked = check_issued_once(program, issued.commands); !checked) {
    return checked.error();
  }
  return program_as_issued(program, issued.commands);
}

}  // namespace interlock
