// The rules of barriers, and of what they do to their operands.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encoder/build/program_builder.h"
#include "encoder/kernel/kernel_table.h"
#include "encoder/program/interval_map.h"
#include "encoder/program/names.h"

namespace interlock {
namespace {

// The parser makes no other; a draft can have been made by hand.
bool is_scope(Scope scope) {
  if ((scope.stages & ~kAllStages) != 0 || (scope.accesses & ~kAllAccesses) != 0) return false;
  const bool has_transitions = (scope.stages & bit_of(Stage::kTransition)) != 0;
  if (has_transitions && (scope.stages & kDeviceStages) != kDeviceStages) return false;
  for (size_t i = 0; i < kScopeSortCount; ++i) {
    const auto access = static_cast<StageAccess>(i);
    if ((scope.accesses & bit_of(access)) != 0 && (scope.stages & bit_of(stage_of(access))) == 0) {
      return false;
    }
  }
  return true;
}

// The label of the transition at `position` among those of its barrier: the first one has that of
// the barrier, "fence", the others "fence@2", "fence@3", ….
std::string label_of_transition(std::string_view label, size_t position) {
  if (label.empty() || position == 0) return std::string(label);
  return fmt::format("{}@{}", label, position + 1);
}

// The bytes of the operands, each once, whatever operands overlap.
void append_each_byte_once(std::span<const Access> operands, AccessMode mode,
                           std::vector<Access>& accesses) {
  IntervalMap<uint8_t> is_there;
  for (const Access& operand : operands) {
    is_there.for_each(operand.memory, operand.range, [&](const IntervalMap<uint8_t>::Run& run) {
      if (run.value != 0) return;
      Access& access = accesses.emplace_back(operand);
      access.mode = mode;
      access.is_undeclared = false;
      const bool is_whole = run.bytes == operand.range && operand.stride == Access::kNotStrided;
      if (is_whole) return;
      access.range = run.bytes;
      access.is_sliced = true;
      access.stride = Access::kNotStrided;
    });
    is_there.assign(operand.memory, operand.range, 1);
  }
}

// `barrier`, or with one word more.
bool is_word_alone(const BarrierDraft& item) {
  return item.kind != BarrierKind::kScoped && item.label.empty() && item.queue.empty() &&
         item.dependencies.empty();
}

}  // namespace

uint64_t text_bytes_max(const OperandDraft& operand) {
  constexpr uint64_t kRangeBytesMax = 44;   // "[a:b]" of two 64-bit numbers.
  constexpr uint64_t kStrideBytesMax = 79;  // " rows R pitch P width W"
  return 1 + operand.name.size() + (operand.slice ? kRangeBytesMax : 0) +
         (operand.stride ? kStrideBytesMax : 0);
}

uint64_t text_bytes_max(const DependencyDraft& dependency) {
  uint64_t length = text_of(dependency.source).size() + text_of(dependency.destination).size() + 6;
  if (dependency.transition != TransitionKind::kNone) {
    length += 1 + word_of(dependency.transition).size();
  }
  for (const OperandDraft& operand : dependency.operands) length += text_bytes_max(operand);
  return length;
}

bool ProgramBuilder::append(const BarrierDraft& item) {
  if (is_word_alone(item) && !open_capture_) return append_word(item);
  QueueIndex queue = kDefaultQueue;
  if (!check_statement(item.label) || !check_transitions(item) || !find_queue(item.queue, queue) ||
      (!is_settled_by_replay(item.queue) && !check_takes_barriers(queue, "a barrier"))) {
    return false;
  }
  const size_t stride_count = program_.strides.size();
  Barrier barrier{StatementId(program_.statements.size()), item.kind,
                  static_cast<uint32_t>(program_.dependencies.size())};
  const size_t operand_count = program_.barrier_operands.size();
  const bool is_appended =
      append_dependencies(item.kind, item.dependencies, barrier) && check_line_length(item);
  if (is_appended) use(std::span(program_.barrier_operands).subspan(operand_count));
  if (is_appended && !open_capture_) {
    append_statement(StatementKind::kBarrier, program_.barriers.size(), item.label, queue);
    program_.barriers.push_back(barrier);
    append_transitions(barrier, item.label, queue);
    return true;
  }
  if (is_appended) record(item);
  drop_strides_from(stride_count);
  program_.dependencies.resize(barrier.first_dependency);
  program_.barrier_operands.resize(operand_count);
  return is_appended;
}

// As the other barriers, of which nothing but the queue and the counts is left to ask: in what is
// recorded every second line is one.
bool ProgramBuilder::append_word(const BarrierDraft& item) {
  if (!check_statement({}) || !check_takes_barriers(kDefaultQueue, "a barrier") ||
      !check_line_length(item)) {
    return false;
  }
  const StatementId statement(program_.statements.size());
  append_statement(StatementKind::kBarrier, program_.barriers.size(), {}, kDefaultQueue);
  program_.barriers.push_back(
      {statement, item.kind, static_cast<uint32_t>(program_.dependencies.size())});
  return true;
}

bool ProgramBuilder::append_dependencies(BarrierKind kind,
                                         std::span<const DependencyDraft> dependencies,
                                         Barrier& barrier) {
  if ((kind == BarrierKind::kScoped) != !dependencies.empty()) {
    return fail(
        ItemPart::kItem,
        "a scoped barrier has dependencies, and no other barrier has any; this one does not fit.");
  }
  if (dependencies.size() > limits_.dependency_count_per_barrier) {
    return fail(ItemPart::kItem, "the barrier has {} dependencies, more than the limit of {}.",
                dependencies.size(), limits_.dependency_count_per_barrier);
  }
  size_t position = 0;  // Among all operands of the barrier.
  for (const DependencyDraft& part : dependencies) {
    if (!is_scope(part.source) || !is_scope(part.destination)) {
      return fail(ItemPart::kItem,
                  "a scope of the barrier names a stage or an access that scopes do not have.");
    }
    Dependency dependency{part.source, part.destination,
                          static_cast<uint32_t>(program_.barrier_operands.size())};
    dependency.transition = part.transition;
    if (part.transition != TransitionKind::kNone && part.operands.empty()) {
      return fail(ItemPart::kItem, "'{}' stands without an operand; expected what it is about.",
                  word_of(part.transition));
    }
    for (const OperandDraft& operand : part.operands) {
      if (position == limits_.operand_count_per_barrier) {
        return fail({ItemPart::kOperand, position},
                    "the barrier has more operands than the limit of {}.",
                    limits_.operand_count_per_barrier);
      }
      if (!append_operand(words_of(operand), position++, program_.barrier_operands)) return false;
    }
    dependency.operand_count =
        static_cast<uint32_t>(program_.barrier_operands.size()) - dependency.first_operand;
    program_.dependencies.push_back(dependency);
    ++barrier.dependency_count;
  }
  return true;
}

bool ProgramBuilder::check_line_length(const BarrierDraft& item) {
  uint64_t length =
      label_room_bytes() + item.label.size() + std::string_view(": barrier execution").size();
  for (const DependencyDraft& part : item.dependencies) length += text_bytes_max(part);
  length += queue_bytes_max(item.queue);
  return check_line_length("the barrier needs up to", length);
}

// Each dependency that does something to its operands adds a statement, and a label if the barrier
// has one.
bool ProgramBuilder::check_transitions(const BarrierDraft& item) {
  size_t count = 0;
  for (const DependencyDraft& part : item.dependencies) {
    if (part.transition == TransitionKind::kNone) continue;
    if (count == 0 && !check_not_recording("a barrier that transitions its operands")) return false;
    const std::string label = label_of_transition(item.label, count);
    if (++count > 1 && !label.empty() && !check_label(label)) return false;
  }
  // The label of the statement itself is checked last (append_statement()).
  return count == 0 ||
         (check_room_for_statements(1 + count) && (item.label.empty() || check_label(item.label)));
}

void ProgramBuilder::append_transitions(const Barrier& barrier, std::string_view label,
                                        QueueIndex queue) {
  size_t count = 0;
  for (uint32_t k = 0; k < barrier.dependency_count; ++k) {
    const Dependency& dependency = program_.dependencies[barrier.first_dependency + k];
    if (dependency.transition == TransitionKind::kNone) continue;
    const bool keeps = dependency.transition == TransitionKind::kKeeps;
    Dispatch dispatch;
    dispatch.statement = StatementId(program_.statements.size());
    dispatch.kernel = mix_kernel();
    dispatch.kernel_name = intern(word_of(dependency.transition));  // No kernel's name.
    dispatch.stage = Stage::kTransition;
    dispatch.transition = barrier.first_dependency + k;
    dispatch.order = program_.dispatches.size();
    dispatch.first_access = static_cast<uint32_t>(program_.accesses.size());
    dispatch.first_attribute = static_cast<uint32_t>(program_.attributes.size());
    append_each_byte_once(program_.operands_of(dependency),
                          keeps ? AccessMode::kUpdate : AccessMode::kWrite, program_.accesses);
    dispatch.access_count = static_cast<uint32_t>(program_.accesses.size()) - dispatch.first_access;
    const DispatchId id(program_.dispatches.size());
    program_.uncounted_dispatches.push_back(id);
    const std::string own_label = label_of_transition(label, count);
    Statement statement{StatementKind::kDispatch, queue, id.index, {}};
    if (!own_label.empty()) {
      statement.label = intern(own_label);
      if (count > 0) names_.meaning(statement.label).label = dispatch.statement;
    }
    program_.statements.push_back(statement);
    program_.dispatches.push_back(dispatch);
    ++count;
  }
}

// Whether the statement is a barrier that does something to operands: the next one says what.
bool ProgramBuilder::has_transition(StatementId statement) const {
  if (program_.statements[statement.index].kind != StatementKind::kBarrier) return false;
  const size_t next = size_t{statement.index} + 1;
  return next < program_.statements.size() &&
         program_.statements[next].kind == StatementKind::kDispatch &&
         program_.dispatches[program_.statements[next].index].is_transition();
}

}  // namespace interlock
