// The rules of queues, semaphores and sync statements, as they arrive.
#include <algorithm>
#include <string>

#include "encoder/build/program_builder.h"
#include "encoder/program/names.h"
#include "encoder/program/words.h"

namespace interlock {

// Requires: the name is one of names_.
SyncMeaning& ProgramBuilder::sync_meaning(NameId name) {
  SyncNameId& id = names_.meaning(name).sync;
  if (!id.is_some()) {
    id = SyncNameId(sync_meanings_.size());
    sync_meanings_.emplace_back();
  }
  return sync_meanings_[id.index];
}

const SyncMeaning& ProgramBuilder::sync_meaning_of(std::string_view name) const {
  static const SyncMeaning kNone;
  const SyncNameId id = meaning_of(name).sync;
  return id.is_some() ? sync_meanings_[id.index] : kNone;
}

bool ProgramBuilder::append(const QueueDraft& item) {
  if (!check_declaration("a queue") || !check_name(ItemPart::kName, "queue", item.name)) {
    return false;
  }
  const bool is_default = item.name == kDefaultQueueName;
  if (is_default && (!program_.statements.empty() || recorded_count_ > 0)) {
    return fail(
        ItemPart::kName,
        "queue {} is the default one and in use before this line; it is declared before all "
        "statements.",
        in_quotes(item.name));
  }
  if (is_default ? is_default_declared_ : sync_meaning_of(item.name).queue != kNoQueue) {
    return fail(ItemPart::kName, "queue {} is declared twice; names of queues must differ.",
                in_quotes(item.name));
  }
  if (!launches_.empty()) {
    return fail(
        ItemPart::kName,
        "queue {} is declared after a replay on a serial queue, which has a queue of its own; expected it before.",
        in_quotes(item.name));
  }
  if (!check_count(program_.queues.size() + 1, "queues", limits_.queue_count)) return false;
  if (program_.queues.empty()) {
    const NameId name = intern(kDefaultQueueName);
    sync_meaning(name).queue = kDefaultQueue;
    program_.queues.push_back({name, QueueKind::kConcurrent});
  }
  if (is_default) {
    is_default_declared_ = true;
    program_.queues[kDefaultQueue].kind = item.kind;
    return true;
  }
  const NameId name = intern(item.name);
  sync_meaning(name).queue = static_cast<QueueIndex>(program_.queues.size());
  program_.queues.push_back({name, item.kind});
  return true;
}

bool ProgramBuilder::find_queue(std::string_view name, QueueIndex& queue) {
  queue = kDefaultQueue;
  if (name.empty() || name == kDefaultQueueName) return true;
  queue = sync_meaning_of(name).queue;
  const QueueIndex launched_on = queue == kNoQueue ? kNoQueue : program_.queues[queue].launched_on;
  if (launched_on != kNoQueue && !is_in_launch_) {
    return fail(ItemPart::kQueue,
                "queue {} is that of what replays on {} execute, and of no other statement.",
                in_quotes(name), in_quotes(program_.name_of(launched_on)));
  }
  if (queue != kNoQueue) return true;
  NearestName nearest(name);
  if (advice_left_-- > 0) {
    for (const Queue& candidate : program_.queues) nearest.offer(program_.name(candidate.name));
  }
  return fail(ItemPart::kQueue, "no queue {} is declared before this line.{}", in_quotes(name),
              nearest.advice());
}

// Barriers and events order by stages what graph queues order by edges.
bool ProgramBuilder::check_takes_barriers(QueueIndex queue, std::string_view noun) {
  return program_.kind_of(queue) != QueueKind::kGraph ||
         fail(ItemPart::kQueue, "{} stands on the graph queue {}, whose operations edges order.",
              noun, in_quotes(program_.name_of(queue)));
}

bool ProgramBuilder::append(const SemaphoreDraft& item) {
  if (!check_declaration("a semaphore") || !check_name(ItemPart::kName, "semaphore", item.name)) {
    return false;
  }
  const SemaphoreId known = sync_meaning_of(item.name).semaphore;
  if (known.is_some()) {
    const bool is_declared = program_.semaphores[known.index].is_declared;
    return fail(
        ItemPart::kName, "semaphore {} is {} before this line; {}.", in_quotes(item.name),
        is_declared ? "declared" : "in use",
        is_declared ? "names of semaphores must differ" : "a declaration stands before all uses");
  }
  if (item.is_binary && item.initial != 0) {
    return fail(ItemPart::kName, "semaphore {} is binary and has an initial value of {}.",
                in_quotes(item.name), item.initial);
  }
  if (!check_count(program_.semaphores.size() + 1, "semaphores", limits_.semaphore_count)) {
    return false;
  }
  const NameId name = intern(item.name);
  sync_meaning(name).semaphore = SemaphoreId(program_.semaphores.size());
  program_.semaphores.push_back({name, item.is_binary, true, item.initial});
  return true;
}

// Whether the statement may name the semaphore so. A first mention declares it.
bool ProgramBuilder::check_semaphore(const SyncDraft& item, size_t position) {
  const SemaphoreUseDraft& use = item.semaphores[position];
  const ItemPlace place(ItemPart::kOperand, position);
  if (use.stages == 0 || (use.stages & ~kAllStages) != 0) {
    return fail(place, "semaphore {} has no stages here; expected at least one.",
                in_quotes(use.semaphore));
  }
  const bool has_stages = !is_of_host(item.kind) || use.stages == kAllStages;
  if (!has_stages) {
    return fail(place, "the host has no stages; found some of semaphore {}.",
                in_quotes(use.semaphore));
  }
  const bool is_a_wait = item.kind == SyncKind::kWait || item.kind == SyncKind::kHostWaits;
  if (use.is_from_outside && !is_a_wait) {
    return fail(place, "semaphore {} is signaled here, and only waits are 'from outside'.",
                in_quotes(use.semaphore));
  }
  if (item.kind == SyncKind::kHostSignals && !use.value) {
    return fail(place, "the host signals values, and {} has none here; expected {}=N.",
                in_quotes(use.semaphore), use.semaphore);
  }
  const SemaphoreId known = sync_meaning_of(use.semaphore).semaphore;
  if (known.is_some() && program_.semaphores[known.index].is_of_launches && !is_in_launch_) {
    return fail(place, "semaphore {} is that of replays on a serial queue; expected another name.",
                in_quotes(use.semaphore));
  }
  if (!known.is_some()) {
    return check_name(place, "semaphore", use.semaphore) &&
           check_count(program_.semaphores.size() + item.semaphores.size(), "semaphores",
                       limits_.semaphore_count);
  }
  const bool is_binary = program_.semaphores[known.index].is_binary;
  if (is_binary == !use.value) return true;
  return is_binary ? fail(place, "semaphore {} is binary and has no values; found {}.",
                          in_quotes(use.semaphore), *use.value)
                   : fail(place, "semaphore {} has values, and none stands here; expected {}=N.",
                          in_quotes(use.semaphore), use.semaphore);
}

SemaphoreId ProgramBuilder::semaphore_of(const SemaphoreUseDraft& use) {
  const NameId name = intern(use.semaphore);
  SyncMeaning& meaning = sync_meaning(name);
  if (!meaning.semaphore.is_some()) {
    meaning.semaphore = SemaphoreId(program_.semaphores.size());
    program_.semaphores.push_back(
        {.name = name, .is_binary = !use.value.has_value(), .is_of_launches = is_in_launch_});
  }
  return meaning.semaphore;
}

bool ProgramBuilder::append(const SyncDraft& item) {
  if (!check_not_recording("a sync statement") || !check_statement(item.label)) return false;
  SyncStep step;
  step.statement = StatementId(program_.statements.size());
  step.kind = item.kind;
  const bool is_idle = item.kind == SyncKind::kHostIdle;
  QueueIndex queue = kNoQueue;
  if (!is_of_host(item.kind) && !find_queue(item.queue, queue)) return false;
  if (is_idle && !item.queue.empty() && !find_queue(item.queue, step.idle_queue)) return false;
  const size_t dependency_count = program_.dependencies.size();
  const size_t operand_count = program_.barrier_operands.size();
  const size_t stride_count = program_.strides.size();
  if (!check_sync(item) || !append_sync(item, queue, step)) {
    program_.dependencies.resize(dependency_count);
    program_.barrier_operands.resize(operand_count);
    drop_strides_from(stride_count);
    return false;
  }
  use(std::span(program_.barrier_operands).subspan(operand_count));
  append_statement(StatementKind::kSync, program_.syncs.size(), item.label, queue);
  program_.syncs.push_back(step);
  return true;
}

// What a statement of its kind has, and no more. The parser makes no others.
bool ProgramBuilder::check_sync(const SyncDraft& item) {
  using enum SyncKind;
  const SyncKind kind = item.kind;
  const bool has_one = kind == kWait || kind == kHostWaits || kind == kHostSignals;
  const bool has_event = kind == kSet || kind == kAwait;
  const bool has_operands = kind == kHostFlushes || kind == kHostInvalidates;
  const size_t count = item.semaphores.size();
  const bool counts_fit = has_one ? count == 1 : (kind == kSignal) == (count > 0);
  const bool is_scoped = item.barrier_kind == BarrierKind::kScoped;
  if (!counts_fit || has_event == item.event.empty() || has_operands == item.operands.empty() ||
      (kind != kSet && (is_scoped || !item.dependencies.empty())) ||
      (is_of_host(kind) && kind != kHostIdle && !item.queue.empty())) {
    return fail(ItemPart::kItem, "'{}' lacks a part, or has one that it does not take.",
                word_of(kind));
  }
  if (count > limits_.semaphore_count_per_signal) {
    return fail({ItemPart::kOperand, limits_.semaphore_count_per_signal},
                "the signal names {} semaphores, more than the limit of {}.", count,
                limits_.semaphore_count_per_signal);
  }
  for (size_t i = 0; i < count; ++i) {
    if (!check_semaphore(item, i)) return false;
    for (size_t k = 0; k < i; ++k) {
      if (item.semaphores[k].semaphore != item.semaphores[i].semaphore) continue;
      return fail({ItemPart::kOperand, i},
                  "semaphore {} stands twice in one signal; at most once is allowed.",
                  in_quotes(item.semaphores[i].semaphore));
    }
  }
  return check_line_length(item);
}

bool ProgramBuilder::append_sync(const SyncDraft& item, QueueIndex queue, SyncStep& step) {
  switch (item.kind) {
    case SyncKind::kSignal:
    case SyncKind::kHostSignals:
      append_signal_parts(item, step);
      return true;
    case SyncKind::kWait:
    case SyncKind::kHostWaits: {
      const SemaphoreUseDraft& use = item.semaphores[0];
      step.semaphore = semaphore_of(use);
      step.stages = use.stages;
      step.is_from_outside = use.is_from_outside;
      if (use.value) {
        step.value = *use.value;
      } else if (!use.is_from_outside) {
        step.value = ++uses_of(step.semaphore).wait_count;
      }
      return true;
    }
    case SyncKind::kSet:
      return append_set(item, queue, step);
    case SyncKind::kAwait:
      return append_await(item, queue, step);
    case SyncKind::kHostFlushes:
    case SyncKind::kHostInvalidates:
      return append_host_operands(item, step);
    case SyncKind::kSplit:
    case SyncKind::kSubmit:
    case SyncKind::kHostIdle:
      return true;
  }
  INTERLOCK_CHECK(false);
}

ProgramBuilder::BinaryUses& ProgramBuilder::uses_of(SemaphoreId id) {
  if (binary_uses_.size() <= id.index) binary_uses_.resize(size_t{id.index} + 1);
  return binary_uses_[id.index];
}

void ProgramBuilder::append_signal_parts(const SyncDraft& item, SyncStep& step) {
  step.first = static_cast<uint32_t>(program_.signal_parts.size());
  step.count = static_cast<uint32_t>(item.semaphores.size());
  for (const SemaphoreUseDraft& use : item.semaphores) {
    const SemaphoreId id = semaphore_of(use);
    const uint64_t value = use.value ? *use.value : ++uses_of(id).signal_count;
    program_.signal_parts.push_back({id, use.stages, value});
  }
}

bool ProgramBuilder::append_set(const SyncDraft& item, QueueIndex queue, SyncStep& step) {
  if (!check_takes_barriers(queue, "an event") ||
      !check_name(ItemPart::kName, "event", item.event)) {
    return false;
  }
  for (const DependencyDraft& part : item.dependencies) {
    if (part.transition == TransitionKind::kNone) continue;
    return fail(ItemPart::kItem,
                "an event has a dependency with '{}'; only those of barriers do something to their "
                "operands.",
                word_of(part.transition));
  }
  Barrier halves;
  halves.first_dependency = static_cast<uint32_t>(program_.dependencies.size());
  if (!append_dependencies(item.barrier_kind, item.dependencies, halves)) return false;
  step.barrier_kind = item.barrier_kind;
  step.first = halves.first_dependency;
  step.count = halves.dependency_count;
  step.event = intern(item.event);
  SyncMeaning& meaning = sync_meaning(step.event);
  const auto known = std::ranges::find(meaning.sets, queue, &std::pair<QueueIndex, SyncId>::first);
  if (known != meaning.sets.end()) {
    known->second = SyncId(program_.syncs.size());
  } else {
    meaning.sets.emplace_back(queue, SyncId(program_.syncs.size()));
  }
  return true;
}

bool ProgramBuilder::append_await(const SyncDraft& item, QueueIndex queue, SyncStep& step) {
  const SyncMeaning& meaning = sync_meaning_of(item.event);
  const auto known = std::ranges::find(meaning.sets, queue, &std::pair<QueueIndex, SyncId>::first);
  if (known != meaning.sets.end()) {
    step.event = intern(item.event);
    step.partner = known->second.index;
    return true;
  }
  const std::string_view here = program_.name_of(queue);
  if (meaning.sets.empty()) {
    return fail(ItemPart::kName, "nothing sets the event {} on queue {} before this line.",
                in_quotes(item.event), in_quotes(here));
  }
  return fail(ItemPart::kName,
              "the event {} is set on queue {} and awaited on {}; an event is of one queue, and "
              "semaphores are for several.",
              in_quotes(item.event), in_quotes(program_.name_of(meaning.sets[0].first)),
              in_quotes(here));
}

bool ProgramBuilder::append_host_operands(const SyncDraft& item, SyncStep& step) {
  step.first = static_cast<uint32_t>(program_.barrier_operands.size());
  for (size_t i = 0; i < item.operands.size(); ++i) {
    if (i == limits_.operand_count_per_barrier) {
      return fail({ItemPart::kOperand, i}, "the statement has more operands than the limit of {}.",
                  limits_.operand_count_per_barrier);
    }
    const OperandWords words = words_of(item.operands[i]);
    if (!append_operand(words, i, program_.barrier_operands)) return false;
  }
  step.count = static_cast<uint32_t>(program_.barrier_operands.size()) - step.first;
  return true;
}

bool ProgramBuilder::check_line_length(const SyncDraft& item) {
  constexpr uint64_t kUseBytesMax =
      96;  // "=N from outside before compute|copy|indirect|graphics|host, "
  uint64_t length = item.label.size() + item.event.size() + item.queue.size() + 40;
  for (const SemaphoreUseDraft& use : item.semaphores) {
    length += use.semaphore.size() + kUseBytesMax;
  }
  for (const DependencyDraft& part : item.dependencies) length += text_bytes_max(part);
  for (const OperandDraft& operand : item.operands) length += text_bytes_max(operand);
  return check_line_length("the statement needs up to", length);
}

}  // namespace interlock
